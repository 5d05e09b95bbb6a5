//! The interface for hook hosts: what Handover needs to know about an agent program whose hooks call it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handover_model::{Host, Tokenizer};
use handover_text::tokens;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent};
use crate::folder_trust::Start;
use crate::settings::{HookSettings, Scope, Variables};
use crate::transcript::TranscriptFormat;

/// An agent program whose hooks call Handover.
///
/// Methods with a default are optional features: a program without one gets nothing, never another program's
/// behavior.
pub trait HookHost: Sync {
    /// The name on the command line, in settings and in the store.
    fn name(&self) -> Host;

    /// The name its users know, such as "Claude Code".
    fn title(&self) -> &'static str;

    /// How a brief can reach its subagents.
    fn capabilities(&self) -> Capabilities;

    /// Its general-purpose subagent types; they are briefed as developers.
    fn general_kinds(&self) -> &'static [&'static str];

    /// The names of its processes. What an agent started does not count as a person's doing.
    fn processes(&self) -> &'static [&'static str];

    /// Variables that it sets for what its agents start, and that nothing else sets.
    fn marks(&self) -> &'static [&'static str];

    /// The files of a project that it loads by itself wherever it works, so that briefs need not repeat them.
    fn loads(&self) -> &'static [&'static str];

    /// Who makes its models, as OpenTelemetry calls them; none if that is open.
    fn provider(&self) -> Option<&'static str> {
        None
    }

    /// Whether it sent an event that arrived through another host's settings: some programs load each
    /// other's hooks.
    fn recognizes(&self, _head: &EventHead) -> bool {
        false
    }

    /// Reads an event leniently: unknown fields are skipped, and events that are not ours become
    /// [`HookEvent::Other`].
    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error>;

    /// Writes an answer; none if there is nothing to say, or if this event cannot carry it.
    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String>;

    /// Where its hooks are registered, and in what format.
    fn settings(&self) -> &'static dyn HookSettings;

    /// How it records conversations; none if it does not, or not where we can read it.
    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        None
    }

    /// Its version, as far as the environment of a hook reveals it.
    fn version(&self, _variables: Variables<'_>) -> Option<String> {
        None
    }

    /// The folder it was started in, which an agent may have left.
    fn start_folder(&self, _variables: Variables<'_>) -> Option<PathBuf> {
        None
    }

    /// How to run it against a scripted model, for `handover doctor --probe`: once for every kind of subagents that it
    /// has. None if it cannot be probed.
    fn probes(&self, _home: &Path, _model_url: &str) -> Vec<ProbeSetup> {
        Vec::new()
    }

    /// The versions that the tests run.
    fn tested(&self) -> Option<TestedVersions> {
        None
    }

    /// Whether it runs the hooks of a project when it is started like this, and nobody can be asked.
    fn runs_project_hooks(&self, _start: &Start<'_>) -> bool {
        true
    }

    /// How to ask it which hooks it will run; none if it runs whatever is registered.
    fn trust(&self) -> Option<&'static dyn HookTrust> {
        None
    }

    /// The JSON Schemas of what only this host sends, by file name without the extension.
    fn schemas(&self) -> Vec<(String, Value)> {
        Vec::new()
    }
}

/// How a brief can reach a subagent, and whether it can be asked for what it forgot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// A hook can replace the prompt of a subagent before it starts.
    pub rewrites_prompt: bool,
    /// A hook can add to the context of a subagent as it starts.
    pub injects_at_start: bool,
    /// A hook sees the prompt of a subagent as it starts.
    pub shows_prompt: bool,
    /// A hook can keep a subagent from stopping and give it more work.
    pub holds_back: bool,
    /// A hook can change what a subagent returns to its parent.
    pub shortens_returns: bool,
    /// How long one text of a hook may be; none if there is no limit.
    pub text_limit: Option<TextLimit>,
}

/// How much text a host accepts from a hook. Slightly below the documented limit, because our own words are
/// added around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLimit {
    /// In characters.
    Chars(usize),
    /// In tokens.
    Tokens(u64),
}

impl TextLimit {
    /// Whether a text is within the limit.
    pub fn fits(self, tokenizer: Tokenizer, text: &str) -> bool {
        match self {
            Self::Chars(most) => text.chars().count() <= most,
            Self::Tokens(most) => tokens::count(tokenizer, text) <= most,
        }
    }
}

/// The oldest and the newest version of a host that the tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestedVersions {
    /// The oldest.
    pub oldest: &'static str,
    /// The newest.
    pub newest: &'static str,
}

impl TestedVersions {
    /// Whether a version lies between them; None if the text has none.
    pub fn include(&self, text: &str) -> Option<bool> {
        let version = numbers(text)?;
        let (oldest, newest) = (numbers(self.oldest)?, numbers(self.newest)?);
        Some(oldest <= version && version <= newest)
    }
}

/// The first version in a text, such as `codex-cli 0.166.0`.
pub fn version_in(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    words.into_iter().find(|word| word.split('.').count() >= 3)
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    version_in(text)?.split('.').map(|part| part.parse().ok()).collect()
}

/// Asks a program which hooks it will run: a server that reads and prints a line of JSON per message.
pub trait HookTrust: Sync {
    /// The arguments of the server.
    fn args(&self) -> &'static [&'static str];

    /// What it is sent, about the hooks of one folder.
    fn question(&self, folder: &Path) -> String;

    /// The answer, once it is in a line; `is_ours` knows our hooks by their file and command.
    /// An error is the program's own.
    fn answer(
        &self,
        line: &str,
        is_ours: &dyn Fn(&Path, &str) -> bool,
    ) -> Option<Result<TrustedHooks, String>>;
}

/// How many of our hooks a program knows, and how many it will run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrustedHooks {
    /// Those that it has read.
    pub listed: usize,
    /// Those that it will run.
    pub trusted: usize,
    /// Whether some were changed since they were trusted.
    pub changed: bool,
}

/// What a host needs to run without an account, a network or the user's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSetup {
    /// Which of its kinds of subagents it is about, where there are several.
    pub about: Option<&'static str>,
    /// The scope at which the hooks are installed.
    pub scope: Scope,
    /// Variables to set.
    pub variables: Vec<(&'static str, OsString)>,
    /// Files to write, by absolute path.
    pub files: Vec<(PathBuf, String)>,
    /// Arguments besides the usual ones.
    pub args: &'static [&'static str],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let tested = TestedVersions { oldest: "2.1.197", newest: "2.1.325" };
        for (text, known) in [
            ("2.1.197 (Claude Code)", Some(true)),
            ("2.1.325", Some(true)),
            ("v2.1.200-beta.1", Some(true)),
            ("2.1.99", Some(false)),
            ("2.1.326", Some(false)),
            ("10.0.0", Some(false)),
            ("GitHub Copilot CLI 2.1.300.\nRun 'copilot update'", Some(true)),
            ("none", None),
            ("1.2", None),
            ("99999999999999999999.1.1", None),
        ] {
            assert_eq!(tested.include(text), known, "{text}");
        }
    }

    #[test]
    fn limits_count_characters_or_tokens() {
        let text = "wörd ".repeat(100);
        assert!(TextLimit::Chars(500).fits(Tokenizer::Claude, &text));
        assert!(!TextLimit::Chars(499).fits(Tokenizer::Claude, &text));
        let cost = tokens::count(Tokenizer::Claude, &text);
        assert!(TextLimit::Tokens(cost).fits(Tokenizer::Claude, &text));
        assert!(!TextLimit::Tokens(cost - 1).fits(Tokenizer::Claude, &text));
    }
}
