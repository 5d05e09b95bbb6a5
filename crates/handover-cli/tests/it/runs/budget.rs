//! What a run may cost, and what it needs.

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
fn tokens_turns_and_stories_have_limits_too() {
    for limit in
        ["budget.run={tokens = 1500}", "budget.story={turns = 7}", "budget.story={usd = 0.5}"]
    {
        let epic = costly(&["1-1-a"]);
        epic.run(&["--config", limit]).fails(4);
        assert_eq!(epic.states(), ["running"], "{limit}");
    }
}

#[test]
fn a_missing_program_stops_the_run_and_fails_no_story() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.env.run(["run", "1", "--agent-command", "no-such-agent --x", "--json"]);
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
