//! Whether an agent wrote a commit: as its author, as a co-author, by a line that its program adds, or in a run
//! of ours.

/// Names under which agent programs commit, in lower case.
const NAMES: &[&str] = &[
    "aider",
    "amp",
    "claude",
    "claude code",
    "codex",
    "copilot",
    "copilot-swe-agent[bot]",
    "cursor",
    "cursor agent",
    "devin",
    "devin ai",
    "devin-ai-integration[bot]",
    "gemini",
    "gemini cli",
    "gemini code assist",
    "gemini-code-assist[bot]",
    "github copilot",
    "google-labs-jules[bot]",
    "handover",
    "openai codex",
    "opencode",
    "openhands",
    "qwen code",
    "qwen-coder",
    "windsurf",
];

/// Beginnings of names that continue with a model or a version.
const NAME_STARTS: &[&str] = &[
    "aider (",
    "claude fable",
    "claude haiku",
    "claude opus",
    "claude sonnet",
    "claude-",
    "codex (",
    "copilot swe",
    "gemini-",
    "gpt-",
];

/// Addresses of agent programs.
const ADDRESSES: &[&str] = &[
    "aider@aider.chat",
    "amp@ampcode.com",
    "copilot@users.noreply.github.com",
    "cursoragent@cursor.com",
    "gemini-cli@google.com",
    "handover@localhost",
    "noreply@aider.chat",
    "noreply@anthropic.com",
    "noreply@openai.com",
    "noreply@opencode.ai",
    "openhands@all-hands.dev",
];

/// Lines that agent programs add, by their beginning in lower case.
const LINES: &[&str] =
    &["🤖 generated with", "generated with [claude code]", "generated with claude code"];

/// Whether an agent wrote a commit, given its author as `Name <address>` and its message.
pub(super) fn is_by_agent(author: &str, message: &str) -> bool {
    let mut epic_and_run = (false, false);
    is_agent(author)
        || message.lines().any(|line| {
            let line = line.trim().to_lowercase();
            let trailer = line.split_once(": ").map(|(name, value)| (name, value.trim()));
            match trailer {
                Some(("co-authored-by" | "co-developed-by" | "generated-by", who)) => is_agent(who),
                // Commits of our runs carry these together.
                Some(("epic", _)) => {
                    epic_and_run.0 = true;
                    false
                }
                Some(("run", run)) => {
                    epic_and_run.1 = run.starts_with("run_");
                    epic_and_run == (true, true)
                }
                Some(_) | None => LINES.iter().any(|start| line.starts_with(start)),
            }
        })
}

/// Whether `Name <address>` is an agent program. Claude is also the name of people, so more than the first name
/// has to match.
fn is_agent(who: &str) -> bool {
    let who = who.to_lowercase();
    let (name, address) = who.split_once('<').unwrap_or((&who, ""));
    let (name, address) = (name.trim(), address.trim().trim_end_matches('>'));
    // GitHub puts a number before the name.
    let plain = address.split_once('+').map_or(address, |(_, rest)| rest);
    NAMES.contains(&name)
        || NAME_STARTS.iter().any(|start| name.starts_with(start))
        || ADDRESSES.contains(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_recognized_by_author_trailer_and_line() {
        let person = "Ada <ada@example.com>";
        for message in [
            "Fix it\n\nCo-Authored-By: Claude <noreply@anthropic.com>",
            "Fix it\n\nCo-authored-by: Claude Opus 4.5 <x@y.z>",
            "Fix it\n\nCo-authored-by: Copilot <175728472+Copilot@users.noreply.github.com>",
            "Fix it\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)",
            "Fix it\n\nCo-authored-by: Cursor Agent <cursoragent@cursor.com>",
            "feat: story\n\nEpic: 1\nStory: 1-1-a\nRun: run_01abc\nReceipt: r_1",
        ] {
            assert!(is_by_agent(person, message), "{message}");
        }
        for author in [
            "Claude <noreply@anthropic.com>",
            "Handover <handover@localhost>",
            "aider (gpt-4o) <a@b>",
        ] {
            assert!(is_by_agent(author, "Fix it"), "{author}");
        }
    }

    #[test]
    fn people_stay_people() {
        for author in
            ["Ada <ada@example.com>", "Claude Monet <claude@example.com>", "Devin Young <d@y.z>"]
        {
            for message in [
                "Fix it",
                "Fix it\n\nCo-authored-by: Claude Shannon <shannon@example.com>",
                "Run: the tests first\n\nEpic: none",
                "Ask Claude about it\n\nSuggested-by: Claude <noreply@anthropic.com>",
            ] {
                assert!(!is_by_agent(author, message), "{author}: {message}");
            }
        }
    }
}
