//! What an agent was given and did, in order: the common form of all transcripts and event streams.

/// The most that is kept of one step, in bytes.
const MAX_STEP: usize = 64 << 10;

/// The most that is kept altogether; what comes later is dropped, except for what the agent says last.
const MAX_BYTES: usize = 4 << 20;

/// What a step counts besides its text.
const STEP_BYTES: usize = 64;

/// What an agent was given and did, as far as it can be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    steps: Vec<TraceStep>,
    bytes: usize,
    /// Whether the last step has no room and gives way to what the agent says next.
    overflows: bool,
}

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceStep {
    /// Its prompt, a later message, or what a hook added.
    Given(String),
    /// It said something.
    Said(String),
    /// It called a tool.
    Called(ToolCall),
    /// A tool showed it something.
    Shown {
        /// The id of the call.
        call: String,
        /// Whether it failed.
        failed: bool,
        /// What it showed.
        text: String,
    },
}

/// A tool that an agent called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The program's own id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// What it was called with: JSON, or text; it may be cut.
    pub input: String,
}

impl Trace {
    /// Adds what the agent was given.
    pub fn given(&mut self, text: &str) {
        self.push(text.len(), || TraceStep::Given(cut(text)));
    }

    /// Adds what the agent said.
    pub fn said(&mut self, text: &str) {
        if self.bytes < MAX_BYTES {
            self.push(text.len(), || TraceStep::Said(cut(text)));
            return;
        }
        // The last message says the most, so it is kept whatever came before.
        if std::mem::replace(&mut self.overflows, true) {
            self.steps.pop();
        }
        self.steps.push(TraceStep::Said(cut(text)));
    }

    /// Adds a tool call.
    pub fn called(&mut self, mut call: ToolCall) {
        call.input = cut(&call.input);
        self.push(call.input.len(), || TraceStep::Called(call));
    }

    /// Adds what came of the tool call with this id.
    pub fn shown(&mut self, call: &str, failed: bool, text: &str) {
        let call = call.to_owned();
        self.push(text.len(), || TraceStep::Shown { call, failed, text: cut(text) });
    }

    /// All of it, in order.
    pub fn steps(&self) -> &[TraceStep] {
        &self.steps
    }

    /// Whether the agent did anything that can be seen.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, TraceStep::Said(_) | TraceStep::Called(_)))
    }

    fn push(&mut self, bytes: usize, step: impl FnOnce() -> TraceStep) {
        if self.bytes < MAX_BYTES {
            self.bytes += bytes.min(MAX_STEP) + STEP_BYTES;
            self.steps.push(step());
        }
    }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_STEP)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_bounded_but_keeps_the_last_message() {
        let mut trace = Trace::default();
        assert!(trace.is_empty());
        let long = "ü".repeat(MAX_STEP);
        for _ in 0..3 * MAX_BYTES / MAX_STEP {
            trace.given(&long);
        }
        assert!(trace.is_empty(), "it did nothing yet");
        trace.called(ToolCall::default());
        assert!(trace.is_empty(), "there is no more room");
        for _ in 0..1_000 {
            trace.said("still at work");
        }
        trace.said("done");
        assert_eq!(trace.steps.last(), Some(&TraceStep::Said("done".to_owned())));
        assert!(trace.steps.len() <= MAX_BYTES / (MAX_STEP - 1) + 2);
    }
}
