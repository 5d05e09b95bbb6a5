//! Tools that read bytes and print bytes, such as git, and servers that answer lines with lines.

use std::sync::mpsc::channel;

use handover_model::Host;

use crate::supervise::{self, Pipes};
use crate::{AgentError, AgentEvent, CancelToken, Ended, Invocation, Outcome, Registry};

/// How much of the output is also kept as text: enough for an error message.
const TEXT_CAP: usize = 128 << 10;

/// What a tool printed, and how it ended.
#[derive(Debug)]
pub struct Piped {
    /// The beginning of its standard output, or all of it, unmodified.
    pub stdout: Vec<u8>,
    /// Whether it was stopped because it printed more than was asked for.
    pub is_cut: bool,
    /// How it ended, with its standard error.
    pub outcome: Outcome,
}

/// Runs a tool that reads `input`, under the same supervision as an agent, and keeps the first `keep` bytes it
/// prints; a tool that prints more is stopped. Not for agents: a prompt goes through [`run`](crate::run).
pub fn pipe_tool(
    invocation: &Invocation,
    input: &[u8],
    keep: u64,
    cancel: &CancelToken,
) -> Result<Piped, AgentError> {
    let mut invocation = invocation.clone();
    invocation.limits.output_cap = TEXT_CAP;
    invocation.limits.flood = Some(keep.saturating_add(TEXT_CAP as u64));
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let mut stdout = Vec::new();
    let mut collect = |bytes: &[u8]| {
        let room = keep.saturating_sub(stdout.len()).min(bytes.len());
        stdout.extend_from_slice(&bytes[..room]);
    };
    let tool = Registry::built_in().find(Host::COMMAND)?;
    let pipes = Pipes { input, raw: Some(&mut collect), ..Pipes::default() };
    let outcome = supervise::run(tool, &invocation, pipes, &mut |_event| {}, cancel)?;
    let is_cut = outcome.ended == Ended::OutputFlood || outcome.stdout.total > stdout.len() as u64;
    Ok(Piped { stdout, is_cut, outcome })
}

/// Asks a server that ends with its input: writes `input`, and closes it as soon as a line of its output is
/// the answer. The limits of the invocation apply.
pub fn ask_server(
    invocation: &Invocation,
    input: &[u8],
    is_answer: &mut dyn FnMut(&str) -> bool,
    cancel: &CancelToken,
) -> Result<Outcome, AgentError> {
    let (close, open) = channel();
    let mut close = Some(close);
    let mut on_event = |event: AgentEvent| {
        if let AgentEvent::Text(line) = event
            && close.is_some()
            && is_answer(&line)
        {
            close = None;
        }
    };
    let tool = Registry::built_in().find(Host::COMMAND)?;
    let pipes = Pipes { input, open: Some(open), ..Pipes::default() };
    supervise::run(tool, invocation, pipes, &mut on_event, cancel)
}
