//! What a brief says: the one thing that the agent needs is in it, and comes first.
//!
//! Each row of the review of 0.1.0 has a test that fails there (`scripts/against 1f55659 content:: …`):
//!
//! | row | about | test |
//! |---|---|---|
//! | C1 | announcements end | `an_announcement_ends_where_the_debrief_begins` |
//! | C2 | underscored names | `underscored_names_may_be_groups_as_a_whole` |
//! | C3, C8 | strategies come from accepted work, and gain | `only_accepted_work_teaches` |
//! | C4 | strategies fit task and component | `strategies_fit_the_task_or_stay_out`, `strategies_belong_to_the_component_of_their_group` |
//! | C5, C6, C9 | reasoning: newest first, levels, what it is for | `reasoning_starts_with_the_newest_attempt` |
//! | C7 | advice to read | `the_advice_to_read_fits_the_window` |
//! | C10 | timeline | `a_timeline_is_complete_and_may_be_markdown` |
//! | C11 | named errors | `an_error_that_the_task_names_comes_with_its_solution` |
//! | C12 | why it came back | `a_retry_reads_first_why_it_came_back` |
//! | C13 | reading never waits | `a_locked_store_gives_everything_at_once`, `assemble::a_read_only_store_still_gives_the_context` |
//! | C14 | judges, empty lists | `judges_see_what_is_addressed_to_others`, `an_empty_list_says_what_was_delivered_before` |
//! | C15 | failures | `failures_are_settled_when_the_group_passes` |
//! | C16 | escalation | `an_agent_that_takes_over_reads_the_whole_story` |
//! | C17 | component and templates | `the_task_decides_component_and_templates` |
//! | C18 | evidence first | `evidence_goes_before_general_advice` |
//! | C19 | another module's fix | `the_fix_of_another_module_is_not_offered` |
//! | C20 | known errors in a running agent | `hooks::a_known_error_is_answered_with_what_solved_it_and_only_once` |
//! | C21 | nothing twice | `nothing_is_said_twice` |
//! | C22 | producers | `the_form_shows_how_to_leave_a_package` |
//! | C23 | empty group, configuration, `assembly.enabled` | `an_empty_group_is_none`, `config::*`, `context_that_is_turned_off_says_so` |
//! | C23 | files that are gone, versions, names | `files_that_are_gone_are_not_more`, `a_version_that_is_not_counted_is_reported`, `underscored_names_may_be_groups_as_a_whole` |
//! | C23 | kind shown, critical first, group status | `failures_are_settled_when_the_group_passes`, `critical_packages_are_listed_first`, `the_status_of_a_group_follows_the_verdicts` |
//! | C23 | session-wide reasoning, phases, "1 entry" | `reasoning_starts_with_the_newest_attempt`, `judges_and_rescuers_read_every_phase` |
//! | C23 | lengths, confidence, tokens with a dash | `a_handoff_of_reasoning_counts_what_was_passed_on`, `the_form_shows_how_to_leave_a_package`, `a_token_is_redacted_to_its_end` |
//!
//! The unused `task_percent` of C23 is now the budget of the task in every receipt (`shares_are_in_the_receipt`).

use std::time::{Duration, Instant};

use handover_testkit::{Lock, TestEnv};
use serde_json::{Value, json};

use crate::project;

/// The JSON of a brief for a role in group `P1`.
fn brief(env: &TestEnv, role: &str, args: &[&str]) -> Value {
    let mut all = vec!["brief", "--json", "--role", role, "--group", "P1"];
    all.extend(args);
    env.run(all).ok().json()
}

/// The text of a brief for a role in group `P1`.
fn text(env: &TestEnv, role: &str, args: &[&str]) -> String {
    brief(env, role, args)["text"].as_str().unwrap().to_owned()
}

/// An agent of group `P1` is briefed and ends with a block.
fn ends(env: &TestEnv, role: &str, block: &str) {
    let args = ["brief", "--json", "--deliver", "--role", role, "--group", "P1", "--task", "x"];
    let receipt = env.run(args).ok().json()["receipt"].as_str().unwrap().to_owned();
    let message = format!("```handover\nreceipt: {receipt}\n{block}\n```\n");
    env.run_with(message, ["debrief", "--receipt", &receipt, "--json"]).ok();
}

#[test]
fn a_retry_reads_first_why_it_came_back() {
    let env = project();
    ends(&env, "developer", "verdict: complete\nsummary: Tokens rotate.");
    ends(
        &env,
        "qa_expert",
        "verdict: failed\nsummary: 3 of 15 tests fail, expired tokens are accepted.\n\
         findings:\n  - src/auth.rs:41 does not check exp",
    );
    for model in ["haiku", "sonnet", "opus"] {
        let text = text(&env, "developer", &["--model", model, "--task", "Fix it"]);
        let start = "## Context for developer\n\n### Why It Came Back (this is attempt 2)\n\n\
            **[qa_expert] failed**, attempt 1:\n> 3 of 15 tests fail, expired tokens are accepted.\n\
            > - src/auth.rs:41 does not check exp\n";
        assert!(text.starts_with(start), "{model}:\n{text}");
    }
    let senior = text(&env, "senior_software_engineer", &["--task", "Fix it"]);
    assert!(senior.contains("1. **[developer] complete**, attempt 1: Tokens rotate."), "{senior}");
    ends(&env, "qa_expert", "verdict: passed\nsummary: All pass.");
    assert!(!text(&env, "developer", &[]).contains("Why It Came Back"));
}

#[test]
fn the_status_of_a_group_follows_the_verdicts() {
    let env = project();
    let status = || {
        let shown = env.run(["group", "show", "P1", "--json"]).ok().json();
        shown["group"]["status"].as_str().unwrap().to_owned()
    };
    ends(&env, "developer", "verdict: complete\nsummary: Tokens rotate.");
    assert_eq!(status(), "in_progress");
    ends(&env, "tech_lead", "verdict: passed\nsummary: Good.");
    assert_eq!(status(), "approved_pending_merge");
    ends(&env, "qa_expert", "verdict: failed\nsummary: Not good.");
    assert_eq!(status(), "in_progress");
    ends(&env, "project_manager", "verdict: complete\nsummary: Delivered.");
    assert_eq!(status(), "completed");
}

/// Adds reasoning of an attempt in group `P1`.
fn reason(env: &TestEnv, role: &str, phase: &str, attempt: &str, text: &str) {
    let args = ["reasoning", "add", "--role", role, "--phase", phase, "--group", "P1"];
    let mut args: Vec<&str> = args.to_vec();
    args.extend(["--iteration", attempt, text]);
    env.run(args).ok();
}

/// Writes and registers a file.
fn package(env: &TestEnv, path: &str, text: &str, args: &[&str]) {
    env.write(path, text);
    let mut all = vec!["package", "add", path];
    all.extend(args);
    env.run(all).ok();
}

#[test]
fn an_announcement_ends_where_the_debrief_begins() {
    let env = project();
    env.write("docs/a.md", "# A\n\nEndpoints of the bank.\n");
    env.write("docs/b.md", "# B\n\nWhat was decided.\n");
    let message = "## Context Package Created\n**File:** docs/a.md\n**Type:** research\n**Summary:** Endpoints\n\n\
        ```handover\nverdict: complete\nsummary: Done.\npackages:\n  - path: docs/b.md\n    kind: decisions\n    \
        priority: critical\n    consumers: [qa_expert]\n    summary: Decided\n```\n";
    env.run_with(message, ["debrief", "--role", "developer", "--json"]).ok();
    let listed = env.run(["package", "list", "--json"]).ok().json();
    let packages = listed["packages"].as_array().unwrap();
    let a = packages.iter().find(|package| package["path"] == "docs/a.md").unwrap();
    assert_eq!((&a["kind"], &a["summary"]), (&"research".into(), &"Endpoints".into()));
    assert_eq!((&a["priority"], a["consumers"].as_array().unwrap().len()), (&"medium".into(), 0));
}

#[test]
fn underscored_names_may_be_groups_as_a_whole() {
    let env = project();
    env.write(
        "docs/research_group_P1_R1_HIN.md",
        "---\ntype: research\ngroup_id: P1_R1_HIN\n---\n# HIN\n\nThe endpoints of HIN.\n",
    );
    let added = env.run(["package", "add", "docs/research_group_P1_R1_HIN.md", "--json"]).ok();
    assert_eq!(added.json()["package"]["group"], "P1_R1_HIN");
    env.write("docs/failures-P1-iterX.md", "# Failures\n\nThree tests fail.\n");
    env.run(["group", "set", "P1"]).ok();
    let added = env.run(["package", "add", "docs/failures-P1-iterX.md", "--json"]).ok().json();
    assert_eq!(added["package"]["group"], "P1");
    assert_eq!(added["package"]["priority"], "high", "failures weigh by kind");
}

#[test]
fn only_accepted_work_teaches() {
    let env = project();
    let strategies = || {
        let listed = env.run(["strategy", "list", "--json"]).ok().json();
        listed["strategies"].as_array().unwrap().clone()
    };
    let lesson = "reasoning:\n  decisions: Lock the account row before the balance is read.";
    ends(&env, "developer", &format!("verdict: complete\nsummary: Done.\n{lesson}"));
    assert_eq!(strategies().len(), 0, "nobody has looked at it yet");
    ends(&env, "qa_expert", "verdict: failed\nsummary: It deadlocks.");
    assert_eq!(strategies().len(), 0);
    let better = "reasoning:\n  decisions: Lock both account rows in the order of their ids.\n  completion: Done.";
    ends(&env, "developer", &format!("verdict: complete\nsummary: Again.\n{better}"));
    ends(&env, "qa_expert", "verdict: passed\nsummary: All pass.");
    let learned = strategies();
    let insights: Vec<&str> = learned.iter().map(|s| s["insight"].as_str().unwrap()).collect();
    assert_eq!(insights, ["Lock both account rows in the order of their ids."]);

    // Delivered to work that is accepted, a strategy has helped.
    let args = ["brief", "--deliver", "--json", "--role", "developer", "--group", "P2"];
    let task = ["--task", "Lock the account rows of a transfer in order"];
    let receipt = env.run(args.iter().chain(&task)).ok().json()["receipt"].clone();
    let receipt = receipt.as_str().unwrap();
    let block = format!(
        "```handover\nreceipt: {receipt}\nverdict: complete\nsummary: Transfers lock.\n```\n"
    );
    env.run_with(block, ["debrief", "--receipt", receipt]).ok();
    let passed = "```handover\nverdict: passed\nsummary: Good.\n```\n";
    env.run_with(passed, ["debrief", "--role", "tech_lead", "--group", "P2"]).ok();
    assert_eq!(strategies()[0]["helpfulness"], 2);
}

#[test]
fn extracting_strategies_skips_what_was_sent_back() {
    let env = project();
    let decided = |what: &str| {
        let block = format!("verdict: complete\nsummary: Done.\nreasoning:\n  decisions: {what}");
        ends(&env, "developer", &block);
    };
    let extracted = || {
        let all = env.run(["strategy", "extract", "--group", "P1", "--json"]).ok().json();
        let all = all["strategies"].as_array().unwrap().clone();
        all.iter().map(|one| one["insight"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    decided("One lock for all accounts.");
    ends(&env, "qa_expert", "verdict: failed\nsummary: Transfers time out.");
    assert_eq!(extracted(), [""; 0]);
    decided("Lock both account rows in the order of their ids.");
    assert_eq!(extracted(), ["Lock both account rows in the order of their ids."]);
}

#[test]
fn strategies_fit_the_task_or_stay_out() {
    let env = project();
    for n in 0..3 {
        reason(
            &env,
            "developer",
            "decisions",
            "0",
            &format!("Unrelated chore number {n} moved the build folder."),
        );
    }
    reason(
        &env,
        "developer",
        "decisions",
        "0",
        "Rotate refresh tokens inside one database transaction.",
    );
    env.run(["strategy", "extract", "--group", "P1"]).ok();
    env.run(["session", "new", "s2"]).ok();
    let shown = |task: &str| {
        let args = ["assemble", "--session", "s2", "--role", "developer", "--json", "--task", task];
        env.run(args).ok().json()["strategies"].as_array().unwrap().clone()
    };
    let fitting = shown("Rotate the refresh tokens of a session");
    assert_eq!(fitting.len(), 1, "{fitting:?}");
    assert!(fitting[0]["insight"].as_str().unwrap().starts_with("Rotate refresh tokens"));
    assert_eq!(shown("Paint the bike shed green").len(), 0);
}

#[test]
fn reasoning_starts_with_the_newest_attempt() {
    let env = project();
    reason(&env, "developer", "completion", "0", "3 of 15 tests fail.");
    reason(&env, "developer", "decisions", "0", "One global lock.");
    reason(&env, "developer", "approach", "1", "Measure the locks before they are split.");
    reason(&env, "developer", "decisions", "1", "A lock per account.");
    reason(&env, "developer", "completion", "1", "15 of 15 tests pass.");
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "Clocks may differ."])
        .ok();
    let shown = |level: &str| {
        let args = ["assemble", "--role", "qa_expert", "--group", "P1", "--reasoning-level", level];
        env.run(args.iter().chain(&["--json"])).ok().json()
    };
    let of = |level: &str| -> Vec<String> {
        let shown = shown(level);
        let entries = shown["reasoning"].as_array().unwrap();
        entries.iter().map(|entry| entry["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of("minimal"), ["15 of 15 tests pass.", "A lock per account."]);
    assert_eq!(
        of("full"),
        ["15 of 15 tests pass.", "A lock per account.", "3 of 15 tests fail.", "One global lock."],
        "QA gets its three phases"
    );
    let text = shown("full")["markdown"].as_str().unwrap().to_owned();
    assert!(
        text.contains("**[developer] completion:** 15 of 15 tests pass. (attempt 2)"),
        "{text}"
    );
    assert!(text.contains("check it, do not rely on it"), "{text}");
    let lead = env.run(["assemble", "--role", "tech_lead", "--group", "P1"]).ok().stdout;
    assert!(
        lead.contains("Clocks may differ."),
        "what concerns the session reaches its groups: {lead}"
    );
    assert!(lead.contains("Measure the locks"), "{lead}");
}

#[test]
fn an_error_that_the_task_names_comes_with_its_solution() {
    let env = project();
    let message = "TypeError: Cannot find module '@/utils' at /srv/app/src/index.ts:3";
    env.run([
        "error",
        "resolve",
        "--message",
        message,
        "--solution",
        "Add the path alias to vite.config.ts",
    ])
    .ok();
    for n in 0..4 {
        package(
            &env,
            &format!("docs/n{n}.md"),
            &format!("# N{n}\n\n{}\n", "Long notes. ".repeat(40)),
            &["--kind", "research", "--producer", "developer"],
        );
    }
    for model in ["haiku", "sonnet", "opus"] {
        let task = "The build fails: TypeError: Cannot find module '@/utils'";
        let text = text(&env, "developer", &["--model", model, "--task", task]);
        assert!(text.contains("Add the path alias to vite.config.ts"), "{model}: {text}");
        assert!(
            text.contains("Cannot find module '@/utils' at /srv/app/src/index.ts:3"),
            "as it was said: {text}"
        );
        assert!(
            text.find("### Error Patterns").unwrap() < text.find("### Relevant Packages").unwrap()
        );
    }
}

#[test]
fn the_fix_of_another_module_is_not_offered() {
    let env = project();
    let record = |module: &str| {
        let message = format!("Error: Cannot find module '{module}'");
        let solution = format!("npm install {module}");
        env.run(["error", "resolve", "--message", &message, "--solution", &solution]).ok();
    };
    record("left-pad");
    let found = |text: &str| {
        let found = env.run(["error", "match", text, "--json"]).ok().json();
        found["errors"].as_array().unwrap().len()
    };
    assert_eq!(found("Error: Cannot find module 'express'"), 0);
    assert_eq!(found("Error: Cannot find module 'left-pad'"), 1);
}

#[test]
fn judges_see_what_is_addressed_to_others() {
    let env = project();
    let args = [
        "--kind",
        "research",
        "--producer",
        "developer",
        "--group",
        "P1",
        "--consumer",
        "developer",
    ];
    package(&env, "docs/api.md", "# API\n\nThe endpoints and their scopes.\n", &args);
    for role in ["qa_expert", "tech_lead", "project_manager"] {
        let text = text(&env, role, &[]);
        assert!(text.contains("docs/api.md (research, for reference, agent)"), "{role}: {text}");
    }
    let other = text(&env, "requirements_engineer", &[]);
    assert!(other.contains("1 is addressed to other roles"), "{other}");
}

#[test]
fn an_empty_list_says_what_was_delivered_before() {
    let env = project();
    package(
        &env,
        "docs/api.md",
        "# API\n\nEndpoints.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    let args = ["assemble", "--role", "developer", "--deliver"];
    assert!(env.run(args).ok().stdout.contains("**[MEDIUM]** docs/api.md"));
    let again = env.run(args).ok().stdout;
    assert!(again.contains("Nothing new: this attempt already got\n- docs/api.md"), "{again}");
}

#[test]
fn failures_are_settled_when_the_group_passes() {
    let env = project();
    let failures = "# Failures\n\nRefresh accepts expired tokens.\n";
    env.run(["group", "set", "A"]).ok();
    package(&env, "docs/qa_failures_group_A.md", failures, &["--priority", "critical"]);
    let listed = || env.run(["assemble", "--role", "developer", "--group", "A"]).ok().stdout;
    assert!(
        listed().contains("**[CRITICAL]** docs/qa_failures_group_A.md (failures, agent)"),
        "{}",
        listed()
    );
    let passed = "```handover\nverdict: passed\nsummary: All pass.\n```\n";
    env.run_with(passed, ["debrief", "--role", "qa_expert", "--group", "A"]).ok();
    assert!(!listed().contains("qa_failures"), "{}", listed());
}

#[test]
fn the_advice_to_read_fits_the_window() {
    let env = project();
    let long = format!("# Log\n\nThe first line.\n\n{}", "word and word ".repeat(120_000));
    package(&env, "docs/log.md", &long, &["--kind", "research", "--producer", "developer"]);
    package(
        &env,
        "docs/short.md",
        "# Short\n\nRead me.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    let args = ["assemble", "--role", "developer", "--current-tokens", "100000"];
    let text = env.run(args).ok().stdout;
    assert!(text.contains("too long for what is left of your window: docs/log.md"), "{text}");
    assert!(
        text.contains("Read this before you start") && text.contains("): docs/short.md."),
        "{text}"
    );
}

#[test]
fn passages_that_answer_the_task_stand_for_the_beginning() {
    let env = project();
    let points = |about: &str| format!("One point was about {about}.\n\n").repeat(60);
    let long = format!(
        "# Minutes\n\nWe met in the usual room and everybody was there.\n\n{}\
         We decided that refresh tokens expire after 30 days of disuse.\n\n{}",
        points("catering and the weather in spring"),
        points("parking and the garden")
    );
    package(
        &env,
        "docs/minutes.md",
        &long,
        &["--kind", "decisions", "--producer", "project_manager"],
    );
    let document = brief(&env, "developer", &["--task", "Implement when refresh tokens expire"]);
    let text = document["text"].as_str().unwrap();
    assert!(text.contains("refresh tokens expire after 30 days of disuse"), "{text}");
    assert!(!text.contains("the usual room"), "{text}");
    assert_eq!(document["packages"][0]["form"], "focus");
    assert!(document["packages"][0]["passages"][0].as_str().unwrap().contains("30 days"));
    let shown =
        env.run(["receipt", "show", document["receipt"].as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(shown["receipt"]["items"][0]["form"], "focus");
}

#[test]
fn the_task_decides_component_and_templates() {
    let env = project();
    env.write("package.json", r#"{"dependencies": {"react": "^19.0.0"}}"#);
    env.write(
        "services/billing/pyproject.toml",
        "[project]\nname = \"billing\"\ndependencies = [\"fastapi\"]\n",
    );
    let named = text(&env, "developer", &["--task", "Add an endpoint to services/billing/app.py"]);
    assert!(named.contains("FastAPI") && !named.contains("React"), "{named}");
    let oauth = text(&env, "developer", &["--task", "Add OAuth login"]);
    assert!(oauth.contains("PKCE"), "{oauth}");
}

#[test]
fn evidence_goes_before_general_advice() {
    let env = project();
    env.write("package.json", r#"{"dependencies": {"react": "^19.0.0", "next": "15.1.0"}}"#);
    let args = ["--kind", "decisions", "--producer", "tech_lead", "--priority", "high"];
    for (name, said) in [
        ("prices", "The cart keeps its prices in cents and rounds only when it shows them. "),
        (
            "stock",
            "Prices of the cart are read again whenever an item is reserved or runs out of stock. ",
        ),
        (
            "coupons",
            "A coupon lowers the prices in a cart before taxes, never below zero, and once. ",
        ),
    ] {
        let text = format!("# Cart: {name}\n\n{}\n", said.repeat(5));
        package(&env, &format!("docs/{name}.md"), &text, &args);
    }
    reason(
        &env,
        "developer",
        "completion",
        "0",
        &"The totals add up but the tax does not. ".repeat(7),
    );
    ends(&env, "qa_expert", "verdict: failed\nsummary: The tax of two items is rounded twice.");
    let document = brief(
        &env,
        "developer",
        &["--model", "haiku", "--iteration", "1", "--task", "Fix the cart prices"],
    );
    let sections = &document["sections"];
    let (context, special) =
        (sections["context"].as_u64().unwrap(), sections["specialization"].as_u64().unwrap());
    assert!(context > special, "{sections}");
    assert!(context + special <= 900);
}

#[test]
fn the_form_shows_how_to_leave_a_package() {
    let env = project();
    let qa = text(&env, "qa_expert", &[]);
    let line = "- {path: .handover/artifacts/s1/context/failures-P1-iter1.md, kind: failures, consumers: [developer], \
        priority: high,";
    assert!(qa.contains(line) && qa.contains("findings:"), "{qa}");
    assert!(
        text(&env, "tech_lead", &[]).contains("kind: decisions, consumers: [developer, qa_expert]")
    );
    assert!(!text(&env, "developer", &[]).contains("findings:"));
}

#[test]
fn nothing_is_said_twice() {
    let env = project();
    package(
        &env,
        "docs/a.md",
        "# A\n\nThe same text.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    package(
        &env,
        "docs/b.md",
        "# A\n\nThe same text.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    reason(
        &env,
        "developer",
        "decisions",
        "0",
        "Lock both account rows in the order of their ids.",
    );
    env.run(["strategy", "extract", "--group", "P1"]).ok();
    let text =
        text(&env, "qa_expert", &["--task", "Test that account rows lock in the order of ids"]);
    assert_eq!(text.matches("Lock both account rows").count(), 1, "{text}");
    assert_eq!(text.matches("The same text.").count(), 1, "{text}");
}

#[test]
fn strategies_belong_to_the_component_of_their_group() {
    let env = project();
    env.write("web/package.json", r#"{"name": "web", "dependencies": {"react": "^19.0.0"}}"#);
    env.write("api/pyproject.toml", "[project]\nname = \"api\"\ndependencies = [\"fastapi\"]\n");
    env.run(["group", "set", "P1", "--component", "web"]).ok();
    env.run(["group", "set", "P2", "--component", "api"]).ok();
    let lesson = "reasoning:\n  decisions: Search requests are debounced with useDeferredValue.";
    ends(&env, "developer", &format!("verdict: complete\nsummary: Debounced.\n{lesson}"));
    ends(&env, "tech_lead", "verdict: passed\nsummary: Good.");
    let listed = env.run(["strategy", "list", "--json"]).ok().json();
    assert_eq!(listed["strategies"][0]["language"], "javascript", "{listed}");
    let task = "Search requests are debounced for each user";
    let of = |group: &str| {
        let args = ["assemble", "--role", "developer", "--group", group, "--task", task];
        env.run(args).ok().stdout.contains("useDeferredValue")
    };
    assert!(of("P1") && !of("P2"));
}

#[test]
fn a_timeline_is_complete_and_may_be_markdown() {
    let env = project();
    let long = format!("# Not a heading\n{} and the end.", "A lock per account. ".repeat(20));
    reason(&env, "developer", "decisions", "1", &long);
    let table = env.run(["reasoning", "timeline"]).ok().stdout;
    assert!(table.contains("and the end."), "nobody reads it on a terminal: {table}");
    let text = env.run(["reasoning", "timeline", "--format", "markdown"]).ok().stdout;
    assert!(text.starts_with("# Reasoning of session s1\n\n## 2"), "{text}");
    assert!(text.contains(" · developer · decisions\n\nattempt 2, group P1\n\n> "), "{text}");
    assert!(text.contains("and the end.") && !text.contains("\n# Not a heading"), "{text}");
    let json = env.run(["reasoning", "timeline", "--format", "markdown", "--json"]).ok().json();
    assert_eq!(json["reasoning"].as_array().unwrap().len(), 1);
}

#[test]
fn a_locked_store_gives_everything_at_once() {
    let env = project();
    package(
        &env,
        "docs/api.md",
        "# API\n\nThe endpoints and their scopes.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    ends(&env, "qa_expert", "verdict: failed\nsummary: Expired tokens are accepted.");
    let lock = Lock::take(&env);
    for command in ["assemble", "brief"] {
        let once = || {
            let started = Instant::now();
            let args = [command, "--role", "developer", "--group", "P1", "--deliver", "--json"];
            let document = env.run(args).ok().json();
            let took = started.elapsed();
            let text = document.get("markdown").unwrap_or_else(|| &document["text"]);
            let text = text.as_str().unwrap();
            assert!(text.contains("The endpoints and their scopes."), "{text}");
            assert!(text.contains("> Expired tokens are accepted."), "{text}");
            took
        };
        // Other tests run meanwhile; what a command waits for is in each of its runs.
        let fastest = (0..3).map(|_| once()).min().unwrap();
        assert!(fastest < Duration::from_secs(1), "{command}: {fastest:?}");
    }
    let spooled = || fs_err::read_dir(env.path(".handover/spool")).unwrap().count();
    assert_eq!(spooled(), 6);
    lock.release();
    // The next brief takes them in.
    text(&env, "qa_expert", &["--deliver"]);
    let listed = env.run(["receipt", "list", "--role", "developer", "--json"]).ok().json();
    assert_eq!(listed["receipts"].as_array().unwrap().len(), 6, "{listed}");
    assert_eq!(spooled(), 0);
}

#[test]
fn an_agent_that_takes_over_reads_the_whole_story() {
    let env = project();
    ends(&env, "developer", "verdict: complete\nsummary: Tokens rotate.");
    ends(&env, "qa_expert", "verdict: failed\nsummary: Two refreshes at once log the user out.");
    ends(&env, "developer", "verdict: complete\nsummary: A lock per process.");
    ends(&env, "qa_expert", "verdict: passed\nsummary: All pass on one machine.");
    ends(&env, "tech_lead", "verdict: failed\nsummary: Two machines still race.");
    package(
        &env,
        "docs/failures-P1-iter2.md",
        "# Failures\n\nThe race shows up after a minute of load.\n",
        &["--consumer", "developer"],
    );
    for role in ["senior_software_engineer", "investigator"] {
        let text = text(&env, role, &["--task", "Find the race"]);
        assert!(text.contains("### Why It Came Back"), "{role}: {text}");
        for said in [
            "> Two machines still race.",
            "**[developer] complete**, attempt 1: Tokens rotate.",
            "Two refreshes at once log the user out.",
            "attempt 2: A lock per process.",
            "All pass on one machine.",
            "The race shows up after a minute of load.",
        ] {
            assert!(text.contains(said), "{role} misses {said}: {text}");
        }
    }
}

#[test]
fn an_empty_group_is_none() {
    let env = project();
    env.run(["assemble", "--role", "developer", "--group", ""]).ok();
    let args = ["reasoning", "add", "--role", "developer", "--phase", "risks", "--group", "", "x"];
    let added = env.run(args.iter().chain(&["--json"])).ok().json();
    assert_eq!(added["reasoning"]["group"], Value::Null);
}

#[test]
fn context_that_is_turned_off_says_so() {
    let env = project();
    package(
        &env,
        "docs/api.md",
        "# API\n\nEndpoints.\n",
        &["--kind", "research", "--producer", "developer"],
    );
    env.write(".handover/config.toml", "[assembly]\nroles_disabled = [\"developer\"]\n");
    let text = env.run(["assemble", "--role", "developer"]).ok().stdout;
    assert!(text.contains("turned off by `assembly.roles_disabled`"), "{text}");
    assert!(!text.contains("docs/api.md") && text.contains("<!-- handover:receipt "), "{text}");
    let other = env.run(["assemble", "--role", "qa_expert"]).ok().stdout;
    assert!(other.contains("docs/api.md"), "{other}");
}

#[test]
fn files_that_are_gone_are_not_more() {
    let env = project();
    for name in ["kept", "gone"] {
        let text = format!("# {name}\n\nAbout {name}.\n");
        let priority = if name == "kept" { "high" } else { "low" };
        let args = ["--kind", "research", "--producer", "developer", "--priority", priority];
        package(&env, &format!("docs/{name}.md"), &text, &args);
    }
    fs_err::remove_file(env.path("docs/gone.md")).unwrap();
    let document =
        env.run(["assemble", "--role", "developer", "--limit", "1", "--json"]).ok().json();
    assert_eq!((&document["available"], &document["overflow"]), (&json!(1), &json!(0)));
    assert!(!document["markdown"].as_str().unwrap().contains("more packages"), "{document}");
}

#[test]
fn a_version_that_is_not_counted_is_reported() {
    let env = project();
    env.write(
        "docs/a.md",
        "---\ntype: research\nproducer: developer\nversion: 7\n---\n# A\n\nText.\n",
    );
    let output = env.run(["package", "add", "docs/a.md"]).ok();
    let warning = "`docs/a.md` says that it is version 7; it is registered as version 1";
    assert!(output.stderr.contains(warning), "{output}");
}

#[test]
fn critical_packages_are_listed_first() {
    let env = project();
    let add = |name: &str, priority: &str, text: &str| {
        let args = ["--kind", "research", "--producer", "developer", "--priority", priority];
        package(&env, &format!("docs/{name}.md"), &format!("# {name}\n\n{text}\n"), &args);
    };
    add("tokens", "high", "Refresh tokens rotate, refresh tokens expire.");
    add("outage", "critical", "Never deploy on a Friday.");
    let args = ["assemble", "--role", "developer", "--task", "Rotate refresh tokens"];
    let text = env.run(args).ok().stdout;
    let at = |name: &str| text.find(name).unwrap();
    assert!(at("**[CRITICAL]** docs/outage.md") < at("**[HIGH]** docs/tokens.md"), "{text}");
}

#[test]
fn judges_and_rescuers_read_every_phase() {
    let env = project();
    for phase in
        ["understanding", "approach", "decisions", "risks", "blockers", "pivot", "completion"]
    {
        reason(&env, "developer", phase, "0", &format!("What it says about {phase}."));
    }
    let shown = |role: &str| {
        let args = ["assemble", "--role", role, "--group", "P1", "--json"];
        env.run(args).ok().json()["reasoning"].as_array().unwrap().len()
    };
    assert_eq!(shown("investigator"), 7, "the timeline of the group");
    assert!(shown("tech_lead") >= 5);
    assert_eq!(shown("qa_expert"), 3);
    let env = project();
    reason(&env, "developer", "completion", "0", "All done.");
    let text = env.run(["assemble", "--role", "qa_expert", "--group", "P1"]).ok().stdout;
    assert!(text.contains("### Prior Agent Reasoning (1 entry)"), "{text}");
}

#[test]
fn a_handoff_of_reasoning_counts_what_was_passed_on() {
    let env = project();
    reason(&env, "developer", "completion", "0", "Grüße aus dem Test.");
    reason(&env, "developer", "decisions", "0", &"Ein sehr langer Grund. ".repeat(40));
    let brief = brief(&env, "qa_expert", &["--deliver", "--task", "Test it"]);
    let args = ["event", "list", "--type", "reasoning_handoff", "--json"];
    let events = env.run(args).ok().json();
    let payload = &events["events"][0]["payload"];
    let text = brief["text"].as_str().unwrap();
    assert!(text.contains("Grüße aus dem Test."), "{text}");
    // Only the beginning of the long one is shown.
    let long = text.split_once("Ein sehr").unwrap().1.split_once('…').unwrap().0;
    let length = ["Grüße aus dem Test.", "Ein sehr", long, "…"].concat().chars().count();
    assert!(length < 400, "{text}");
    assert_eq!(payload["length"], length, "{payload}");
    assert_eq!(payload["phases"], json!(["decisions", "completion"]));
}

#[test]
fn a_token_is_redacted_to_its_end() {
    let env = project();
    let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.\
        dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U-";
    let output = env.run_with(format!("token {token} end"), ["redact"]).ok();
    assert_eq!(output.stdout, "token [REDACTED-1] end");
}

#[test]
fn shares_are_in_the_receipt() {
    let env = project();
    let receipt = brief(&env, "developer", &["--task", "Rotate tokens"])["receipt"].clone();
    let shown = env.run(["receipt", "show", receipt.as_str().unwrap(), "--json"]).ok().json();
    let sections = shown["receipt"]["sections"].as_array().unwrap();
    let task = sections.iter().find(|section| section["name"] == "task").unwrap();
    assert_eq!(task["budget"], 85_000, "half of what is left of the window");
}
