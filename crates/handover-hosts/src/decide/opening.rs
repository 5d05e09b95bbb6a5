//! A conversation starts with an empty window: summarizes the state of the work in a few lines.

use handover_model::{Group, GroupStatus, Package, Reasoning, SessionId, Tokenizer};
use handover_text::cut::cut;
use handover_text::quote::quote_inline;
use handover_text::tokens;

/// The budget of the whole text.
pub const MAX_TOKENS: u64 = 300;

/// The longest line; longer ones are cut.
const LINE_CHARS: usize = 200;

/// The state of the work, each list with the most important entries first.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// The groups of the session.
    pub groups: Vec<Group>,
    /// Critical packages that no agent has received yet.
    pub critical: Vec<Package>,
    /// The latest decisions.
    pub decisions: Vec<Reasoning>,
}

/// The state of the work as text for the model; none if there is nothing to report.
pub fn restore(session: &SessionId, work: &Work, tokenizer: Tokenizer) -> Option<String> {
    let groups = work.groups.iter().filter(|group| is_open(group.status)).map(|group| {
        let title = group.title.as_deref().map_or_else(String::new, |title| format!(": {title}"));
        format!("Open group {} ({}){title}", group.id, group.status)
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
            critical: Vec::new(),
            decisions: vec![decision("Use SQLite.")],
        };
        let text = restore(&session(), &work, Tokenizer::Claude).unwrap();
        assert_eq!(
            text,
            "State of the work in Handover session s1:\n- Open group G1 (in_progress): Login\n\
             - Open group G3 (pending)\n- Decided by developer: Use SQLite.\n"
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
