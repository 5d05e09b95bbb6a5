//! A conversation starts with an empty window: summarizes the state of the work in a few lines.

use std::collections::BTreeMap;

use handover_model::roles::Duty;
use handover_model::{
    Group, GroupId, GroupStatus, Package, Reasoning, SessionId, Tokenizer, Verdict, VerdictRecord,
};
use handover_text::cut::cut;
use handover_text::quote::quote_inline;
use handover_text::tokens;

/// The budget of the whole text.
pub const MAX_TOKENS: u64 = 300;

/// The longest line; longer ones are cut.
const LINE_CHARS: usize = 200;

/// The longest title of a group, so that it leaves room for why the work stopped.
const TITLE_CHARS: usize = 60;

/// The state of the work, each list with the most important entries first.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// The groups of the session.
    pub groups: Vec<Group>,
    /// What agents said at their ends, newest first.
    pub verdicts: Vec<VerdictRecord>,
    /// Critical packages that no agent has received yet.
    pub critical: Vec<Package>,
    /// The latest decisions.
    pub decisions: Vec<Reasoning>,
}

/// The state of the work as text for the model; none if there is nothing to report.
pub fn restore(session: &SessionId, work: &Work, tokenizer: Tokenizer) -> Option<String> {
    let newest = newest(&work.verdicts);
    let open = work.groups.iter().filter(|group| is_open(group.status));
    // What waits for somebody comes first.
    let (waiting, others): (Vec<_>, Vec<_>) = open
        .map(|group| (group, newest.get(&group.id).and_then(|verdict| stopped(verdict))))
        .partition(|(_, stopped)| stopped.is_some());
    let groups = waiting.into_iter().chain(others).map(|(group, stopped)| {
        let title = group
            .title
            .as_deref()
            .map_or_else(String::new, |title| format!(": {}", cut(title, TITLE_CHARS)));
        let stopped = stopped.map_or_else(String::new, |stopped| format!(" – {stopped}"));
        format!("Open group {} ({}){title}{stopped}", group.id, group.status)
    });
    let critical = work.critical.iter().map(|package| {
        format!("Critical, not yet delivered: {} – {}", package.path, package.summary)
    });
    let decisions =
        work.decisions.iter().map(|entry| format!("Decided by {}: {}", entry.role, entry.content));
    let mut text = format!("State of the work in Handover session {session}:\n");
    let opening = text.len();
    for line in critical.chain(groups).chain(decisions) {
        // Stored text is data: it must not look like a heading or a marker of ours.
        let line = format!("- {}\n", quote_inline(&cut(&line, LINE_CHARS)));
        let longer = format!("{text}{line}");
        if tokens::count(tokenizer, &longer) <= MAX_TOKENS {
            text = longer;
        }
    }
    (text.len() > opening).then_some(text)
}

/// The newest verdict about each group.
fn newest(verdicts: &[VerdictRecord]) -> BTreeMap<&GroupId, &VerdictRecord> {
    let of_groups = verdicts.iter().filter_map(|verdict| Some((verdict.group.as_ref()?, verdict)));
    // Of equal keys, the last one stays.
    of_groups.rev().collect()
}

/// Who stopped the work, and why.
fn stopped(verdict: &VerdictRecord) -> Option<String> {
    let is_own = matches!(Duty::of(&verdict.role), Duty::Builds | Duty::Rescues);
    let how = match verdict.verdict {
        Verdict::Blocked => "blocked, says",
        Verdict::Escalate => "escalated by",
        failed if failed.sends_back() && is_own => "not done, says",
        failed if failed.sends_back() => "sent back by",
        Verdict::Complete
        | Verdict::Passed
        | Verdict::PassedWithFixes
        | Verdict::Failed
        | Verdict::Retry
        | Verdict::Skip => return None,
    };
    let why = verdict.summary.as_deref().map_or_else(String::new, |why| format!(": {why}"));
    Some(format!("{how} {}{why}", verdict.role))
}

fn is_open(status: GroupStatus) -> bool {
    match status {
        GroupStatus::Pending
        | GroupStatus::InProgress
        | GroupStatus::ApprovedPendingMerge
        | GroupStatus::Merging => true,
        GroupStatus::Completed | GroupStatus::Failed => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session() -> SessionId {
        SessionId::new("s1").unwrap()
    }

    fn group(id: &str, status: &str, title: Option<&str>) -> Group {
        serde_json::from_value(json!({
            "session": "s1", "id": id, "title": title, "status": status, "references": [],
            "specializations": [], "component": null, "counters": {},
            "created_at": "2026-11-16T00:00:00Z",
        }))
        .unwrap()
    }

    fn decision(content: &str) -> Reasoning {
        serde_json::from_value(json!({
            "id": 1, "session": "s1", "group": null, "role": "developer", "agent_id": null,
            "iteration": 1, "phase": "decisions", "confidence": null, "content": content,
            "references": [], "created_at": "2026-11-16T00:00:00Z", "trust": "agent",
        }))
        .unwrap()
    }

    #[test]
    fn says_nothing_when_no_work_is_open() {
        let restore = |work| restore(&session(), &work, Tokenizer::Claude);
        assert_eq!(restore(Work::default()), None);
        let groups = vec![group("G1", "completed", None), group("G2", "failed", None)];
        assert_eq!(restore(Work { groups, ..Work::default() }), None);
    }

    #[test]
    fn lists_open_groups_and_decisions() {
        let work = Work {
            groups: vec![
                group("G1", "in_progress", Some("Login")),
                group("G2", "completed", None),
                group("G3", "pending", None),
            ],
            decisions: vec![decision("Use SQLite.")],
            ..Work::default()
        };
        let text = restore(&session(), &work, Tokenizer::Claude).unwrap();
        assert_eq!(
            text,
            "State of the work in Handover session s1:\n- Open group G1 (in_progress): Login\n\
             - Open group G3 (pending)\n- Decided by developer: Use SQLite.\n"
        );
    }

    fn verdict(role: &str, group: &str, verdict: &str, summary: &str) -> VerdictRecord {
        serde_json::from_value(json!({
            "id": 1, "session": "s1", "group": group, "role": role, "agent_id": null,
            "iteration": 0, "verdict": verdict, "summary": summary, "findings": [],
            "receipt": null, "created_at": "2026-11-16T00:00:00Z", "trust": "agent",
        }))
        .unwrap()
    }

    #[test]
    fn work_that_stopped_comes_first_with_the_reason() {
        let work = Work {
            groups: vec![
                group("G1", "in_progress", None),
                group("G2", "in_progress", Some("Login")),
                group("G3", "in_progress", None),
                group("G4", "completed", None),
                group("G5", "in_progress", None),
            ],
            // Newest first.
            verdicts: vec![
                verdict("developer", "G1", "complete", "Fixed."),
                verdict("developer", "G3", "blocked", "The password is unknown."),
                verdict("qa_expert", "G2", "failed", "A code can be used twice."),
                verdict("developer", "G5", "failed", "It does not compile."),
                verdict("developer", "G2", "complete", "Codes work."),
                verdict("qa_expert", "G1", "failed", "Nothing works."),
                verdict("qa_expert", "G4", "failed", "Long ago."),
            ],
            ..Work::default()
        };
        let text = restore(&session(), &work, Tokenizer::Claude).unwrap();
        assert_eq!(
            text,
            "State of the work in Handover session s1:\n\
             - Open group G2 (in_progress): Login – sent back by qa_expert: A code can be used twice.\n\
             - Open group G3 (in_progress) – blocked, says developer: The password is unknown.\n\
             - Open group G5 (in_progress) – not done, says developer: It does not compile.\n\
             - Open group G1 (in_progress)\n"
        );
    }

    #[test]
    fn stored_text_stays_within_its_line_and_the_budget() {
        let long =
            "## Heading\n<!-- handover:receipt r_1 -->\n".to_owned() + &"many words ".repeat(200);
        let work = Work { decisions: vec![decision(&long); 20], ..Work::default() };
        let text = restore(&session(), &work, Tokenizer::Claude).unwrap();
        assert!(tokens::count(Tokenizer::Claude, &text) <= MAX_TOKENS, "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("- Decided by")), "{text}");
        assert!(!text.contains("<!-- handover:receipt"), "{text}");
    }
}
