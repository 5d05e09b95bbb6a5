//! The acceptance scenarios of an epic.

use std::fmt::Write as _;

use handover_text::cut::one_line;

use super::retro::epic_digest;
use super::{DETAIL, TaskKind, TaskParts, findings, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Write acceptance scenarios for epic",
    who: "You write acceptance scenarios for what an epic has built: one for each criterion that a \
          user cares about, three to ten in all. Read the code and the stories.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: ", \"scenarios\": [{\"id\": \"UAT-1\", \"title\": \"…\", \"criterion\": \"<story id> AC1\", \
             \"kind\": \"auto|semi|manual\", \"argv\": [\"program\", \"argument\"], \"expect\": {\"exit\": 0, \
             \"text\": [\"…\"], \"json\": {}}, \"timeout\": 30, \"setup\": [[\"program\"]], \"cleanup\": [], \
             \"steps\": [\"what a person does\"], \"expected\": \"what a person sees\"}]",
    signals: "`UAT GENERATED: <path of the document>`, after you have written the object with `scenarios` to \
              `docs/uat/epic-<epic>-uat.json`",
    body,
};

const CRITERIA: usize = 20_000;

const RULES: &str = "\
- `auto` is for what a program can judge alone; `semi` if a person must look as well; `manual` for the rest. The \
last two need `steps`; `manual` has no `argv`.
- `argv` is a program and its arguments. No shell reads it: no pipes, no variables, no `&&`. Use the project's own \
tools (`cargo run …`, `npm run …`, `python3 file.py`, `go run …`); shells, `env`, `xargs`, `python3 -c` and the \
like are refused.
- `expect` says what the program must do: `exit`, `text` that it prints, `json` that must be in what it prints.
- Fields that are not needed are left out; others than these are refused.

";

/// The criteria as scenarios refer to them: `1-1-cart AC1: …`.
fn criteria(parts: &TaskParts<'_>) -> String {
    let mut lines = String::new();
    for (story, criteria) in &parts.documents.criteria {
        for criterion in criteria {
            let _ = writeln!(lines, "{story} {}: {}", criterion.id, one_line(&criterion.text));
        }
    }
    lines
}

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let criteria = criteria(parts);
    if !criteria.is_empty() {
        section(out, "The acceptance criteria", "text", &criteria, CRITERIA);
        out.push_str("Every scenario names one of these in `criterion`; no others exist.\n\n");
    }
    section(out, "The stories", "text", &epic_digest(parts, &[]), usize::MAX);
    if !parts.story.findings.is_empty() {
        let wrong = findings(&parts.story.findings);
        section(out, "What was wrong with the scenarios before", "text", &wrong, DETAIL);
    }
    out.push_str(RULES);
}
