//! The result of a run. opencode does not name the model.

use super::reader::Reader;
use super::stream::ErrorInfo;
use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report, classify};

pub(super) fn report(read: Reader, ended: Ended, stderr: &Captured) -> Report {
    let error = read.last_error.as_ref().map(failure).or_else(|| failed_exit(ended, stderr));
    Report {
        answer: Some(read.text.clone()).filter(|_| read.done && error.is_none()),
        last_text: read.text,
        error,
        usage: read.usage,
        cost_usd: read.cost,
        turns: Some(read.turns).filter(|&turns| turns > 0),
        host_session: read.session,
        unknown_lines: read.unknown_lines,
        ..Report::default()
    }
}

fn failure(error: &ErrorInfo) -> Failure {
    let message = if error.data.message.is_empty() { &error.name } else { &error.data.message };
    let failure = classify::message(message);
    match error.data.status_code.and_then(classify::status) {
        Some(class) => Failure { class, ..failure },
        None => failure,
    }
}
