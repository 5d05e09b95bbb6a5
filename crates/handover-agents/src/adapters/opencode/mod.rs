//! opencode, without a terminal.

mod argv;
mod kept;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader, Total};

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
        Capabilities { resumable: true, reports_result: true, ..Capabilities::default() }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn set_variables(&self, invocation: &Invocation) -> Vec<(&'static str, &'static str)> {
        argv::permissions(invocation)
    }

    fn kept(&self, invocation: &Invocation, conversation: &str) -> Option<Total> {
        // What a resumed conversation had used before cannot be told apart if nobody knows it.
        let is_known = invocation.resume.is_none() || invocation.before.usage.total() > 0;
        let databases = invocation.databases.filter(|_| is_known)?;
        kept::used(databases, &invocation.environment, conversation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
