//! What a supervised agent was given and did, from the events of its program.

use handover_agents::{AgentEvent, Tool};
use handover_model::{ToolCall, Trace};

/// Adds an event to the trace of its agent.
pub fn observe(trace: &mut Trace, event: &AgentEvent) {
    match event {
        AgentEvent::Text(text) => trace.said(text),
        AgentEvent::ToolStarted(Tool { id, name, input, .. }) => {
            trace.called(ToolCall { id: id.clone(), name: name.clone(), input: input.clone() });
        }
        AgentEvent::ToolEnded { id, failed, shown } => trace.shown(id, *failed, shown),
        // It repeats the last text, or is all that the program prints.
        AgentEvent::Result { text, failed: false } => trace.said(text),
        AgentEvent::Result { .. }
        | AgentEvent::Spawned(_)
        | AgentEvent::Started { .. }
        | AgentEvent::Retry { .. }
        | AgentEvent::Usage(_)
        | AgentEvent::Notice(_)
        | AgentEvent::Activity
        | AgentEvent::Raw(_)
        | AgentEvent::Stderr(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_does_is_in_its_trace() {
        let mut trace = Trace::default();
        trace.given("do it");
        observe(&mut trace, &AgentEvent::Activity);
        observe(&mut trace, &AgentEvent::Stderr("noise".to_owned()));
        assert!(trace.is_empty());
        let input = r#"{"path":"a.md"}"#.to_owned();
        let tool =
            Tool { id: "1".to_owned(), name: "read".to_owned(), about: String::new(), input };
        let mut expected = trace.clone();
        expected.called(ToolCall {
            id: "1".to_owned(),
            name: "read".to_owned(),
            input: r#"{"path":"a.md"}"#.to_owned(),
        });
        expected.shown("1", true, "no such file");
        expected.said("done");
        observe(&mut trace, &AgentEvent::ToolStarted(tool));
        let shown = "no such file".to_owned();
        observe(&mut trace, &AgentEvent::ToolEnded { id: "1".to_owned(), failed: true, shown });
        observe(&mut trace, &AgentEvent::Text("done".to_owned()));
        assert_eq!(trace, expected);
    }
}
