//! Signal lines: the verdict of an agent that reports in text instead of a structured result.

use handover_model::{RunPhase, TeamStatus, Verdict};

use super::ReportContext;
use crate::pipeline::status as team_status;

/// A verdict, with the status code of a team member if that is how it was given.
pub(super) type SignalVerdict = (Verdict, Option<TeamStatus>);

pub(super) enum Signal {
    Matching(SignalVerdict, String),
    OtherSubject(String),
}

/// The signal lines of a phase and their verdicts.
fn signal_lines(phase: RunPhase) -> &'static [(&'static str, Verdict)] {
    use Verdict::{Blocked, Complete, Failed, Passed, PassedWithFixes};
    match phase {
        RunPhase::Dev => {
            &[("IMPLEMENTATION COMPLETE:", Complete), ("IMPLEMENTATION BLOCKED:", Blocked)]
        }
        RunPhase::Fix => &[
            ("IMPLEMENTATION COMPLETE:", Complete),
            ("IMPLEMENTATION BLOCKED:", Blocked),
            ("FIX COMPLETE:", Complete),
            ("FIX INCOMPLETE:", Failed),
        ],
        RunPhase::Review => &[
            ("REVIEW PASSED WITH FIXES:", PassedWithFixes),
            ("REVIEW PASSED:", Passed),
            ("REVIEW FAILED:", Failed),
            ("PARTY REVIEW PASSED WITH FIXES:", PassedWithFixes),
            ("PARTY REVIEW PASSED:", Passed),
            ("PARTY REVIEW FAILED:", Failed),
        ],
        RunPhase::Kickoff => &[("KICKOFF COMPLETE:", Complete)],
        RunPhase::Analysis => &[("ANALYSIS COMPLETE:", Verdict::Retry)],
        RunPhase::Uat => &[("UAT GENERATED:", Complete)],
        RunPhase::Retro => &[("RETRO COMPLETE:", Complete)],
    }
}

pub(super) fn signals(context: ReportContext<'_>, lines: &[&str]) -> Vec<Signal> {
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((meant, rest)) = signal(context, line) else { continue };
        // Repeating text that it was given to read is not a report.
        let stands_in_what_was_read =
            context.read.lines().any(|read| read.trim_end() == line.trim_end());
        if stands_in_what_was_read && Some(number) != last {
            continue;
        }
        found.push(match about(context, rest) {
            Some(reason) if meant.1.is_none() && context.phase == RunPhase::Analysis => {
                match analysed(&reason) {
                    Some((verdict, why)) => Signal::Matching((verdict, None), why),
                    // An analysis without a recommendation has no verdict.
                    None => continue,
                }
            }
            Some(reason) => Signal::Matching(meant, reason),
            None => Signal::OtherSubject(rest.to_owned()),
        });
    }
    found
}

/// The signal that a line starts with. Models like to emphasize the whole line.
pub(super) fn signal<'t>(
    context: ReportContext<'_>,
    line: &'t str,
) -> Option<(SignalVerdict, &'t str)> {
    let line = line.trim_end();
    let bare = line.strip_prefix("**").map_or(line, |rest| rest.trim_end_matches('*'));
    let usual = signal_lines(context.phase)
        .iter()
        .find_map(|(word, verdict)| Some(((*verdict, None), bare.strip_prefix(word)?.trim())));
    usual.or_else(|| {
        let (word, rest) = bare.split_once(':')?;
        let (status, verdict) = team_status(word, context.statuses)?;
        Some(((verdict, Some(status)), rest.trim()))
    })
}

/// What follows the expected id; none if the id is another one.
fn about(context: ReportContext<'_>, rest: &str) -> Option<String> {
    if context.phase == RunPhase::Uat {
        return Some(rest.to_owned());
    }
    // The unit that closes epic 1 has the id `epic-1`, and agents write `Epic 1`.
    let (subject, rest) = match rest.strip_prefix("Epic ") {
        Some(epic) if context.phase == RunPhase::Retro => {
            (context.subject.strip_prefix("epic-").unwrap_or(context.subject), epic)
        }
        Some(_) | None => (context.subject, rest),
    };
    let reason = rest.strip_prefix(subject)?;
    let ends = reason.is_empty() || reason.starts_with(char::is_whitespace) || reason == ".";
    ends.then(|| reason.trim_start_matches([' ', '\t', '-', '–', '—', ':', '.']).trim().to_owned())
}

/// `Retry`, `Skip` or `Escalate` of an analysis, and why.
fn analysed(reason: &str) -> Option<(Verdict, String)> {
    let end = reason.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(reason.len());
    let (word, why) = reason.split_at(end);
    let verdict = word.to_ascii_lowercase().parse().ok()?;
    Some((verdict, why.trim_start_matches([' ', '-', '–', '—', ':', '.', ',']).to_owned()))
}
