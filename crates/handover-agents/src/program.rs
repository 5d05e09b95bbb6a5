//! The interface for agent programs: what this crate needs to know about one.
//!
//! A program is one type that implements [`AgentProgram`], in one folder of `adapters/`, and one line in
//! `PROGRAMS` of `registry.rs`. Programs change weekly, so readers are lenient: every field may be missing,
//! unknown fields are ignored, and a line that cannot be parsed becomes an [`AgentEvent::Raw`].

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentEvent, Capabilities, Captured, Ended, Invocation, Report, Total};

/// One agent program: how it is called, and what its output means.
pub trait AgentProgram: Sync {
    /// The name by which it is chosen (`--host`, `runs.host`).
    fn host(&self) -> Host;

    /// The usual executable name; empty if there is none.
    fn default_program(&self) -> &'static str;

    /// The variables it needs in addition to those every program gets: its keys and its configuration. A
    /// trailing `*` matches any suffix.
    fn variables(&self) -> &'static [&'static str];

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Its arguments for one run. The prompt is not one of them: it goes to standard input.
    fn args(&self, invocation: &Invocation) -> Vec<OsString>;

    /// Variables of its environment for one run, for what it has no argument.
    fn set_variables(&self, _invocation: &Invocation) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// What a conversation has used since its beginning, with all of its subagents, by what the program keeps of it. For a
    /// program whose output does not count them.
    fn kept(&self, _invocation: &Invocation, _conversation: &str) -> Option<Total> {
        None
    }

    /// A reader for the output of one run.
    fn reader(&self) -> Box<dyn OutputReader>;
}

/// Turns the output of one run into events and, at the end, into a report.
pub trait OutputReader {
    /// Says that the run resumes a conversation, and what the program had counted in it before.
    fn resumed(&mut self, _before: Total) {}

    /// Reads one line of standard output.
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent));

    /// Summarizes the run after the last line.
    fn report(self: Box<Self>, ended: Ended, stdout: &Captured, stderr: &Captured) -> Report;
}
