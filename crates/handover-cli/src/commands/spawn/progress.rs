//! Shows an agent's progress on standard error.

use handover_agents::AgentEvent;
use handover_engine::ShownLines;
use handover_text::Redactor;
use handover_text::cut::cut;

use crate::app::App;

/// Longer lines are cut; the log has all of them.
const CHARS: usize = 160;
/// No line is indented further.
const DEEPEST: usize = 12;
/// More lines are a flood that nobody reads, and printing them would slow the agent down.
const LINES: usize = 2_000;

/// Prints events as they arrive.
pub(super) struct Progress<'a> {
    app: &'a App,
    lines: ShownLines<'a>,
    last: String,
    shown: usize,
}

impl<'a> Progress<'a> {
    pub(super) fn new(app: &'a App, redactor: &'a Redactor) -> Self {
        Self { app, lines: ShownLines::new(redactor), last: String::new(), shown: 0 }
    }

    pub(super) fn show(&mut self, event: &AgentEvent) {
        if self.shown > LINES {
            return;
        }
        let Some(line) = line(event) else { return };
        self.shown += 1;
        if self.shown > LINES {
            self.app.ui.note("… and more, in the log");
            return;
        }
        // Agents print what they read, and a secret must not end up in a CI log.
        self.lines.push(&line);
        let line = self.lines.last();
        // What an agent indents belongs to the line above.
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = format!("{}{}", &line[..indent.min(DEEPEST)], cut(&line, CHARS));
        // Each line of a key is the same mark.
        if !(line.starts_with("[REDACTED") && line == self.last) {
            self.app.ui.note(&line);
        }
        self.last = line;
    }
}

fn line(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::Started { model, .. } => {
            Some(format!("started ({})", model.as_deref().unwrap_or("model unknown")))
        }
        AgentEvent::Text(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
        AgentEvent::ToolStarted(tool) => Some(format!("{}: {}", tool.name, tool.about)),
        AgentEvent::ToolEnded { failed: true, .. } => Some("… failed".to_owned()),
        AgentEvent::Retry { attempt, reason } => Some(format!("retry {attempt}: {reason}")),
        AgentEvent::Notice(text) | AgentEvent::Stderr(text) => Some(text.clone()),
        AgentEvent::Spawned(_)
        | AgentEvent::ToolEnded { failed: false, .. }
        | AgentEvent::Usage(_)
        | AgentEvent::Activity
        | AgentEvent::Result { .. }
        | AgentEvent::Raw(_) => None,
    }
}
