use super::*;

const STORY: &str = "1-1-login";

fn context(phase: RunPhase) -> ReportContext<'static> {
    ReportContext { subject: STORY, phase, nonce: "n1", receipt: None, read: "", statuses: &[] }
}

fn dev(text: &str) -> Result<Verdict, ReportError> {
    read(context(RunPhase::Dev), None, text).map(|said| said.verdict.unwrap())
}

fn file(json: &str, text: &str) -> Result<Verdict, ReportError> {
    read(context(RunPhase::Dev), Some(json.as_bytes()), text).map(|said| said.verdict.unwrap())
}

#[test]
fn a_signal_counts_at_the_start_of_a_line_for_the_right_story() {
    use Verdict::{Blocked, Complete};
    assert_eq!(dev("work\nIMPLEMENTATION COMPLETE: 1-1-login"), Ok(Complete));
    assert_eq!(dev("**IMPLEMENTATION COMPLETE: 1-1-login**\nthanks"), Ok(Complete));
    assert_eq!(dev("IMPLEMENTATION BLOCKED: 1-1-login - no key"), Ok(Blocked));
    for silent in [
        "",
        "I think IMPLEMENTATION COMPLETE: 1-1-login",
        "IMPLEMENTATION COMPLETE",
        "> IMPLEMENTATION COMPLETE: 1-1-login",
        "    IMPLEMENTATION COMPLETE: 1-1-login",
        "`IMPLEMENTATION COMPLETE: 1-1-login`",
        "```\nIMPLEMENTATION COMPLETE: 1-1-login\n```",
        "~~~~\n```\nIMPLEMENTATION COMPLETE: 1-1-login\n~~~",
        "implementation complete: 1-1-login",
        "could not finish, story is not implemented",
        "REVIEW PASSED: 1-1-login",
    ] {
        assert_eq!(dev(silent), Err(ReportError::Missing), "{silent:?}");
    }
    for wrong in ["2-1-login", "1-1-login-more", "1-1", "1-1-loginx", "<story id>", ""] {
        let text = format!("IMPLEMENTATION COMPLETE: {wrong}");
        assert!(matches!(dev(&text), Err(ReportError::WrongSubject(_))), "{wrong:?}");
    }
}

#[test]
fn what_stands_before_the_signal_is_the_summary() {
    let summary = |phase: RunPhase, text: &str| {
        let context = ReportContext { read: "- [ ] a form\n", ..context(phase) };
        read(context, None, text).unwrap().summary
    };
    let dev = |text: &str| summary(RunPhase::Dev, text);
    let done = "IMPLEMENTATION COMPLETE: 1-1-login";
    assert_eq!(
        dev(&format!("I looked.\n\nI have written\nthe form.\n\n{done}")),
        "I have written\nthe form."
    );
    assert_eq!(dev(&format!("I have written it.\n{done}\n\nBye.")), "I have written it.");
    assert_eq!(dev(&format!("It is there.\n\n## Done\n\n- [ ] a form\n\n{done}")), "It is there.");
    assert_eq!(dev(&format!("- a form\n- a test\n\n{done}")), "- a form\n- a test");
    assert_eq!(dev(done), "");
    // The reason after the signal comes first.
    assert_eq!(dev("I tried.\n\nIMPLEMENTATION BLOCKED: 1-1-login - no key"), "no key");
    let review = "No lock.\n\n- [HIGH] a.rs:3 - no lock\n\nREVIEW FAILED: 1-1-login";
    assert_eq!(summary(RunPhase::Review, review), "No lock.");
}

#[test]
fn contradicting_verdicts_are_errors() {
    for text in [
        "IMPLEMENTATION BLOCKED: 1-1-login - x\nIMPLEMENTATION COMPLETE: 1-1-login",
        "IMPLEMENTATION COMPLETE: 1-1-login\nIMPLEMENTATION BLOCKED: 1-1-login - x",
    ] {
        assert!(matches!(dev(text), Err(ReportError::Conflict(..))), "{text}");
    }
    let done = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete"}"#;
    assert!(matches!(
        file(done, "IMPLEMENTATION BLOCKED: 1-1-login - x"),
        Err(ReportError::Conflict(..))
    ));
    assert_eq!(file(done, "IMPLEMENTATION COMPLETE: 1-1-login"), Ok(Verdict::Complete));
}

#[test]
fn a_result_is_bound_to_its_call() {
    let result = |nonce: &str, story: &str, phase: &str, verdict: &str| {
        file(
            &format!(
                r#"{{"nonce":"{nonce}","story":"{story}","phase":"{phase}","verdict":"{verdict}"}}"#
            ),
            "",
        )
    };
    assert_eq!(result("n1", STORY, "dev", "complete"), Ok(Verdict::Complete));
    assert!(matches!(result("n0", STORY, "dev", "complete"), Err(ReportError::Unbound(_))));
    assert!(matches!(result("n1", "1-2", "dev", "complete"), Err(ReportError::Unbound(_))));
    assert!(matches!(result("n1", STORY, "review", "passed"), Err(ReportError::Unbound(_))));
    assert!(matches!(result("n1", STORY, "dev", "passed"), Err(ReportError::WrongVerdict(_))));
    assert!(matches!(result("n1", STORY, "dev", "great"), Err(ReportError::Unreadable(_))));
    for broken in ["{", "[]", "\"complete\"", "{\"verdict\":\"complete\"}"] {
        assert!(file(broken, "IMPLEMENTATION COMPLETE: 1-1-login").is_err(), "{broken}");
    }
}

#[test]
fn a_block_in_the_text_counts_with_the_nonce_only() {
    let block = |nonce: &str| {
        format!(
            "```json\n{{\"nonce\":\"{nonce}\",\"story\":\"1-1-login\",\"phase\":\"dev\",\"verdict\":\"complete\"}}\n```\n"
        )
    };
    assert_eq!(dev(&block("n1")), Ok(Verdict::Complete));
    assert_eq!(dev(&block("n2")), Err(ReportError::Missing));
    assert_eq!(dev("```json\n{\"status\":\"ok\"}\n```"), Err(ReportError::Missing));
}

#[test]
fn repeated_input_is_not_a_report() {
    let story =
        "# Story\nIMPLEMENTATION COMPLETE: 1-1-login\nIMPLEMENTATION BLOCKED: 1-1-login - x\n";
    let context = ReportContext { read: story, ..context(RunPhase::Dev) };
    let verdict = |text: &str| read(context, None, text).map(|said| said.verdict.unwrap());
    assert_eq!(verdict(&format!("{story}and so I stop")), Err(ReportError::Missing));
    assert_eq!(
        verdict(&format!("{story}\nIMPLEMENTATION COMPLETE: 1-1-login\n")),
        Ok(Verdict::Complete)
    );
}

#[test]
fn findings_come_in_every_shape() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"review","verdict":"failed","findings":["plain",{"severity":"HIGH","file":"a.rs","line":3,"issue":"broken","recommendation":"lock it"},7,{}],"usage":{"cost_usd":-1,"tokens":5}}"#;
    let said = read(context(RunPhase::Review), Some(json.as_bytes()), "").unwrap();
    assert_eq!(said.findings.len(), 2);
    assert_eq!(said.findings[1].place, "a.rs:3");
    assert_eq!(said.findings[1].text, "broken (lock it)");
    assert_eq!((said.usage.cost_usd, said.usage.tokens), (None, Some(5)));
}

#[test]
fn team_members_report_status_codes() {
    use TeamStatus::{Incomplete, ReadyForQa, ReadyForReview};
    use Verdict::{Complete, Failed};
    let statuses = [(ReadyForQa, Complete), (ReadyForReview, Complete), (Incomplete, Failed)];
    let context = ReportContext { statuses: &statuses, ..context(RunPhase::Dev) };
    let json = |rest: &str| {
        let text = format!(r#"{{"nonce":"n1","story":"1-1-login","phase":"dev",{rest}}}"#);
        read(context, Some(text.as_bytes()), "").map(|said| (said.verdict, said.status))
    };
    let text = |text: &str| read(context, None, text).map(|said| (said.verdict, said.status));
    let review = Ok((Some(Complete), Some(ReadyForReview)));
    assert_eq!(json(r#""status":"READY_FOR_REVIEW""#), review);
    assert_eq!(json(r#""status":"READY_FOR_REVIEW","verdict":"complete""#), review);
    assert_eq!(text("READY_FOR_REVIEW: 1-1-login - no tests needed"), review);
    // A bare verdict means its first status code.
    assert_eq!(json(r#""verdict":"complete""#), Ok((Some(Complete), Some(ReadyForQa))));
    assert_eq!(text("IMPLEMENTATION COMPLETE: 1-1-login"), Ok((Some(Complete), Some(ReadyForQa))));
    let conflict = json(r#""status":"READY_FOR_QA","verdict":"failed""#);
    assert!(matches!(conflict, Err(ReportError::Conflict(..))));
    let both = text("READY_FOR_QA: 1-1-login\nREADY_FOR_REVIEW: 1-1-login");
    assert!(matches!(both, Err(ReportError::Conflict(..))));
    assert!(matches!(json(r#""status":"APPROVED""#), Err(ReportError::WrongStatus(_))));
    assert_eq!(text("APPROVED: 1-1-login"), Err(ReportError::Missing));
    assert!(matches!(text("READY_FOR_QA: 1-2-b"), Err(ReportError::WrongSubject(_))));
}

#[test]
fn a_debrief_block_adds_errors_packages_and_the_receipt() {
    let text = "```handover\nreceipt: r_1\nverdict: failed\nreasoning:\n  decisions: small steps\n\
                errors:\n  - message: port in use\n    solution: use port 0\n\
                packages:\n  - path: notes.md\n```\nIMPLEMENTATION COMPLETE: 1-1-login\n";
    let report = read(context(RunPhase::Dev), None, text).unwrap();
    assert_eq!(report.verdict, Some(Verdict::Complete), "the phase decides, not the block");
    assert_eq!(report.receipt.unwrap().as_str(), "r_1");
    assert_eq!(report.errors[0].solution.as_deref(), Some("use port 0"));
    assert_eq!(report.packages[0].path, "notes.md");
    assert_eq!(report.reasoning[&Phase::Decisions], "small steps");
}

#[test]
fn a_result_wins_over_a_debrief_block() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete",
        "receipt":"r_2","reasoning":{"decisions":"from the result"}}"#;
    let text = "```handover\nreceipt: r_1\nreasoning:\n  decisions: from the block\n  approach: more\n```\n";
    let report = read(context(RunPhase::Dev), Some(json.as_bytes()), text).unwrap();
    assert_eq!(report.receipt.unwrap().as_str(), "r_2");
    assert_eq!(report.reasoning[&Phase::Decisions], "from the result");
    assert_eq!(report.reasoning[&Phase::Approach], "more");
}

#[test]
fn every_phase_has_its_own_verdicts() {
    for (phase, verdict) in [
        (RunPhase::Dev, "passed"),
        (RunPhase::Review, "complete"),
        (RunPhase::Analysis, "complete"),
        (RunPhase::Kickoff, "retry"),
        (RunPhase::Uat, "skip"),
        (RunPhase::Retro, "blocked"),
    ] {
        let json = format!(
            r#"{{"nonce":"n1","story":"1-1-login","phase":"{phase}","verdict":"{verdict}"}}"#
        );
        let error = read(context(phase), Some(json.as_bytes()), "").unwrap_err();
        assert!(matches!(error, ReportError::WrongVerdict(_)), "{phase} {verdict}: {error}");
    }
    for phase in RunPhase::ALL {
        for verdict in allowed(*phase) {
            let json = format!(
                r#"{{"nonce":"n1","story":"1-1-login","phase":"{phase}","verdict":"{verdict}"}}"#
            );
            let report = read(context(*phase), Some(json.as_bytes()), "").unwrap();
            assert_eq!(report.verdict, Some(*verdict), "{phase}");
        }
    }
}

#[test]
fn closing_agents_name_the_epic_in_words() {
    let epic = |phase| ReportContext { subject: "epic-1", ..context(phase) };
    let retro = |text: &str| read(epic(RunPhase::Retro), None, text).map(|it| it.verdict);
    assert_eq!(retro("RETRO COMPLETE: Epic 1"), Ok(Some(Verdict::Complete)));
    assert_eq!(retro("RETRO COMPLETE: epic-1"), Ok(Some(Verdict::Complete)));
    assert!(matches!(retro("RETRO COMPLETE: Epic 12"), Err(ReportError::WrongSubject(_))));
    let uat = read(epic(RunPhase::Uat), None, "UAT GENERATED: docs/uat/epic-1-uat.md");
    assert_eq!(uat.unwrap().verdict, Some(Verdict::Complete));
}

#[test]
fn reads_the_verdict_of_an_analysis() {
    let read = |text: &str| {
        read(context(RunPhase::Analysis), None, text).map(|said| said.verdict.unwrap())
    };
    assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - Escalate"), Ok(Verdict::Escalate));
    assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - Skip: no key"), Ok(Verdict::Skip));
    assert_eq!(read("ANALYSIS COMPLETE: 1-1-login"), Err(ReportError::Missing));
    assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - perhaps"), Err(ReportError::Missing));
}

fn receipt(id: &str) -> ReceiptId {
    ReceiptId::new(id).unwrap()
}

/// A debrief block that names a receipt, in the phase of an agent with the receipt `r_1`.
fn debrief(
    phase: RunPhase,
    named: &str,
    verdict: &str,
    more: &str,
) -> Result<AgentReport, ReportError> {
    let own = receipt("r_1");
    let context = ReportContext { receipt: Some(&own), ..context(phase) };
    let text = format!(
        "```handover\nreceipt: {named}\nverdict: {verdict}\nsummary: it works\n```\n{more}"
    );
    read(context, None, &text)
}

#[test]
fn a_debrief_block_with_the_agents_receipt_is_a_report() {
    let report = debrief(RunPhase::Dev, "r_1", "complete", "").unwrap();
    assert_eq!(report.verdict, Some(Verdict::Complete));
    assert_eq!(report.summary, "it works");
    assert_eq!(report.receipt, Some(receipt("r_1")));
    // Verdicts from other systems are recognized.
    let report = debrief(RunPhase::Review, "r_1", "APPROVED", "").unwrap();
    assert_eq!(report.verdict, Some(Verdict::Passed));
}

#[test]
fn another_agents_debrief_block_is_not_a_report() {
    assert_eq!(debrief(RunPhase::Dev, "r_2", "complete", ""), Err(ReportError::Missing));
    // Nor is one with a verdict the phase does not allow, or with two of them.
    assert_eq!(debrief(RunPhase::Review, "r_1", "complete", ""), Err(ReportError::Missing));
    assert_eq!(
        debrief(RunPhase::Dev, "r_1", "complete\nverdict: blocked", ""),
        Err(ReportError::Missing)
    );
    // Without a receipt of its own, the agent has no block.
    let text = "```handover\nverdict: complete\nsummary: x\n```";
    assert_eq!(dev(text), Err(ReportError::Missing));
    // The template in the prompt is not filled in.
    assert_eq!(debrief(RunPhase::Dev, "r_1", "…", ""), Err(ReportError::Missing));
}

#[test]
fn a_bound_debrief_block_and_a_signal_must_agree() {
    let complete = "IMPLEMENTATION COMPLETE: 1-1-login\n";
    let verdict = |block: &str, line: &str| {
        debrief(RunPhase::Dev, "r_1", block, line).map(|report| report.verdict.unwrap())
    };
    assert_eq!(verdict("complete", complete), Ok(Verdict::Complete));
    assert_eq!(
        verdict("blocked", complete),
        Err(ReportError::Conflict("blocked".to_owned(), "complete".to_owned()))
    );
    // It is bound to this agent, so signals about other stories do not matter.
    assert_eq!(verdict("complete", "IMPLEMENTATION COMPLETE: 1-2-logout\n"), Ok(Verdict::Complete));
}

#[test]
fn a_result_comes_before_a_debrief_block_and_that_before_a_signal() {
    let own = receipt("r_1");
    let context = ReportContext { receipt: Some(&own), ..context(RunPhase::Dev) };
    let file = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete","summary":"from the file"}"#;
    let text = "```handover\nreceipt: r_1\nverdict: complete\nsummary: from the block\n```\n\
                IMPLEMENTATION COMPLETE: 1-1-login - from the signal\n";
    let summary = |file: Option<&str>, text: &str| {
        read(context, file.map(str::as_bytes), text).unwrap().summary
    };
    assert_eq!(summary(Some(file), text), "from the file");
    assert_eq!(summary(None, text), "from the block");
    assert_eq!(summary(None, text.lines().last().unwrap()), "from the signal");
}

#[test]
fn a_repeated_template_is_not_a_result() {
    let form = crate::task::ending(
        STORY,
        &crate::pipeline::agent_step(RunPhase::Dev, "developer", handover_model::Profile::Edit),
        "n1",
        std::path::Path::new("/tmp/result.json"),
    );
    assert_eq!(dev(&form), Err(ReportError::Missing));
    assert_eq!(dev(&format!("{form}\nIMPLEMENTATION COMPLETE: 1-1-login")), Ok(Verdict::Complete));
    // A placeholder that looks filled in is not accepted, and never a success.
    let odd = "```\n{\"nonce\":\"n1\",\"story\":\"1-1-login\",\"phase\":\"dev\",\"verdict\":\"<complete>\"}\n```";
    assert!(matches!(dev(odd), Err(ReportError::Unreadable(_))), "{:?}", dev(odd));
}

#[test]
fn an_empty_result_file_is_none() {
    assert_eq!(file(" \n\t", "IMPLEMENTATION COMPLETE: 1-1-login"), Ok(Verdict::Complete));
    assert_eq!(file("", ""), Err(ReportError::Missing));
}

#[test]
fn a_result_without_a_verdict_is_missing_one() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","summary":"x"}"#;
    assert_eq!(file(json, ""), Err(ReportError::Missing));
    // Only team members have status codes.
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","status":"READY_FOR_QA"}"#;
    assert_eq!(file(json, ""), Err(ReportError::Missing));
}

#[test]
fn a_result_takes_precedence_over_signals_about_other_stories() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete"}"#;
    let other = "IMPLEMENTATION COMPLETE: 1-2-logout";
    assert_eq!(file(json, other), Ok(Verdict::Complete));
    assert_eq!(dev(other), Err(ReportError::WrongSubject("1-2-logout".to_owned())));
}

#[test]
fn two_status_codes_of_one_verdict_are_a_conflict() {
    use TeamStatus::{ReadyForQa, ReadyForReview};
    let statuses = [(ReadyForQa, Verdict::Complete), (ReadyForReview, Verdict::Complete)];
    let context = ReportContext { statuses: &statuses, ..context(RunPhase::Dev) };
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","status":"READY_FOR_QA"}"#;
    let read = |text: &str| read(context, Some(json.as_bytes()), text);
    let error = read("READY_FOR_REVIEW: 1-1-login").unwrap_err();
    assert_eq!(
        error.to_string(),
        "it gave contradicting verdicts: READY_FOR_QA and READY_FOR_REVIEW"
    );
    // A bare verdict and a status code of it agree.
    let report = read("IMPLEMENTATION COMPLETE: 1-1-login").unwrap();
    assert_eq!(report.status, Some(ReadyForQa));
}

#[test]
fn usage_scenarios_and_lessons_are_read_in_their_phases_only() {
    let fields = r#""usage":{"cost_usd":0.5,"tokens":7,"turns":3},"scenarios":[1],"retro":{"gotchas":["times are UTC"]}"#;
    let report = |phase: RunPhase, verdict: &str| {
        let json = format!(
            r#"{{"nonce":"n1","story":"1-1-login","phase":"{phase}","verdict":"{verdict}",{fields}}}"#
        );
        read(context(phase), Some(json.as_bytes()), "").unwrap()
    };
    let dev = report(RunPhase::Dev, "complete");
    assert_eq!(dev.usage.cost_usd, Some(0.5));
    assert_eq!((dev.usage.tokens, dev.usage.turns), (Some(7), Some(3)));
    assert!(dev.scenarios.is_none() && dev.retro.is_none());
    assert_eq!(report(RunPhase::Uat, "complete").scenarios, Some(serde_json::json!([1])));
    let retro = report(RunPhase::Retro, "complete");
    assert!(retro.scenarios.is_none());
    assert_eq!(retro.retro.unwrap().gotchas[0].text, "times are UTC");
}

#[test]
fn lessons_may_be_at_the_top_level_and_take_the_summary() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"retro","verdict":"complete",
        "summary":"a good epic","patterns":["errors are enums"]}"#;
    let report = read(context(RunPhase::Retro), Some(json.as_bytes()), "").unwrap();
    let retro = report.retro.unwrap();
    assert_eq!((retro.summary.as_str(), retro.patterns.len()), ("a good epic", 1));
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"retro","verdict":"complete",
        "summary":"outside","retro":{"summary":"inside"}}"#;
    let report = read(context(RunPhase::Retro), Some(json.as_bytes()), "").unwrap();
    assert_eq!(report.retro.unwrap().summary, "inside");
}

#[test]
fn findings_have_a_severity_a_kind_and_a_place_under_any_name() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"review","verdict":"failed","findings":[
        {"priority":"p1","category":"coverage","path":"a.rs","message":"one"},
        {"level":"nit","type":"naming","location":"b.rs:7","title":"two","suggestion":"rename"},
        {"line":3,"description":"three","fix":"lock"},
        {"severity":["high"],"finding":"four"}]}"#;
    let report = read(context(RunPhase::Review), Some(json.as_bytes()), "").unwrap();
    let rows: Vec<(&str, &str, &str)> = report
        .findings
        .iter()
        .map(|it| (it.severity.as_str(), it.place.as_str(), it.text.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("p1", "a.rs", "one"),
            ("nit", "b.rs:7", "two (rename)"),
            ("", ":3", "three (lock)"),
            ("", "", "four"),
        ]
    );
    use handover_model::FindingKind::{Style, Tests};
    let kinds: Vec<_> = report.findings.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [Some(Tests), Some(Style), None, None]);
}

#[test]
fn texts_and_lists_of_a_result_are_bounded() {
    let long = "x".repeat(10_000);
    let many: Vec<&str> = vec!["y"; 500];
    let json = serde_json::json!({
        "nonce": "n1", "story": STORY, "phase": "review", "verdict": "failed",
        "summary": long, "findings": many,
    });
    let report = read(context(RunPhase::Review), Some(json.to_string().as_bytes()), "").unwrap();
    assert_eq!(report.summary.len(), MAX_TEXT);
    assert_eq!(report.findings.len(), MAX_FINDINGS);
}

#[test]
fn prose_counts_unless_it_was_given_to_read_or_is_a_signal() {
    let given = "- [HIGH] src/given.rs:1 - from the story";
    let context = ReportContext { read: given, ..context(RunPhase::Review) };
    let text = format!(
        "{given}\n- [HIGH] src/own.rs:2 - found it\n\nREVIEW FAILED: 1-1-login - see above"
    );
    let report = read(context, None, &text).unwrap();
    assert_eq!(report.summary, "see above");
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    assert_eq!(report.findings[0].place, "src/own.rs:2");
}

#[test]
fn announced_packages_count_without_a_block_and_problems_do_not() {
    let text = "## Context Package Created\nFile: docs/a.md\nType: gossip\n\n\
                IMPLEMENTATION COMPLETE: 1-1-login\n";
    let report = read(context(RunPhase::Dev), None, text).unwrap();
    assert_eq!(report.packages[0].path, "docs/a.md");
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    // The same package in a result is not listed twice.
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete","packages":["docs/a.md"],
        "errors":[{"message":"m","solution":"s"}]}"#;
    let block = "```handover\nreasoning: {mood: great}\nerrors:\n  - {message: m, solution: s}\n  - {message: n}\n```\n";
    let report =
        read(context(RunPhase::Dev), Some(json.as_bytes()), &format!("{block}{text}")).unwrap();
    assert_eq!((report.packages.len(), report.errors.len()), (1, 2));
    assert!(!report.problems.is_empty());
}

#[test]
fn errors_say_what_is_wrong() {
    let said = |error: ReportError| error.to_string();
    assert_eq!(said(ReportError::Missing), "it gave no verdict");
    assert_eq!(said(ReportError::WrongSubject("x".to_owned())), "its verdict is about `x`");
    assert_eq!(said(ReportError::Remote("gone".to_owned())), "gone");
    assert_eq!(
        said(ReportError::WrongStatus("DONE".to_owned())),
        "its status `DONE` is not valid for its role"
    );
    assert_eq!(
        said(ReportError::WrongVerdict(Verdict::Skip)),
        "its verdict `skip` makes no sense in this phase"
    );
    let unbound = file(r#"{"nonce":"n2"}"#, "").unwrap_err();
    assert_eq!(said(unbound), "its result is not bound to this call: the nonce does not match");
}

/// A report survives being sent to another machine and back.
#[test]
fn reports_survive_serialization() {
    let json = r#"{"nonce":"n1","story":"1-1-login","phase":"review","verdict":"failed","findings":["x"],
        "reasoning":{"decisions":"d"},"packages":["a.md"],"errors":["e"],"receipt":"r_1","usage":{"tokens":4}}"#;
    let report = read(context(RunPhase::Review), Some(json.as_bytes()), "").unwrap();
    let back: AgentReport = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(back, report);
}

mod any_text {
    use proptest::prelude::*;

    use super::*;

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("IMPLEMENTATION COMPLETE: 1-1-login".to_owned()),
            Just("IMPLEMENTATION BLOCKED: 1-1-login - no".to_owned()),
            Just("IMPLEMENTATION COMPLETE: 9-9-other".to_owned()),
            Just("```".to_owned()),
            Just("~~~handover".to_owned()),
            Just("verdict: complete".to_owned()),
            Just("{\"nonce\":\"n1\",\"story\":\"1-1-login\",\"phase\":\"dev\",\"verdict\":\"complete\"}".to_owned()),
            "[ -~]{0,30}",
            "\\PC{0,12}",
        ]
    }

    proptest! {
        /// Whatever is printed, a text that reports two verdicts, or another story, is never a success.
        #[test]
        fn contradictions_are_never_a_success(lines in prop::collection::vec(piece(), 0..12)) {
            let text = lines.join("\n");
            let report = read(context(RunPhase::Dev), None, &text);
            let prose: Vec<&str> = handover_text::fence::outside_fences(&text).collect();
            let says = |line: &str| prose.contains(&line);
            let done = says("IMPLEMENTATION COMPLETE: 1-1-login");
            if done && says("IMPLEMENTATION BLOCKED: 1-1-login - no") {
                prop_assert!(matches!(report, Err(ReportError::Conflict(..) | ReportError::WrongSubject(_))));
            } else if !text.contains("nonce") && says("IMPLEMENTATION COMPLETE: 9-9-other") {
                prop_assert!(matches!(report, Err(ReportError::WrongSubject(_))));
            } else if done && !text.contains("nonce") {
                prop_assert_eq!(report.unwrap().verdict, Some(Verdict::Complete));
            }
        }

        /// A result in the file decides together with the text, and never panics.
        #[test]
        fn any_file_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
            for phase in RunPhase::ALL {
                let _ = read(context(*phase), Some(&bytes), &text);
            }
        }
    }
}
