//! Reads what the records in a story say about its work: those that the engine has appended, and the sections of
//! BMAD's template.

use handover_text::cut::cut;

use super::fields;
use crate::data::{Account, WorkNotes};

const TEXT: usize = 2_000;
const ITEMS: usize = 20;

/// What the records of a story say.
pub fn account(text: &str) -> Account {
    let mut account = Account::default();
    let (mut section, mut part) = (String::new(), String::new());
    let mut said = Said::default();
    for line in fields::body_lines(text) {
        if let Some(heading) = line.strip_prefix("## ") {
            said.settle(&section, &mut account);
            section = heading.trim().to_ascii_lowercase();
            part.clear();
        } else if let Some(heading) = line.strip_prefix("### ") {
            part = heading.trim().to_ascii_lowercase();
        } else if is_record(&section) && !line.trim().is_empty() {
            said.read(&part, line);
        }
    }
    said.settle(&section, &mut account);
    account
}

fn is_record(section: &str) -> bool {
    matches!(section, "dev agent record" | "code review record")
}

/// What one record says.
#[derive(Default)]
struct Said {
    summary: String,
    notes: WorkNotes,
    files: Vec<String>,
}

impl Said {
    fn read(&mut self, part: &str, line: &str) {
        let plain = unescaped(line.trim().trim_start_matches(['>', '-', '*', ' ']));
        let list = match part {
            "implementation summary" | "summary" | "completion notes list" | "completion notes" => {
                self.summary.push_str(&plain);
                self.summary.push(' ');
                return;
            }
            "key decisions" => &mut self.notes.decisions,
            "tests added" => &mut self.notes.tests,
            "notes for reviewer" => &mut self.notes.for_reviewer,
            "files created" | "files modified" | "file list" => &mut self.files,
            // A party's review says this instead of a summary.
            "" if plain.starts_with("Consensus:") => {
                let text = plain.trim_start_matches("Consensus:").trim_start_matches(['*', ' ']);
                text.clone_into(&mut self.summary);
                return;
            }
            _ => return,
        };
        if list.len() < ITEMS && !plain.is_empty() {
            list.push(cut(&plain, TEXT));
        }
    }

    fn settle(&mut self, section: &str, account: &mut Account) {
        let Self { summary, notes, files } = std::mem::take(self);
        let summary = cut(summary.trim(), TEXT);
        match section {
            "dev agent record" => {
                account.add(&summary, &notes);
                if !files.is_empty() {
                    account.files = files;
                }
            }
            // What an earlier review found is fixed.
            "code review record" => account.review = summary,
            _ => {}
        }
    }
}

/// The text without the backslashes that keep it from being Markdown.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        if !is_escape {
            out.push(letter);
        } else if let Some(next) = letters.next() {
            out.push(next);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Record, append};

    fn record(heading: &'static str, text: &str, lists: &[(&'static str, &str)]) -> Record {
        let name = if heading == "Dev Agent Record" { "Implementation Summary" } else { "Summary" };
        Record {
            heading,
            fields: vec![("Receipt", "r_1".to_owned())],
            texts: vec![(name, text.to_owned())],
            lists: lists.iter().map(|(name, item)| (*name, vec![(*item).to_owned()])).collect(),
        }
    }

    #[test]
    fn all_records_of_the_work_are_one_account() {
        let dev = [
            ("Key Decisions", "a `BTreeMap`, for its order_by"),
            ("Tests Added", "adds_*_twice"),
            ("Files Created", "src/cart.rs"),
        ];
        let mut text =
            "# Story 1.1: Cart\n\nStatus: done\n\n## Notes\n\n### Summary\n\nno\n".to_owned();
        text = append(&text, &record("Dev Agent Record", "Built the\ncart_1.", &dev));
        text = append(&text, &record("Code Review Record", "No lock.", &[("Findings", "x")]));
        let fix = [("Files Modified", "src/lock.rs")];
        text = append(&text, &record("Dev Agent Record", "Added the lock.", &fix));
        text = append(&text, &record("Code Review Record", "Good.", &[]));
        let account = account(&text);
        assert_eq!(account.built, ["Built the cart_1.", "Added the lock."]);
        assert_eq!(account.notes.decisions, ["a `BTreeMap`, for its order_by"]);
        assert_eq!(account.notes.tests, ["adds_*_twice"]);
        assert_eq!((account.files, account.review), (vec!["src/lock.rs".into()], "Good.".into()));
    }

    #[test]
    fn a_finding_that_was_fixed_is_not_what_the_review_said() {
        let mut text = append("# S\n", &record("Code Review Record", "No lock.", &[]));
        assert_eq!(account(&text).review, "No lock.");
        text = append(&text, &record("Dev Agent Record", "Added the lock.", &[]));
        text = append(&text, &record("Code Review Record", "", &[]));
        assert_eq!(account(&text).review, "");
    }

    #[test]
    fn the_sections_of_a_template_are_read_and_an_open_story_says_nothing() {
        let text = "# S\n\n## Dev Agent Record\n\n### Completion Notes List\n\n- It adds.\n\n### File List\n\n- a.rs\n";
        let read = account(text);
        assert_eq!(
            (read.built, read.files),
            (vec!["It adds.".to_owned()], vec!["a.rs".to_owned()])
        );
        assert!(account("# S\n\nStatus: ready\n\n## Tasks\n\n- [ ] a\n").is_empty());
    }
}
