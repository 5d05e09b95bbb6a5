//! Which hook hosts there are.

use std::borrow::Cow;

use handover_model::Host;
use handover_text::replace_lone_surrogates;
use serde_json::Value;

use crate::event::{EventHead, HookCall};
use crate::host::HookHost;
use crate::hosts::{claude, codex, copilot, gemini, opencode, qwen};

/// Every built-in host, in the order used by help texts and listings.
const HOSTS: &[&dyn HookHost] = &[
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &gemini::Gemini,
    &opencode::Opencode,
    &qwen::Qwen,
];

static BUILT_IN: Registry = Registry { hosts: Cow::Borrowed(HOSTS) };

/// A set of hook hosts.
#[derive(Clone)]
pub struct Registry {
    hosts: Cow<'static, [&'static dyn HookHost]>,
}

/// A host without hooks, or with hooks that we do not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host with hooks")]
pub struct UnknownHost(pub Host);

/// An event that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The named host is unknown.
    #[error(transparent)]
    Host(#[from] UnknownHost),
    /// The event does not match what the host documents.
    #[error("cannot read the event of {host}: {source}")]
    Event {
        /// The host that was named.
        host: Host,
        /// What is wrong with the JSON.
        source: serde_json::Error,
    },
}

impl Registry {
    /// The hosts that come with Handover.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The same set with one more host; it replaces one of the same name.
    #[must_use]
    pub fn with(mut self, host: &'static dyn HookHost) -> Self {
        let hosts = self.hosts.to_mut();
        hosts.retain(|other| other.name() != host.name());
        hosts.push(host);
        self
    }

    /// Every host, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn HookHost> {
        self.hosts.iter().copied()
    }

    /// The host of that name.
    pub fn find(&self, name: Host) -> Result<&'static dyn HookHost, UnknownHost> {
        self.iter().find(|host| host.name() == name).ok_or(UnknownHost(name))
    }

    /// Reads an event that arrived through the settings of the host `name`.
    pub fn read(&self, name: Host, text: &str) -> Result<HookCall, ReadError> {
        let named = self.find(name)?;
        let unreadable = |source| ReadError::Event { host: name, source };
        let text = &*replace_lone_surrogates(text);
        let head: EventHead = serde_json::from_str(text).map_err(unreadable)?;
        let mut others = self.iter().filter(|host| host.name() != name);
        let sender = others.find(|host| host.recognizes(&head)).unwrap_or(named);
        sender.read(&head, text).map_err(unreadable)
    }

    /// The JSON Schemas of everything that is read and written, by file name without the extension.
    pub fn schemas(&self) -> Vec<(String, Value)> {
        let mut schemas = crate::protocol::schemas();
        schemas.extend(self.iter().flat_map(HookHost::schemas));
        schemas
    }
}
