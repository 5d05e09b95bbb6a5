use std::collections::BTreeMap;

use handover_model::ItemKind;
use handover_model::config::ForgetConfig;
use handover_store::archive::Archive;
use handover_store::{
    Amendments, CleanSignature, ErrorPatterns, ErrorSighting, NewReceipt, NewStrategy, NewUnit,
    Notes, OperationFilter, Operations, PackageFilter, Packages, ReceiptStep, Receipts, Strategies,
    Versions,
};
use proptest::prelude::*;

use super::*;
use crate::testing::{TestProject, at, project, role};

fn by_hand<'a>(test: &'a TestProject, project: &'a ProjectId, number: i64) -> ByHand<'a> {
    ByHand {
        store: &test.store,
        redactor: &test.redactor,
        project,
        id: OperationId::new(format!("op_{number:04}")).unwrap(),
        trust: Trust::Person,
        author: None,
        now: at(1_000 + number),
    }
}

fn written<'a>(text: &'a str) -> Written<'a> {
    Written { text, title: None, paths: &[], trust: Trust::Person }
}

/// A project with two packages, two notes, a strategy and an error.
struct Filled {
    test: TestProject,
    project: ProjectId,
    packages: [PackageId; 2],
    notes: [handover_model::NoteId; 2],
    strategy: String,
    error: String,
}

impl Filled {
    fn new() -> Self {
        let (test, project) = (TestProject::new(), project());
        let packages = ["a.md", "b.md"]
            .map(|path| test.register(test.package(path, "about dragons", path)).id);
        let notes = ["Prices are cents", "Floats are banned"].map(|text| {
            let note = written(text);
            notes::write(&test.store, &project, &test.redactor, &note, at(1)).unwrap().0.id
        });
        let strategy = NewStrategy {
            project: project.clone(),
            topic: handover_model::Topic::Architecture,
            insight: test.redactor.clean("Use adapters"),
            language: None,
            framework: None,
            source: handover_model::ReasoningId(1),
            now: at(1),
            trust: Trust::Agent,
        };
        let strategy = test.store.learn_strategies(&[strategy]).unwrap().remove(0).id;
        let sighting = ErrorSighting {
            project: project.clone(),
            signature: CleanSignature::new(None, "boom", &[], &test.redactor),
            language: None,
            ttl_days: 90,
            session: None,
            group: None,
            role: None,
            command: None,
            now: at(1),
            trust: Trust::Agent,
        };
        let error = test.store.record_error(&sighting).unwrap().hash;
        Self { test, project, packages, notes, strategy, error }
    }

    fn by_hand(&self, number: i64) -> ByHand<'_> {
        by_hand(&self.test, &self.project, number)
    }

    fn note(&self, at: usize) -> Note {
        self.test.store.note(&self.project, &self.notes[at]).unwrap()
    }

    /// Every record but those of the log.
    fn archive(&self) -> Vec<String> {
        let mut records = Vec::new();
        self.test
            .store
            .each_record(&mut |record| {
                let record = record.record();
                if record.kind.name != "operation" {
                    records.push(record.to_json().to_string());
                }
                Ok(())
            })
            .unwrap();
        records
    }

    fn log(&self) -> Vec<Operation> {
        self.test.store.operations(&self.project, &OperationFilter::default()).unwrap()
    }

    /// One of the changes that can be made to the two packages, notes, the strategy, the error and the session.
    fn apply(&self, number: i64, what: u8) {
        let hand = self.by_hand(number);
        let state = |retire: bool| if retire { RecordState::Retired } else { RecordState::Live };
        let (retire, which) = (what & 1 == 1, usize::from(what >> 1 & 1));
        match what >> 2 {
            0 => drop(hand.set_package(self.packages[which], state(retire), Some("old")).unwrap()),
            1 => {
                let decision = match retire {
                    true => Decision::Retire { reason: Some("old") },
                    false => Decision::Restore,
                };
                hand.decide(&self.note(which), decision).unwrap();
            }
            2 => drop(hand.set_strategy(&self.strategy, state(retire), None).unwrap()),
            3 => drop(hand.set_error(&self.error[..8], state(retire), Some("old")).unwrap()),
            _ => {
                let status = match (retire, which) {
                    (false, _) => SessionStatus::Active,
                    (true, 0) => SessionStatus::Completed,
                    (true, _) => SessionStatus::Failed,
                };
                hand.set_session(&self.test.session, status).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was done: undoing all of it restores every record exactly, and undoing the undoing restores what
    /// was there after it.
    #[test]
    fn undoing_restores_every_record(actions in proptest::collection::vec(0_u8..20, 1..9)) {
        let filled = Filled::new();
        let mut states = vec![filled.archive()];
        for (number, what) in actions.iter().enumerate() {
            let logged = filled.log().len();
            filled.apply(number as i64, *what);
            match filled.log().len() == logged {
                // Nothing changed, so nothing was logged.
                true => prop_assert_eq!(&filled.archive(), states.last().unwrap()),
                false => states.push(filled.archive()),
            }
        }
        let mut number = 100;
        let mut undoings = Vec::new();
        for state in states.iter().rev().skip(1) {
            let (_, done) = filled.by_hand(number).undo(None).unwrap();
            undoings.push(done.id);
            prop_assert_eq!(&filled.archive(), state);
            number += 1;
        }
        prop_assert!(matches!(filled.by_hand(number).undo(None), Err(ByHandError::NothingToUndo)));
        for (undoing, state) in undoings.iter().rev().zip(states.iter().skip(1)) {
            number += 1;
            filled.by_hand(number).undo(Some(undoing.as_str())).unwrap();
            prop_assert_eq!(&filled.archive(), state);
        }
    }
}

#[test]
fn a_later_change_must_be_undone_first() {
    let filled = Filled::new();
    let [one, _] = filled.packages;
    filled.by_hand(1).set_package(one, RecordState::Retired, Some("old")).unwrap();
    filled.by_hand(2).set_package(one, RecordState::Live, None).unwrap();
    let refused = filled.by_hand(3).undo(Some("op_0001")).unwrap_err();
    assert_eq!(refused.to_string(), "package 1 was changed again after op_0001, by op_0002");
    filled.by_hand(4).undo(Some("0002")).unwrap();
    let again = filled.by_hand(5).undo(Some("op_0002")).unwrap_err();
    assert_eq!(again.to_string(), "op_0002 was undone by op_0004");
    filled.by_hand(6).undo(Some("op_0001")).unwrap();
    assert_eq!(filled.test.store.package(one).unwrap().state, RecordState::Live);
    let unknown = filled.by_hand(7).undo(Some("nothing")).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no operation `nothing`");
    assert!(matches!(filled.by_hand(8).undo(Some("op_")), Err(ByHandError::Unknown { .. })));
    assert!(matches!(filled.by_hand(8).undo(Some("op_0")), Err(ByHandError::Ambiguous { .. })));
    // A refusal changes nothing and is not logged.
    assert_eq!(filled.log().len(), 4);
}

#[test]
fn what_was_added_is_retired_not_deleted() {
    let filled = Filled::new();
    let note = filled.by_hand(1).write_note(&written("Ask first")).unwrap();
    filled.by_hand(2).write_note(&written("Ask first")).unwrap();
    assert_eq!(filled.log().len(), 1, "the same note again is no change");
    let (undone, _) = filled.by_hand(3).undo(None).unwrap();
    assert_eq!(undone.action, Action::Add);
    let found = filled.test.store.note(&filled.project, &note.id).unwrap();
    assert_eq!((found.state, found.reason.as_deref()), (NoteState::Retired, Some(UNDONE)));
    filled.by_hand(4).undo(Some("op_0003")).unwrap();
    let found = filled.test.store.note(&filled.project, &note.id).unwrap();
    assert_eq!((found.state, found.reason), (NoteState::Live, None));
}

#[test]
fn an_old_version_becomes_the_newest_one() {
    let filled = Filled::new();
    let test = &filled.test;
    let register = |body: &str, number| {
        let new = test.package("c.md", body, body);
        filled.by_hand(number).register(&new).unwrap().package.id
    };
    register("one", 1);
    let second = register("two", 2);
    let body_of_latest = || {
        let filter = PackageFilter { path: Some("c.md".to_owned()), ..PackageFilter::default() };
        let latest = test.store.packages(&test.session, &filter).unwrap().remove(0);
        assert_eq!(latest.summary, test.store.package_body(latest.id).unwrap());
        (latest.version, latest.summary)
    };
    filled.by_hand(3).undo(None).unwrap();
    assert_eq!(body_of_latest(), (3, "one".to_owned()));
    filled.by_hand(4).undo(Some("op_0003")).unwrap();
    assert_eq!(body_of_latest(), (4, "two".to_owned()));
    let refused = filled.by_hand(5).undo(Some("op_0002")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("package {second} was changed again after op_0002, by op_0004")
    );
    let filter = PackageFilter {
        path: Some("c.md".to_owned()),
        versions: Versions::All,
        ..PackageFilter::default()
    };
    assert_eq!(test.store.packages(&test.session, &filter).unwrap().len(), 4, "nothing is deleted");
}

#[test]
fn what_is_gone_stays_gone() {
    let filled = Filled::new();
    let [one, _] = filled.packages;
    filled.by_hand(1).set_package(one, RecordState::Retired, None).unwrap();
    filled.by_hand(2).decide(&filled.note(0), Decision::Retire { reason: Some("old") }).unwrap();
    filled.test.store.purge_note(&filled.project, &filled.notes[0], at(5_000)).unwrap();
    assert_eq!(filled.log().len(), 1, "a purge takes the log of the note with it");
    filled.test.store.delete_packages(&[one]).unwrap();
    let gone = filled.by_hand(3).undo(None).unwrap_err();
    assert_eq!(gone.to_string(), "package 1 no longer exists, so op_0001 cannot be undone");
    let erased = filled.by_hand(4).decide(&filled.note(0), Decision::Restore).unwrap_err();
    assert_eq!(erased.code(), "erased");
}

#[test]
fn reasons_are_redacted_and_parts_of_ids_are_enough() {
    let filled = Filled::new();
    let part = &filled.strategy[filled.strategy.len() - 6..];
    let retired = filled
        .by_hand(1)
        .set_strategy(part, RecordState::Retired, Some(" password=hunter2sEcret "))
        .unwrap();
    assert_eq!(retired.reason.as_deref(), Some("password=[REDACTED-1]"));
    let unknown = filled.by_hand(2).set_strategy("st_none", RecordState::Live, None).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no strategy `st_none`");
    let unknown = filled.by_hand(2).set_error("ffff", RecordState::Live, None).unwrap_err();
    assert_eq!(unknown.code(), "not_found");
    filled.by_hand(3).undo(None).unwrap();
}

/// Seconds of a number of days.
fn day(days: i64) -> Timestamp {
    at(days * 86_400)
}

fn deliver(filled: &Filled, items: &[(ItemKind, String)], when: Timestamp) {
    let id = handover_model::ReceiptId::new(format!("r_{}", when.as_micros())).unwrap();
    let items = items.iter().map(|(kind, id)| handover_model::ReceiptItem {
        kind: *kind,
        id: id.clone(),
        version: 1,
        form: handover_model::Form::Full,
        score: 1.0,
        terms: BTreeMap::new(),
        tokens: 1,
        read_at: None,
        trust: Trust::Agent,
        stale: Vec::new(),
        outdated: None,
        used: None,
        flags: Vec::new(),
    });
    let receipt = NewReceipt {
        id: id.clone(),
        session: filled.test.session.clone(),
        group: None,
        role: role("developer"),
        iteration: 0,
        model: None,
        tokenizer: "claude".to_owned(),
        zone: handover_model::Zone::Normal,
        tokens: 1,
        prompt_hash: "h".to_owned(),
        sections: Vec::new(),
        items: items.collect(),
        left_out: Vec::new(),
        left_out_counts: BTreeMap::new(),
        redactions: BTreeMap::new(),
        trimmed: Vec::new(),
        provided: handover_model::Provided::default(),
        task: None,
        text: None,
        claim: false,
        now: when,
    };
    filled.test.store.put_receipt(&receipt).unwrap();
    filled.test.store.advance_receipt(&id, &ReceiptStep::Delivered { host: None }, when).unwrap();
}

#[test]
fn nothing_expires_unless_it_is_configured() {
    let filled = Filled::new();
    let off = ForgetConfig::default();
    assert!(filled.by_hand(1).expire(&off).unwrap().is_empty());
    let late = ByHand { now: day(10_000), ..filled.by_hand(1) };
    assert!(late.expire(&off).unwrap().is_empty());
    assert!(filled.log().is_empty());
}

#[test]
fn what_is_old_or_unused_expires_and_returns() {
    let filled = Filled::new();
    let test = &filled.test;
    let talk = NewUnit {
        kind: handover_model::NoteKind::Conversation,
        source: "talk".to_owned(),
        fingerprint: Some("f".to_owned()),
        notes: vec![handover_store::NewNote {
            id: handover_model::NoteId::new("conversation-1").unwrap(),
            origin: test.redactor.clean("talk"),
            title: test.redactor.clean("talk"),
            text: test.redactor.clean("We agreed on zanzibar"),
            trust: Trust::Agent,
            paths: Vec::new(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash: "h".to_owned(),
            created_at: day(50),
        }],
    };
    test.store.learn_notes(&filled.project, &[talk], day(50)).unwrap();
    let mut critical = test.package("critical.md", "critical", "critical");
    critical.priority = handover_model::Priority::Critical;
    test.register(critical);
    let [used, unused] = filled.packages;
    deliver(&filled, &[(ItemKind::Package, used.to_string())], day(80));
    let before = filled.archive();
    let config = ForgetConfig { unused_days: 30, ..ForgetConfig::default() };
    let now = day(100);
    let subjects =
        |expiring: &[Expiring]| expiring.iter().map(Expiring::subject).collect::<Vec<String>>();
    let expected = [
        format!("package {unused} (b.md)"),
        "note conversation-1".to_owned(),
        format!("strategy {}", filled.strategy),
    ];
    let dry = expired(&test.store, &filled.project, &config, now).unwrap();
    assert_eq!(subjects(&dry), expected);
    assert_eq!(filled.archive(), before, "asking changes nothing");
    let hand = ByHand { now, ..filled.by_hand(1) };
    assert_eq!(hand.expire(&config).unwrap(), dry);
    let package = test.store.package(unused).unwrap();
    assert_eq!(
        (package.state, package.reason.as_deref()),
        (RecordState::Retired, Some("expired: not used for 30 days"))
    );
    assert!(expired(&test.store, &filled.project, &config, now).unwrap().is_empty());
    filled.by_hand(9_000).undo(None).unwrap();
    assert_eq!(filled.archive(), before);
    let config = ForgetConfig { after_days: 60, ..ForgetConfig::default() };
    let old = expired(&test.store, &filled.project, &config, now).unwrap();
    assert_eq!(old.len(), 3, "{old:?}");
    assert!(old.iter().all(|one| one.reason == "expired: older than 60 days"), "{old:?}");
    assert!(old[0].subject().starts_with(&format!("package {unused}")), "newest first");
}

#[test]
fn undoing_a_decision_leaves_it_to_the_rule() {
    let filled = Filled::new();
    let decided = || -> Vec<AmendmentDecision> {
        let all = filled.test.store.amendments(&filled.project).unwrap();
        all.into_iter().map(|one| one.decision).collect()
    };
    let [first, second] = filled.notes.clone();
    let [earlier, later] =
        [first, second].map(|id| filled.test.store.note(&filled.project, &id).unwrap());
    filled.by_hand(1).decide(&earlier, Decision::Confirm { by: Some(&later) }).unwrap();
    let [old, new] = filled.packages;
    filled.by_hand(2).decide_package(old, Some(new), AmendmentDecision::Rejected).unwrap();
    assert_eq!(decided(), [AmendmentDecision::Rejected, AmendmentDecision::Confirmed]);
    filled.by_hand(3).undo(None).unwrap();
    filled.by_hand(4).undo(None).unwrap();
    assert_eq!(decided(), [AmendmentDecision::Open; 2]);
    let note = filled.test.store.note(&filled.project, &earlier.id).unwrap();
    assert_eq!(note.state, NoteState::Live);
    // Undoing is undone, too.
    filled.by_hand(5).undo(Some("op_0003")).unwrap();
    let all = filled.test.store.amendments(&filled.project).unwrap();
    assert_eq!(all[0].decision, AmendmentDecision::Rejected);
}

#[test]
fn a_summary_is_edited_as_a_new_version_and_that_is_undone() {
    let filled = Filled::new();
    let (store, id) = (&filled.test.store, filled.packages[0]);
    let edit = |number, id, text: &str| {
        by_hand(&filled.test, &filled.project, number).set_summary(id, text)
    };
    let text = format!("Dragons\n are  password=hunter2sEcretOfAll {}", "long ".repeat(200));
    let new = edit(1, id, &text).unwrap().package;
    assert!(new.summary.starts_with("Dragons are "), "{}", new.summary);
    assert!(!new.summary.contains("hunter2") && new.summary.chars().count() <= 400);
    let old = store.package(id).unwrap();
    assert_eq!((new.version, new.supersedes, old.superseded_by), (2, Some(id), Some(new.id)));
    assert_eq!((&new.path, &new.content_hash), (&old.path, &old.content_hash));
    assert_eq!(store.package_body(new.id).unwrap(), store.package_body(id).unwrap());
    assert_eq!(new.trust, old.trust.min(Trust::Person));
    for (number, id, text, problem) in [
        (2, id, "late", "the package has a newer version"),
        (3, new.id, " \n ", "the summary is empty"),
    ] {
        assert_eq!(edit(number, id, text).unwrap_err().to_string(), problem);
    }
    // The same again changes nothing, and nothing is logged.
    assert!(!edit(4, new.id, &new.summary).unwrap().created);
    by_hand(&filled.test, &filled.project, 5).undo(None).unwrap();
    let latest = store.package_history(id).unwrap().pop().unwrap();
    assert_eq!((latest.summary, latest.version), (old.summary, 3));
    let retire = by_hand(&filled.test, &filled.project, 6);
    retire.set_package(latest.id, RecordState::Retired, None).unwrap();
    let refused = edit(7, latest.id, "x").unwrap_err();
    assert_eq!(refused.to_string(), "the package is retired");
}
