//! Claude Code: `claude -p`.

mod argv;
mod outcome;
mod reader;
mod spent;
mod stream;

use std::ffi::OsString;

use handover_model::Host;

use crate::{AgentProgram, Capabilities, Invocation, OutputReader};

/// Claude Code: `claude -p`.
pub(crate) struct Claude;

impl AgentProgram for Claude {
    fn host(&self) -> Host {
        Host::CLAUDE
    }

    fn default_program(&self) -> &'static str {
        "claude"
    }

    fn variables(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_*",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_*",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "DISABLE_ERROR_REPORTING",
            "API_TIMEOUT_MS",
            "IS_SANDBOX",
        ]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { resumable: true, reports_result: true, ..Capabilities::default() }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        argv::args(invocation)
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<reader::Reader>::default()
    }
}
