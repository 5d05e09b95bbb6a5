//! The way back: what the real Claude Code and Codex let a parent read of a long report.

use handover_testkit::{Answer, ModelRequest, Script, TestEnv};
use serde_json::{Value, json};

use crate::real_hosts::{DEBRIEF, Real, agent, both, codex_that, is_lead, lead, of, turns_of};

/// The most tokens of a report, as the tests set it.
const LIMIT: u64 = 300;

const SECRET: &str = "ghp_aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xYz";

/// A report of some thousand tokens.
pub(crate) fn report() -> String {
    let filler = |n: u32| format!("Filler {n}: the weather in town number {n} is fine today.\n\n");
    let filler: String = (0..150).map(filler).collect();
    format!(
        "# What I found\n\nThe key is {SECRET}.\n\n{filler}\
         Refresh tokens rotate under one lock per family.\n\n{DEBRIEF}"
    )
}

pub(crate) fn limit_returns(env: &TestEnv) {
    env.run(["config", "set", "hooks.return_tokens", &LIMIT.to_string()]).ok();
}

/// Every text inside of a value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The parent reads no more than it should, and the rest is one command away.
pub(crate) fn is_shortened(env: &TestEnv, parent: &ModelRequest) {
    let mut all = Vec::new();
    texts(&parent.body, &mut all);
    let short = all.iter().find(|text| text.contains("this report is shortened"));
    let short = short.unwrap_or_else(|| panic!("not shortened: {}", parent.body));
    assert!(!parent.body.to_string().contains("Filler 100:"), "{short}");
    assert!(short.contains("Verdict: complete. Tokens rotate."), "{short}");
    assert!(
        short.contains("Refresh tokens rotate under one lock"),
        "what answers the task: {short}"
    );
    assert!(!short.contains(SECRET), "{short}");
    let command = short.split("`handover ").nth(1).unwrap().split('`').next().unwrap();
    let shown = env.run(command.split(' ')).ok().stdout;
    let whole = report().replace(SECRET, "[REDACTED-1]");
    assert!(shown.trim_end().ends_with(whole.trim_end()), "{shown}");
    let events = env.run(["event", "list", "--type", "shortened", "--json"]).ok().json();
    let event = &events["events"][0]["payload"];
    assert!(event["returned"].as_u64().unwrap() <= LIMIT, "{event}");
    assert!(event["tokens"].as_u64().unwrap() > 1_000, "{event}");
    let package = env.run(["package", "show", "latest", "--json"]).ok().json()["package"].clone();
    assert_eq!((&package["trust"], &package["producer"]), (&json!("agent"), &json!("developer")));
    let receipt = env.run(["receipt", "show", "latest", "--json"]).ok().json();
    assert_eq!(package["session"], receipt["receipt"]["session"]);
    assert_eq!(package["group"], receipt["receipt"]["group"]);
}

/// The request in which the parent reads what its subagent returned.
fn parent(real: &Real) -> ModelRequest {
    let mut requests = real.server.requests().into_iter().filter(is_lead);
    requests.rfind(|request| turns_of(request) == 1).unwrap()
}

fn claude(other: bool) -> Real {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(&report()));
    let mut spawn = agent("general-purpose", "CHILD-ONE: do the refresh tokens rotate?");
    spawn.1["run_in_background"] = false.into();
    let turns = vec![Answer::Tools(String::new(), vec![spawn])];
    let mut real = Real::claude(lead(script, turns));
    if other {
        real.host = real.host.other();
    }
    real
}

#[test]
fn claude_lets_the_parent_read_less() {
    for other in [false, true] {
        let real = claude(other);
        limit_returns(&real.env);
        real.run();
        is_shortened(&real.env, &parent(&real));
        assert_eq!(real.states(), both(&[("developer", "confirmed")]));
        assert_eq!(real.events("debrief")[0]["verdict"], "complete");
    }
}

#[test]
fn a_report_is_left_alone_unless_it_is_limited_and_can_be_kept() {
    // Nothing is set; it is short enough; it is too large to become a package.
    for config in
        [None, Some(("hooks.return_tokens", "50000")), Some(("packages.max_bytes", "999"))]
    {
        let real = claude(false);
        if let Some((key, value)) = config {
            limit_returns(&real.env);
            real.env.run(["config", "set", key, value]).ok();
        }
        real.run();
        let read = parent(&real).body.to_string();
        assert!(read.contains("Filler 149:") && !read.contains("shortened"), "{config:?}");
        assert_eq!(real.events("shortened"), [] as [Value; 0], "{config:?}");
        let log = fs_err::read_to_string(real.env.path(".handover/hooks.log")).unwrap_or_default();
        let is_logged = log.contains("a report was not shortened");
        assert_eq!(is_logged, config.is_some_and(|(key, _)| key == "packages.max_bytes"), "{log}");
    }
}

/// What an agent of Codex reports is a message in the conversation of its lead.
#[test]
fn codex_lets_the_parent_read_everything() {
    let env = crate::project();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    limit_returns(&env);
    let real = codex_that(env, Answer::text(&report()), Answer::text(&report()));
    let output = real.host.command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let last = real.server.requests().into_iter().rfind(is_lead).unwrap();
    assert!(last.body.to_string().contains("Filler 149:"), "{}", last.body);
    assert_eq!(real.events("shortened"), [] as [Value; 0]);
}
