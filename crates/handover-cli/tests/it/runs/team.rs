//! A team: who is started, what they learn from each other, and what is kept.

use serde_json::Value;

use super::Epic;
use super::killed::Scene;

const TEAM: &[&str] = &["--pipeline", "team"];

fn result(phase: &str, status: &str, more: &str) -> String {
    format!(
        "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\"status\":\"{status}\"{more}}}'"
    )
}

/// Which roles ran, and their status codes.
fn way(epic: &Epic) -> Vec<String> {
    let status = epic.status();
    let unit = |unit: &Value| {
        let phases = unit["phases"].as_array().cloned().unwrap_or_default();
        phases.into_iter().map(|phase| match phase["role"].as_str() {
            Some(role) => format!("{role} {}", phase["status"].as_str().unwrap_or("?")),
            None => format!("gates {}", phase["verdict"].as_str().unwrap()),
        })
    };
    let stories = status["stories"].as_array().unwrap();
    stories.iter().flat_map(unit).chain(unit(&status["closing"])).collect()
}

#[test]
fn a_team_does_a_story() {
    let epic = Epic::new(&["1-1-a"]);
    let prompts = epic.env.folder().join("prompts");
    fs_err::create_dir_all(&prompts).unwrap();
    let say = |name: &str| format!("echo-prompt {}/{name}", prompts.display());
    let thoughts = ",\"summary\":\"greets in one place\",\"reasoning\":{\"decisions\":\"one greeting for all\",\"pivot\":\"two greetings did not work\"},\"packages\":[{\"path\":\"docs/decisions_greeting.md\",\"kind\":\"decisions\",\"priority\":\"high\",\"summary\":\"Where greetings live\",\"consumers\":[\"qa_expert\"]}]";
    epic.script(&format!(
        "* dev 1 developer | {} write hello.txt hello write docs/decisions_greeting.md '# Greetings' {}\n\
         * review 1 qa_expert | {} {}\n\
         * fix 1 developer | {} write hello.txt 'hello, you' {}\n\
         * review 2 qa_expert | {}\n\
         * review 3 tech_lead | {} {}\n\
         * retro 1 project_manager | {} print \"BAZINGA: epic-1\"",
        say("developer"),
        result("dev", "READY_FOR_QA", thoughts),
        say("qa"),
        result("review", "FAIL", ",\"findings\":[{\"severity\":\"high\",\"file\":\"hello.txt\",\"issue\":\"greets nobody\"}]"),
        say("rework"),
        result("fix", "READY_FOR_QA", ",\"summary\":\"the greeting names who is there\""),
        result("review", "PASS", ",\"reasoning\":{\"completion\":\"greetings are tested\"}"),
        say("lead"),
        result("review", "APPROVED", ""),
        say("manager"),
    ));
    let output = epic.run(TEAM).ok();
    for who in ["dev 1 (developer)", "review 2 (qa_expert): passed", "review 3 (tech_lead) …"] {
        assert!(output.stderr.contains(&format!("1-1-a {who}")), "{who}\n{output}");
    }
    assert_eq!(
        way(&epic),
        [
            "developer READY_FOR_QA",
            "gates none",
            "qa_expert FAIL",
            "developer READY_FOR_QA",
            "gates none",
            "qa_expert PASS",
            "tech_lead APPROVED",
            "project_manager BAZINGA"
        ]
    );
    assert_eq!(epic.git(&["show", "handover/epic-1:hello.txt"]), "hello, you");
    assert_eq!(epic.subjects("handover/epic-1"), ["feat(epic-1): complete 1-1-a"]);
    let prompt = |name: &str| fs_err::read_to_string(prompts.join(name)).unwrap();
    // Reasoning is routed by role: none to the first developer, three phases to QA, all to the lead,
    // where completions come first. A summary stands in for a missing completion.
    assert!(!prompt("developer").contains("Prior Agent Reasoning"));
    let qa = prompt("qa");
    assert!(qa.contains("one greeting for all") && !qa.contains("two greetings"), "{qa}");
    assert!(qa.contains("**[HIGH]** docs/decisions_greeting.md"), "{qa}");
    let lead = prompt("lead");
    assert!(
        lead.contains("docs/decisions_greeting.md (decisions, for reference, agent)"),
        "{lead}"
    );
    for part in
        ["greets in one place", "greetings are tested", "+hello, you", "APPROVED_WITH_NOTES"]
    {
        assert!(lead.contains(part), "{part} is missing in {lead}");
    }
    assert!(prompt("rework").contains("[high] hello.txt: greets nobody"), "{}", prompt("rework"));
    for part in ["Story 1-1-a", "State: done"] {
        assert!(prompt("manager").contains(part), "{part} is missing in {}", prompt("manager"));
    }
    // Accepted work becomes strategies.
    let strategies = epic.env.run(["strategy", "list", "--json"]).ok().json();
    let insights = strategies["strategies"].to_string();
    assert!(insights.contains("the greeting names who is there"), "{insights}");
    assert!(!insights.contains("one greeting for all"), "it was sent back: {insights}");
    assert!(!insights.contains("greetings are tested"), "{insights}");
    // Rejected work that later passed is an error pattern with its solution.
    let errors = epic.env.run(["error", "list", "--json"]).ok().json()["errors"].clone();
    assert_eq!(errors.as_array().unwrap().len(), 1, "{errors}");
    assert_eq!(errors[0]["solution"], "the greeting names who is there");
    let found = epic.env.run(["error", "match", "greets nobody", "--json"]).ok();
    assert!(found.stdout.contains("names who is there"), "{found}");
}

#[test]
fn two_failures_escalate_to_a_senior_and_blockers_to_an_investigator() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&format!(
        "* dev 1 | crash\n\
         * fix 1 developer | {}\n\
         * analysis 1 investigator | {}\n\
         * review 1 tech_lead | {}\n\
         * fix 2 developer | write a.txt half {}\n\
         * fix 3 senior_software_engineer | write a.txt whole {}\n\
         * review 2 tech_lead | print \"APPROVED: 1-1-a\"\n\
         * retro * | print \"CONTINUE: epic-1 - a second epic is missing\"",
        result("fix", "BLOCKED", ",\"summary\":\"nobody knows the format\""),
        result("analysis", "ROOT_CAUSE_FOUND", ",\"summary\":\"the format is JSON\""),
        result("review", "UNBLOCKING_GUIDANCE", ",\"summary\":\"write JSON\""),
        result("fix", "INCOMPLETE", ",\"summary\":\"only half\""),
        result("fix", "READY_FOR_REVIEW", ""),
    ));
    // The manager's objections are reported and do not affect the stories.
    epic.run(TEAM).ok();
    assert_eq!(
        way(&epic),
        [
            "developer ?",
            "developer BLOCKED",
            "investigator ROOT_CAUSE_FOUND",
            "tech_lead UNBLOCKING_GUIDANCE",
            "developer INCOMPLETE",
            "senior_software_engineer READY_FOR_REVIEW",
            "gates none",
            "tech_lead APPROVED",
            "project_manager CONTINUE"
        ]
    );
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "whole");
    assert_eq!(epic.status()["closing"]["reason"], "a second epic is missing");
}

/// A program that only knows verdicts works in a team, with several stories at once.
#[test]
fn verdicts_work_as_status_codes_and_groups_run_in_parallel() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    epic.script("* retro * | print \"RETRO COMPLETE: Epic 1\"");
    epic.run(&["--pipeline", "team", "--parallel", "3"]).ok();
    assert_eq!(epic.states(), ["done", "done", "done"]);
    assert_eq!(epic.subjects("handover/epic-1").len(), 3);
    let status = epic.status();
    assert_eq!(status["closing"]["state"], "done", "{status}");
}

fn sent_back() -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&format!(
        "1-1-a review 1 qa_expert | {}\n* retro * | print \"BAZINGA: epic-1\"",
        result("review", "FAIL", ",\"summary\":\"no greeting\"")
    ));
    epic
}

/// Before the first entry there is nothing to resume: the same command starts a run.
pub(super) const SCENE: Scene =
    Scene { flags: TEAM, again: &["--pipeline", "team", "--resume"], ..Scene::new(sent_back, way) };

mod dying {
    crate::runs::killed::killed!(super::super::SCENE, 3: first 1, second 2, third 3);
}

#[test]
fn a_team_cannot_skip_reviews() {
    let epic = Epic::new(&["1-1-a"]);
    let error = epic.run(&["--pipeline", "team", "--skip-review", "--json"]).fails(2).error();
    assert_eq!(error["code"], "invalid_input");
    epic.run(&["--pipeline", "crowd"]).fails(2);
    let plan =
        epic.run(&["--pipeline", "team", "--dry-run", "--json", "--show-prompts"]).ok().json();
    assert_eq!(plan["plan"]["pipeline"]["name"], "team");
    assert!(plan["plan"]["stories"][0]["prompt"].as_str().unwrap().contains("READY_FOR_QA"));
}
