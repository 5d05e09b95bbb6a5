//! The result of a run. The output of Copilot CLI has neither tokens nor cost.

use super::reader::Reader;
use super::stream::{ErrorInfo, Final};
use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report, classify};

pub(super) fn report(read: Reader, ended: Ended, stderr: &Captured) -> Report {
    let error = match &read.result {
        Some(result) => error_of(result, read.last_error.as_ref()),
        None => read.last_error.as_ref().map(failure),
    };
    let error = error.or_else(|| failed_exit(ended, stderr));
    let done = read.result.is_some() && error.is_none();
    Report {
        answer: Some(read.text.clone()).filter(|_| done),
        last_text: read.text,
        error,
        turns: Some(read.turns).filter(|&turns| turns > 0),
        host_session: read.result.and_then(|result| result.session_id),
        model: read.model,
        denials: read.denials,
        unknown_lines: read.unknown_lines,
        ..Report::default()
    }
}

pub(super) fn error_of(result: &Final, last_error: Option<&ErrorInfo>) -> Option<Failure> {
    match (result.exit_code, last_error) {
        (Some(0) | None, None) => None,
        (_, Some(error)) => Some(failure(error)),
        (Some(_), None) => Some(classify::message("ended with an error")),
    }
}

fn failure(error: &ErrorInfo) -> Failure {
    let failure = classify::message(&error.message);
    match error.status_code.and_then(classify::status) {
        Some(class) => Failure { class, ..failure },
        None => failure,
    }
}
