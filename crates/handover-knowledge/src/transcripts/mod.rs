//! Conversations as agent programs record them, read into one form. What of them is worth keeping is decided
//! elsewhere; others measure with them what agents were given and did.
//!
//! Formats differ and change, so as little as possible is expected: an unknown line is skipped, a broken one
//! counted. Everything is bounded: the length of a line, the text of a message, the number of messages.

mod blocks;
mod find;
mod lines;
mod programs;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use handover_model::{Host, Timestamp, ToolCall, Trace};

pub use find::{Transcript, find, in_folders};
pub(crate) use lines::{each_line, head};
pub(crate) use programs::claude_folder;

use crate::{ForeignTables, Homes, Place, SkipReason};

/// The most messages that are kept of one conversation.
const MAX_MESSAGES: usize = 20_000;

/// How much is kept of the text of a message.
const MAX_MESSAGE_CHARS: usize = 60_000;

/// How much is kept of the result of a tool: its beginning and its end.
const MAX_RESULT_CHARS: usize = 2_000;

/// When this much has been kept of one conversation, less is kept of each message.
const ENOUGH_BYTES: usize = 24 << 20;
const LITTLE_CHARS: usize = 4_000;

/// A conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// The folder in which it was begun.
    pub folder: Option<PathBuf>,
    /// The version of the program.
    pub version: Option<String>,
    /// Whether an agent gave the orders: it is the conversation of a subagent.
    pub is_subagent: bool,
    /// Whether a script gave the orders, not somebody at a terminal.
    pub is_headless: bool,
    /// What was said and done, in order.
    pub messages: Vec<Message>,
    /// Lines that could not be read.
    pub damaged: usize,
    /// The length of all texts.
    kept: usize,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id, or its number in the conversation.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// When; none if the program does not say.
    pub time: Option<Timestamp>,
    /// What was said; empty if only tools were used. Of a tool's result, the beginning and the end.
    pub text: String,
    /// The tools that are used.
    pub tools: Vec<ToolUse>,
}

/// Who says something in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one who gives the orders: a person, or the agent that spawned this one.
    Person,
    /// The agent.
    Assistant,
    /// A tool, about the use with this id.
    Tool {
        /// Whether it failed, as far as the program says.
        failed: bool,
    },
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Its id, if it has one.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// What it was called with: JSON, cut.
    pub input: String,
}

/// Reads a conversation.
pub fn read(
    transcript: &Transcript,
    tables: Option<&dyn ForeignTables>,
) -> Result<Conversation, SkipReason> {
    let program = programs::of(transcript.host).ok_or(SkipReason::Foreign)?;
    let mut conversation = match &transcript.place {
        Place::File(path) => program.read(path)?,
        Place::Row { database, id } => {
            program.read_row(tables.ok_or(SkipReason::Unreadable)?, database, id)?
        }
    };
    if conversation.id.is_empty() {
        conversation.id.clone_from(&transcript.id);
    }
    Ok(conversation)
}

/// Reads the conversation in a file, whatever program wrote it.
pub fn read_file(path: &Path) -> Result<(Host, Conversation), SkipReason> {
    let transcript = find::recognize(path).ok_or(SkipReason::Foreign)?;
    Ok((transcript.host, read(&transcript, None)?))
}

/// Reads the conversation of a subagent in a file, which it may share with others.
pub fn read_subagent(path: &Path, agent: &str) -> Result<Conversation, SkipReason> {
    let transcript = find::recognize(path).ok_or(SkipReason::Foreign)?;
    let program = programs::of(transcript.host).ok_or(SkipReason::Foreign)?;
    program.read_subagent(path, agent)
}

/// Where the conversation with this id is or will be, of a program that keeps all of them in one place.
pub fn by_id(host: Host, homes: &Homes, id: &str) -> Option<Transcript> {
    programs::of(host)?.by_id(homes, id)
}

impl Conversation {
    /// What its agent was given and did.
    pub fn trace(&self) -> Trace {
        let mut trace = Trace::default();
        for message in &self.messages {
            match message.role {
                Role::Person => trace.given(&message.text),
                Role::Assistant if message.text.is_empty() => {}
                Role::Assistant => trace.said(&message.text),
                Role::Tool { failed } => trace.shown(&message.id, failed, &message.text),
            }
            for ToolUse { id, name, input } in &message.tools {
                let (id, name, input) = (id.clone(), name.clone(), input.clone());
                trace.called(ToolCall { id, name, input });
            }
        }
        trace
    }

    /// Adds a message, unless there are too many.
    fn push(&mut self, mut message: Message) {
        if self.messages.len() >= MAX_MESSAGES {
            return;
        }
        if message.id.is_empty() {
            message.id = self.messages.len().to_string();
        }
        let enough = self.kept > ENOUGH_BYTES;
        match message.role {
            Role::Tool { .. } if enough => message.text.clear(),
            Role::Tool { .. } => message.text = both_ends(&message.text, MAX_RESULT_CHARS),
            Role::Person | Role::Assistant if enough => truncate(&mut message.text, LITTLE_CHARS),
            Role::Person | Role::Assistant => truncate(&mut message.text, MAX_MESSAGE_CHARS),
        }
        message.text.shrink_to_fit();
        self.kept += message.text.len();
        for tool in &mut message.tools {
            truncate(&mut tool.input, if enough { 0 } else { MAX_RESULT_CHARS });
            tool.input.shrink_to_fit();
            self.kept += tool.input.len();
        }
        self.messages.push(message);
    }
}

/// Cuts a text after so many bytes, at a character.
fn truncate(text: &mut String, max: usize) {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
}

/// The beginning and the end of a text.
fn both_ends(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(max / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - max / 2)..];
    format!("{head}\n…\n{tail}")
}

/// A time as programs write it.
fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}

/// A time in milliseconds since 1970.
fn millis(number: i64) -> Timestamp {
    Timestamp::from_micros(number.saturating_mul(1_000))
}
