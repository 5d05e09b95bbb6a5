//! The whole prompts of a run: context, specialization, role and task together. Read them aloud after a change: what
//! one part says must not contradict another.

use super::Epic;
use crate::transcript;

/// A shop in TypeScript, for which there is guidance, with what somebody has found out before.
fn shop() -> Epic {
    let epic = Epic::new(&[]);
    epic.env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n\nPeople can buy things.\n");
    epic.env.write(
        "docs/stories/1-1-total.md",
        "# Story 1.1: Total\n\nStatus: ready-for-dev\n\n## Acceptance Criteria\n\n1. The total of a cart is the sum of its prices.\n\n\
         ## Tasks\n\n- [ ] sum the prices\n",
    );
    epic.env.write(
        "package.json",
        r#"{"name":"shop","scripts":{"test":"node --test"},"devDependencies":{"typescript":"5.4.0"}}"#,
    );
    epic.env.write("a.test.js", "require('node:test')('starts', () => {});\n");
    epic.env.write("docs/research_money.md", "# Money\n\nPrices are integers, in cents.\n");
    epic.env.run(["session", "new", "shop"]).ok();
    epic.env.run(["package", "add", "docs/research_money.md", "--kind", "research"]).ok();
    epic.commit_all("shop");
    epic
}

/// A prompt that was written down, without what differs between two runs.
fn prompt(epic: &Epic, name: &str) -> String {
    let text = fs_err::read_to_string(epic.env.folder().join(name)).unwrap();
    let checkout = fs_err::canonicalize(epic.env.path("")).unwrap();
    let text = text.replace(checkout.to_str().unwrap().trim_end_matches('/'), "[PROJECT]");
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_hexdigit()) {
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        // The nonce, and the name of the result file.
        let is_random = digits.len() == 32 && !out.ends_with('_');
        out.push_str(if is_random { "[RANDOM]" } else { digits });
        out.push_str(&word[digits.len()..]);
    }
    out
}

#[test]
fn of_developer_reviewer_and_fixer() {
    let epic = shop();
    let folder = epic.env.folder().display();
    epic.script(&format!(
        "* dev 1 | echo-prompt {folder}/dev write total.js 'exports.total = () => 0;' print 'The total of a cart.' print '' print 'IMPLEMENTATION COMPLETE: 1-1-total'\n\
         * review 1 | echo-prompt {folder}/review print 'REVIEW FAILED: 1-1-total - total.js:1 is always 0'\n\
         * fix 1 | echo-prompt {folder}/fix write total.js 'exports.total = prices => prices.reduce((a, b) => a + b, 0);' print 'IMPLEMENTATION COMPLETE: 1-1-total'"
    ));
    epic.run(&[]).ok();
    for name in ["dev", "review", "fix"] {
        transcript::snapshot(&format!("run-prompt-{name}"), &prompt(&epic, name));
    }
}

#[test]
fn of_a_qa_expert() {
    let epic = shop();
    let folder = epic.env.folder().display();
    epic.script(&format!(
        "* dev 1 | write total.js 'exports.total = prices => prices.reduce((a, b) => a + b, 0);' print 'READY_FOR_QA: 1-1-total - the total of a cart'\n\
         * review * qa_expert | echo-prompt {folder}/qa print 'PASS: 1-1-total - it adds'\n\
         * review * tech_lead | print 'APPROVED: 1-1-total - good'\n\
         * retro * | print 'BAZINGA: epic-1 - all done'"
    ));
    epic.run(&["--pipeline", "team"]).ok();
    transcript::snapshot("run-prompt-qa", &prompt(&epic, "qa"));
}

/// An agent that cannot run anything is not asked to.
#[test]
fn a_reader_is_not_asked_to_run_anything() {
    let epic = shop();
    let seen = epic.env.folder().join("review");
    epic.script(&format!(
        "* review 1 | echo-prompt {} print 'REVIEW PASSED: 1-1-total'",
        seen.display()
    ));
    epic.run(&[]).ok();
    let text = fs_err::read_to_string(&seen).unwrap();
    assert!(text.contains("**Code review**") && text.contains("You may only read"), "{text}");
    for contradiction in ["run it when", "running code", "Run what you need", "so run them"] {
        assert!(!text.contains(contradiction), "{contradiction}: {text}");
    }
}
