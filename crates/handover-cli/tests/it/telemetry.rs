//! What an OpenTelemetry collector gets to see: of agents, runs, gates and hooks; and what a broken one does to them.

use std::time::{Duration, Instant};

use handover_testkit::{Collector, FakeAgent, Mood, Output, Received, TestEnv, attribute};
use serde_json::json;

use crate::hooks::{DEBRIEF, answer, prompt_of, receipt_in, with_package};
use crate::project;
use crate::runs::Epic;

const TASK: &str = "Refresh the zanzibar tokens in parallel";

fn spawn(env: &TestEnv, more: &[&str]) -> Output {
    let actions = "print \"```handover\" print \"verdict: complete\" print \"summary: the zanzibar lock holds\" print \"```\"";
    let command = format!("{} {actions}", FakeAgent::program().display());
    let args = ["spawn", "--json", "--host", "command", "--agent-command", &command];
    let rest = ["--role", "developer", "--task", TASK];
    env.run(args.iter().chain(&rest).chain(more))
}

/// How many batches wait to be sent.
fn waiting(env: &TestEnv) -> usize {
    let folder = env.path(".handover/telemetry");
    let Ok(files) = fs_err::read_dir(folder) else { return 0 };
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "pause").count()
}

fn says(received: &Received, text: &str) -> bool {
    received.bodies.iter().any(|body| body.windows(text.len()).any(|part| part == text.as_bytes()))
}

fn reporting(mut env: TestEnv, collector: &Collector) -> TestEnv {
    env.set("HANDOVER_TELEMETRY_ENDPOINT", &collector.endpoint);
    env
}

#[test]
fn a_spawn_is_one_span_with_its_measurements_and_without_its_texts() {
    let collector = Collector::start(Mood::Fine);
    let mut env = reporting(with_package(), &collector);
    env.set("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20key");
    env.set("OTEL_SERVICE_NAME", "shop");
    let document = spawn(&env, &[]).ok().json();
    let received = collector.received();
    let spans = received.spans();
    assert_eq!(spans.len(), 1, "{spans:?}");
    let span = &spans[0];
    assert_eq!(span.name, "invoke_agent developer");
    let of = |name: &str| attribute(&span.attributes, name);
    assert_eq!(of("gen_ai.operation.name"), "invoke_agent");
    assert_eq!(
        (of("gen_ai.agent.name"), of("handover.host")),
        ("developer".into(), "command".into())
    );
    assert_eq!(of("handover.receipt"), document["receipt"].as_str().unwrap());
    assert_eq!((of("handover.verdict"), of("handover.session")), ("complete".into(), "s1".into()));
    assert!(of("handover.brief.tokens").parse::<u64>().unwrap() > 0);
    assert!(span.end_time_unix_nano > span.start_time_unix_nano);
    let names: Vec<String> = received.metrics().into_iter().map(|one| one.name).collect();
    for name in
        ["gen_ai.client.operation.duration", "handover.brief.tokens", "handover.agent.verdicts"]
    {
        assert!(names.iter().any(|one| one == name), "{name} in {names:?}");
    }
    for text in ["zanzibar", "grace period", "Refresh tokens rotate"] {
        assert!(!says(&received, text), "{text}");
    }
    let about = received.traces[0].resource_spans[0].resource.as_ref().unwrap();
    assert_eq!(attribute(&about.attributes, "service.name"), "shop");
    let key = ("authorization".to_owned(), "Bearer key".to_owned());
    assert!(received.headers.iter().all(|headers| headers.contains(&key)));
    assert_eq!(waiting(&env), 0);
}

#[test]
fn nothing_is_reported_unless_it_is_configured() {
    let collector = Collector::start(Mood::Fine);
    let env = with_package();
    spawn(&env, &[]).ok();
    assert_eq!(waiting(&env), 0);
    assert!(!env.path(".handover/telemetry").exists());
    // The variables that all OpenTelemetry programs share count as well, and can switch it off.
    let mut env = with_package();
    env.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint);
    spawn(&env, &[]).ok();
    let spans = collector.received().spans().len();
    assert_eq!(spans, 1);
    env.set("OTEL_SDK_DISABLED", "true");
    spawn(&env, &[]).ok();
    assert_eq!(collector.received().spans().len(), spans);
}

#[test]
fn a_project_can_name_a_collector_only_with_trust_and_never_gets_the_users_keys() {
    let collector = Collector::start(Mood::Fine);
    let mut env = with_package();
    env.set("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20key");
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap_or_default();
    let section = format!("\n[telemetry]\nendpoint = \"{}\"\n", collector.endpoint);
    env.write(".handover/config.toml", config + &section);
    env.trust_nothing();
    let warned = spawn(&env, &[]).ok();
    assert!(warned.stderr.contains("telemetry.endpoint"), "{warned}");
    assert!(collector.received().bodies.is_empty());
    spawn(&env, &["--trust-project"]).ok();
    let received = collector.received();
    assert_eq!(received.spans().len(), 1);
    assert!(received.headers.iter().flatten().all(|(name, _)| name != "authorization"));
    // A floor of the user's own holds even then.
    let own = env.folder().join("home/.config/handover");
    fs_err::create_dir_all(&own).unwrap();
    fs_err::write(own.join("config.toml"), "[trust]\ncollectors = [\"https://otel.example\"]\n")
        .unwrap();
    let refused = spawn(&env, &["--trust-project"]).ok();
    assert!(refused.stderr.contains("trust.collectors"), "{refused}");
    assert_eq!(collector.received().spans().len(), 1);
}

#[test]
fn a_broken_collector_costs_a_moment_and_loses_nothing() {
    for mood in [Mood::Status(503), Mood::Slow(Duration::from_secs(30))] {
        let collector = Collector::start(mood);
        let mut env = reporting(with_package(), &collector);
        // However long a request may take, the end of a command waits for two seconds.
        env.set("OTEL_EXPORTER_OTLP_TIMEOUT", "10000");
        let begin = Instant::now();
        let document = spawn(&env, &[]).ok().json();
        assert_eq!(document["verdict"], "complete");
        assert!(begin.elapsed() < Duration::from_secs(7), "{:?}", begin.elapsed());
        assert!(waiting(&env) > 0, "{mood:?}");
    }
    let mut env = with_package();
    env.set("HANDOVER_TELEMETRY_ENDPOINT", "http://127.0.0.1:1");
    spawn(&env, &[]).ok();
    let kept = waiting(&env);
    assert!(kept > 0);
    // It is left alone for a minute, and everything waits.
    let begin = Instant::now();
    spawn(&env, &[]).ok();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(waiting(&env), 2 * kept);
    // Once one is there, the next command sends all of it.
    fs_err::remove_file(env.path(".handover/telemetry/pause")).unwrap();
    let collector = Collector::start(Mood::Fine);
    let env = reporting(env, &collector);
    spawn(&env, &[]).ok();
    assert_eq!(collector.received().spans().len(), 3);
    assert_eq!(waiting(&env), 0);
    // An address that is none is a line in the log, not a failure.
    let mut env = with_package();
    env.set("HANDOVER_TELEMETRY_ENDPOINT", "collector:4318");
    spawn(&env, &[]).ok();
}

#[test]
fn hooks_leave_their_spans_behind_and_a_pause_sends_them() {
    let collector = Collector::start(Mood::Fine);
    let env = reporting(with_package(), &collector);
    let input = json!({"description": "d", "prompt": TASK, "subagent_type": "general-purpose"});
    let spawned = answer(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
    let prompt = prompt_of(&spawned).to_owned();
    let receipt = receipt_in(&prompt);
    let agent = json!({"agent_id": "a1", "agent_type": "general-purpose"});
    answer(&env, "SubagentStart", agent.clone());
    assert!(collector.received().bodies.is_empty(), "a host waits for these");
    assert!(waiting(&env) >= 4);
    let line = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    env.write("a1.jsonl", format!("{line}\n"));
    let mut stop = agent;
    stop["agent_transcript_path"] = json!(env.path("a1.jsonl"));
    stop["last_assistant_message"] = json!(DEBRIEF);
    answer(&env, "SubagentStop", stop);
    let received = collector.received();
    let spans = received.spans();
    let named = |name: &str| {
        spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:?}"))
    };
    let agent = named("invoke_agent developer");
    assert_eq!(attribute(&agent.attributes, "handover.receipt"), receipt);
    assert_eq!(attribute(&agent.attributes, "gen_ai.provider.name"), "anthropic");
    assert_eq!(attribute(&agent.attributes, "gen_ai.conversation.id"), "c-1");
    for name in ["hook spawn", "hook subagent start", "hook subagent stop"] {
        assert_eq!(named(name).trace_id, agent.trace_id, "{name}");
        assert_eq!(attribute(&named(name).attributes, "handover.host"), "claude");
    }
    assert_eq!(named("hook subagent start").parent_span_id, agent.span_id);
    assert_eq!(attribute(&named("hook spawn").attributes, "handover.hook.action"), "rewrite");
    let durations: usize =
        received.metrics().iter().filter(|metric| metric.name == "handover.hook.duration").count();
    assert_eq!(durations, 3);
    assert_eq!(waiting(&env), 0);
    for text in ["zanzibar", "grace period", "Tokens rotate", "one lock"] {
        assert!(!says(&received, text), "{text}");
    }
}

#[test]
fn a_hook_answers_in_time_whatever_its_collector_does() {
    let collector = Collector::start(Mood::Slow(Duration::from_secs(30)));
    let env = reporting(with_package(), &collector);
    let input = json!({"description": "d", "prompt": TASK, "subagent_type": "general-purpose"});
    let begin = Instant::now();
    let spawned = answer(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
    let prompt = prompt_of(&spawned).to_owned();
    assert!(prompt.contains(TASK));
    let agent = json!({"agent_id": "a1", "agent_type": "general-purpose"});
    answer(&env, "SubagentStart", agent.clone());
    let line = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    env.write("a1.jsonl", format!("{line}\n"));
    let mut stop = agent;
    stop["agent_transcript_path"] = json!(env.path("a1.jsonl"));
    stop["last_assistant_message"] = json!(DEBRIEF);
    answer(&env, "SubagentStop", stop);
    assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
    assert!(waiting(&env) >= 6, "nothing is lost");
    let log = fs_err::read_to_string(env.path(".handover/hooks.log")).unwrap_or_default();
    assert!(!log.contains("took longer"), "{log}");
}

#[test]
fn a_run_is_a_trace_with_its_stories_agents_gates_and_commits() {
    let collector = Collector::start(Mood::Fine);
    let mut epic = Epic::new(&["1-1-a", "1-2-b"]);
    epic.env.set("HANDOVER_TELEMETRY_ENDPOINT", &collector.endpoint);
    epic.env.write(
        ".handover/config.toml",
        "[[gates.commands]]\nname = \"check\"\nargv = [\"true\"]\n",
    );
    epic.run(&[]).ok();
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let received = collector.received();
    let spans = received.spans();
    let all = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let root = all("invoke_workflow handover run")[0];
    assert_eq!(attribute(&root.attributes, "handover.run"), run);
    assert_eq!(attribute(&root.attributes, "handover.outcome"), "done");
    assert_eq!(attribute(&root.attributes, "gen_ai.operation.name"), "invoke_workflow");
    assert!(spans.iter().all(|span| span.trace_id == root.trace_id));
    let stories = all("story");
    assert_eq!(stories.len(), 2);
    for story in &stories {
        assert_eq!(story.parent_span_id, root.span_id);
        assert!(story.start_time_unix_nano >= root.start_time_unix_nano);
        assert!(story.end_time_unix_nano <= root.end_time_unix_nano);
    }
    for (name, count) in
        [("invoke_agent developer", 2), ("invoke_agent tech_lead", 2), ("gates", 2), ("commit", 2)]
    {
        let found = all(name);
        assert_eq!(found.len(), count, "{name}");
        for span in found {
            let story = attribute(&span.attributes, "handover.story");
            let parent = stories.iter().find(|one| one.span_id == span.parent_span_id);
            assert_eq!(attribute(&parent.unwrap().attributes, "handover.story"), story);
        }
    }
    for span in all("invoke_agent developer") {
        let has = |name: &str| span.attributes.iter().any(|one| one.key == name);
        assert!(has("handover.receipt") && has("handover.brief.tokens"), "{span:?}");
        assert!(!has("handover.cost_usd"), "nobody reports what it costs: {span:?}");
    }
    assert!(received.metrics().iter().all(|metric| metric.name != "handover.agent.cost"));
    assert!(received.metrics().iter().any(|metric| metric.name == "handover.brief.tokens"));
    let mut ids: Vec<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "every span has an id of its own");
    assert_eq!(attribute(&all("gates")[0].attributes, "handover.outcome"), "passed");
    let metrics = received.metrics();
    assert!(metrics.iter().any(|metric| metric.name == "handover.gate.duration"));
    let ended = received.logs();
    let ended = ended.iter().find(|line| line.span_id == root.span_id).unwrap();
    assert_eq!(ended.severity_text, "INFO");
    assert!(!says(&received, "IMPLEMENTATION COMPLETE"));
}

#[test]
fn a_run_that_is_resumed_continues_its_trace() {
    let collector = Collector::start(Mood::Fine);
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.set("HANDOVER_TELEMETRY_ENDPOINT", &collector.endpoint);
    let mut dying = epic.env.command();
    dying.args(epic.args(&[])).env("HANDOVER_TEST_DIE", "before:6");
    assert!(!dying.output().unwrap().status.success());
    let before = collector.received().spans();
    epic.run(&["--resume"]).ok();
    let spans = collector.received().spans();
    assert!(spans.len() > before.len());
    let roots: Vec<_> =
        spans.iter().filter(|span| span.name == "invoke_workflow handover run").collect();
    assert_eq!(roots.len(), 1, "the process that died reported no end");
    assert!(spans.iter().all(|span| span.trace_id == roots[0].trace_id));
    let mut ids: Vec<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "nothing is reported twice");
    let agents = spans.iter().filter(|span| span.name.starts_with("invoke_agent")).count();
    assert_eq!(agents, 2, "developer and reviewer: {spans:?}");
}

#[test]
fn signals_can_be_chosen() {
    let collector = Collector::start(Mood::Fine);
    let env = reporting(project(), &collector);
    spawn(&env, &["--config", "telemetry.signals=[\"metrics\"]"]).ok();
    let received = collector.received();
    assert!(received.traces.is_empty() && !received.metrics.is_empty());
}
