//! opencode, without a terminal.

mod argv;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader};

/// opencode, without a terminal.
pub(crate) struct Opencode;

impl AgentProgram for Opencode {
    fn host(&self) -> Host {
        Host::from_static("opencode")
    }

    fn default_program(&self) -> &'static str {
        "opencode"
    }

    fn variables(&self) -> &'static [&'static str] {
        // It works with the models of every vendor.
        &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resumable: true,
            reports_result: true,
            misses_subagents: true,
            ..Capabilities::default()
        }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn set_variables(&self, invocation: &Invocation) -> Vec<(&'static str, &'static str)> {
        argv::permissions(invocation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
