//! Validation of imported text: a store must be able to read what it accepted.

use std::collections::BTreeMap;
use std::str::FromStr;

use handover_model::{
    Action, AgentId, AmendedBy, AmendmentDecision, BriefDelivery, Confidence, CounterName, Edit,
    EpicId, EventType, Form, GroupId, GroupStatus, Host, HostSessionId, ItemKind, JournalKind,
    LeftOut, LockOwner, NoteId, NoteKind, NoteState, OperationId, PackageKind, Phase, Priority,
    ProjectId, Provided, ReceiptId, ReceiptState, RecordState, Role, RunId, RunState, Scope,
    ScreenFlag, Section, SessionId, SessionStatus, SkillName, StaleName, ToolUseId, Topic, Trust,
    Use, Verdict, Zone,
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
        ("ticket", "tool_use") => is::<ToolUseId>(text),
        ("skill_output", "skill") => is::<SkillName>(text),
        ("event", "type") => is::<EventType>(text),
        ("receipt", "id") | ("receipt_item" | "ticket" | "verdict", "receipt") => {
            is::<ReceiptId>(text)
        }
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
        ("verdict", "verdict") => is::<Verdict>(text),
        ("strategy", "topic") => is::<Topic>(text),
        ("note", "id") => is::<NoteId>(text),
        ("note" | "note_unit", "kind") => is::<NoteKind>(text),
        (_, "trust") => is::<Trust>(text),
        ("note", "state") => is::<NoteState>(text),
        ("package" | "strategy" | "error_pattern", "state") => is::<RecordState>(text),
        ("operation", "id" | "undoes") => is::<OperationId>(text),
        ("operation", "action") => is::<Action>(text),
        ("operation", "changes") => holds::<Vec<Edit>>(text),
        ("amendment", "earlier_kind" | "later_kind") => is::<ItemKind>(text),
        ("amendment", "decision") => is::<AmendmentDecision>(text),
        ("receipt", "zone") => is::<Zone>(text),
        ("receipt", "state") => is::<ReceiptState>(text),
        ("receipt_item", "kind") => is::<ItemKind>(text),
        ("receipt_item", "form") => is::<Form>(text),
        ("receipt_item", "used") => is::<Use>(text),
        ("run", "state") => is::<RunState>(text),
        ("run_journal", "kind") => is::<JournalKind>(text),
        ("ticket", "way") => is::<BriefDelivery>(text),
        ("package", "files")
        | ("task_group", "specializations")
        | ("reasoning", "refs")
        | ("verdict", "findings")
        | ("error_pattern", "hints")
        | ("note", "paths" | "symbols")
        | ("receipt", "trimmed") => holds::<Vec<String>>(text),
        ("receipt", "sections") => holds::<Vec<Section>>(text),
        ("receipt", "left_out") => holds::<Vec<LeftOut>>(text),
        ("receipt", "left_out_counts" | "redactions") => holds::<BTreeMap<String, u64>>(text),
        ("receipt", "provided") => holds::<Provided>(text),
        ("receipt_item", "outdated") => holds::<AmendedBy>(text),
        ("receipt_item", "flags") => holds::<Vec<ScreenFlag>>(text),
        ("receipt_item", "stale") => holds::<Vec<StaleName>>(text),
        ("receipt_item", "terms") => holds::<BTreeMap<String, f64>>(text),
        (_, "owner") => holds::<LockOwner>(text),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule with a text that it accepts and one that it rejects.
    #[test]
    fn every_checked_column_has_a_rule() {
        let list = r#"["a"]"#;
        for (kind, columns, good, bad) in [
            ("session", "id project", "s1", "../s1"),
            ("run", "session id epic", "r-1", "r/1"),
            ("task_group", "id", "P1", "global"),
            ("package", "group_id", "P1", "GLOBAL"),
            ("reasoning", "role agent_id", "dev1", "a b"),
            ("package", "producer", "qa_expert", "QA"),
            ("ticket", "agent host_session receipt tool_use", "a1", "a b"),
            ("skill_output", "skill", "lint", "a b"),
            ("event", "type", "delivery", ""),
            ("receipt", "id", "r_1", "r 1"),
            ("receipt_item", "receipt", "r_1", "r 1"),
            ("run_lock", "epic", "1", "a/b"),
            ("group_counter", "name", "qa_attempts", "qa attempts"),
            ("host_binding", "host", "claude", "Claude"),
            ("ticket", "host", "codex", "x y"),
            ("host_version", "host", "gemini", ""),
            ("session", "status", "active", "pending"),
            ("task_group", "status", "merging", "active"),
            ("package", "scope", "global", "all"),
            ("package", "kind", "research", "poem"),
            ("package", "priority", "critical", "urgent"),
            ("reasoning", "phase", "pivot", "end"),
            ("reasoning", "confidence", "low", "none"),
            ("strategy", "topic", "methodology", "general"),
            ("note", "id", "n_0af3", "n 1"),
            ("note", "kind", "commit", "rumor"),
            ("note_unit", "kind", "doc", "commits"),
            ("note", "trust", "person", "most"),
            ("package", "trust", "agent", ""),
            ("note", "state", "amended", "new"),
            ("package", "state", "retired", "amended"),
            ("strategy", "state", "live", "stale"),
            ("error_pattern", "state", "live", ""),
            ("operation", "id undoes", "op_1", "op 1"),
            ("operation", "action", "retire", "delete"),
            (
                "operation",
                "changes",
                r#"[{"of":"version","id":2,"former":1}]"#,
                r#"[{"of":"version"}]"#,
            ),
            ("note", "paths symbols", list, "{}"),
            ("receipt", "zone", "wrap_up", "red"),
            ("receipt", "state", "confirmed", "lost"),
            ("receipt_item", "kind", "error", "event"),
            ("receipt_item", "form", "pointer", "long"),
            ("receipt_item", "used", "echoed", "often"),
            ("run", "state", "budget", "lost"),
            ("run_journal", "kind", "intent", "event"),
            ("ticket", "way", "hold_back", "push"),
            ("package", "files", list, "{}"),
            ("task_group", "specializations", list, "[1]"),
            ("reasoning", "refs", list, "x"),
            ("error_pattern", "hints", list, "null"),
            ("receipt", "trimmed", list, "[[]]"),
            ("receipt", "sections", r#"[{"name":"a","budget":1,"used":1}]"#, r#"[{"name":"a"}]"#),
            (
                "receipt",
                "left_out",
                r#"[{"kind":"error","id":"h","reason":"fits","score":0.5}]"#,
                r#"[{"kind":"error","id":"h","reason":"bad luck","score":0.5}]"#,
            ),
            ("receipt", "left_out_counts redactions", r#"{"a":1}"#, r#"{"a":-1}"#),
            (
                "receipt",
                "provided",
                r#"{"context":{"state":"present"},"specialization":{"state":"missing"}}"#,
                "{}",
            ),
            ("amendment", "earlier_kind later_kind", "note", "thought"),
            ("amendment", "decision", "rejected", "perhaps"),
            (
                "receipt_item",
                "outdated",
                r#"{"kind":"note","id":"n","at":"2026-01-02T03:04:05Z","how":"another value"}"#,
                r#"{"kind":"note","id":"n"}"#,
            ),
            ("receipt_item", "flags", r#"["hidden_text"]"#, r#"["odd"]"#),
            (
                "receipt_item",
                "stale",
                r#"[{"state":"gone","name":"a.rs"}]"#,
                r#"[{"state":"odd"}]"#,
            ),
            ("receipt_item", "terms", r#"{"task":0.5}"#, r#"{"task":"much"}"#),
            (
                "run_lock",
                "owner",
                r#"{"host":"h","pid":1,"started":null,"boot":null}"#,
                r#"{"pid":1}"#,
            ),
        ] {
            for column in columns.split(' ') {
                assert!(is_valid(kind, column, good), "{kind}.{column}: {good}");
                assert!(!is_valid(kind, column, bad), "{kind}.{column}: {bad}");
            }
        }
    }

    #[test]
    fn free_text_is_free() {
        for (kind, column) in
            [("package", "summary"), ("reasoning", "content"), ("event", "payload")]
        {
            for text in ["", "../..", "{", "GLOBAL"] {
                assert!(is_valid(kind, column, text), "{kind}.{column}");
            }
        }
    }
}
