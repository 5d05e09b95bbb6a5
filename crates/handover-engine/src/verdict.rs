//! How an agent said that it ended: a structured result first, a text signal second, and nothing that
//! is missing, contradictory or meant for somebody else.
//!
//! Everything here is untrusted: the agent may have printed its prompt, the story, or a file that
//! contains either.

use std::collections::{BTreeMap, BTreeSet};

use handover_handoff::{ErrorNote, PackageNote, read_fields};
use handover_model::{FindingKind, Phase, ReceiptId, RunPhase, TeamStatus, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::party::{Contribution, fill_in, kind_of};
use crate::retro::{self, Retro};
use crate::story::fence_mark;

/// What an agent was asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The story's id; the epic's for phases of an epic.
    pub subject: &'a str,
    /// The phase.
    pub phase: RunPhase,
    /// What only this agent was told.
    pub nonce: &'a str,
    /// Text that the agent has read: a signal that stands in it counts only as the last word.
    pub read: &'a str,
    /// The status codes that it can end with, for a member of a team.
    pub statuses: &'a [(TeamStatus, Verdict)],
}

/// What an agent said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Its status code, as a member of a team.
    #[serde(default)]
    pub status: Option<TeamStatus>,
    /// One or two lines, or the reason.
    #[serde(default)]
    pub summary: String,
    /// What is wrong, from a review.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What it thought, by phase.
    #[serde(default)]
    pub reasoning: BTreeMap<Phase, String>,
    /// What it said as one voice of several.
    #[serde(default)]
    pub contribution: Contribution,
    /// Files that others should know.
    #[serde(default)]
    pub packages: Vec<PackageNote>,
    /// Errors that it met, with what solved them.
    #[serde(default)]
    pub errors: Vec<ErrorNote>,
    /// Values that make no sense.
    #[serde(default)]
    pub problems: Vec<String>,
    /// The receipt that it names: proof that it saw its prompt.
    #[serde(default)]
    pub receipt: Option<ReceiptId>,
    /// What it used, in its own words.
    #[serde(default)]
    pub usage: SaidUsage,
    /// The scenarios that it wrote, as it wrote them.
    #[serde(default)]
    pub scenarios: Option<Value>,
    /// What the epic taught.
    #[serde(default)]
    pub retro: Option<Retro>,
}

/// Something that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad, in the reviewer's word.
    #[serde(default)]
    pub severity: String,
    /// Where.
    #[serde(default)]
    pub place: String,
    /// What it is about, if the reviewer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FindingKind>,
    /// What.
    pub text: String,
}

/// What an agent says that it used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SaidUsage {
    /// Money.
    pub cost_usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Turns.
    pub turns: Option<u64>,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// Nothing was said.
    #[error("it gave no verdict")]
    Missing,
    /// Two different things were said.
    #[error("it gave contradicting verdicts: {0} and {1}")]
    Conflict(String, String),
    /// Somebody else's verdict.
    #[error("its verdict is about `{0}`")]
    WrongSubject(String),
    /// A result that is not the answer to this question.
    #[error("its result is not bound to this call: {0}")]
    Unbound(&'static str),
    /// A result that makes no sense.
    #[error("its result cannot be read: {0}")]
    Broken(String),
    /// Somebody on another machine found it unclear, and said why.
    #[error("{0}")]
    Elsewhere(String),
    /// A status code that this member of a team does not have.
    #[error("its status `{0}` is not one that it can have")]
    WrongStatus(String),
    /// A verdict that this phase does not have.
    #[error("its verdict `{0}` makes no sense in this phase")]
    WrongVerdict(Verdict),
}

/// The largest result file.
pub const MAX_RESULT: u64 = 1 << 20;
const MAX_FINDINGS: usize = 50;
/// The most lines of prose that are looked at.
const MAX_LINES: usize = 2_000;
const MAX_TEXT: usize = 2_000;

/// Reads what an agent left: the content of its result file, if there is one, and what it printed.
pub fn read(asked: Asked<'_>, file: Option<&[u8]>, text: &str) -> Result<Said, Unclear> {
    let mut said: Vec<Said> = Vec::new();
    if let Some(bytes) = file.filter(|bytes| !bytes.trim_ascii().is_empty()) {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| Unclear::Broken(error.to_string()))?;
        said.push(structured(asked, &value)?);
    }
    let lines = plain_lines(text);
    for block in &lines.blocks {
        if let Ok(value) = serde_json::from_str::<Value>(block)
            && value.get("nonce").and_then(Value::as_str) == Some(asked.nonce)
            && !is_form(&value)
        {
            said.push(structured(asked, &value)?);
        }
    }
    let is_bound = !said.is_empty();
    for signal in signals(asked, &lines.plain) {
        match signal {
            Signal::Ours((verdict, status), rest) => said.push(Said {
                verdict: Some(verdict),
                status,
                summary: cut(&rest),
                ..Said::default()
            }),
            // What is bound to this call cannot be somebody else's.
            Signal::Another(_) if is_bound => {}
            Signal::Another(subject) => return Err(Unclear::WrongSubject(cut(&subject))),
        }
    }
    let mut said = said.into_iter();
    let mut first = said.next().ok_or(Unclear::Missing)?;
    for other in said {
        if other.verdict != first.verdict {
            let word = |said: &Said| said.verdict.map_or("none", Verdict::as_str).to_owned();
            return Err(Unclear::Conflict(word(&first), word(&other)));
        }
        if let (Some(one), Some(two)) = (first.status, other.status)
            && one != two
        {
            return Err(Unclear::Conflict(one.to_string(), two.to_string()));
        }
        first.status = first.status.or(other.status);
    }
    let usual = asked.statuses.iter().find(|(_, verdict)| Some(*verdict) == first.verdict);
    first.status = first.status.or_else(|| usual.map(|(status, _)| *status));
    match first.verdict {
        Some(verdict) if allowed(asked.phase).contains(&verdict) => {
            let own = own_lines(asked, &lines.plain);
            fill_in(asked.phase, &mut first, &own);
            Ok(first)
        }
        Some(verdict) => Err(Unclear::WrongVerdict(verdict)),
        None => Err(Unclear::Missing),
    }
}

/// The lines that are neither signals nor what the agent was given to read.
fn own_lines<'t>(asked: Asked<'_>, lines: &[&'t str]) -> Vec<&'t str> {
    let read: BTreeSet<&str> = asked.read.lines().map(str::trim_end).collect();
    let is_own = |line: &&'t str| {
        !line.trim().is_empty() && !read.contains(line.trim_end()) && signal(asked, line).is_none()
    };
    lines.iter().copied().filter(is_own).take(MAX_LINES).collect()
}

/// Whether it is the form of the prompt, printed again and not filled in.
fn is_form(value: &Value) -> bool {
    value.get("verdict").and_then(Value::as_str).is_some_and(|verdict| verdict.starts_with('<'))
}

/// The verdicts that a phase can end with.
pub fn allowed(phase: RunPhase) -> &'static [Verdict] {
    use Verdict::{Blocked, Complete, Escalate, Failed, Passed, PassedWithFixes, Retry, Skip};
    match phase {
        RunPhase::Dev | RunPhase::Fix => &[Complete, Blocked, Failed, Retry, Skip, Escalate],
        RunPhase::Review => &[Passed, PassedWithFixes, Failed, Blocked, Escalate],
        RunPhase::Analysis => &[Retry, Skip, Escalate],
        RunPhase::Kickoff | RunPhase::Uat | RunPhase::Retro => &[Complete, Failed],
    }
}

fn structured(asked: Asked<'_>, value: &Value) -> Result<Said, Unclear> {
    let word = |key: &str| value.get(key).and_then(Value::as_str);
    if word("nonce") != Some(asked.nonce) {
        return Err(Unclear::Unbound("the nonce is another one"));
    }
    if word("story") != Some(asked.subject) {
        return Err(Unclear::Unbound("the story is another one"));
    }
    if word("phase") != Some(asked.phase.as_str()) {
        return Err(Unclear::Unbound("the phase is another one"));
    }
    let (verdict, status) = verdict_of(asked, word("verdict"), word("status"))?;
    let findings = value.get("findings").and_then(Value::as_array);
    let common = read_fields(value);
    let number = |key: &str| value.pointer(&format!("/usage/{key}"));
    Ok(Said {
        verdict: Some(verdict),
        status,
        summary: cut(word("summary").unwrap_or_default()),
        findings: findings.into_iter().flatten().take(MAX_FINDINGS).filter_map(finding).collect(),
        reasoning: common.reasoning,
        contribution: Contribution::read(value),
        packages: common.packages,
        errors: common.errors,
        receipt: common.receipt,
        problems: common.problems,
        usage: SaidUsage {
            cost_usd: number("cost_usd")
                .and_then(Value::as_f64)
                .filter(|cost| cost.is_finite() && *cost >= 0.0),
            tokens: number("tokens").and_then(Value::as_u64),
            turns: number("turns").and_then(Value::as_u64),
        },
        scenarios: value.get("scenarios").filter(|_| asked.phase == RunPhase::Uat).cloned(),
        retro: (asked.phase == RunPhase::Retro).then(|| lessons(value)),
    })
}

/// A verdict and a status code must mean the same; for a member of a team either is enough.
fn verdict_of(
    asked: Asked<'_>,
    verdict: Option<&str>,
    status: Option<&str>,
) -> Result<(Verdict, Option<TeamStatus>), Unclear> {
    let broken = |error: handover_model::UnknownWord| Unclear::Broken(cut(&error.to_string()));
    let verdict = verdict.map(|word| word.parse::<Verdict>().map_err(broken)).transpose()?;
    let status = status.filter(|_| !asked.statuses.is_empty());
    let status = status
        .map(|word| {
            crate::team::status(word, asked.statuses).ok_or_else(|| Unclear::WrongStatus(cut(word)))
        })
        .transpose()?;
    match (verdict, status) {
        (Some(verdict), Some((status, meant))) if verdict != meant => {
            Err(Unclear::Conflict(verdict.to_string(), status.to_string()))
        }
        (_, Some((status, meant))) => Ok((meant, Some(status))),
        (Some(verdict), None) => Ok((verdict, None)),
        (None, None) => Err(Unclear::Missing),
    }
}

/// What the epic taught; members may also stand in the result itself.
fn lessons(value: &Value) -> Retro {
    let mut retro = retro::from_value(value.get("retro").unwrap_or(value));
    if retro.summary.is_empty() {
        retro.summary = cut(value.get("summary").and_then(Value::as_str).unwrap_or_default());
    }
    retro
}

/// A finding in any of the shapes that agents use.
fn finding(value: &Value) -> Option<Finding> {
    if let Some(text) = value.as_str() {
        return Some(Finding { text: cut(text), ..Finding::default() });
    }
    let text = |keys: &[&str]| {
        keys.iter().find_map(|key| match value.get(key)? {
            Value::String(text) => Some(cut(text)),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
    };
    let mut place = text(&["file", "path", "location"]).unwrap_or_default();
    if let Some(line) = text(&["line"]) {
        place = format!("{place}:{line}");
    }
    let mut what =
        text(&["text", "issue", "description", "message", "finding", "title", "summary"])?;
    if let Some(advice) = text(&["recommendation", "suggestion", "fix"]) {
        what = format!("{what} ({advice})");
    }
    Some(Finding {
        severity: text(&["severity", "priority", "level"]).unwrap_or_default(),
        place,
        kind: text(&["kind", "category", "type"]).map(|word| kind_of(&word)),
        text: what,
    })
}

fn cut(text: &str) -> String {
    text.trim().chars().take(MAX_TEXT).collect()
}

struct Lines<'t> {
    /// Outside of fences and quotes.
    plain: Vec<&'t str>,
    /// What stands inside of fences.
    blocks: Vec<String>,
}

fn plain_lines(text: &str) -> Lines<'_> {
    let mut lines = Lines { plain: Vec::new(), blocks: Vec::new() };
    let mut fence: Option<(char, usize, String)> = None;
    for line in text.lines() {
        match (&mut fence, fence_mark(line)) {
            (None, Some((c, n, _))) => fence = Some((c, n, String::new())),
            (Some((c, n, block)), Some((d, m, ""))) if *c == d && m >= *n => {
                lines.blocks.push(std::mem::take(block));
                fence = None;
            }
            (Some((.., block)), _) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => lines.plain.push(line),
        }
    }
    lines
}

/// A verdict, and the status code of a member of a team if that is how it was said.
type Meant = (Verdict, Option<TeamStatus>);

enum Signal {
    Ours(Meant, String),
    Another(String),
}

/// The signals of a phase, and what they mean.
fn words(phase: RunPhase) -> &'static [(&'static str, Verdict)] {
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

fn signals(asked: Asked<'_>, lines: &[&str]) -> Vec<Signal> {
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((meant, rest)) = signal(asked, line) else { continue };
        // Whoever prints what it was given to read has said nothing of its own.
        let stands_in_what_was_read =
            asked.read.lines().any(|read| read.trim_end() == line.trim_end());
        if stands_in_what_was_read && Some(number) != last {
            continue;
        }
        found.push(match about(asked, rest) {
            Some(reason) if meant.1.is_none() && asked.phase == RunPhase::Analysis => {
                match analysed(&reason) {
                    Some((verdict, why)) => Signal::Ours((verdict, None), why),
                    // An analysis without a recommendation has none.
                    None => continue,
                }
            }
            Some(reason) => Signal::Ours(meant, reason),
            None => Signal::Another(rest.to_owned()),
        });
    }
    found
}

/// The signal that a line begins with. Emphasis around the whole line is how models shout.
fn signal<'t>(asked: Asked<'_>, line: &'t str) -> Option<(Meant, &'t str)> {
    let line = line.trim_end();
    let bare = line.strip_prefix("**").map_or(line, |rest| rest.trim_end_matches('*'));
    let usual = words(asked.phase)
        .iter()
        .find_map(|(word, verdict)| Some(((*verdict, None), bare.strip_prefix(word)?.trim())));
    usual.or_else(|| {
        let (word, rest) = bare.split_once(':')?;
        let (status, verdict) = crate::team::status(word, asked.statuses)?;
        Some(((verdict, Some(status)), rest.trim()))
    })
}

/// What follows the right id; none if the id is another one.
fn about(asked: Asked<'_>, rest: &str) -> Option<String> {
    if asked.phase == RunPhase::Uat {
        return Some(rest.to_owned());
    }
    // What closes epic 1 is called `epic-1`, and `Epic 1` in words.
    let (subject, rest) = match rest.strip_prefix("Epic ") {
        Some(epic) if asked.phase == RunPhase::Retro => {
            (asked.subject.strip_prefix("epic-").unwrap_or(asked.subject), epic)
        }
        Some(_) | None => (asked.subject, rest),
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

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "1-1-login";

    fn asked(phase: RunPhase) -> Asked<'static> {
        Asked { subject: STORY, phase, nonce: "n1", read: "", statuses: &[] }
    }

    fn dev(text: &str) -> Result<Verdict, Unclear> {
        read(asked(RunPhase::Dev), None, text).map(|said| said.verdict.unwrap())
    }

    fn file(json: &str, text: &str) -> Result<Verdict, Unclear> {
        read(asked(RunPhase::Dev), Some(json.as_bytes()), text).map(|said| said.verdict.unwrap())
    }

    #[test]
    fn a_signal_counts_at_the_start_of_a_line_for_the_right_story() {
        use Verdict::{Blocked, Complete};
        assert_eq!(dev("work\nIMPLEMENTATION COMPLETE: 1-1-login"), Ok(Complete));
        assert_eq!(dev("**IMPLEMENTATION COMPLETE: 1-1-login**\nthanks"), Ok(Complete));
        assert_eq!(dev("IMPLEMENTATION BLOCKED: 1-1-login - no key"), Ok(Blocked));
        for silent in [
            "",
            "I think IMPLEMENTATION COMPLETE: 1-1-login",
            "IMPLEMENTATION COMPLETE",
            "> IMPLEMENTATION COMPLETE: 1-1-login",
            "    IMPLEMENTATION COMPLETE: 1-1-login",
            "`IMPLEMENTATION COMPLETE: 1-1-login`",
            "```\nIMPLEMENTATION COMPLETE: 1-1-login\n```",
            "~~~~\n```\nIMPLEMENTATION COMPLETE: 1-1-login\n~~~",
            "implementation complete: 1-1-login",
            "could not finish, story is not implemented",
            "REVIEW PASSED: 1-1-login",
        ] {
            assert_eq!(dev(silent), Err(Unclear::Missing), "{silent:?}");
        }
        for wrong in ["2-1-login", "1-1-login-more", "1-1", "1-1-loginx", "<story id>", ""] {
            let text = format!("IMPLEMENTATION COMPLETE: {wrong}");
            assert!(matches!(dev(&text), Err(Unclear::WrongSubject(_))), "{wrong:?}");
        }
    }

    #[test]
    fn contradictions_are_no_success() {
        for text in [
            "IMPLEMENTATION BLOCKED: 1-1-login - x\nIMPLEMENTATION COMPLETE: 1-1-login",
            "IMPLEMENTATION COMPLETE: 1-1-login\nIMPLEMENTATION BLOCKED: 1-1-login - x",
        ] {
            assert!(matches!(dev(text), Err(Unclear::Conflict(..))), "{text}");
        }
        let done = r#"{"nonce":"n1","story":"1-1-login","phase":"dev","verdict":"complete"}"#;
        assert!(matches!(
            file(done, "IMPLEMENTATION BLOCKED: 1-1-login - x"),
            Err(Unclear::Conflict(..))
        ));
        assert_eq!(file(done, "IMPLEMENTATION COMPLETE: 1-1-login"), Ok(Verdict::Complete));
    }

    #[test]
    fn a_result_is_bound_to_its_call() {
        let result = |nonce: &str, story: &str, phase: &str, verdict: &str| {
            file(
                &format!(
                    r#"{{"nonce":"{nonce}","story":"{story}","phase":"{phase}","verdict":"{verdict}"}}"#
                ),
                "",
            )
        };
        assert_eq!(result("n1", STORY, "dev", "complete"), Ok(Verdict::Complete));
        assert!(matches!(result("n0", STORY, "dev", "complete"), Err(Unclear::Unbound(_))));
        assert!(matches!(result("n1", "1-2", "dev", "complete"), Err(Unclear::Unbound(_))));
        assert!(matches!(result("n1", STORY, "review", "passed"), Err(Unclear::Unbound(_))));
        assert!(matches!(result("n1", STORY, "dev", "passed"), Err(Unclear::WrongVerdict(_))));
        assert!(matches!(result("n1", STORY, "dev", "great"), Err(Unclear::Broken(_))));
        for broken in ["{", "[]", "\"complete\"", "{\"verdict\":\"complete\"}"] {
            assert!(file(broken, "IMPLEMENTATION COMPLETE: 1-1-login").is_err(), "{broken}");
        }
    }

    #[test]
    fn a_block_in_the_text_counts_with_the_nonce_only() {
        let block = |nonce: &str| {
            format!(
                "```json\n{{\"nonce\":\"{nonce}\",\"story\":\"1-1-login\",\"phase\":\"dev\",\"verdict\":\"complete\"}}\n```\n"
            )
        };
        assert_eq!(dev(&block("n1")), Ok(Verdict::Complete));
        assert_eq!(dev(&block("n2")), Err(Unclear::Missing));
        assert_eq!(dev("```json\n{\"status\":\"ok\"}\n```"), Err(Unclear::Missing));
    }

    #[test]
    fn what_was_read_and_printed_again_says_nothing() {
        let story =
            "# Story\nIMPLEMENTATION COMPLETE: 1-1-login\nIMPLEMENTATION BLOCKED: 1-1-login - x\n";
        let asked = Asked { read: story, ..asked(RunPhase::Dev) };
        let verdict = |text: &str| read(asked, None, text).map(|said| said.verdict.unwrap());
        assert_eq!(verdict(&format!("{story}and so I stop")), Err(Unclear::Missing));
        assert_eq!(
            verdict(&format!("{story}\nIMPLEMENTATION COMPLETE: 1-1-login\n")),
            Ok(Verdict::Complete)
        );
    }

    #[test]
    fn findings_come_in_every_shape() {
        let json = r#"{"nonce":"n1","story":"1-1-login","phase":"review","verdict":"failed","findings":["plain",{"severity":"HIGH","file":"a.rs","line":3,"issue":"broken","recommendation":"mend"},7,{}],"usage":{"cost_usd":-1,"tokens":5}}"#;
        let said = read(asked(RunPhase::Review), Some(json.as_bytes()), "").unwrap();
        assert_eq!(said.findings.len(), 2);
        assert_eq!(said.findings[1].place, "a.rs:3");
        assert_eq!(said.findings[1].text, "broken (mend)");
        assert_eq!((said.usage.cost_usd, said.usage.tokens), (None, Some(5)));
    }

    #[test]
    fn members_of_a_team_say_it_with_a_code() {
        use TeamStatus::{Incomplete, ReadyForQa, ReadyForReview};
        use Verdict::{Complete, Failed};
        let statuses = [(ReadyForQa, Complete), (ReadyForReview, Complete), (Incomplete, Failed)];
        let asked = Asked { statuses: &statuses, ..asked(RunPhase::Dev) };
        let json = |rest: &str| {
            let text = format!(r#"{{"nonce":"n1","story":"1-1-login","phase":"dev",{rest}}}"#);
            read(asked, Some(text.as_bytes()), "").map(|said| (said.verdict, said.status))
        };
        let text = |text: &str| read(asked, None, text).map(|said| (said.verdict, said.status));
        let review = Ok((Some(Complete), Some(ReadyForReview)));
        assert_eq!(json(r#""status":"READY_FOR_REVIEW""#), review);
        assert_eq!(json(r#""status":"READY_FOR_REVIEW","verdict":"complete""#), review);
        assert_eq!(text("READY_FOR_REVIEW: 1-1-login - no tests needed"), review);
        // Without a code the first that the verdict can mean.
        assert_eq!(json(r#""verdict":"complete""#), Ok((Some(Complete), Some(ReadyForQa))));
        assert_eq!(
            text("IMPLEMENTATION COMPLETE: 1-1-login"),
            Ok((Some(Complete), Some(ReadyForQa)))
        );
        let conflict = json(r#""status":"READY_FOR_QA","verdict":"failed""#);
        assert!(matches!(conflict, Err(Unclear::Conflict(..))));
        let both = text("READY_FOR_QA: 1-1-login\nREADY_FOR_REVIEW: 1-1-login");
        assert!(matches!(both, Err(Unclear::Conflict(..))));
        assert!(matches!(json(r#""status":"APPROVED""#), Err(Unclear::WrongStatus(_))));
        assert_eq!(text("APPROVED: 1-1-login"), Err(Unclear::Missing));
        assert!(matches!(text("READY_FOR_QA: 1-2-b"), Err(Unclear::WrongSubject(_))));
    }

    #[test]
    fn an_analysis_decides() {
        let read = |text: &str| {
            read(asked(RunPhase::Analysis), None, text).map(|said| said.verdict.unwrap())
        };
        assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - Escalate"), Ok(Verdict::Escalate));
        assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - Skip: no key"), Ok(Verdict::Skip));
        assert_eq!(read("ANALYSIS COMPLETE: 1-1-login"), Err(Unclear::Missing));
        assert_eq!(read("ANALYSIS COMPLETE: 1-1-login - perhaps"), Err(Unclear::Missing));
    }
}
