//! Cases of [`Hosts`](crate::Hosts).

use handover_model::{
    AgentId, BriefDelivery, Host, HostSessionId, ReceiptId, SessionId, Ticket, ToolUseId,
};

use super::Backend;
use super::fixture::*;
use crate::{NewTicket, Store, StoreError};

fn conversation(id: &str) -> HostSessionId {
    HostSessionId::new(id).unwrap()
}

fn agent(id: &str) -> AgentId {
    AgentId::new(id).unwrap()
}

/// A receipt and its ticket.
fn ticket(store: &dyn Store, session: &SessionId, id: &str, claim: bool) -> ReceiptId {
    let mut new = receipt(session, id, &[]);
    new.claim = claim;
    store.put_receipt(&new).unwrap();
    let new = NewTicket {
        receipt: new.id,
        host: Host::CLAUDE,
        host_session: conversation("c1"),
        agent_type: clean("general-purpose"),
        task_hash: format!("hash of {id}"),
        task: None,
        way: BriefDelivery::Rewrite,
        name: None,
        tool_use: ToolUseId::new(format!("toolu_{id}")).ok(),
        agent: None,
        now: at(0),
    };
    store.open_ticket(&new).unwrap();
    new.receipt
}

/// The last binding counts, hosts are separate, and a purged session has no bindings.
pub fn a_conversation_is_bound(backend: &dyn Backend) {
    let store = backend.open();
    let (first, second) = (session(&*store, "s1"), session(&*store, "s2"));
    let bound = |host| store.bound_session(host, &conversation("c1")).unwrap();
    assert_eq!(bound(Host::CLAUDE), None);
    store.bind_host(Host::CLAUDE, &conversation("c1"), &first, at(1)).unwrap();
    assert_eq!((bound(Host::CLAUDE), bound(Host::CODEX)), (Some(first), None));
    store.bind_host(Host::CLAUDE, &conversation("c1"), &second, at(2)).unwrap();
    assert_eq!(bound(Host::CLAUDE), Some(second.clone()));
    let nobody = store.bind_host(Host::CLAUDE, &conversation("c1"), &session_id("no"), at(3));
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })));
    store.purge_session(&second).unwrap();
    assert_eq!(bound(Host::CLAUDE), None);
}

/// By conversation while they are open, and by subagent.
pub fn tickets_are_found_by_conversation_and_subagent(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let open = || -> Vec<Ticket> { store.open_tickets(Host::CLAUDE, &conversation("c1")).unwrap() };
    let ids = || -> Vec<String> { open().iter().map(|t| t.receipt.to_string()).collect() };
    ticket(&*store, &session, "r_1", false);
    let second = ticket(&*store, &session, "r_2", false);
    assert_eq!(ids(), ["r_1", "r_2"]);
    let first = &open()[0];
    assert_eq!((first.agent_type.as_str(), first.way), ("general-purpose", BriefDelivery::Rewrite));
    assert_eq!((first.task_hash.as_str(), first.asked), ("hash of r_1", false));
    assert_eq!(store.open_tickets(Host::CLAUDE, &conversation("c2")).unwrap(), []);
    assert_eq!(store.open_tickets(Host::CODEX, &conversation("c1")).unwrap(), []);
    store.take_ticket(&second, &agent("a1")).unwrap();
    store.close_ticket(&second, at(5)).unwrap();
    assert_eq!(ids(), ["r_1"]);
    let found = store.ticket_of(Host::CLAUDE, &agent("a1")).unwrap().unwrap();
    assert_eq!((&found.receipt, found.closed_at), (&second, Some(at(5))));
    assert_eq!(store.ticket_of(Host::CLAUDE, &agent("a2")).unwrap(), None);
    let all = store.tickets(Host::CLAUDE, &conversation("c1")).unwrap();
    assert_eq!(all.iter().map(|t| t.receipt.as_str()).collect::<Vec<_>>(), ["r_1", "r_2"]);
    let latest = |limit| store.latest_tickets(Host::CLAUDE, &conversation("c1"), limit).unwrap();
    assert_eq!((latest(1).len(), latest(9).len()), (1, 2));
    assert_eq!(latest(1)[0].receipt, second);
    assert_eq!(store.latest_tickets(Host::CODEX, &conversation("c1"), 9).unwrap(), []);
    let call = |id: &str| {
        let call = ToolUseId::new(id).unwrap();
        store.ticket_of_call(Host::CLAUDE, &conversation("c1"), &call).unwrap()
    };
    assert_eq!(call("toolu_r_2").map(|found| found.receipt), Some(second));
    assert_eq!(call("toolu_none"), None);
    let unsettled = |seconds| store.unsettled_tickets(Host::CLAUDE, at(seconds)).unwrap();
    assert_eq!(unsettled(1).len(), 1, "one is closed");
    assert_eq!((unsettled(0), unsettled(1)[0].receipt.as_str()), (Vec::new(), "r_1"));
    assert_eq!(store.unsettled_tickets(Host::CODEX, at(9)).unwrap(), []);
}

/// A ticket belongs to one subagent.
pub fn a_ticket_has_one_agent(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let id = ticket(&*store, &session, "r_1", false);
    assert!(store.take_ticket(&id, &agent("a1")).unwrap());
    assert!(store.take_ticket(&id, &agent("a1")).unwrap());
    assert!(!store.take_ticket(&id, &agent("a2")).unwrap());
    let second = ticket(&*store, &session, "r_2", false);
    assert!(!store.take_ticket(&second, &agent("a1")).unwrap(), "it has one");
    assert!(store.take_ticket(&second, &agent("a2")).unwrap());
}

/// Which subagent has which ticket is assumed when they start, and known later.
pub fn assumed_tickets_are_exchanged(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let (first, second) =
        (ticket(&*store, &session, "r_1", false), ticket(&*store, &session, "r_2", false));
    let of = |id: &str| store.ticket_of(Host::CLAUDE, &agent(id)).unwrap().map(|t| t.receipt);
    store.take_ticket(&first, &agent("a1")).unwrap();
    store.take_ticket(&second, &agent("a2")).unwrap();
    assert!(store.bind_ticket(&first, &agent("a2")).unwrap());
    assert_eq!((of("a1"), of("a2")), (Some(second.clone()), Some(first.clone())));
    assert!(store.bind_ticket(&first, &agent("a2")).unwrap(), "again");
    assert_eq!((of("a1"), of("a2")), (Some(second), Some(first)));
    let third = ticket(&*store, &session, "r_3", false);
    assert!(store.bind_ticket(&third, &agent("a1")).unwrap());
    assert_eq!(of("a1"), Some(third), "its former ticket is free again");
    let open = store.open_tickets(Host::CLAUDE, &conversation("c1")).unwrap();
    assert_eq!(open[1].agent, None);
}

/// A subagent that is continued ends again; the same message ends it once.
pub fn a_ticket_ends_with_each_message(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let id = ticket(&*store, &session, "r_1", false);
    store.take_ticket(&id, &agent("a1")).unwrap();
    assert!(store.end_ticket(&id, "first", at(1)).unwrap());
    assert!(!store.end_ticket(&id, "first", at(2)).unwrap());
    assert!(store.end_ticket(&id, "second", at(3)).unwrap());
    let ended = store.ticket_of(Host::CLAUDE, &agent("a1")).unwrap().unwrap();
    assert_eq!((ended.ending.as_deref(), ended.closed_at), (Some("second"), Some(at(1))));
}

/// What waits for its subagent is claimed until its ticket is closed.
pub fn a_claim_lives_as_long_as_its_ticket(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let id = ticket(&*store, &session, "r_1", true);
    let role = store.receipt(&id).unwrap().role;
    let deliveries = || store.deliveries(&session, None, &role, at(10_000)).unwrap();
    assert_eq!(deliveries(), 1);
    store.close_ticket(&id, at(10_000)).unwrap();
    assert_eq!(deliveries(), 0);
}

/// A subagent is held back once, and its ticket closed once.
pub fn asked_once_and_closed_once(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let id = ticket(&*store, &session, "r_1", false);
    assert!(store.ask_ticket(&id).unwrap() && !store.ask_ticket(&id).unwrap());
    assert!(store.close_ticket(&id, at(1)).unwrap() && !store.close_ticket(&id, at(2)).unwrap());
    assert!(!store.ask_ticket(&ReceiptId::new("r_none").unwrap()).unwrap());
}

/// One entry per version.
pub fn the_last_observation_of_a_version_counts(backend: &dyn Backend) {
    let store = backend.open();
    for (version, drops, seconds) in [("2.0", true, 1), ("1.0", true, 2), ("2.0", false, 3)] {
        store.note_host_version(Host::CLAUDE, &clean(version), drops, at(seconds)).unwrap();
    }
    let known = store.host_versions().unwrap();
    let known: Vec<_> = known.iter().map(|v| (v.version.as_str(), v.drops_rewrites)).collect();
    assert_eq!(known, [("1.0", true), ("2.0", false)]);
}
