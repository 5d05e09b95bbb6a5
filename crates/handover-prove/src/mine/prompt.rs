//! A prompt from the message of a fix: what was wrong, without what was done about it.

use super::subject::{Ask, Subject};
use super::told::told;

/// The longest name of a task.
const MOST_ID: usize = 48;

/// The longest part of a message that is used.
const MOST_CHARS: usize = 1_500;

/// The prompt; none if nothing of the message says what was wrong.
pub fn prompt(message: &str) -> Option<String> {
    let (first, rest) = divided(message)?;
    let subject = Subject::of(&first)?;
    let told = told(rest, &first);
    // `Fix some issues` asks for nothing.
    if told.is_empty() && !subject.says_enough() {
        return None;
    }
    let mut body: String = told.join("\n\n").chars().take(MOST_CHARS).collect();
    if !body.is_empty() {
        body.push_str("\n\n");
    }
    let (ask, how) = match subject.ask {
        Ask::Change => ("Make this change", "Change the code"),
        Ask::Bug => ("Fix this bug", "Find the cause, fix it in the code"),
    };
    Some(format!(
        "{ask}: {}\n\n{body}{how}, and add a test. Do not change tests that exist unless they are wrong.\n",
        subject.text
    ))
}

/// A name for the task of a commit: its hash, and the first words of what was wrong, for tables.
pub fn task_id(commit: &str, message: &str) -> String {
    let mut id: String = commit.chars().take(10).collect();
    let subject = divided(message).and_then(|(first, _)| Subject::of(&first));
    let text = subject.map(|subject| subject.text.to_lowercase()).unwrap_or_default();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if id.len() + 1 + word.len() > MOST_ID {
            break;
        }
        id.push('-');
        id.push_str(word);
    }
    id
}

/// The subject and the rest. A subject that was wrapped goes on in the next line.
fn divided(message: &str) -> Option<(String, &str)> {
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let first = first.trim();
    if first.is_empty() {
        return None;
    }
    let (next, after) = rest.split_once('\n').unwrap_or((rest, ""));
    let goes_on = next.starts_with(|c: char| c.is_lowercase())
        && !first.ends_with('.')
        && (after.is_empty() || after.starts_with('\n'));
    Some(match goes_on {
        true => (format!("{first} {}", next.trim()), after),
        false => (first.to_owned(), rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(message: &str) -> String {
        prompt(message).unwrap().lines().next().unwrap().to_owned()
    }

    #[test]
    fn the_subject_says_what_is_wrong_and_nothing_else() {
        assert_eq!(
            first("Fix empty default of a prompt (#123)"),
            "Fix this bug: empty default of a prompt"
        );
        assert_eq!(
            first("Fix race in the cache of pages by locking the index first"),
            "Fix this bug: race in the cache of pages"
        );
        assert_eq!(
            first(
                "Fix gorilla#739: Fixed handling of invalid queries\n\nThey panic with an index error."
            ),
            "Fix this bug: handling of invalid queries"
        );
        assert_eq!(
            first("Prevent printing of unknown flags"),
            "Make this change: Prevent printing of unknown flags"
        );
        assert_eq!(
            first("Fix corner-case where wrapped lines are longer\nthan max width"),
            "Fix this bug: corner-case where wrapped lines are longer than max width"
        );
        for message in [
            "Fix #12",
            "",
            "Fix some issues\n\nFix #12",
            "Fix race by locking the index\n\nIt is locked now.",
        ] {
            assert_eq!(prompt(message), None, "{message}");
        }
        assert!(
            !prompt("Fix the empty default of prompts\n\nFix #12").unwrap().contains("\n\nFix\n")
        );
    }

    #[test]
    fn the_decision_is_not_given_away() {
        let message = "Fix lost updates of counters\n\n\
            When two writers increment a counter, one update is lost. Use a transaction and retry on conflict. \
            The total is too small afterwards.\n\n\
            Replaced the cached value with a query.\n\n\
            \x20   >>> count()\n    41\n\n\
            Closes #99\nSigned-off-by: A <a@example.com>\n";
        let prompt = prompt(message).unwrap();
        assert!(
            prompt.contains("one update is lost.") && prompt.contains("too small afterwards."),
            "{prompt}"
        );
        assert!(prompt.contains(">>> count()"), "{prompt}");
        for given in ["transaction", "query", "Signed-off", "#99"] {
            assert!(!prompt.contains(given), "{given}: {prompt}");
        }
    }

    #[test]
    fn names_of_tasks_say_what_they_are_about() {
        let commit = "976b536446a77de8de2d5559c78f612970fb5e37";
        assert_eq!(
            task_id(
                commit,
                "Fix `Walk()` of several, nested routers (#12) that have no path of their own"
            ),
            "976b536446-walk-of-several-nested-routers-that"
        );
        assert_eq!(task_id(commit, ""), "976b536446");
    }

    #[test]
    fn long_messages_are_cut() {
        let message = format!("Fix the parser of dates\n\n{}", "It fails badly here. ".repeat(500));
        assert!(prompt(&message).unwrap().len() < 2_000);
    }
}
