//! Validation of imported text: a store must be able to read what it accepted.

use std::collections::BTreeMap;
use std::str::FromStr;

use handover_model::{
    AgentId, Confidence, CounterName, EpicId, EventType, Form, GroupId, GroupStatus, Host,
    HostSessionId, ItemKind, JournalKind, LeftOut, LockOwner, PackageKind, Phase, Priority,
    ProjectId, Provided, ReceiptId, ReceiptState, Role, RunId, RunState, Scope, Section, SessionId,
    SessionStatus, SkillName, TicketWay, Topic, Zone,
};
use serde::de::DeserializeOwned;

fn is<T: FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

fn holds<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

/// Whether the text parses as the id, enum or JSON type that the column is read as.
pub(super) fn is_valid(kind: &str, column: &str, text: &str) -> bool {
    match (kind, column) {
        ("session", "id") | ("run", "session") => is::<SessionId>(text),
        (_, "project") => is::<ProjectId>(text),
        ("task_group", "id") | (_, "group_id") => is::<GroupId>(text),
        (_, "role" | "producer") => is::<Role>(text),
        (_, "agent_id" | "agent") => is::<AgentId>(text),
        ("skill_output", "skill") => is::<SkillName>(text),
        ("event", "type") => is::<EventType>(text),
        ("receipt", "id") | ("receipt_item" | "ticket", "receipt") => is::<ReceiptId>(text),
        ("run", "id") => is::<RunId>(text),
        (_, "epic") => is::<EpicId>(text),
        ("group_counter", "name") => is::<CounterName>(text),
        (_, "host_session") => is::<HostSessionId>(text),
        ("host_binding" | "ticket" | "host_version", "host") => is::<Host>(text),
        ("session", "status") => is::<SessionStatus>(text),
        ("task_group", "status") => is::<GroupStatus>(text),
        ("package", "scope") => is::<Scope>(text),
        ("package", "kind") => is::<PackageKind>(text),
        ("package", "priority") => is::<Priority>(text),
        ("reasoning", "phase") => is::<Phase>(text),
        ("reasoning", "confidence") => is::<Confidence>(text),
        ("strategy", "topic") => is::<Topic>(text),
        ("receipt", "zone") => is::<Zone>(text),
        ("receipt", "state") => is::<ReceiptState>(text),
        ("receipt_item", "kind") => is::<ItemKind>(text),
        ("receipt_item", "form") => is::<Form>(text),
        ("run", "state") => is::<RunState>(text),
        ("run_journal", "kind") => is::<JournalKind>(text),
        ("ticket", "way") => is::<TicketWay>(text),
        ("package", "files")
        | ("task_group", "specializations")
        | ("reasoning", "refs")
        | ("error_pattern", "hints")
        | ("receipt", "trimmed") => holds::<Vec<String>>(text),
        ("receipt", "sections") => holds::<Vec<Section>>(text),
        ("receipt", "left_out") => holds::<Vec<LeftOut>>(text),
        ("receipt", "left_out_counts" | "redactions") => holds::<BTreeMap<String, u64>>(text),
        ("receipt", "provided") => holds::<Provided>(text),
        ("receipt_item", "terms") => holds::<BTreeMap<String, f64>>(text),
        (_, "owner") => holds::<LockOwner>(text),
        _ => true,
    }
}
