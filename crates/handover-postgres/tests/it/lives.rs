//! Random sequences of calls on both backends: the same calls, the same results and the same errors, in the
//! wire form of every method. The sequences are the same in every run.

use handover_sqlite::SqliteStore;
use handover_store::wire::Call;
use handover_store::{PackageFilter, Packages, Sessions, Store};
use handover_text::Redactor;
use serde_json::{Value, json};

use crate::agree::Dice;
use crate::server::{psql, schema_of};
use crate::test_project::TestProject;

const SESSIONS: [&str; 3] = ["s1", "s2", "unknown"];
const GROUPS: [&str; 2] = ["login", "logout"];
const ROLES: [&str; 3] = ["developer", "qa_expert", "tech_lead"];
const RECEIPTS: [&str; 5] = ["r1", "r2", "r3", "r4", "r_none"];
const TEXTS: [&str; 5] = ["zebra", "it\0s", "ünï\u{10FFFD}", "' OR 1=1 --", "zebra stripes again"];
const EPICS: [&str; 2] = ["1", "2"];
const RUNS: [&str; 2] = ["run_1", "run_2"];

/// Generates the next call.
struct Author {
    dice: Dice,
    seconds: i64,
}

impl Author {
    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        self.dice.pick(from)
    }

    fn maybe(&mut self, from: &[&'static str]) -> Value {
        if self.dice.roll(2) == 0 { Value::Null } else { self.pick(from).into() }
    }

    /// Mostly later than before, sometimes at the same moment.
    fn now(&mut self) -> String {
        self.seconds += i64::try_from(self.dice.roll(3)).unwrap() * 7;
        let (hours, rest) = (self.seconds / 3_600, self.seconds % 3_600);
        format!("2026-11-15T{:02}:{:02}:{:02}Z", 10 + hours, rest / 60, rest % 60)
    }

    fn id(&mut self) -> u64 {
        1 + self.dice.roll(12)
    }

    fn call(&mut self) -> Value {
        let (method, arguments) = match self.dice.roll(4) {
            0 => self.sessions_and_groups(),
            1 => self.packages(),
            2 => self.receipts(),
            _ => match self.dice.roll(3) {
                0 => self.learned(),
                1 => self.runs(),
                _ => self.records(),
            },
        };
        json!({"method": method, "arguments": arguments})
    }

    fn sessions_and_groups(&mut self) -> (&'static str, Value) {
        let (session, now) = (self.pick(&SESSIONS), self.now());
        match self.dice.roll(7) {
            0 | 1 => {
                // Two of the three will exist sooner or later.
                let id = self.pick(&SESSIONS[..2]);
                let new = json!({"id": id, "project": "p", "metadata": {"n": 1.5}, "now": now});
                ("open_session", json!({"new": new}))
            }
            2 => {
                let status = self.pick(&["active", "completed", "failed"]);
                ("set_session_status", json!({"id": session, "status": status, "now": now}))
            }
            3 => ("session_counts", json!({"id": session})),
            4 => ("groups", json!({"session": session})),
            5 => {
                let update = json!({
                    "session": session, "id": self.pick(&GROUPS), "title": self.maybe(&TEXTS),
                    "status": self.maybe(&["pending", "in_progress", "completed"]),
                    "references": if self.dice.roll(3) == 0 { json!([self.id()]) } else { Value::Null },
                    "specializations": null, "component": self.maybe(&TEXTS),
                    "count": if self.dice.roll(2) == 0 { json!(["revisions"]) } else { json!([]) },
                    "now": now,
                });
                ("set_group", json!({"update": update}))
            }
            _ => ("sessions", json!({"status": self.maybe(&["active", "failed"])})),
        }
    }

    fn package(&mut self) -> Value {
        let body = self.pick(&TEXTS);
        let group = self.maybe(&GROUPS);
        let scope = if group.is_null() { "global" } else { "group" };
        let supersede = match self.dice.roll(5) {
            0 => json!({"Package": self.id()}),
            _ => json!("SamePath"),
        };
        json!({
            "session": self.pick(&SESSIONS[..2]), "group": group, "scope": scope,
            "kind": self.pick(&["research", "failures"]), "path": format!("{}.md", self.dice.roll(4)),
            "title": self.maybe(&TEXTS), "summary": self.pick(&TEXTS), "files": [self.pick(&TEXTS)],
            "body": body, "producer": self.pick(&ROLES), "consumers": [self.pick(&ROLES)],
            "priority": self.pick(&["low", "medium", "high", "critical"]), "iteration": null,
            "size_bytes": body.len(), "tokens": 3, "content_hash": body, "supersede": supersede,
            "created_at": self.now(), "trust": self.pick(&["agent", "project"]),
        })
    }

    fn packages(&mut self) -> (&'static str, Value) {
        let (session, id) = (self.pick(&SESSIONS), self.id());
        match self.dice.roll(9) {
            0..=3 => {
                let new: Vec<Value> = (0..=self.dice.roll(3)).map(|_| self.package()).collect();
                ("register_packages", json!({"new": new}))
            }
            4 => {
                let filter = json!({
                    "group": self.maybe(&GROUPS), "versions": self.pick(&["Latest", "All"]),
                    "limit": if self.dice.roll(2) == 0 { json!(2) } else { Value::Null },
                });
                ("packages", json!({"session": session, "filter": filter}))
            }
            5 => ("package_history", json!({"id": id})),
            6 => ("package_body", json!({"id": id})),
            7 => ("packages_by_id", json!({"ids": [id, self.id()]})),
            _ => {
                let (group, role) = (self.maybe(&GROUPS), self.maybe(&ROLES));
                (
                    "slice",
                    json!({"session": session, "group": group, "role": role, "from": 0, "enough": 50}),
                )
            }
        }
    }

    fn receipts(&mut self) -> (&'static str, Value) {
        let (session, id, now) = (self.pick(&SESSIONS), self.pick(&RECEIPTS), self.now());
        match self.dice.roll(9) {
            0 | 1 => {
                let item = json!({
                    "kind": "package", "id": self.id().to_string(), "version": 1, "form": "full",
                    "score": 1.25, "terms": {"task": 0.5}, "tokens": 7, "read_at": null, "trust": "agent",
                    "flags": [],
                });
                // The engine uses each id at most once, so a second use is an error in both.
                let new = json!({
                    "id": id, "session": session, "group": self.maybe(&GROUPS), "role": self.pick(&ROLES),
                    "iteration": self.dice.roll(2), "model": self.maybe(&TEXTS), "tokenizer": "claude",
                    "zone": "normal", "tokens": 300, "prompt_hash": "0", "sections": [], "items": [item],
                    "left_out": [], "left_out_counts": {}, "redactions": {}, "trimmed": [],
                    "provided": {"context": {"state": "present"}, "specialization": {"state": "missing"}},
                    "text": self.maybe(&TEXTS), "claim": self.dice.roll(2) == 0, "now": now,
                });
                ("put_receipt", json!({"new": new}))
            }
            2 | 3 => {
                let step = match self.dice.roll(3) {
                    0 => json!({"Delivered": {"host": self.maybe(&TEXTS)}}),
                    1 => json!("Confirmed"),
                    _ => json!({"Failed": {"reason": self.pick(&TEXTS)}}),
                };
                ("advance_receipt", json!({"id": id, "step": step, "now": now}))
            }
            4 => ("claim_receipt", json!({"id": id, "now": now})),
            5 => ("mark_read", json!({"id": id, "package": self.id(), "now": now})),
            6 => ("handed", json!({"session": session})),
            7 => {
                let (group, role, iteration) =
                    (self.maybe(&GROUPS), self.pick(&ROLES), self.dice.roll(2));
                (
                    "consumed",
                    json!({"session": session, "group": group, "role": role, "iteration": iteration, "now": now}),
                )
            }
            _ => {
                let filter = json!({"session": session, "group": null, "role": self.maybe(&ROLES), "limit": 3});
                ("receipts", json!({"filter": filter}))
            }
        }
    }

    fn learned(&mut self) -> (&'static str, Value) {
        let now = self.now();
        match self.dice.roll(6) {
            0 | 1 => {
                let signature =
                    json!({"kind": "TypeError", "message": self.pick(&TEXTS), "hints": []});
                let sighting = json!({
                    "project": "p", "signature": signature, "language": self.maybe(&["rust", "python"]),
                    "ttl_days": 90, "session": null, "group": null, "role": self.maybe(&ROLES),
                    "command": self.maybe(&TEXTS), "now": now, "trust": self.pick(&["agent", "outside"]),
                });
                if self.dice.roll(2) == 0 {
                    ("record_error", json!({"sighting": sighting}))
                } else {
                    ("resolve_error", json!({"sighting": sighting, "solution": self.pick(&TEXTS)}))
                }
            }
            2 => {
                let filter = json!({"language": self.maybe(&["rust"]), "above": null, "live_at": now, "limit": 2});
                ("errors", json!({"project": "p", "filter": filter}))
            }
            3 => {
                let new = json!({
                    "project": "p", "topic": "architecture", "insight": self.pick(&TEXTS),
                    "language": self.maybe(&["rust"]), "framework": null, "source": self.id(), "now": now, "trust": "agent",
                });
                ("learn_strategies", json!({"new": [new]}))
            }
            4 => {
                let filter =
                    json!({"language": self.maybe(&["rust"]), "framework": null, "limit": null});
                ("strategies", json!({"project": "p", "filter": filter}))
            }
            _ => ("error_trust", json!({"project": "p", "hash": "feedfacefeedface"})),
        }
    }

    fn runs(&mut self) -> (&'static str, Value) {
        let (epic, run, now, fence) =
            (self.pick(&EPICS), self.pick(&RUNS), self.now(), 1 + self.dice.roll(3));
        let until = "2026-11-15T20:00:00Z";
        match self.dice.roll(7) {
            0 => {
                let owner = json!({"host": "here", "pid": self.dice.roll(2), "started": null, "boot": null});
                let over = if self.dice.roll(2) == 0 { json!(fence) } else { Value::Null };
                let claim =
                    json!({"epic": epic, "owner": owner, "until": until, "over": over, "now": now});
                ("lock_epic", json!({"claim": claim}))
            }
            1 => ("unlock_epic", json!({"epic": epic, "fence": fence})),
            2 => ("keep_epic", json!({"epic": epic, "fence": fence, "until": until})),
            3 => {
                let new =
                    json!({"id": run, "epic": epic, "session": self.pick(&SESSIONS), "now": now});
                ("start_run", json!({"new": new, "fence": fence}))
            }
            4 => {
                let new = json!({
                    "seq": 1 + self.dice.roll(3), "kind": self.pick(&["intent", "result", "note"]),
                    "entry": {"text": self.pick(&TEXTS)}, "state": self.maybe(&["running", "done"]),
                    "until": until, "now": now,
                });
                ("append_journal", json!({"run": run, "new": new, "fence": fence}))
            }
            5 => ("journal", json!({"run": run, "from": 1})),
            _ => ("epic_owner", json!({"epic": epic})),
        }
    }

    fn records(&mut self) -> (&'static str, Value) {
        let (session, now) = (self.pick(&SESSIONS), self.now());
        match self.dice.roll(6) {
            0 | 1 => {
                let new = json!({
                    "session": session, "group": self.maybe(&GROUPS), "role": self.pick(&ROLES),
                    "agent_id": null, "iteration": 0, "phase": self.pick(&["risks", "decisions"]),
                    "confidence": self.maybe(&["high", "low"]), "content": self.pick(&TEXTS),
                    "references": [self.pick(&TEXTS)], "now": now, "trust": "agent",
                });
                ("add_reasoning", json!({"new": new}))
            }
            2 => {
                let filter = json!({
                    "group": self.maybe(&GROUPS), "role": self.maybe(&ROLES), "phase": null,
                    "limit": 3, "order": self.pick(&["NewestFirst", "OldestFirst"]),
                });
                ("reasoning", json!({"session": session, "filter": filter}))
            }
            3 => {
                let new = json!({
                    "session": session, "skill": "scan", "role": self.maybe(&ROLES),
                    "group": self.maybe(&GROUPS), "output": {"text": self.pick(&TEXTS)}, "now": now,
                });
                ("save_skill_output", json!({"new": new}))
            }
            4 => {
                let filter = json!({"skill": null, "role": self.maybe(&ROLES), "group": null, "limit": null});
                ("skill_outputs", json!({"session": session, "filter": filter}))
            }
            _ => ("session", json!({"id": session})),
        }
    }
}

/// The answer, or the code and message of the error.
fn perform(store: &dyn Store, redactor: &Redactor, call: &Value) -> Result<Value, String> {
    use serde::Deserialize;
    let parsed = redactor.reading(|| Call::deserialize(call.clone()));
    let parsed = parsed.unwrap_or_else(|error| panic!("{error} in {call}"));
    parsed.perform(store).map_err(|error| match error.code() {
        // The message text differs between backends.
        code if code.starts_with("store_") => code.to_owned(),
        code => format!("{code}: {error}"),
    })
}

/// A rolled-back write uses up its ids on a server, but not in a file. Ids continue as if it had never
/// happened.
fn forget_lost_ids(test_project: &TestProject) {
    let reset = ["package", "reasoning", "skill_output"].map(|table| {
        format!(
            "SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 0) + 1, false) FROM {table};"
        )
    });
    let sql = format!("SET search_path = {}; {}", schema_of(test_project), reset.concat());
    psql(&handover_testkit::postgres(), &sql);
}

#[test]
fn both_backends_return_the_same_results() {
    let redactor = Redactor::default();
    let (mut answered, mut failed) = (0, 0);
    for seed in 1..=8 {
        let folder = tempfile::tempdir().unwrap();
        let test_project = TestProject::fresh();
        let file = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let shared = test_project.open();
        let mut author = Author { dice: Dice(seed * 0x9E37_79B9), seconds: 0 };
        let mut history = Vec::new();
        for step in 0..160 {
            let call = author.call();
            history.push(call.to_string());
            let here = perform(&file, &redactor, &call);
            let there = perform(&shared, &redactor, &call);
            assert_eq!(here, there, "seed {seed}, step {step}: {call}\n{}", history.join("\n"));
            if here.is_ok() {
                answered += 1;
            } else {
                failed += 1;
                forget_lost_ids(&test_project);
            }
        }
        // The text indexes match, and both are sound.
        for session in file.sessions(None).unwrap() {
            let all = file.packages(&session.id, &PackageFilter::default()).unwrap();
            let terms = ["zebra".to_owned(), "stripe".to_owned(), "ünï".to_owned()];
            let postings = |store: &dyn Store| {
                let found = store.postings(&session.id, &terms).unwrap();
                found.iter().map(|postings| postings.count()).collect::<Vec<_>>()
            };
            assert_eq!(postings(&file), postings(&shared), "seed {seed}, {} packages", all.len());
        }
        for store in [&file as &dyn Store, &shared] {
            for check in store.check().unwrap() {
                assert_eq!(check.problems, [""; 0], "seed {seed}: {}", check.part);
            }
        }
    }
    assert!(answered > 600 && failed > 100, "{answered} answered, {failed} failed");
}
