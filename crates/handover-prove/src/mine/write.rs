//! The file of found tasks, with comments for the person who will read and correct it.

use std::fmt::Write as _;

use crate::Task;

/// A task, where it comes from and what was seen when it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mined {
    /// The task.
    pub task: Task,
    /// The commit that fixed it.
    pub fix: String,
    /// Its subject.
    pub subject: String,
    /// What the judge did at the start and at the fix, for people.
    pub seen: String,
}

/// The text of a file.
pub fn write(found: &[Mined]) -> String {
    let mut text = String::from(
        "# Tasks for `handover prove`, found in this repository's history: commits that fixed a bug and came with a test.\n\
         # Each was tried: its judge fails at the start and passes at the fix.\n\
         #\n\
         # Read the prompts before you pay for an experiment. A prompt should say what is wrong as you would say it to an\n\
         # agent, and not how it was fixed. Delete tasks that you would not give to an agent.\n",
    );
    for Mined { task, fix, subject, seen } in found {
        let _ = writeln!(text, "\n# {}  {}\n# {}", short(fix), comment(subject), comment(seen));
        let _ = writeln!(text, "[[task]]\nid = {}", quoted(&task.id));
        let _ = writeln!(text, "start = {}", quoted(&task.start));
        let _ = writeln!(text, "prompt = {}", long(&task.prompt));
        let _ = writeln!(text, "judge = {}", list(&task.judge));
        if !task.judge_files.is_empty() {
            let files: Vec<String> = task
                .judge_files
                .iter()
                .map(|(path, commit)| format!("{} = {}", quoted(path), quoted(commit)))
                .collect();
            let _ = writeln!(text, "judge_files = {{ {} }}", files.join(", "));
        }
        if !task.setup.is_empty() {
            let _ = writeln!(text, "setup = {}", list(&task.setup));
        }
        if let Some(seconds) = task.judge_timeout {
            let _ = writeln!(text, "judge_timeout = {seconds}");
        }
    }
    text
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// A comment cannot end its line.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
}

/// A basic string. Its escapes are those of JSON, which leaves one control character as it is.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// A string over several lines, if it can be one.
fn long(text: &str) -> String {
    let plain =
        !text.contains("'''") && !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    if plain && text.contains('\n') && !text.ends_with('\'') {
        format!("'''\n{text}'''")
    } else {
        quoted(text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use handover_model::Role;

    use super::*;
    use crate::TaskFile;

    #[test]
    fn what_is_written_is_read_back() {
        let task = |id: &str, prompt: &str| Task {
            id: id.to_owned(),
            start: "abc".to_owned(),
            prompt: prompt.to_owned(),
            judge: vec!["go".to_owned(), "-run".to_owned(), "^(\"a\\|b\")$".to_owned()],
            judge_files: BTreeMap::from([("tests/odd \"name\".py".to_owned(), "def".to_owned())]),
            setup: vec!["make".to_owned()],
            role: Role::new("developer").unwrap(),
            timeout: None,
            judge_timeout: Some(60),
        };
        let tasks = [
            task("a", "one line"),
            task("b", "two\nlines with ''' and \"quotes\"\n"),
            task("c", "lines\nwith \\ and \"\"\"\n"),
            task("d", "a bell \u{7}\u{7f}\nrings'"),
        ];
        let found = tasks.clone().map(|task| Mined {
            task,
            fix: "0123456789abcdef".to_owned(),
            subject: "Fix a\nnewline".to_owned(),
            seen: "fails, then passes".to_owned(),
        });
        let text = write(&found);
        assert_eq!(TaskFile::parse(&text).unwrap().tasks, tasks, "{text}");
        assert!(text.contains("# 0123456789  Fix a newline\n"));
    }
}
