//! The seam for hook hosts: what Handover needs to know about an agent program whose hooks call it.

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
/// Methods with a default are what a program may lack: it then gets nothing, never another
/// program's behaviour.
pub trait HookHost: Sync {
    /// The name on the command line, in settings and in the store.
    fn name(&self) -> Host;

    /// The name that its users know, such as "Claude Code".
    fn title(&self) -> &'static str;

    /// How a brief can reach its subagents.
    fn capabilities(&self) -> Capabilities;

    /// The kinds of subagents that it has for work of any sort; they are briefed as developers.
    fn general_kinds(&self) -> &'static [&'static str];

    /// Whether an event that arrived through the settings of another host is its own: some programs
    /// load each other's hooks.
    fn recognises(&self, _head: &EventHead) -> bool {
        false
    }

    /// Reads an event leniently: unknown fields are skipped, and events that are not ours become
    /// [`HookEvent::Other`].
    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error>;

    /// Writes an answer; none if there is nothing to say, or if this event cannot carry it.
    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String>;

    /// Where its hooks are registered, and in what format.
    fn settings(&self) -> &'static dyn HookSettings;

    /// How it records conversations; none if it does not, or not where we could read it.
    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        None
    }

    /// Its version, as far as the environment of a hook gives it away.
    fn version(&self, _variables: Variables<'_>) -> Option<String> {
        None
    }

    /// The folder that it was started in, which an agent may have left since.
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

/// How a brief can reach a subagent, and how it can be asked for what it forgot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// A hook can replace the prompt of a subagent before it starts.
    pub rewrites_prompt: bool,
    /// A hook can add to the context of a subagent as it starts.
    pub injects_at_start: bool,
    /// A hook can keep a subagent from stopping and give it something to do.
    pub holds_back: bool,
    /// How long one text of a hook may be; none if there is no limit.
    pub text_limit: Option<TextLimit>,
}

/// How much text a host takes from a hook. Set a little below what the host documents, because
/// our own words are added around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLimit {
    /// So many characters.
    Chars(usize),
    /// So many tokens.
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
