//! Any program: the prompt on standard input, text on standard output.

mod argv;
mod outcome;
mod reader;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader};

/// Any program: the prompt on standard input, text on standard output.
pub(crate) struct Command;

impl AgentProgram for Command {
    fn host(&self) -> Host {
        Host::COMMAND
    }

    fn default_program(&self) -> &'static str {
        ""
    }

    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(reader::Reader)
    }
}
