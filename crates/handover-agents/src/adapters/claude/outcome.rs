//! The result of a run. Beware: `subtype` is `success` even if the model could not be reached.

use handover_model::FailureClass;

use super::reader::Reader;
use super::stream::Final;
use crate::adapters::failed_exit;
use crate::{Captured, Ended, Failure, Report, Total, classify};

pub(super) fn report(read: Reader, ended: Ended, stderr: &Captured) -> Report {
    let report = match &read.result {
        Some(line) => of_result(line),
        None => Report { error: failed_exit(ended, stderr), ..Report::default() },
    };
    let error = report.error.map(|error| match (error.class, read.last_error.as_deref()) {
        (FailureClass::Other, Some(word)) => Failure { class: class_of_code(word), ..error },
        _ => error,
    });
    let Total { usage, cost_usd } = read.spent.of_run();
    Report {
        error,
        earlier_answers: read.earlier_answers,
        usage,
        cost_usd,
        total: read.spent.of_conversation(),
        turns: read.spent.turns(),
        last_text: read.last_text,
        host_session: report.host_session.or(read.session),
        model: read.model,
        unknown_lines: read.unknown_lines,
        resets: read.resets,
        ..report
    }
}

/// What the last line says, taken alone.
pub(super) fn of_result(line: &Final) -> Report {
    let error = error_of(line);
    Report {
        answer: line.result.clone().filter(|_| error.is_none()),
        error,
        host_session: line.session_id.clone(),
        denials: line
            .permission_denials
            .as_ref()
            .map_or(0, |denials| u32::try_from(denials.len()).unwrap_or(u32::MAX)),
        ..Report::default()
    }
}

fn error_of(line: &Final) -> Option<Failure> {
    let subtype = line.subtype.as_deref().unwrap_or_default();
    let refused = line.stop_reason.as_deref() == Some("refusal");
    if subtype == "success" && !line.is_error.unwrap_or_default() && !refused {
        return None;
    }
    let message = match (&line.result, &line.errors) {
        (Some(result), _) if !result.is_empty() => result.clone(),
        (_, Some(errors)) if !errors.is_empty() => errors.join("; "),
        _ => format!("ended with `{subtype}`"),
    };
    let class = match subtype {
        "error_max_turns" => FailureClass::MaxTurns,
        "error_max_budget_usd" => FailureClass::MaxBudget,
        _ if refused => FailureClass::Refused,
        _ => line
            .api_error_status
            .and_then(classify::status)
            .unwrap_or_else(|| classify::message(&message).class),
    };
    Some(Failure { class, message })
}

/// Claude Code's own error codes for the model's servers.
fn class_of_code(word: &str) -> FailureClass {
    match word {
        "rate_limit" => FailureClass::RateLimit,
        "overloaded" => FailureClass::Overloaded,
        "server_error" => FailureClass::Server,
        "authentication_failed" => FailureClass::Auth,
        "billing_error" => FailureClass::Quota,
        _ => FailureClass::Other,
    }
}
