use super::*;

const STORY: &str = "1-1-login";

fn context(phase: RunPhase) -> ReportContext<'static> {
    ReportContext { subject: STORY, phase, nonce: "n1", read: "", statuses: &[] }
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
