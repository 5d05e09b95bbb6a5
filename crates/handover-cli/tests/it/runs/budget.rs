//! What a run may cost, and what it needs.

use handover_testkit::FakeAgent;

use super::Epic;

/// Every agent reports a cost of 0.4.
fn costly(stories: &[&str]) -> Epic {
    let epic = Epic::new(stories);
    let result = |phase: &str, verdict: &str| {
        format!(
            "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\"verdict\":\"{verdict}\",\"usage\":{{\"cost_usd\":0.4,\"tokens\":1000,\"turns\":4}}}}'"
        )
    };
    epic.script(&format!(
        "* dev * | write {{HANDOVER_STORY}}.txt x {}\n* review * | {}",
        result("dev", "complete"),
        result("review", "passed")
    ));
    epic
}

#[test]
fn starts_no_agent_that_would_exceed_the_limit() {
    let epic = costly(&["1-1-a", "1-2-b"]);
    epic.run(&["--max-cost", "1.0"]).fails(4);
    let status = epic.status();
    assert_eq!(status["state"], "budget");
    assert_eq!(status["cost_usd"], 0.8);
    assert_eq!(epic.states(), ["done", "running"]);
    assert_eq!(epic.subjects("handover/epic-1"), ["feat(epic-1): complete 1-1-a"]);
    // Without a higher limit, nothing more is spent.
    epic.run(&["--resume"]).fails(4);
    assert_eq!(epic.status()["cost_usd"], 0.8);
    epic.run(&["--resume", "--max-cost", "5"]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    assert_eq!(epic.status()["cost_usd"], 1.6);
}

#[test]
fn a_budget_that_is_just_enough_suffices() {
    let epic = costly(&["1-1-a"]);
    epic.run(&["--max-cost", "0.8"]).ok();
    let epic = costly(&["1-1-a"]);
    epic.run(&["--max-cost", "0"]).fails(4);
    assert_eq!(epic.status()["cost_usd"], 0.0);
}

#[test]
fn tokens_and_turns_have_limits_too() {
    for limit in ["budget.run={tokens = 1500}", "budget.run={turns = 7}"] {
        let epic = costly(&["1-1-a"]);
        epic.run(&["--config", limit]).fails(4);
        assert_eq!(epic.states(), ["running"], "{limit}");
    }
}

/// R11: a story's limit ends that story, and no other.
#[test]
fn the_limit_of_a_story_ends_only_that_story() {
    for limit in ["budget.story={turns = 7}", "budget.story={usd = 0.5}"] {
        let epic = costly(&["1-1-a", "1-2-b"]);
        let cheap = |phase: &str, verdict: &str| {
            format!(
                "1-2-b {phase} * | write b.txt x result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"1-2-b\",\"phase\":\"{phase}\",\"verdict\":\"{verdict}\",\"usage\":{{\"cost_usd\":0.01,\"turns\":1}}}}'\n"
            )
        };
        // A story that costs less than others is not stopped by them.
        let costly = "1-1-a dev * | write a.txt x result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\"verdict\":\"complete\",\"usage\":{\"cost_usd\":0.6,\"turns\":8}}'\n";
        epic.script(&(costly.to_owned() + &cheap("dev", "complete") + &cheap("review", "passed")));
        epic.run(&["--config", limit]).fails(1);
        assert_eq!(epic.states()[0], "failed", "{limit}");
        assert!(epic.reason(0).contains("would exceed its limit"), "{}", epic.reason(0));
        assert_eq!(epic.git(&["show", "handover/failed/1-1-a:a.txt"]), "x");
        // The run is over: a new one starts without a word about the old.
        let again = epic.run(&[]);
        assert!(!again.stderr.contains("unfinished"), "{again}");
    }
}

/// R11: a limit that cannot be kept is said.
#[test]
fn a_cost_limit_is_questioned_if_no_cost_is_reported() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&["--max-cost", "5"]).ok();
    let warnings = output.stderr.matches("reports no cost").count();
    assert_eq!(warnings, 1, "{output}");
    let epic = costly(&["1-1-a"]);
    let output = epic.run(&["--max-cost", "5"]).ok();
    assert!(!output.stderr.contains("reports no cost"), "{output}");
    // Of a program that is known, it is said before an agent is paid.
    for (host, times) in [("codex", 1), ("claude", 0)] {
        let limit = ["--host", host, "--max-cost", "5"];
        let preview = epic.run(&[&limit[..], &["--dry-run"]].concat()).ok();
        let said = format!("{host} reports no cost, so limits in USD have no effect");
        assert_eq!(preview.stderr.matches(&said).count(), times, "{preview}");
        let output = epic.run(&[&limit[..], &["--all"]].concat());
        let before = output.stderr.split(" dev 1 …").next().unwrap();
        assert_eq!(before.matches(&said).count(), times, "{output}");
        // Once is enough.
        assert_eq!(output.stderr.matches("reports no cost").count(), 1, "{output}");
    }
}

/// R11: one agent may not use more than a phase allows, whatever its program does about it.
#[test]
fn an_agent_that_exceeds_the_limit_of_its_phase_fails() {
    for limit in
        ["budget.phase={tokens = 900}", "budget.phase={turns = 3}", "budget.phase={usd = 0.3}"]
    {
        let epic = costly(&["1-1-a"]);
        epic.run(&["--config", limit]).fails(1);
        assert!(epic.reason(0).contains("budget.phase"), "{limit}: {}", epic.reason(0));
    }
}

/// A program that is not installed is found before anything is recorded, checked or said to have started.
#[test]
fn a_missing_program_leaves_no_run_behind() {
    let mut epic = Epic::new(&["1-1-a"]);
    let gate = epic.env.folder().join("gate-ran");
    let commands = format!(
        "[gates]\ncommands = [{{ name = \"x\", argv = [\"touch\", \"{}\"] }}]\n",
        gate.display()
    );
    epic.env.write(".handover/config.toml", commands);
    // Everything that there is, but no agent program except Codex.
    let bin = epic.env.folder().join("bin");
    fs_err::create_dir_all(&bin).unwrap();
    fs_err::write(bin.join("codex"), "#!/bin/sh\n").unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("codex"), all).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let has_agents = |folder: &std::path::PathBuf| {
        ["claude", "codex", "gemini"].iter().any(|name| folder.join(name).exists())
    };
    let others = std::env::split_paths(&path).filter(|folder| !has_agents(folder));
    let path = std::env::join_paths(std::iter::once(bin).chain(others)).unwrap();
    epic.env.set("PATH", path.to_str().unwrap());
    for (args, hint) in [
        (&["run", "1"][..], "Install Claude Code, or choose `--host codex`."),
        (&["run", "1", "--host", "gemini"], "Install Gemini CLI, or choose `--host codex`."),
        (&["run", "1", "--agent-command", "no-such-agent --x"], "`--agent-command`"),
    ] {
        let output = epic.env.run(args.iter().copied().chain(["--json"])).fails(5);
        let error = output.error();
        assert!(error["message"].as_str().unwrap().contains("was not found"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
        assert!(!gate.exists(), "gates ran");
        assert_eq!(epic.env.run(["status", "--json"]).fails(2).error()["code"], "not_found");
    }
    epic.run(&[]).ok();
}

#[test]
fn a_program_that_vanishes_stops_the_run_and_fails_no_story() {
    let epic = Epic::new(&["1-1-a"]);
    let program = epic.env.folder().join("agent");
    fs_err::copy(FakeAgent::program(), &program).unwrap();
    epic.script(&format!(
        "* dev 1 | run 'rm {}' write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        program.display()
    ));
    let command = epic
        .agent()
        .replace(&FakeAgent::program().display().to_string(), &program.display().to_string());
    let output = epic.env.run(["run", "1", "--agent-command", &command, "--json"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(epic.states(), ["running"]);
    assert_eq!(epic.status()["state"], "environment");
    epic.run(&["--resume"]).ok();
}

#[test]
fn rejects_invalid_requests() {
    let epic = Epic::new(&["1-1-a"]);
    let refused = |args: &[&str], code: i32, word: &str| {
        let output = epic.env.run(args.iter().copied().chain(["--json"])).fails(code);
        assert_eq!(output.error()["code"], word, "{output}");
    };
    let agent = epic.agent();
    refused(&["run", "9", "--agent-command", &agent], 2, "not_found");
    refused(&["run", "a/b", "--agent-command", &agent], 2, "invalid_input");
    refused(&["run", "1", "--host", "command"], 2, "invalid_input");
    refused(&["run", "1", "--agent-command", "'unclosed"], 2, "invalid_input");
    refused(&["run", "1", "--max-cost", "-1", "--agent-command", &agent], 2, "usage");
    refused(&["status", "run_1"], 2, "not_found");
    epic.env.git("", &["checkout", "--quiet", "-b", "handover/epic-1"]);
    refused(&["run", "1", "--agent-command", &agent], 5, "git_checked_out");
    epic.env.git("", &["commit", "--quiet", "--allow-empty", "-m", "there"]);
    epic.env.git("", &["checkout", "--quiet", "main"]);
    epic.env.git("", &["commit", "--quiet", "--allow-empty", "-m", "here"]);
    refused(&["run", "1", "--agent-command", &agent], 5, "git_diverged");
}

#[test]
fn rejects_ambiguous_stories() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let refused = |word: &str, part: &str| {
        let error = epic.run(&["--json"]).fails(2).error();
        assert_eq!(error["code"], word, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    };
    epic.env.write("docs/sprints/1-1-a.md", "# another\n");
    refused("ambiguous", "docs/sprints/1-1-a.md");
    fs_err::remove_file(epic.env.path("docs/sprints/1-1-a.md")).unwrap();
    epic.env.write("docs/epics/epic-01-other.md", "# another\n");
    refused("ambiguous", "epic-01-other.md");
    fs_err::remove_file(epic.env.path("docs/epics/epic-01-other.md")).unwrap();
    epic.env.write("docs/stories/1-1-a.md", "# Story 2.1: other\n");
    refused("ambiguous", "epic `2`");
    epic.env.write("docs/stories/1-1-a.md", "---\ndepends_on: [1.2]\n---\n# Story 1.1: a\n");
    epic.env.write("docs/stories/1-2-b.md", "# Story 1.2: b\n\n## Dependencies\n\n- Story 1.1\n");
    refused("dependencies", "1-1-a → 1-2-b → 1-1-a");
    epic.env.write("docs/stories/1-2-b.md", "# Story 1.2: b\n\nDepends on: 1.7\n");
    refused("dependencies", "1.7");
    // Other files, and stories of other epics that mention this one, do not count.
    epic.env.write("docs/stories/1-1-a.md", "# Story 1.1: a\n\nDepends on: 1.2, 2.4\n");
    epic.env.write("docs/stories/1-2-b.md", "# Story 1.2: b\n");
    epic.env.write("docs/sprint-artifacts/epic-1-decisions.md", "Epic: 1\n");
    epic.env.write("docs/stories/2-1-x.md", "# Story 2.1: x\n\nSee Epic 1 and epic-1.\n");
    epic.env.write("docs/stories/11-1-x.md", "# Story 11.1: x\n");
    epic.env.write("docs/stories/by-field.md", "---\nepic: 1\n---\n# By field\n");
    let plan = epic.run(&["--dry-run", "--json"]).ok().json();
    let ids: Vec<&str> = plan["plan"]["stories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["1-2-b", "1-1-a", "by-field"]);
}

/// R11: a run that nobody wants to continue can be ended; its work is kept.
#[test]
fn an_unfinished_run_can_be_abandoned() {
    let epic = costly(&["1-1-a", "1-2-b"]);
    epic.env.run(["run", "abandon", "1"]).fails(2);
    epic.run(&["--max-cost", "0.5"]).fails(4);
    epic.run(&[]).fails(2);
    epic.env.run(["run", "abandon"]).fails(1);
    assert_eq!(epic.states(), ["failed", "failed"]);
    assert_eq!(epic.reason(0), "the run was abandoned");
    assert_eq!(epic.git(&["show", "handover/failed/1-1-a:1-1-a.txt"]), "x");
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
    epic.env.run(["run", "abandon"]).fails(2);
    epic.run(&[]).ok();
    // One that waits for an answer can be abandoned, too.
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* dev 1 | write a.txt b result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"Which?\"}'");
    epic.run(&[]).fails(3);
    epic.env.run(["run", "abandon", "1"]).fails(1);
    assert_eq!(epic.env.run(["answer", "--json"]).ok().json()["questions"], serde_json::json!([]));
}

/// Lines of Claude Code with what its messages used: one message, then one more for each step.
fn claude_says(messages: &[(&str, u32)]) -> String {
    let line = |(id, tokens): &(&str, u32)| {
        format!(
            r#"print '{{"type":"assistant","message":{{"id":"{id}","usage":{{"input_tokens":{tokens},"output_tokens":1}},"content":[{{"type":"text","text":"on it"}}]}}}}'"#
        )
    };
    messages.iter().map(line).collect::<Vec<_>>().join(" ")
}

/// The usage limit of a subscription, as Claude Code reports it.
fn claude_is_limited(resets_at: u64) -> String {
    format!(
        r#"print '{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{resets_at},"rateLimitType":"five_hour"}}}}' print '{{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You have hit your session limit","session_id":"s","num_turns":1,"total_cost_usd":0.1}}'"#
    )
}

fn claude_answers(text: &str) -> String {
    format!(
        r#"print '{{"type":"result","subtype":"success","is_error":false,"result":"{text}","session_id":"s","num_turns":1,"total_cost_usd":0.1}}'"#
    )
}

/// A run with a Claude Code that does what the script says.
fn with_claude(epic: &Epic, more: &[&str]) -> Vec<String> {
    let program = epic.env.folder().join("claude");
    // The script does not know the arguments of Claude Code.
    fs_err::write(&program, format!("#!/bin/sh\nexec {}\n", epic.agent())).unwrap();
    fs_err::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    let args = [&["run", "1", "--host", "claude", "--agent-command", &program], more].concat();
    args.into_iter().map(str::to_owned).collect()
}

fn now() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

/// R11: an agent is stopped as soon as it reports more than it may use, not once it has ended.
#[test]
fn an_agent_is_stopped_when_it_passes_a_limit() {
    for (limit, word) in [
        ("budget.phase={tokens = 900}", "budget.phase allows 900"),
        ("budget.phase={turns = 2}", "budget.phase allows 2"),
        ("budget.story={tokens = 900}", "budget.story leaves 900"),
    ] {
        let epic = Epic::new(&["1-1-a", "1-2-b"]);
        // Lines of one message count once; it would never end by itself.
        let says = claude_says(&[("m1", 300), ("m1", 300), ("m2", 400), ("m3", 400)]);
        let well = claude_answers("IMPLEMENTATION COMPLETE: 1-2-b");
        let passed = claude_answers("REVIEW PASSED: 1-2-b");
        epic.script(&format!(
            "1-1-a dev * | write a.txt half {says} hang\n1-2-b dev * | write b.txt x {well}\n1-2-b review * | {passed}"
        ));
        let begin = std::time::Instant::now();
        epic.env.run(with_claude(&epic, &["--config", limit])).fails(1);
        assert!(begin.elapsed().as_secs() < 60, "{limit}: it waited for the agent");
        assert_eq!(epic.states()[0], "failed", "{limit}");
        // The other story is expected to use as much, which only a story's limit forbids.
        let is_of_story = limit.contains("story");
        assert_eq!(epic.states()[1] == "done", !is_of_story, "{limit}: {}", epic.reason(1));
        assert!(epic.reason(0).contains(word), "{limit}: {}", epic.reason(0));
        let status = epic.status();
        let dev = &status["stories"][0]["phases"][0];
        assert_eq!((&dev["tokens"], &dev["turns"]), (&1103.into(), &3.into()), "{dev}");
        assert_eq!(epic.git(&["show", "handover/failed/1-1-a:a.txt"]), "half");
    }
}

/// A limit of the run stops the run, and the story continues with a higher one.
#[test]
fn an_agent_that_passes_the_limit_of_the_run_stops_it() {
    let epic = Epic::new(&["1-1-a"]);
    let says = claude_says(&[("m1", 600), ("m2", 600)]);
    let well = claude_answers("IMPLEMENTATION COMPLETE: 1-1-a");
    let passed = claude_answers("REVIEW PASSED: 1-1-a");
    epic.script(&format!(
        "* dev 1 | write a.txt x {says} hang\n* dev * | write b.txt x {well}\n* review * | {passed}"
    ));
    epic.env.run(with_claude(&epic, &["--config", "budget.run={tokens = 1000}"])).fails(4);
    assert_eq!(epic.states(), ["running"]);
    let more = ["--resume", "--config", "budget.run={tokens = 100000}"];
    epic.env.run(with_claude(&epic, &more)).ok();
    assert_eq!(epic.states(), ["done"]);
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "x", "its work is not lost");
}

/// An agent whose answer has arrived is not stopped; its phase's limit counts all the same.
#[test]
fn an_answer_is_not_lost_to_the_limit_of_a_story() {
    let epic = Epic::new(&["1-1-a"]);
    let answer = r#"print '{"type":"result","subtype":"success","is_error":false,"result":"IMPLEMENTATION COMPLETE: 1-1-a","session_id":"s","num_turns":1,"usage":{"input_tokens":5000,"output_tokens":1}}'"#;
    epic.script(&format!("* dev * | write a.txt x {answer} sleep 300"));
    epic.env.run(with_claude(&epic, &["--config", "budget.story={tokens = 4000}"])).fails(1);
    let status = epic.status();
    assert_eq!(status["stories"][0]["phases"][0]["verdict"], "complete", "{status}");
    assert!(epic.reason(0).contains("would exceed its limit"), "{}", epic.reason(0));
}

/// A usage limit with a reset time is waited for: said, shown, and no retry is used up.
#[test]
fn a_usage_limit_is_waited_for() {
    let epic = Epic::new(&["1-1-a"]);
    let (first, second) = (claude_is_limited(now() + 4), claude_is_limited(now() + 6));
    let well = claude_answers("IMPLEMENTATION COMPLETE: 1-1-a");
    let passed = claude_answers("REVIEW PASSED: 1-1-a");
    // More often than retries are allowed.
    let script = format!(
        "* dev 1 | write a.txt x {first}\n* dev 2 | {second}\n* dev 3 | {second}\n* dev 4 | {second}\n* dev * | append a.txt y {well}\n* review * | {passed}"
    );
    epic.script(&script);
    let lines = epic.env.run(with_claude(&epic, &[])).ok();
    assert!(lines.stderr.contains("usage limit; waits until 20"), "{lines}");
    assert!(lines.stderr.contains("the usage limit is lifted"), "{lines}");
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "xy");
    let status = epic.status();
    assert!(status["waits_until"].is_null(), "{status}");
    assert_eq!(status["cost_usd"], 0.6, "what was used before the limit counts");
}

/// Waiting ends with Ctrl-C or a kill, and is resumed; scripts see it, too.
#[test]
fn waiting_for_a_usage_limit_survives_everything() {
    for signal in ["INT", "KILL"] {
        let epic = Epic::new(&["1-1-a"]);
        let limited = claude_is_limited(now() + 8);
        let well = claude_answers("IMPLEMENTATION COMPLETE: 1-1-a");
        let passed = claude_answers("REVIEW PASSED: 1-1-a");
        epic.script(&format!(
            "* dev 1 | write a.txt x {limited}\n* dev * | {well}\n* review * | {passed}"
        ));
        let mut run = epic.env.start(with_claude(&epic, &["--json"]));
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let waits = || {
            let status = epic.env.run(["status", "--json"]);
            status.code == Some(0) && status.json()["run"]["waits_until"].is_string()
        };
        while std::time::Instant::now() < until && !waits() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let shown = epic.env.run(["status"]).ok();
        assert!(shown.stdout.contains("waits until"), "{shown}");
        let watched = epic.env.run(["watch", "--once"]).ok();
        assert!(watched.stdout.contains("in 1 min: the agent program has"), "{watched}");
        let page = epic.env.run(["run", "report", "--html", "-"]).ok();
        assert!(page.stdout.contains("The run waits until"), "{page}");
        let pid = run.id().to_string();
        std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap();
        let code = run.wait().unwrap().code();
        assert_eq!(code, (signal == "INT").then_some(130));
        let lines = epic.env.run(with_claude(&epic, &["--resume", "--json"])).ok();
        let events: Vec<serde_json::Value> =
            lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let has = |key: &str, word: &str| events.iter().any(|event| event[key] == word);
        assert!(has("effect", "wait") && has("event", "wait_ended"), "{signal}: {lines}");
        assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "x", "{signal}");
        let status = epic.status();
        let devs = status["stories"][0]["phases"].as_array().unwrap();
        let devs = devs.iter().filter(|phase| phase["phase"] == "dev").count();
        assert_eq!(devs, 2, "{signal}: nothing is paid for twice");
    }
}

/// What a run costs is said before it starts, from what earlier ones did cost.
#[test]
fn the_cost_of_a_run_is_known_before_it_starts() {
    let epic = costly(&["1-1-a", "1-2-b"]);
    let plan = epic.run(&["--dry-run"]).ok();
    assert!(plan.stdout.contains("Cost: unknown, no earlier run reports"), "{plan}");
    let first = epic.run(&["--start-from", "1-2-b"]).ok();
    assert!(first.stderr.contains("cost: unknown"), "{first}");
    let plan = epic.run(&["--dry-run", "--all", "--json", "--max-fixes", "2"]).ok().json();
    let forecast = &plan["plan"]["forecast"];
    // Two stories with a developer and a reviewer each; no fix has been made yet.
    assert_eq!(forecast["usual_usd"], 1.6, "{forecast}");
    assert!(forecast["most_usd"].is_null(), "{forecast}");
    let shown = epic.run(&["--dry-run", "--all", "--skip-review", "--max-fixes", "0"]).ok();
    assert!(shown.stdout.contains("Cost: about 0.80 USD, at most 0.80; 2 stories"), "{shown}");
    let again = epic.run(&["--all", "--max-cost", "9"]);
    assert!(again.stderr.contains("cost: about 1.60 USD, at most unknown"), "{again}");
    assert!(again.stderr.contains("no earlier agent of fix"), "{again}");
    assert!(again.stderr.contains("it stops at 9.00 USD"), "{again}");
}
