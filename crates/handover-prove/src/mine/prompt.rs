//! A prompt from the message of a fix: what was wrong, without what was done about it.

/// Words with which a sentence begins that says what was done.
const DONE: &[&str] = &[
    "add",
    "adds",
    "added",
    "allow",
    "always",
    "avoid",
    "avoids",
    "call",
    "change",
    "changed",
    "changes",
    "check",
    "convert",
    "drop",
    "ensure",
    "ensures",
    "explicitly",
    "fix by",
    "fixed by",
    "handle",
    "ignore",
    "instead",
    "introduce",
    "make",
    "makes",
    "move",
    "moved",
    "now",
    "only",
    "pass",
    "prevent",
    "refactor",
    "remove",
    "removed",
    "removes",
    "rename",
    "replace",
    "replaced",
    "replaces",
    "restore",
    "return",
    "returns",
    "reuse",
    "set",
    "simplify",
    "skip",
    "solution",
    "split",
    "store",
    "strip",
    "switch",
    "the fix",
    "this adds",
    "this changes",
    "this commit",
    "this fixes",
    "this patch",
    "to fix",
    "try",
    "update",
    "use",
    "uses",
    "using",
    "validate",
    "we now",
    "wrap",
];

/// Words with which a subject begins that says what should be done.
const ORDERS: &[&str] = &[
    "accept",
    "allow",
    "always",
    "avoid",
    "check",
    "compare",
    "convert",
    "correct",
    "correctly",
    "detect",
    "disallow",
    "do",
    "don't",
    "emit",
    "ensure",
    "escape",
    "handle",
    "honor",
    "honour",
    "ignore",
    "include",
    "keep",
    "let",
    "make",
    "never",
    "omit",
    "only",
    "parse",
    "preserve",
    "prevent",
    "properly",
    "raise",
    "reject",
    "report",
    "reset",
    "respect",
    "restore",
    "return",
    "set",
    "show",
    "skip",
    "stop",
    "strip",
    "support",
    "treat",
    "validate",
];

/// Lines that tools add.
const TOOLS: &[&str] = &[
    "signed-off-by",
    "co-authored-by",
    "reviewed-by",
    "acked-by",
    "tested-by",
    "change-id",
    "cherry picked",
    "git-svn-id",
    "closes",
    "fixes #",
    "resolves",
    "refs",
    "see #",
    "see merge request",
    "pr-url",
    "---------",
    "* ",
];

/// Beginnings of a subject that say no more than that something was fixed.
const FIXES: &[&str] = &[
    "fixed ",
    "fixes ",
    "fixing ",
    "fix for ",
    "fix ",
    "fix: ",
    "bugfix ",
    "bugfix: ",
    "resolve ",
    "resolves ",
];

/// Where a subject turns from what was wrong to what was done.
const TURNS: &[&str] = &[" by ", " using ", " via ", "; use ", ", use ", " instead of "];

/// The longest name of a task.
const MOST_ID: usize = 48;

/// The longest part of a message that is used.
const MOST_CHARS: usize = 1_500;

/// The prompt; none if nothing of the message says what was wrong.
pub fn prompt(message: &str) -> Option<String> {
    let mut lines = message.lines();
    let subject = subject(lines.next()?)?;
    let mut told = Vec::new();
    for paragraph in lines.collect::<Vec<_>>().join("\n").split("\n\n") {
        let kept = problem(paragraph);
        // What is left of `Fix #12` says nothing.
        if kept.split_whitespace().count() > 2 {
            told.push(kept);
        }
    }
    let mut body: String = told.join("\n\n").chars().take(MOST_CHARS).collect();
    if !body.is_empty() {
        body.push_str("\n\n");
    }
    let (ask, how) = match says_what_to_do(&subject) {
        true => ("Make this change", "Change the code"),
        false => ("Fix this bug", "Find the cause, fix it in the code"),
    };
    Some(format!(
        "{ask}: {subject}\n\n{body}{how}, and add a test. Do not change tests that exist unless they are wrong.\n"
    ))
}

/// Whether a subject is an order, such as `Handle empty lists`, and no description of a bug.
fn says_what_to_do(subject: &str) -> bool {
    let first = subject.split([' ', ',']).next().unwrap_or_default().to_lowercase();
    ORDERS.contains(&first.as_str())
}

/// A name for the task of a commit: its hash, and the first words of what was wrong, for tables.
pub fn task_id(commit: &str, message: &str) -> String {
    let mut id: String = commit.chars().take(10).collect();
    let subject = message.lines().next().and_then(subject).unwrap_or_default().to_lowercase();
    for word in subject.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
    {
        if id.len() + 1 + word.len() > MOST_ID {
            break;
        }
        id.push('-');
        id.push_str(word);
    }
    id
}

/// The first line without what names the commit, its kind or its issue.
fn subject(line: &str) -> Option<String> {
    let mut line = line.trim();
    // `fix(parser): x` and `[3.2.x] Fixed #123 -- x`
    if let Some((_, rest)) = line.split_once(" -- ") {
        line = rest;
    }
    while let Some((_, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        line = rest.trim_start();
    }
    if let Some((kind, rest)) = line.split_once(": ")
        && kind.len() <= 30
        && kind.split('(').next().is_some_and(|word| !word.contains(' '))
    {
        line = rest;
    }
    let mut text = without_references(line);
    for turn in TURNS {
        if let Some(at) = text.find(turn).filter(|at| *at >= 15) {
            text.truncate(at);
        }
    }
    // `Fix gorilla#7: Fixed lost queries` says it twice.
    while let Some(start) = FIXES.iter().find(|start| text.to_lowercase().starts_with(*start)) {
        text =
            text.get(start.len()..).unwrap_or_default().trim_start_matches([' ', ':']).to_owned();
    }
    let text = text.trim_matches([' ', '.', ':', ',', ';', '-']).to_owned();
    (text.split_whitespace().count() >= 2).then_some(text)
}

/// A line without `(#12)` and `#12`.
fn without_references(line: &str) -> String {
    let words = line.split_whitespace().filter(|word| {
        let inner = word.trim_matches(['(', ')', '[', ']', ',', '.', ':', ';']);
        // `#12`, `owner/name#12` and `GH-12`.
        let number = inner
            .rsplit_once('#')
            .map(|(_, number)| number)
            .or_else(|| inner.strip_prefix("GH-"))
            .or_else(|| inner.strip_prefix("gh-"));
        !number
            .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What a paragraph says about what was wrong: examples as they are, and sentences that do not say what was done.
fn problem(paragraph: &str) -> String {
    let lines: Vec<&str> = paragraph.lines().filter(|line| !is_of_a_tool(line)).collect();
    let is_example =
        |line: &&&str| line.starts_with("    ") || line.starts_with('\t') || line.starts_with('>');
    if !lines.is_empty() && lines.iter().filter(is_example).count() * 2 > lines.len() {
        return lines.join("\n");
    }
    if lines.iter().any(|line| line.starts_with("```")) {
        return String::new();
    }
    let text = without_references(&lines.join(" "));
    let kept: Vec<&str> =
        sentences(&text).into_iter().filter(|sentence| !says_what_was_done(sentence)).collect();
    kept.join(" ")
}

fn is_of_a_tool(line: &str) -> bool {
    let lower = line.trim().to_lowercase();
    TOOLS.iter().any(|start| lower.starts_with(start)) || lower.starts_with("http")
}

fn says_what_was_done(sentence: &str) -> bool {
    let lower = sentence.trim_start_matches(['-', '*', ' ', '(']).to_lowercase();
    let starts = |word: &str| {
        lower
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',', ':', '.']))
    };
    DONE.iter().any(|word| starts(word))
        || [
            " so we ",
            " this commit",
            " this patch",
            " this change",
            " is now ",
            " are now ",
            " now ",
            " instead",
            "the fix is",
            " by using ",
        ]
        .iter()
        .any(|words| lower.contains(words))
}

/// The sentences of a text.
fn sentences(text: &str) -> Vec<&str> {
    let (mut all, mut start) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends = matches!(byte, b'.' | b'!' | b'?')
            && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        if ends {
            all.push(text[start..=at].trim());
            start = at + 1;
        }
    }
    all.push(text[start..].trim());
    all.retain(|sentence| !sentence.is_empty());
    all
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
            first("fix(parser): panic on empty input"),
            "Fix this bug: panic on empty input"
        );
        assert_eq!(
            first("[3.2.x] Fixed #33 -- Crash of lazy queries."),
            "Fix this bug: Crash of lazy queries"
        );
        assert_eq!(
            first("Fix race in the cache by locking the index first"),
            "Fix this bug: race in the cache"
        );
        assert_eq!(
            first("Fix gorilla#739: Fixed handling of invalid queries"),
            "Fix this bug: handling of invalid queries"
        );
        assert_eq!(
            first("Prevent printing of unknown flags"),
            "Make this change: Prevent printing of unknown flags"
        );
        assert!(!prompt("Fix the empty default\n\nFix #12").unwrap().contains("\n\nFix\n"));
        assert_eq!(prompt("Fix #12"), None);
        assert_eq!(prompt(""), None);
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
