//! What agents, their programs and test tools say.

use std::sync::Arc;

use bytes::Bytes;
use handover_engine::gates::{BUILT_IN, GateOutput};
use handover_engine::verdict::{ReportContext, read};
use handover_handoff::{marker_of, read_ending};
use handover_hosts::{Registry, transcript};
use handover_mcp::{ContextProvider, RequestContext, RequestError, Server, ToolError};
use handover_model::RunPhase;
use http_body_util::Full;

use super::{halves, lossy};

pub(super) fn ending(data: &[u8]) {
    let text = lossy(data);
    let _ = read_ending(&text);
    let _ = marker_of(&text);
}

/// Result file and output, in each phase.
pub(super) fn verdict(data: &[u8]) {
    let (file, text) = halves(data);
    let text = lossy(text);
    for phase in RunPhase::ALL {
        let context = ReportContext {
            subject: "1-1-a",
            phase: *phase,
            nonce: "n",
            receipt: None,
            read: "",
            statuses: &[],
        };
        let _ = read(context, Some(file), &text);
        let _ = read(context, None, &lossy(data));
    }
}

pub(super) fn gate_report(data: &[u8]) {
    let (stdout, report) = halves(data);
    let (stdout, reports) = (lossy(stdout), [lossy(report).into_owned()]);
    for kind in BUILT_IN {
        let output = GateOutput { stdout: &stdout, stderr: &stdout, reports: &reports };
        let _ = kind.parse(&output);
        let _ = kind.missing(&output);
    }
}

pub(super) fn hook_event(data: &[u8]) {
    let text = lossy(data);
    let registry = Registry::built_in();
    for host in registry.iter() {
        let _ = registry.read(host.name(), &text);
    }
}

/// Hooks are added and removed, and nothing else changes.
pub(super) fn hook_settings(data: &[u8]) {
    let text = lossy(data);
    for host in Registry::built_in().iter() {
        let (settings, command) = (host.settings(), format!("handover hook {}", host.name()));
        let _ = settings.registered(&text);
        let _ = settings.uninstall(&text);
        if let Ok(with) = settings.install(&text, &command) {
            assert!(!settings.registered(&with).expect("valid settings").is_empty());
            assert_eq!(settings.install(&with, &command).expect("valid settings"), with);
            let without = settings.uninstall(&with).expect("valid settings").unwrap_or_default();
            assert!(settings.registered(&without).expect("valid settings").is_empty());
        }
    }
}

pub(super) fn transcript(data: &[u8]) {
    let (head, tail) = halves(data);
    for format in Registry::built_in().iter().filter_map(|host| host.transcript()) {
        let _ = transcript::scan(format, head, tail);
        let _ = transcript::version(format, data);
    }
}

pub(super) fn agent_output(data: &[u8]) {
    let text = lossy(data);
    let registry = handover_agents::Registry::built_in();
    for host in registry.hosts() {
        let Ok(program) = registry.find(host) else { continue };
        let mut reader = program.reader();
        text.lines().for_each(|line| reader.line(line, &mut |_| {}));
    }
    let _ = handover_agents::split_command(&text);
}

/// A project that is never there.
struct Nothing;

impl ContextProvider for Nothing {
    fn with_context(
        &self,
        _work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        Err(RequestError { code: "no_project", message: "there is none".to_owned(), hint: None })
    }
}

/// A request over HTTP: its body, up to the point where a project is needed.
pub(super) fn mcp(data: &[u8]) {
    let request = http::Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Full::new(Bytes::copy_from_slice(data)))
        .expect("a request");
    let provider: Arc<dyn ContextProvider> = Arc::new(Nothing);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let make = move || Server::shared(Arc::clone(&provider));
        let _ = handover_mcp::answer_http(make, request).await;
    });
}
