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
    /// Everything the agent gave as an answer, the last one first.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        let earlier = self.report.earlier_answers.iter().rev().map(String::as_str);
        std::iter::once(self.final_text.as_str()).chain(earlier)
    }

    /// What this run used.
    pub fn used(&self) -> Total {
        Total { usage: self.report.usage, cost_usd: self.report.cost_usd }
    }

    /// Adds what a follow-up in the same conversation used.
    pub fn add(&mut self, follow_up: &Self) {
        let Total { usage, cost_usd } = self.used() + follow_up.used();
        let turns = (self.report.turns, follow_up.report.turns);
        self.report.usage = usage;
        self.report.cost_usd = cost_usd;
        self.report.turns = match turns {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.duration += follow_up.duration;
    }

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
            | Ended::OverLimit(_)
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
    /// It used more than it may.
    OverLimit(Exceeded),
    /// It was canceled.
    Cancelled,
}

/// What a run used too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exceeded {
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
    /// Turns of the model.
    Turns,
}

/// What a program reported in its output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The final answer, if there is one.
    pub answer: Option<String>,
    /// Answers before it, oldest first: a program that waits for children in the background gives one
    /// each time it has nothing else to do.
    #[serde(default)]
    pub earlier_answers: Vec<String>,
    /// The last text of the agent, used if there is no answer.
    pub last_text: String,
    /// The error that the program reported.
    pub error: Option<Failure>,
    /// Tokens used, including subagents where the program reports them.
    pub usage: Usage,
    /// The cost, where the program reports it.
    pub cost_usd: Option<f64>,
    /// The program's own sums of the whole conversation, to be passed on if it is resumed.
    #[serde(default)]
    pub total: Total,
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
    /// When the usage limit that ended the run is lifted, where the program says so.
    #[serde(default)]
    pub resets: Option<Resets>,
}

/// What a run has used so far, as far as its program says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// Tokens.
    pub usage: Usage,
    /// Money.
    pub cost_usd: Option<f64>,
    /// Turns of the model.
    pub turns: Option<u32>,
}

/// When a limit is lifted. This crate has no clock, so the caller computes the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resets {
    /// In seconds since 1970.
    At(i64),
    /// So long after the program said so.
    After(Duration),
    /// By a clock on the wall.
    Clock(ClockTime),
}

/// The next time that a clock shows this.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTime {
    /// The year, if it is not the current one.
    pub year: Option<i16>,
    /// Month and day, if it is not within a day.
    pub date: Option<(i8, i8)>,
    /// The hour, from 0.
    pub hour: i8,
    /// The minute.
    pub minute: i8,
    /// The time zone, such as `Europe/Berlin`; none is the local one.
    pub zone: Option<String>,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Tokens used.
    pub usage: Usage,
    /// The cost, where the program reports it.
    pub cost_usd: Option<f64>,
}

impl std::ops::Add for Total {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        Self { usage: self.usage + other.usage, cost_usd }
    }
}

impl std::ops::Sub for Total {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let before = earlier.cost_usd.unwrap_or_default();
        Self {
            usage: self.usage - earlier.usage,
            cost_usd: self.cost_usd.map(|cost| (cost - before).max(0.0)),
        }
    }
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

impl std::ops::Sub for Usage {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached_input: self.cached_input.saturating_sub(earlier.cached_input),
            output: self.output.saturating_sub(earlier.output),
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
        Ended::OverLimit(Exceeded::Cost) => {
            let cost = report.cost_usd.unwrap_or_default();
            ours(FailureClass::MaxBudget, &format!("was stopped after {cost:.4} USD"))
        }
        Ended::OverLimit(Exceeded::Tokens) => {
            let tokens = report.usage.total();
            ours(FailureClass::MaxBudget, &format!("was stopped after {tokens} tokens"))
        }
        Ended::OverLimit(Exceeded::Turns) => {
            let turns = report.turns.unwrap_or_default();
            ours(FailureClass::MaxTurns, &format!("was stopped after {turns} turns"))
        }
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

    const AGENT: Capabilities =
        Capabilities { resumable: false, reports_result: true, reports_no_cost: false };

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
