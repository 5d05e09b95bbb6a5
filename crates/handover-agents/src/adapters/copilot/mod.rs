//! Copilot CLI, without a terminal.

mod argv;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader};

/// Copilot CLI, without a terminal.
pub(crate) struct Copilot;

impl AgentProgram for Copilot {
    fn host(&self) -> Host {
        Host::from_static("copilot")
    }

    fn default_program(&self) -> &'static str {
        "copilot"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { resumable: true, reports_result: true, misses_subagents: true }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
