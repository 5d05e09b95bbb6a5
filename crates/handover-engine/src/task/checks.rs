//! What the gates said about the work, for agents that judge it.

use std::fmt::Write as _;

use super::{TaskParts, can_run};

/// How many tests that fail on the base are named.
const FAILING: usize = 20;

/// Which checks there are, whether they have passed, and whether the agent may run them.
pub(super) fn add(out: &mut String, parts: &TaskParts<'_>) {
    if parts.gates.is_empty() {
        out.push_str("This project has no checks that could have run on the work.\n\n");
        return;
    }
    let lines = &parts.story.lines;
    let gates = lines.iter().rposition(|line| line.agent.is_none() && line.phase == "gates");
    let work = lines.iter().rposition(|line| line.agent.is_some_and(crate::reducer::is_work));
    let is_preview = parts.story.base.is_none();
    let result = match gates.filter(|at| Some(*at) > work).map(|at| lines[at].verdict) {
        None if is_preview => "They have passed when you see it",
        Some("passed") => "They have passed",
        Some("failed") => "They have failed",
        Some(_) | None => "They have not run on it",
    };
    let may_run = if can_run(parts.step) {
        "You may run them yourself."
    } else {
        "You cannot run anything yourself."
    };
    let _ = writeln!(
        out,
        "These commands check the work: `{}`. {result}. {may_run}",
        parts.gates.join("`, `")
    );
    let failing = &parts.state.failing_on_base;
    if !failing.is_empty() {
        let shown: Vec<&str> = failing.iter().take(FAILING).map(String::as_str).collect();
        let _ = writeln!(
            out,
            "These fail without this work, too, and do not count: {}.",
            shown.join(", ")
        );
    }
    out.push('\n');
}
