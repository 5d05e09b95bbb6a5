//! Gemini CLI, without a terminal.

mod argv;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader};

/// Gemini CLI, without a terminal.
pub(crate) struct Gemini;

impl AgentProgram for Gemini {
    fn host(&self) -> Host {
        Host::GEMINI
    }

    fn default_program(&self) -> &'static str {
        "gemini"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["GEMINI_*", "GOOGLE_*"]
    }

    fn capabilities(&self) -> Capabilities {
        // Resuming by id has not been verified with the real program.
        Capabilities { reports_result: true, reports_no_cost: true, ..Capabilities::default() }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
