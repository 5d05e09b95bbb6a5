//! The result of a run. Gemini CLI does not report the cost.

use handover_model::FailureClass;

use super::reader::Reader;
use super::stream::Final;
use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report, Usage, classify};

pub(super) fn report(read: Reader, ended: Ended, stderr: &Captured) -> Report {
    let error = match &read.result {
        Some(result) => error_of(result, read.last_error.as_deref()),
        None => read.last_error.as_deref().map(classify::message),
    };
    let error = error.or_else(|| failed_exit(ended, stderr)).map(|error| match of_exit(ended) {
        Some(class) => Failure { class, ..error },
        None => error,
    });
    let done = read.result.is_some() && error.is_none();
    Report {
        answer: Some(read.text.clone()).filter(|_| done),
        last_text: read.text,
        error,
        usage: read.result.as_ref().map(usage_of).unwrap_or_default(),
        turns: Some(read.turns).filter(|&turns| turns > 0),
        host_session: read.session,
        model: read.model,
        unknown_lines: read.unknown_lines,
        ..Report::default()
    }
}

pub(super) fn error_of(result: &Final, last_error: Option<&str>) -> Option<Failure> {
    if result.status == "success" && result.error.is_none() {
        return None;
    }
    Some(match &result.error {
        Some(error) => {
            let failure = classify::message(&error.message);
            let class = match error.kind.as_str() {
                "FatalTurnLimitedError" => FailureClass::MaxTurns,
                "FatalAuthenticationError" => FailureClass::Auth,
                "FatalInputError" => FailureClass::Usage,
                _ => failure.class,
            };
            Failure { class, ..failure }
        }
        None => classify::message(last_error.unwrap_or("ended with an error")),
    })
}

pub(super) fn usage_of(result: &Final) -> Usage {
    result.stats.as_ref().map_or_else(Usage::default, |stats| Usage {
        input: stats.input_tokens,
        cached_input: stats.cached,
        output: stats.output_tokens.max(stats.total_tokens.saturating_sub(stats.input_tokens)),
    })
}

/// The documented exit codes.
fn of_exit(ended: Ended) -> Option<FailureClass> {
    match ended {
        Ended::Exited(41) => Some(FailureClass::Auth),
        Ended::Exited(42) => Some(FailureClass::Usage),
        Ended::Exited(53) => Some(FailureClass::MaxTurns),
        Ended::Exited(_)
        | Ended::Signalled(_)
        | Ended::WallTimeout
        | Ended::IdleTimeout
        | Ended::OutputFlood
        | Ended::OverLimit(_)
        | Ended::Cancelled => None,
    }
}
