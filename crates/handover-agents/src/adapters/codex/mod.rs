//! Codex: `codex exec`.

mod argv;
mod kept;
mod outcome;
mod reader;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader, Total};

/// Codex: `codex exec`.
pub(crate) struct Codex;

impl AgentProgram for Codex {
    fn host(&self) -> Host {
        Host::CODEX
    }

    fn default_program(&self) -> &'static str {
        "codex"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["OPENAI_*", "CODEX_HOME", "CODEX_API_KEY"]
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
