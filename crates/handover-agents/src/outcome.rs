//! How a run ended and what it produced.

use std::time::Duration;

use handover_model::FailureClass;
use serde::{Deserialize, Serialize};

use crate::{Capabilities, Captured};

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the process ended.
    pub ended: Ended,
    /// What the program reported in its output.
    pub report: Report,
    /// Raw standard output; only the beginning and the end if it was too long.
    #[serde(skip)]
    pub stdout: Captured,
    /// Standard error, likewise.
    #[serde(skip)]
    pub stderr: Captured,
    /// From the start of the process until nothing it started was running.
    pub duration: Duration,
    /// Processes that the agent left running and that were killed.
    pub survivors: u32,
    /// Processes that could not be killed: 0 unless the system itself hangs.
    pub left_behind: u32,
    /// Why the raw output on disk is incomplete, if it was written there.
    pub tee_error: Option<String>,
    /// The answer, or else the agent's last text.
    pub final_text: String,
    /// None if the program exited successfully and reported no error.
    pub failure: Option<Failure>,
}

impl Outcome {
    /// Whether the program exited successfully and reported no error; its claims are not verified here.
    pub fn is_success(&self) -> bool {
        self.failure.is_none()
    }

    /// The exit code, if the process exited by itself.
    pub fn exit_code(&self) -> Option<i32> {
        match self.ended {
            Ended::Exited(code) => Some(code),
            Ended::Signalled(_)
            | Ended::WallTimeout
            | Ended::IdleTimeout
            | Ended::OutputFlood
            | Ended::Cancelled => None,
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It exited by itself, with this code.
    Exited(i32),
    /// It was killed by a signal that was not ours.
    Signalled(i32),
    /// It ran for too long.
    WallTimeout,
    /// It printed nothing for too long.
    IdleTimeout,
    /// It printed too much.
    OutputFlood,
    /// It was canceled.
    Cancelled,
}

/// What a program reported in its output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The final answer, if there is one.
    pub answer: Option<String>,
    /// The last text of the agent, used if there is no answer.
    pub last_text: String,
    /// The error that the program reported.
    pub error: Option<Failure>,
    /// Tokens used, including subagents where the program reports them.
    pub usage: Usage,
    /// The cost, where the program reports it.
    pub cost_usd: Option<f64>,
    /// Turns of the model.
    pub turns: Option<u32>,
    /// The program's id of the conversation.
    pub host_session: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tool calls that were denied.
    pub denials: u32,
    /// Lines that could not be parsed.
    pub unknown_lines: u64,
    /// The first tool with which the agent read something from outside.
    #[serde(default)]
    pub outside: Option<String>,
}

/// Tokens used by a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached or not.
    pub input: u64,
    /// The part of `input` that came from a cache.
    pub cached_input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
}

impl Usage {
    /// Input and output together.
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Decides whether a retry makes sense.
    pub class: FailureClass,
    /// The program's message, or ours.
    pub message: String,
}

/// Combines how the process ended with what the program reported: a reported success counts only if the process
/// exited successfully, and a known cause takes precedence over a bare exit code.
pub(crate) fn judge(ended: Ended, report: &Report, can: Capabilities) -> Option<Failure> {
    let ours = |class, message: &str| Some(Failure { class, message: message.to_owned() });
    match ended {
        Ended::WallTimeout => ours(FailureClass::WallTimeout, "ran into the time limit"),
        Ended::IdleTimeout => ours(FailureClass::IdleTimeout, "printed nothing for too long"),
        Ended::OutputFlood => ours(FailureClass::OutputFlood, "printed too much"),
        Ended::Cancelled => ours(FailureClass::Cancelled, "was cancelled"),
        Ended::Signalled(signal) => {
            ours(FailureClass::Crashed, &format!("was killed by signal {signal}"))
        }
        Ended::Exited(code) => match &report.error {
            Some(error) => Some(error.clone()),
            None if code != 0 => {
                ours(FailureClass::ExitCode, &format!("ended with exit code {code}"))
            }
            None if can.reports_result && report.answer.is_none() => {
                ours(FailureClass::NoResult, "ended without a result")
            }
            None => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: Capabilities = Capabilities { resumable: false, reports_result: true };

    fn report(answer: Option<&str>, error: Option<FailureClass>) -> Report {
        let error = error.map(|class| Failure { class, message: "said so".to_owned() });
        Report { answer: answer.map(ToOwned::to_owned), error, ..Report::default() }
    }

    fn class(ended: Ended, report: &Report, can: Capabilities) -> Option<FailureClass> {
        judge(ended, report, can).map(|failure| failure.class)
    }

    #[test]
    fn success_requires_exit_code_0_no_error_and_a_result() {
        let good = report(Some("done"), None);
        assert_eq!(class(Ended::Exited(0), &good, AGENT), None);
        assert_eq!(class(Ended::Exited(1), &good, AGENT), Some(FailureClass::ExitCode));
        let silent = report(None, None);
        assert_eq!(class(Ended::Exited(0), &silent, AGENT), Some(FailureClass::NoResult));
        assert_eq!(class(Ended::Exited(0), &silent, Capabilities::default()), None);
    }

    #[test]
    fn a_known_cause_takes_precedence_over_an_exit_code() {
        let quota = report(None, Some(FailureClass::Quota));
        for code in [0, 1, 143] {
            assert_eq!(class(Ended::Exited(code), &quota, AGENT), Some(FailureClass::Quota));
        }
        assert_eq!(class(Ended::WallTimeout, &quota, AGENT), Some(FailureClass::WallTimeout));
    }

    #[test]
    fn messages_say_how_the_process_ended() {
        let message = |ended| judge(ended, &Report::default(), AGENT).unwrap().message;
        assert_eq!(message(Ended::Signalled(11)), "was killed by signal 11");
        assert_eq!(message(Ended::Exited(4)), "ended with exit code 4");
        assert_eq!(message(Ended::IdleTimeout), "printed nothing for too long");
    }

    #[test]
    fn usage_adds_up_without_overflow() {
        let one = Usage { input: 10, cached_input: 4, output: 3 };
        let sum = one + one;
        assert_eq!((sum.input, sum.cached_input, sum.output, sum.total()), (20, 8, 6, 26));
        let huge = Usage { input: u64::MAX, ..one };
        assert_eq!((huge + one).input, u64::MAX);
        assert_eq!(huge.total(), u64::MAX);
    }

    #[test]
    fn an_outcome_survives_json_without_its_raw_output() {
        let outcome = Outcome {
            ended: Ended::Exited(0),
            report: report(Some("done"), None),
            stdout: Captured { head: "raw".to_owned(), tail: None, total: 3 },
            stderr: Captured::default(),
            duration: Duration::from_millis(1_500),
            survivors: 1,
            left_behind: 0,
            tee_error: None,
            final_text: "done".to_owned(),
            failure: None,
        };
        assert!(outcome.is_success());
        assert_eq!(outcome.exit_code(), Some(0));
        let json = serde_json::to_string(&outcome).unwrap();
        assert!(!json.contains("raw"), "{json}");
        let read: Outcome = serde_json::from_str(&json).unwrap();
        assert_eq!(read, Outcome { stdout: Captured::default(), ..outcome });
        assert_eq!(Outcome { ended: Ended::Cancelled, ..read }.exit_code(), None);
    }
}
