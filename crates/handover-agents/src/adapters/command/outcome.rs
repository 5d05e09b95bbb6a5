//! The whole text is the answer.

use handover_model::FailureClass;

use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report};

pub(super) fn report(ended: Ended, stdout: &Captured, stderr: &Captured) -> Report {
    // The program's messages are unknown, so they only decide whether a retry makes sense.
    let error = failed_exit(ended, stderr).map(|failure| match failure.class.is_transient() {
        true => failure,
        false => Failure { class: FailureClass::ExitCode, ..failure },
    });
    Report { answer: Some(stdout.text()), error, ..Report::default() }
}
