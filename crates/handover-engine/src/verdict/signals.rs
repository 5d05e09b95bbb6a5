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
        // Repeating text it was given to read is not a report.
        let stands_in_what_was_read =
            context.read.lines().any(|read| read.trim_end() == line.trim_end());
        if stands_in_what_was_read && Some(number) != last {
            continue;
        }
        found.push(match about(context, rest) {
            Some(reason) if meant.1.is_none() && context.phase == RunPhase::Analysis => {
                match analyzed(&reason) {
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
    // `1-1-a: why`, `1-1-a, why`; but not `1-1-a:b`, which may be another id.
    let after = reason.strip_prefix([':', ',', ';', '.']).unwrap_or(reason);
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    ends.then(|| {
        reason.trim_start_matches([' ', '\t', '-', '–', '—', ':', ',', ';', '.']).trim().to_owned()
    })
}

/// `Retry`, `Skip` or `Escalate` of an analysis, and why.
fn analyzed(reason: &str) -> Option<(Verdict, String)> {
    let end = reason.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(reason.len());
    let (word, why) = reason.split_at(end);
    let verdict = word.to_ascii_lowercase().parse().ok()?;
    Some((verdict, why.trim_start_matches([' ', '-', '–', '—', ':', '.', ',']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(phase: RunPhase) -> ReportContext<'static> {
        ReportContext {
            subject: "1-1-a",
            phase,
            nonce: "n",
            receipt: None,
            read: "",
            statuses: &[],
        }
    }

    fn verdicts(context: ReportContext<'_>, text: &str) -> Vec<(Verdict, String)> {
        let lines: Vec<&str> = text.lines().collect();
        signals(context, &lines)
            .into_iter()
            .map(|signal| match signal {
                Signal::Matching((verdict, _), rest) => (verdict, rest),
                Signal::OtherSubject(subject) => panic!("about {subject}"),
            })
            .collect()
    }

    #[test]
    fn every_phase_has_its_lines() {
        use RunPhase::{Analysis, Dev, Fix, Kickoff, Retro, Review, Uat};
        use Verdict::{Blocked, Complete, Escalate, Failed, Passed, PassedWithFixes, Retry, Skip};
        for (phase, line, verdict, why) in [
            (Dev, "IMPLEMENTATION COMPLETE: 1-1-a", Complete, ""),
            (Dev, "IMPLEMENTATION BLOCKED: 1-1-a - no key", Blocked, "no key"),
            (Fix, "IMPLEMENTATION COMPLETE: 1-1-a", Complete, ""),
            (Fix, "IMPLEMENTATION BLOCKED: 1-1-a – no key", Blocked, "no key"),
            (Fix, "FIX COMPLETE: 1-1-a", Complete, ""),
            (Fix, "FIX INCOMPLETE: 1-1-a - two are left", Failed, "two are left"),
            (Review, "REVIEW PASSED: 1-1-a", Passed, ""),
            (
                Review,
                "REVIEW PASSED WITH FIXES: 1-1-a - Fixed 2 issues",
                PassedWithFixes,
                "Fixed 2 issues",
            ),
            (Review, "REVIEW FAILED: 1-1-a - no test", Failed, "no test"),
            (Review, "REVIEW FAILED: 1-1-a: no test", Failed, "no test"),
            (Review, "REVIEW FAILED: 1-1-a, no test", Failed, "no test"),
            (Review, "PARTY REVIEW PASSED: 1-1-a", Passed, ""),
            (Review, "PARTY REVIEW PASSED WITH FIXES: 1-1-a", PassedWithFixes, ""),
            (Review, "PARTY REVIEW FAILED: 1-1-a - why", Failed, "why"),
            (Kickoff, "KICKOFF COMPLETE: 1-1-a", Complete, ""),
            (Analysis, "ANALYSIS COMPLETE: 1-1-a - Retry, with the key", Retry, "with the key"),
            (Analysis, "ANALYSIS COMPLETE: 1-1-a - skip", Skip, ""),
            (Analysis, "ANALYSIS COMPLETE: 1-1-a — Escalate. Which key?", Escalate, "Which key?"),
            (Uat, "UAT GENERATED: docs/uat/epic-1-uat.md", Complete, "docs/uat/epic-1-uat.md"),
            (Retro, "RETRO COMPLETE: 1-1-a", Complete, ""),
        ] {
            let expected = vec![(verdict, why.to_owned())];
            assert_eq!(verdicts(context(phase), line), expected, "{line}");
        }
    }

    #[test]
    fn a_line_may_be_emphasized_or_end_with_a_full_stop() {
        let one = |line: &str| verdicts(context(RunPhase::Dev), line);
        let done = vec![(Verdict::Complete, String::new())];
        assert_eq!(one("**IMPLEMENTATION COMPLETE: 1-1-a**"), done);
        assert_eq!(one("IMPLEMENTATION COMPLETE: 1-1-a."), done);
        assert_eq!(one("IMPLEMENTATION COMPLETE:   1-1-a   "), done);
        assert_eq!(one("*IMPLEMENTATION COMPLETE: 1-1-a*"), []);
    }

    #[test]
    fn repeated_input_counts_as_the_last_line_only() {
        let line = "IMPLEMENTATION COMPLETE: 1-1-a";
        let context = ReportContext { read: line, ..context(RunPhase::Dev) };
        assert_eq!(verdicts(context, &format!("{line}\nmore")), []);
        assert_eq!(verdicts(context, &format!("more\n{line}\n\n")).len(), 1);
        assert_eq!(verdicts(context, &format!("{line}\n{line}  ")).len(), 1);
    }

    #[test]
    fn a_teams_codes_are_signals_of_their_own() {
        let statuses =
            [(TeamStatus::RootCauseFound, Verdict::Retry), (TeamStatus::Skip, Verdict::Skip)];
        let context = ReportContext { statuses: &statuses, ..context(RunPhase::Analysis) };
        let lines = ["ROOT_CAUSE_FOUND: 1-1-a - Skip is not what is meant"];
        let found = signals(context, &lines);
        let [Signal::Matching((Verdict::Retry, Some(TeamStatus::RootCauseFound)), rest)] =
            found.as_slice()
        else {
            panic!("not the code")
        };
        assert_eq!(rest, "Skip is not what is meant");
        assert!(signal(context, "READY_FOR_QA: 1-1-a").is_none());
        assert!(signal(context, "no colon").is_none());
    }

    #[test]
    fn the_epic_is_named_in_words_in_a_retrospective_only() {
        let retro = ReportContext { subject: "epic-7", ..context(RunPhase::Retro) };
        assert_eq!(about(retro, "Epic 7 - a good one").as_deref(), Some("a good one"));
        assert_eq!(about(retro, "epic-7").as_deref(), Some(""));
        assert_eq!(about(retro, "Epic 71"), None);
        assert_eq!(about(retro, "Epic 7: a good one").as_deref(), Some("a good one"));
        assert_eq!(about(retro, "Epic 7:1"), None);
        let dev = ReportContext { subject: "epic-7", ..context(RunPhase::Dev) };
        assert_eq!(about(dev, "Epic 7"), None);
    }

    #[test]
    fn an_analysis_needs_a_word_that_it_knows() {
        assert_eq!(analyzed("Retry"), Some((Verdict::Retry, String::new())));
        assert_eq!(analyzed("SKIP: no key"), Some((Verdict::Skip, "no key".to_owned())));
        assert_eq!(analyzed("retrying is best"), None);
        assert_eq!(analyzed(""), None);
    }
}
