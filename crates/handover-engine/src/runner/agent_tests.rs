use handover_agents::{Captured, Ended, Failure, Report, Usage};
use handover_model::Profile;

use super::super::result_file::ResultFile;
use super::*;
use crate::pipeline::agent_step;
use crate::verdict::MAX_RESULT;

fn outcome(failure: Option<FailureClass>) -> Outcome {
    Outcome {
        ended: Ended::Exited(0),
        report: Report::default(),
        stdout: Captured::default(),
        stderr: Captured::default(),
        duration: Duration::from_millis(1_500),
        survivors: 0,
        left_behind: 0,
        tee_error: None,
        final_text: String::new(),
        failure: failure.map(|class| Failure { class, message: format!("{class} happened") }),
    }
}

fn report(verdict: Verdict) -> AgentReport {
    AgentReport { verdict: Some(verdict), summary: "so".to_owned(), ..AgentReport::default() }
}

#[test]
fn back_off_grows_to_eighty_seconds() {
    let seconds: Vec<u64> = (0..=5).map(|tried| backoff(tried).as_secs()).collect();
    assert_eq!(seconds, [0, 5, 20, 80, 80, 80]);
}

#[test]
fn a_success_counts_only_if_the_program_succeeded() {
    use Verdict::{Blocked, Complete, Escalate, Failed, Passed, PassedWithFixes, Retry, Skip};
    for verdict in [Complete, Passed, PassedWithFixes] {
        let (judged, summary, _) = judge(&outcome(None), Ok(report(verdict)));
        assert_eq!((judged, summary.as_str()), (Some(verdict), "so"));
        let (judged, summary, kept) =
            judge(&outcome(Some(FailureClass::ExitCode)), Ok(report(verdict)));
        assert_eq!((judged, summary.as_str()), (None, "exit_code happened"), "{verdict}");
        assert_eq!(kept.verdict, Some(verdict), "the report itself is kept");
    }
    // An agent that gives up is believed, whatever the exit code.
    for verdict in [Blocked, Failed, Retry, Skip, Escalate] {
        let (judged, summary, _) =
            judge(&outcome(Some(FailureClass::ExitCode)), Ok(report(verdict)));
        assert_eq!((judged, summary.as_str()), (Some(verdict), "so"), "{verdict}");
    }
}

#[test]
fn without_a_report_the_failure_of_the_program_is_the_reason() {
    let (judged, summary, kept) = judge(&outcome(None), Err(ReportError::Missing));
    assert_eq!((judged, summary.as_str()), (None, "it gave no verdict"));
    assert_eq!(kept, AgentReport::default());
    let (judged, summary, _) =
        judge(&outcome(Some(FailureClass::WallTimeout)), Err(ReportError::Missing));
    assert_eq!((judged, summary.as_str()), (None, "wall_timeout happened"));
    let mut long = outcome(Some(FailureClass::Other));
    long.failure.as_mut().unwrap().message = "word ".repeat(1_000);
    assert!(judge(&long, Err(ReportError::Missing)).1.chars().count() <= 500);
}

#[test]
fn an_unusable_host_stops_the_run() {
    for class in FailureClass::ALL {
        let stops = matches!(
            class,
            FailureClass::Auth | FailureClass::Quota | FailureClass::Model | FailureClass::Usage
        );
        let result = stop_if_host_is_unusable(&outcome(Some(*class)), "claude");
        assert_eq!(result.is_err(), stops, "{class}");
        if let Err(error) = result {
            let then = if *class == FailureClass::Auth { ". Sign in to `claude`" } else { "" };
            let expected = format!("the agent program cannot be used: {class} happened{then}");
            assert_eq!(error.to_string(), expected);
        }
    }
    assert!(stop_if_host_is_unusable(&outcome(None), "claude").is_ok());
}

#[test]
fn usage_reported_by_the_program_takes_precedence() {
    let mut report = report(Verdict::Complete);
    report.usage.cost_usd = Some(1.0);
    report.usage.tokens = Some(10);
    report.usage.turns = Some(2);
    let own = spent(&outcome(None), &report);
    assert_eq!((own.cost_usd, own.tokens, own.turns, own.duration_ms), (1.0, 10, 2, 1_500));
    let mut outcome = outcome(None);
    outcome.report.cost_usd = Some(0.25);
    outcome.report.turns = Some(7);
    outcome.report.usage = Usage { input: 100, cached_input: 50, output: 20 };
    let program = spent(&outcome, &report);
    assert_eq!((program.cost_usd, program.tokens, program.turns), (0.25, 120, 7));
    let nobody = spent(&self::outcome(None), &AgentReport::default());
    assert_eq!((nobody.cost_usd, nobody.tokens, nobody.turns), (0.0, 0, 0));
    assert_eq!((own.unpriced, program.unpriced, nobody.unpriced), (0, 0, 1));
}

fn attempt(logs: &Path, number: u32, voice: Option<Voice>) -> AgentAttempt {
    let step = agent_step(RunPhase::Review, "tech_lead", Profile::ReadOnly);
    AgentAttempt {
        story: "1-1-a".to_owned(),
        step: AgentStep { voice, ..step },
        number,
        nonce: "n".to_owned(),
        secret_name: "x".to_owned(),
        logs: Folder::at(logs),
        folder: logs.join("worktree"),
    }
}

#[test]
fn every_agent_has_its_own_files() {
    let attempt = |number, voice| attempt(Path::new("/logs"), number, voice);
    assert_eq!(attempt(1, None).file("log"), "review-1.log");
    assert_eq!(attempt(2, None).result(), PathBuf::from("/logs/worktree/.handover-result/x.json"));
    let voice = |persona: &str, round| Some(Voice { persona: persona.to_owned(), round });
    assert_eq!(attempt(1, voice("ann", 2)).file("log"), "review-1-ann-2.log");
    // A persona's name cannot escape the folder.
    let odd = attempt(1, voice("../../x", 1)).file("log");
    assert!(!odd.contains('/'), "{odd}");
}

#[test]
fn a_result_is_a_file_of_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    let attempt = attempt(folder.path(), 1, None);
    let (path, file) = (attempt.result(), ResultFile::create(&attempt).unwrap());
    assert_eq!(file.read(), None);
    fs_err::write(&path, "{}").unwrap();
    assert_eq!(file.read().as_deref(), Some(b"{}".as_slice()));
    fs_err::write(&path, vec![b' '; MAX_RESULT as usize]).unwrap();
    assert_eq!(file.read().map(|bytes| bytes.len() as u64), Some(MAX_RESULT));
    fs_err::write(&path, vec![b' '; MAX_RESULT as usize + 1]).unwrap();
    assert_eq!(file.read().as_deref(), Some(b"too large".as_slice()));
    fs_err::remove_file(&path).unwrap();
    // A link could point to a secret, and a folder is not a result.
    std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
    assert_eq!(file.read().as_deref(), Some(b"not a file".as_slice()));
    fs_err::remove_file(&path).unwrap();
    fs_err::create_dir_all(&path).unwrap();
    assert_eq!(file.read().as_deref(), Some(b"not a file".as_slice()));
}

#[test]
fn packages_of_a_discarded_folder_are_refused() {
    let note = |path: &str| PackageNote { path: path.to_owned(), ..PackageNote::default() };
    let mut debrief = Debrief {
        packages: vec![note("docs/a.md"), note("/elsewhere/b.md"), note("/gone/c.md")],
        problems: vec!["earlier".to_owned()],
        ..Debrief::default()
    };
    drop_lost_packages(&mut debrief, Path::new("/gone"));
    assert_eq!(debrief.packages, [note("/elsewhere/b.md")]);
    assert_eq!(
        debrief.problems,
        [
            "earlier",
            "package `docs/a.md`: the folder that it was in is discarded",
            "package `/gone/c.md`: the folder that it was in is discarded",
        ]
    );
}
