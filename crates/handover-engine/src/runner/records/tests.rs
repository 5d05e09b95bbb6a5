use handover_model::{Role, TeamStatus};

use super::*;
use crate::story::append;
use crate::testing::{ended, event, finding, opened, start, story};

fn at() -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000)
}

/// A story with these ends on record.
fn recorded(ends: Vec<PhaseEnd>) -> StoryRun {
    let mut state = start(story(), &["a"]);
    state.apply(&opened("a"));
    let mut unit = state.story("a").unwrap().clone();
    unit.record = ends;
    unit
}

fn end(phase: RunPhase, verdict: Verdict, summary: &str) -> PhaseEnd {
    PhaseEnd { summary: summary.to_owned(), ..ended("a", phase, Some(verdict)) }
}

fn rejected(findings: &[&str]) -> PhaseEnd {
    let findings = findings.iter().map(|text| finding("high", "a.rs", text)).collect();
    PhaseEnd { findings, ..end(RunPhase::Review, Verdict::Failed, "see the findings") }
}

#[test]
fn findings_are_solved_by_the_work_that_follows_them() {
    let story = recorded(vec![
        end(RunPhase::Dev, Verdict::Complete, "built it"),
        rejected(&["no lock", "no test"]),
        end(RunPhase::Fix, Verdict::Complete, "added a lock and a test"),
        rejected(&[]),
        end(RunPhase::Fix, Verdict::Complete, "renamed it"),
        end(RunPhase::Review, Verdict::Passed, "fine"),
    ]);
    assert_eq!(
        fixed(&story),
        [
            ("no lock; no test".to_owned(), "added a lock and a test"),
            ("see the findings".to_owned(), "renamed it"),
        ]
    );
}

#[test]
fn findings_without_a_fix_or_without_words_solve_nothing() {
    let unfixed = recorded(vec![
        end(RunPhase::Dev, Verdict::Complete, "built it"),
        rejected(&["no lock"]),
        end(RunPhase::Fix, Verdict::Blocked, "cannot"),
    ]);
    assert_eq!(fixed(&unfixed), []);
    let mut silent = rejected(&[]);
    silent.summary = "  ".to_owned();
    let wordless = recorded(vec![silent, end(RunPhase::Fix, Verdict::Complete, "did something")]);
    assert_eq!(fixed(&wordless), []);
    let mute = recorded(vec![rejected(&["x"]), end(RunPhase::Fix, Verdict::Complete, " ")]);
    assert_eq!(fixed(&mute), []);
    // The votes of single voices are settled before they count.
    let mut voice = rejected(&["x"]);
    voice.voice = Some(crate::pipeline::Voice { persona: "ann".to_owned(), round: 1 });
    let party = recorded(vec![voice, end(RunPhase::Fix, Verdict::Complete, "fixed")]);
    assert_eq!(fixed(&party), []);
}

#[test]
fn a_developers_record_names_files_and_receipt() {
    let mut end = end(RunPhase::Dev, Verdict::Complete, "built it");
    end.role = Some(Role::new("developer").unwrap());
    end.receipt = Some("r_1".to_owned());
    end.restored = vec!["docs/other.md".to_owned()];
    end.attempt = 2;
    let text = append("# Story\n", &dev_record(&end, &[], at()));
    assert_eq!(
        text,
        "# Story\n\n## Dev Agent Record\n\n- **Date:** 2023-11-14\n- **Phase:** dev 2\n\
         - **Role:** developer\n- **Receipt:** r_1\n\n### Implementation Summary\n\n> built it\n\n\
         ### Files Modified\n\n- src/a.rs\n\n### Restored\n\n- docs/other.md\n"
    );
}

#[test]
fn a_reviewers_record_has_a_line_for_each_finding() {
    let mut end = rejected(&["no lock"]);
    end.findings.push(finding("", "", "odd"));
    end.role = Some(Role::new("tech_lead").unwrap());
    end.status = Some(TeamStatus::ChangesRequested);
    let text = append("# Story\n", &review_record(&end, at()));
    for part in [
        "## Code Review Record\n\n- **Date:** 2023-11-14\n- **Review:** 1\n- **Role:** tech_lead\n- **Verdict:** failed\n",
        "- **Status:** CHANGES_REQUESTED\n",
        "### Findings\n\n- high · a.rs · no lock\n- odd\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn answers_are_recorded_with_their_questions() {
    let answers =
        [Answer { question: "Which port?".to_owned(), text: "8080".to_owned(), by: None }];
    let text = append("# Story\n", &answers_record(&answers, at()));
    assert!(text.contains("## Questions Answered\n\n- **Date:** 2023-11-14\n"), "{text}");
    assert!(text.contains("### Answers\n\n- Which port? → 8080\n"), "{text}");
}

#[test]
fn a_single_analyst_speaks_for_itself() {
    let mut end = end(RunPhase::Analysis, Verdict::Retry, "the port is taken");
    end.findings = vec![finding("high", "a", "x")];
    let said = single_statement(&end);
    assert_eq!((said.persona.as_str(), said.round), (ANALYST, 1));
    assert_eq!((said.verdict, said.summary.as_str()), (Some(Verdict::Retry), "the port is taken"));
    assert!(said.findings.is_empty());
}

#[test]
fn only_ends_that_counted_are_on_record() {
    let mut state = start(story(), &["a"]);
    state.apply(&opened("a"));
    let mut lazy = ended("a", RunPhase::Dev, Some(Verdict::Complete));
    lazy.files.clear();
    state.apply(&event(lazy));
    assert!(state.story("a").unwrap().record.is_empty());
}
