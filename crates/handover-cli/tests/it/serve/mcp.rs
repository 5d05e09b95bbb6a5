//! MCP over HTTP under the official conformance suite.

use std::collections::BTreeSet;

use handover_testkit::{Service, conformance};
use serde_json::{Value, json};

use super::bearer;
use crate::project;

/// The scenarios that ask for the protocol and its transport.
const PASS: [&str; 13] = [
    "caching",
    "completion-complete",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "ping",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-initialize",
    "server-sse-multiple-streams",
    "tools-list",
];

/// Scenarios that call tools, resources and prompts invented by the suite. What they check about the
/// transport is tested with a showcase server in `handover-mcp/tests`.
const SHOWCASE: [&str; 32] = [
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "http-custom-header-server-validation",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-list-roots",
    "input-required-result-basic-sampling",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-multi-round",
    "input-required-result-multiple-input-requests",
    "input-required-result-non-tool-request",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "json-schema-2020-12",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "resources-read-binary",
    "resources-read-text",
    "resources-templates-read",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-sampling",
    "tools-call-simple-text",
    "tools-call-with-progress",
];

/// Scenarios of the older generation about session state or optional capabilities: we keep no
/// session, and declare neither logging nor subscriptions.
const NOT_OFFERED: [&str; 7] = [
    "logging-set-level",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-with-logging",
];
/// This scenario passes except for the checks that call tools of the suite.
const STATELESS: (&str, [&str; 4]) = (
    "server-stateless",
    [
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-missing-capability-http-400",
        "sep-2575-server-no-log-without-loglevel",
        "sep-2575-server-rejects-undeclared-capability",
    ],
);

/// The suite's result for a server without the tools of the suite.
const MISSING: [&str; 6] = [
    "there is no tool `test_",
    "there is no prompt `test_",
    "there is no such resource",
    "Not testable",
    "'json_schema_2020_12_tool' not found",
    "InputRequiredResult",
];

/// Every scenario of the suite is in one of the lists above, and does what its list says.
#[test]
fn conformance_suite_passes_over_http() {
    let env = project();
    env.write("docs/a.md", "# A\ntext\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let url = format!("{}/mcp", service.url);
    let mut seen = BTreeSet::new();
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for (name, scenario) in conformance(&url, version, env.folder()) {
            let missing =
                scenario.failed.values().all(|problem| MISSING.iter().any(|w| problem.contains(w)));
            let not_offered = version != "2026-07-28" && NOT_OFFERED.contains(&&*name);
            let as_expected = if not_offered {
                !scenario.is_fine()
            } else if name == STATELESS.0 {
                missing && scenario.passed >= 21 && scenario.failed.keys().eq(STATELESS.1)
            } else if SHOWCASE.contains(&&*name) {
                missing && !scenario.is_fine()
            } else {
                PASS.contains(&&*name) && scenario.is_fine()
            };
            assert!(as_expected, "{version} {name}: {scenario:#?}");
            seen.insert(name);
        }
    }
    let lists = PASS.iter().chain(&SHOWCASE).chain(&NOT_OFFERED).chain([&STATELESS.0]);
    let listed: BTreeSet<String> = lists.map(|name| (*name).to_owned()).collect();
    assert_eq!(seen, listed);
}

pub(super) fn call(service: &Service, token: &str, tool: &str, arguments: Value) -> Value {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    let headers = [
        ("authorization", bearer(token)),
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", "2025-11-25".to_owned()),
    ];
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    service.send("POST", "/mcp", &headers, &message.to_string()).is(200).json()["result"].clone()
}
