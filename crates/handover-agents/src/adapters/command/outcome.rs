//! The whole text is the answer.

use handover_model::FailureClass;

use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report};

pub(super) fn report(ended: Ended, stdout: &Captured, stderr: &Captured) -> Report {
    let error = failed_exit(ended, stderr)
        // Nothing is known of the program's words, so they decide nothing.
        .map(|failure| Failure { class: FailureClass::ExitCode, ..failure });
    Report { answer: Some(stdout.text()), error, ..Report::default() }
}
