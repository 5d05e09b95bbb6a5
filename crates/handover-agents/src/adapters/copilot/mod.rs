//! Copilot CLI, without a terminal.

mod argv;
mod kept;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader, Total};

/// Copilot CLI, without a terminal.
pub(crate) struct Copilot;

impl Copilot {
    const HOST: Host = Host::from_static("copilot");
}

impl AgentProgram for Copilot {
    fn host(&self) -> Host {
        Self::HOST
    }

    fn default_program(&self) -> &'static str {
        "copilot"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { resumable: true, reports_result: true, reports_no_cost: true }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn kept(&self, invocation: &Invocation, conversation: &str) -> Option<Total> {
        let usage = kept::used(&invocation.environment, conversation)?;
        Some(Total { usage, cost_usd: None })
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
