//! The result of a run. Codex reports neither the cost nor the model.

use super::reader::Reader;
use crate::adapters::failed_exit;
use crate::{Captured, Ended, Report, Total, classify};

pub(super) fn report(read: Reader, ended: Ended, stderr: &Captured) -> Report {
    let (usage, total) = (read.used(), Total { usage: read.sum, cost_usd: None });
    let error = match read.last_error {
        // An error that a retry overcame does not count.
        Some(error) if read.failed || !read.completed => Some(classify::message(&error)),
        _ => failed_exit(ended, stderr),
    };
    Report {
        answer: Some(read.last_text.clone()).filter(|_| read.completed && error.is_none()),
        last_text: read.last_text,
        error,
        usage,
        total,
        turns: Some(read.turns).filter(|&turns| turns > 0),
        host_session: read.thread,
        denials: read.denials,
        unknown_lines: read.unknown_lines,
        ..Report::default()
    }
}
