//! What a person sees while an agent works, on standard error.

use handover_agents::AgentEvent;

use crate::app::App;

/// Longer texts are cut: the whole is in the log.
const CHARS: usize = 160;

pub(super) fn show(app: &App, event: &AgentEvent) {
    let Some(line) = line(event) else { return };
    // Agents print what they read; a secret must not reach the screen of a build either.
    let clean = app.redactor().map(|redactor| redactor.clean(&line).one_line().cut(CHARS));
    if let Ok(clean) = clean {
        app.ui.note(clean.as_str());
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
