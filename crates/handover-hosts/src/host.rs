//! The interface for hook hosts: what Handover needs to know about an agent program whose hooks call it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handover_model::{Host, Tokenizer};
use handover_text::tokens;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent};
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

    /// How to run it against a scripted model, for `handover doctor --probe`.
    fn probe(&self, _home: &Path, _model_url: &str) -> Option<ProbeSetup> {
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
    /// A hook can keep a subagent from stopping and give it more work.
    pub holds_back: bool,
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

/// What a host needs to run without an account, a network or the user's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSetup {
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
    fn limits_count_characters_or_tokens() {
        let text = "wörd ".repeat(100);
        assert!(TextLimit::Chars(500).fits(Tokenizer::Claude, &text));
        assert!(!TextLimit::Chars(499).fits(Tokenizer::Claude, &text));
        let cost = tokens::count(Tokenizer::Claude, &text);
        assert!(TextLimit::Tokens(cost).fits(Tokenizer::Claude, &text));
        assert!(!TextLimit::Tokens(cost - 1).fits(Tokenizer::Claude, &text));
    }
}
