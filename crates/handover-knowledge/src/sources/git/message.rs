//! What a commit message says, without what tools add to it.

/// Lines that tools and procedures add, by their beginning in lower case.
const TRAILERS: &[&str] = &[
    "(cherry picked from commit",
    "acked-by:",
    "assisted-by:",
    "bug:",
    "cc:",
    "change-id:",
    "co-authored-by:",
    "co-developed-by:",
    "cr-original-commit-position:",
    "git-svn-id:",
    "generated-by:",
    "gitorigin-revid:",
    "helped-by:",
    "mentored-by:",
    "on-behalf-of:",
    "original-commit:",
    "piperorigin-revid:",
    "pr-url:",
    "pull-request:",
    "release-note:",
    "reported-by:",
    "reviewed-by:",
    "reviewed-on:",
    "signed-off-by:",
    "suggested-by:",
    "tested-by:",
    "🤖 generated with",
];

/// Subjects, in lower case and without a prefix, that say nothing if they stand alone.
const EMPTY: &[&str] = &[
    "address comments",
    "address feedback",
    "address review",
    "address review comments",
    "clean up",
    "cleanup",
    "fix",
    "fix build",
    "fix bug",
    "fix ci",
    "fix format",
    "fix formatting",
    "fix lint",
    "fix test",
    "fix tests",
    "fix typo",
    "fix typos",
    "fixes",
    "fmt",
    "format",
    "format code",
    "formatting",
    "initial commit",
    "init",
    "lint",
    "minor",
    "minor changes",
    "minor fixes",
    "more",
    "more fixes",
    "oops",
    "polish",
    "refactor",
    "rustfmt",
    "small fixes",
    "stuff",
    "temp",
    "test",
    "tests",
    "tmp",
    "tweaks",
    "typo",
    "typos",
    "update",
    "update change log",
    "update changelog",
    "update deps",
    "update dependencies",
    "update docs",
    "update lockfile",
    "update readme",
    "update readme.md",
    "updates",
    "wip",
    "whitespace",
    "work in progress",
];

/// Beginnings of subjects, in lower case and without a prefix, that say nothing whatever follows.
const EMPTY_BEGINNINGS: &[&str] = &[
    "amend!",
    "apply suggestions from",
    "bump ",
    "bumps ",
    "fixup!",
    "merge branch",
    "merge remote-tracking",
    "merge tag",
    "pin dependencies",
    "prepare release",
    "release ",
    "squash!",
    "update dependency ",
    "update module ",
    "upgrade dependenc",
    "version ",
    "wip:",
];

/// Fewer words than this say nothing without a body.
const LEAST_WORDS: usize = 3;

/// A message that says something.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) subject: String,
    body: String,
}

impl Message {
    /// What a message says; none if that is nothing.
    pub(super) fn read(message: &str) -> Option<Self> {
        let message = message.replace("\r\n", "\n");
        let message = message.trim();
        let (subject, rest) = message.split_once('\n').unwrap_or((message, ""));
        let (mut subject, mut body) = (subject.trim().to_owned(), without_trailers(rest));
        if subject.starts_with("Merge pull request") {
            // The title of the request is in the body.
            let (title, rest) = body.split_once('\n').unwrap_or((&body, ""));
            (subject, body) = (title.trim().to_owned(), rest.trim().to_owned());
        }
        if is_from_a_bot(&subject, &body) {
            return None;
        }
        let says_something = !is_empty(&subject) || body.chars().count() >= 40;
        (says_something && !subject.is_empty()).then_some(Self { subject, body })
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        if self.body.is_empty() {
            return self.subject.clone();
        }
        format!("{}\n\n{}", self.subject, self.body)
    }
}

/// A body without the lines that tools add.
fn without_trailers(body: &str) -> String {
    let kept = body.lines().map(str::trim_end).filter(|line| {
        let start = line.trim_start();
        let lower = start.get(..start.floor_char_boundary(40)).unwrap_or_default().to_lowercase();
        !TRAILERS.iter().any(|trailer| lower.starts_with(trailer)) && *line != "---"
    });
    kept.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn is_from_a_bot(subject: &str, body: &str) -> bool {
    if subject.starts_with("[pre-commit.ci]") || subject.starts_with("[bot]") {
        return true;
    }
    let bumps = body.starts_with("Bumps ") && body.contains(" from ") && body.contains(" to ");
    let renovate = body.contains("[![") && subject.contains("ependenc");
    let merge =
        subject.starts_with("Merge branch ") || subject.starts_with("Merge remote-tracking");
    bumps || renovate || merge && body.is_empty()
}

/// Whether a subject says nothing by itself.
fn is_empty(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let plain = without_prefix(&lower).trim_end_matches(['.', '!']).trim();
    let words =
        plain.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let version = plain.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
        && plain.split_whitespace().count() == 1;
    let typo = words <= 8 && plain.split_whitespace().any(|word| word.starts_with("typo"));
    version
        || typo
        || EMPTY.contains(&plain)
        || EMPTY_BEGINNINGS.iter().any(|start| lower.starts_with(start) || plain.starts_with(start))
        // Languages without spaces have few words.
        || words < LEAST_WORDS && plain.is_ascii()
}

/// A subject without `feat(auth):`.
fn without_prefix(subject: &str) -> &str {
    match subject.split_once(": ") {
        Some((prefix, rest)) if !prefix.contains(' ') && prefix.len() <= 30 => rest,
        Some(_) | None => subject,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &str) -> Option<String> {
        Message::read(message).map(|message| message.text())
    }

    #[test]
    fn boilerplate_says_nothing() {
        for message in [
            "",
            "wip",
            "Fix typo",
            "fix: typo",
            "Bump serde from 1.0 to 1.1",
            "chore(deps): bump x to 2",
            "Merge branch 'main' into feature",
            "Docs typo/markup fixes (#5829)",
            "[pre-commit.ci] pre-commit autoupdate",
            "update change log",
            "v1.2.3",
            "1.0.0",
            "release 2.0",
            "Initial commit",
            "fixup! Add it",
            "Merge pull request #12 from a/b",
            "chore: update dependencies",
            "update README.md",
            "wip\n\nSigned-off-by: A <a@b.c>",
            "Bump x\n\nBumps [x](y) from 1 to 2.\n- release notes and many other words that say nothing",
        ] {
            assert_eq!(text(message), None, "{message}");
        }
    }

    #[test]
    fn the_reason_stays_without_trailers() {
        let message = "Use WAL for the settings\r\n\r\nTwo processes write.\n\nSigned-off-by: A <a@b.c>\n\
                       Co-Authored-By: Claude <x@y>\nChange-Id: I123\n";
        assert_eq!(text(message).unwrap(), "Use WAL for the settings\n\nTwo processes write.");
        let message = "Merge pull request #12 from a/b\n\nRetry uploads three times\n\nS3 drops one in a thousand.";
        assert_eq!(
            text(message).unwrap(),
            "Retry uploads three times\n\nS3 drops one in a thousand."
        );
        let message = "fix\n\nThe cache was keyed by path, which differs between worktrees.";
        assert!(text(message).unwrap().ends_with("worktrees."));
        assert_eq!(
            text("store: reject a second successor").unwrap(),
            "store: reject a second successor"
        );
        assert!(text("使用预写日志").is_some());
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_survived(message in "\\PC{0,60}(\\n\\PC{0,60}){0,4}") {
            let _ = text(&message);
        }
    }
}
