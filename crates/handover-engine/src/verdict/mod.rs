//! Reads how an agent of a run ended, from the same [`Message`] as every other ending: first a result with
//! the agent's nonce, then a debrief block that names its receipt, then a signal line. A report that is
//! missing, contradictory or about another story is an error.
//!
//! Everything here is untrusted: the agent may have printed its prompt, the story, or a file that
//! contains either.

mod prose;
mod retro;
mod signals;

use std::collections::{BTreeMap, BTreeSet};

use handover_handoff::{Debrief, ErrorNote, Message, PackageNote, read_fields};
use handover_model::{Phase, ReceiptId, RunPhase, TeamStatus, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Contribution, Finding, Retro, WorkNotes, kind_of};
use crate::pipeline::status as team_status;
use prose::fill_in;
use signals::{Signal, signal, signals};

pub use retro::read_retro;

/// What an agent's report is checked against.
#[derive(Debug, Clone, Copy)]
pub struct ReportContext<'a> {
    /// The id of the story, or of the unit that closes the epic.
    pub subject: &'a str,
    /// The phase.
    pub phase: RunPhase,
    /// A secret that only this agent knows.
    pub nonce: &'a str,
    /// The receipt of its prompt, which binds a debrief block to it.
    pub receipt: Option<&'a ReceiptId>,
    /// Everything the agent was given to read: a signal line in it only counts as the last line of the output.
    pub read: &'a str,
    /// The status codes that a team member may report, with their verdicts.
    pub statuses: &'a [(TeamStatus, Verdict)],
}

/// The report of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Its status code, for a team member.
    #[serde(default)]
    pub status: Option<TeamStatus>,
    /// A summary in one or two lines, or the reason for the verdict.
    #[serde(default)]
    pub summary: String,
    /// The findings of a review.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What a developer said besides the summary.
    #[serde(default)]
    pub notes: WorkNotes,
    /// Its reasoning, by phase.
    #[serde(default)]
    pub reasoning: BTreeMap<Phase, String>,
    /// What it contributed to a party or a failure analysis.
    #[serde(default)]
    pub contribution: Contribution,
    /// Packages for other agents.
    #[serde(default)]
    pub packages: Vec<PackageNote>,
    /// Errors that it met, with their solutions.
    #[serde(default)]
    pub errors: Vec<ErrorNote>,
    /// Values that could not be read.
    #[serde(default)]
    pub problems: Vec<String>,
    /// The receipt that it names, which proves that it saw its prompt.
    #[serde(default)]
    pub receipt: Option<ReceiptId>,
    /// What it used, by its own account.
    #[serde(default)]
    pub usage: ReportedUsage,
    /// The scenarios that it wrote, not yet validated.
    #[serde(default)]
    pub scenarios: Option<Value>,
    /// The lessons of the epic.
    #[serde(default)]
    pub retro: Option<Retro>,
}

/// What an agent used, by its own account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportedUsage {
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Turns of the model.
    pub turns: Option<u64>,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// There is no verdict.
    #[error("it gave no verdict")]
    Missing,
    /// Two verdicts or status codes contradict each other.
    #[error("it gave contradicting verdicts: {0} and {1}")]
    Conflict(String, String),
    /// The verdict is about another story.
    #[error("its verdict is about `{0}`")]
    WrongSubject(String),
    /// The result belongs to another attempt.
    #[error("its result is not bound to this call: {0}")]
    Unbound(&'static str),
    /// The result cannot be parsed.
    #[error("its result cannot be read: {0}")]
    Unreadable(String),
    /// It used more than it may.
    #[error("{0}")]
    OverLimit(String),
    /// Another machine read the report and rejected it.
    #[error("{0}")]
    Remote(String),
    /// The team member must not report this status code.
    #[error("its status `{0}` is not valid for its role")]
    WrongStatus(String),
    /// The phase does not have this verdict.
    #[error("its verdict `{0}` makes no sense in this phase")]
    WrongVerdict(Verdict),
}

/// The largest result file.
pub const MAX_RESULT: u64 = 1 << 20;
const MAX_FINDINGS: usize = 50;
/// The most lines of prose that are read.
const MAX_LINES: usize = 2_000;
const MAX_TEXT: usize = 2_000;

/// Reads the report of an agent from the content of its result file, if there is one, and from its
/// output.
pub fn read(
    context: ReportContext<'_>,
    file: Option<&[u8]>,
    text: &str,
) -> Result<AgentReport, ReportError> {
    let message = Message::new(text);
    let debrief = message.debrief();
    let mut said = results(context, file, &message)?;
    said.extend(bound_debrief(context, &debrief));
    let is_bound = !said.is_empty();
    for signal in signals(context, &message.prose) {
        match signal {
            Signal::Matching((verdict, status), rest) => said.push(AgentReport {
                verdict: Some(verdict),
                status,
                summary: cut(&rest),
                ..AgentReport::default()
            }),
            // A report bound to the agent takes precedence over signals about other stories.
            Signal::OtherSubject(_) if is_bound => {}
            Signal::OtherSubject(subject) => return Err(ReportError::WrongSubject(cut(&subject))),
        }
    }
    let mut report = agreed(said)?;
    let usual = context.statuses.iter().find(|(_, verdict)| Some(*verdict) == report.verdict);
    report.status = report.status.or_else(|| usual.map(|(status, _)| *status));
    match report.verdict {
        Some(verdict) if allowed(context.phase).contains(&verdict) => {
            let own = own_lines(context, &message.prose);
            fill_in(context.phase, &mut report, &own);
            if report.summary.is_empty() {
                report.summary = cut(&last_paragraph(context, &message.prose));
            }
            add_debrief(&mut report, debrief);
            Ok(report)
        }
        Some(verdict) => Err(ReportError::WrongVerdict(verdict)),
        None => Err(ReportError::Missing),
    }
}

/// The results that the agent wrote to its file or into a block of its output.
fn results(
    context: ReportContext<'_>,
    file: Option<&[u8]>,
    message: &Message<'_>,
) -> Result<Vec<AgentReport>, ReportError> {
    let mut values: Vec<Value> = Vec::new();
    if let Some(bytes) = file.filter(|bytes| !bytes.trim_ascii().is_empty()) {
        let value = serde_json::from_slice(bytes);
        values.push(value.map_err(|error| ReportError::Unreadable(error.to_string()))?);
    }
    let is_ours = |value: &Value| value.get("nonce").and_then(Value::as_str) == Some(context.nonce);
    values.extend(message.values().filter(is_ours));
    values.iter().map(|value| structured(context, value)).collect()
}

/// The verdict of a debrief block that names the agent's receipt, if its phase allows that verdict: agents
/// outside runs habitually use the words of other phases.
fn bound_debrief(context: ReportContext<'_>, debrief: &Debrief) -> Option<AgentReport> {
    let is_bound = context.receipt.is_some() && debrief.receipt.as_ref() == context.receipt;
    let verdict = debrief.verdict.filter(|verdict| allowed(context.phase).contains(verdict))?;
    (is_bound && debrief.has_block()).then(|| AgentReport {
        verdict: Some(verdict),
        summary: cut(debrief.summary.as_deref().unwrap_or_default()),
        ..AgentReport::default()
    })
}

/// The first of several reports, which must not contradict each other.
fn agreed(said: Vec<AgentReport>) -> Result<AgentReport, ReportError> {
    let mut said = said.into_iter();
    let mut first = said.next().ok_or(ReportError::Missing)?;
    for other in said {
        if other.verdict != first.verdict {
            let word = |said: &AgentReport| said.verdict.map_or("none", Verdict::as_str).to_owned();
            return Err(ReportError::Conflict(word(&first), word(&other)));
        }
        if let (Some(one), Some(two)) = (first.status, other.status)
            && one != two
        {
            return Err(ReportError::Conflict(one.to_string(), two.to_string()));
        }
        first.status = first.status.or(other.status);
    }
    Ok(first)
}

/// Adds what a debrief block reports beyond the result, as agents outside runs do.
fn add_debrief(report: &mut AgentReport, debrief: Debrief) {
    let has_block = debrief.has_block();
    report.receipt = report.receipt.take().or(debrief.receipt);
    for (phase, reason) in debrief.reasoning {
        report.reasoning.entry(phase).or_insert(reason);
    }
    for package in debrief.packages {
        if report.packages.iter().all(|known| known.path != package.path) {
            report.packages.push(package);
        }
    }
    for error in debrief.errors {
        if !report.errors.contains(&error) {
            report.errors.push(error);
        }
    }
    if has_block {
        report.problems.extend(debrief.problems);
    }
}

/// The agent's own lines: neither signals nor text that it was given to read.
fn own_lines<'t>(context: ReportContext<'_>, lines: &[&'t str]) -> Vec<&'t str> {
    let read: BTreeSet<&str> = context.read.lines().map(str::trim_end).collect();
    let is_own = |line: &&'t str| {
        !line.trim().is_empty()
            && !read.contains(line.trim_end())
            && signal(context, line).is_none()
    };
    lines.iter().copied().filter(is_own).take(MAX_LINES).collect()
}

/// What stands before the last signal: the summary of an agent that reports in text. A list of findings is none.
fn last_paragraph(context: ReportContext<'_>, lines: &[&str]) -> String {
    let is_signal = |line: &&str| signal(context, line).is_some();
    let is_told = matches!(context.phase, RunPhase::Dev | RunPhase::Fix | RunPhase::Review);
    let Some(end) = lines.iter().rposition(is_signal).filter(|_| is_told) else {
        return String::new();
    };
    let read: BTreeSet<&str> = context.read.lines().map(str::trim_end).collect();
    let is_own = |line: &&&str| {
        !read.contains(line.trim_end()) && !line.starts_with('#') && !is_signal(line)
    };
    let is_list = |line: &str| line.trim_start().starts_with(['-', '*']);
    lines[..end]
        .split(|line| line.trim().is_empty())
        .rev()
        .map(|paragraph| paragraph.iter().filter(is_own).map(|line| line.trim()).collect())
        .find(|lines: &Vec<&str>| {
            let is_findings =
                context.phase == RunPhase::Review && lines.iter().any(|line| is_list(line));
            !lines.is_empty() && !is_findings
        })
        .map(|lines| lines.join("\n"))
        .unwrap_or_default()
}

/// The verdicts that a phase allows.
pub fn allowed(phase: RunPhase) -> &'static [Verdict] {
    use Verdict::{Blocked, Complete, Escalate, Failed, Passed, PassedWithFixes, Retry, Skip};
    match phase {
        RunPhase::Dev | RunPhase::Fix => &[Complete, Blocked, Failed, Retry, Skip, Escalate],
        RunPhase::Review => &[Passed, PassedWithFixes, Failed, Blocked, Escalate],
        RunPhase::Analysis => &[Retry, Skip, Escalate],
        RunPhase::Kickoff | RunPhase::Uat | RunPhase::Retro => &[Complete, Failed],
    }
}

fn structured(context: ReportContext<'_>, value: &Value) -> Result<AgentReport, ReportError> {
    let word = |key: &str| value.get(key).and_then(Value::as_str);
    if word("nonce") != Some(context.nonce) {
        return Err(ReportError::Unbound("the nonce does not match"));
    }
    if word("story") != Some(context.subject) {
        return Err(ReportError::Unbound("the story does not match"));
    }
    if word("phase") != Some(context.phase.as_str()) {
        return Err(ReportError::Unbound("the phase does not match"));
    }
    let (verdict, status) = verdict_of(context, word("verdict"), word("status"))?;
    let findings = value.get("findings").and_then(Value::as_array);
    let common = read_fields(value);
    let number = |key: &str| value.pointer(&format!("/usage/{key}"));
    Ok(AgentReport {
        verdict: Some(verdict),
        notes: WorkNotes::read(value),
        status,
        summary: cut(word("summary").unwrap_or_default()),
        findings: findings.into_iter().flatten().take(MAX_FINDINGS).filter_map(finding).collect(),
        reasoning: common.reasoning,
        contribution: Contribution::read(value),
        packages: common.packages,
        errors: common.errors,
        receipt: common.receipt,
        problems: common.problems,
        usage: ReportedUsage {
            cost_usd: number("cost_usd")
                .and_then(Value::as_f64)
                .filter(|cost| cost.is_finite() && *cost >= 0.0),
            tokens: number("tokens").and_then(Value::as_u64),
            turns: number("turns").and_then(Value::as_u64),
        },
        scenarios: value.get("scenarios").filter(|_| context.phase == RunPhase::Uat).cloned(),
        retro: (context.phase == RunPhase::Retro).then(|| lessons(value)),
    })
}

/// Combines verdict and status code, which must agree; a team member may give either.
fn verdict_of(
    context: ReportContext<'_>,
    verdict: Option<&str>,
    status: Option<&str>,
) -> Result<(Verdict, Option<TeamStatus>), ReportError> {
    let broken =
        |error: handover_model::UnknownWord| ReportError::Unreadable(cut(&error.to_string()));
    let verdict = verdict.map(|word| word.parse::<Verdict>().map_err(broken)).transpose()?;
    let status = status.filter(|_| !context.statuses.is_empty());
    let status = status
        .map(|word| {
            team_status(word, context.statuses).ok_or_else(|| ReportError::WrongStatus(cut(word)))
        })
        .transpose()?;
    match (verdict, status) {
        (Some(verdict), Some((status, meant))) if verdict != meant => {
            Err(ReportError::Conflict(verdict.to_string(), status.to_string()))
        }
        (_, Some((status, meant))) => Ok((meant, Some(status))),
        (Some(verdict), None) => Ok((verdict, None)),
        (None, None) => Err(ReportError::Missing),
    }
}

/// The lessons of the epic; fields may also be at the top level of the result.
fn lessons(value: &Value) -> Retro {
    let mut retro = read_retro(value.get("retro").unwrap_or(value));
    if retro.summary.is_empty() {
        retro.summary = cut(value.get("summary").and_then(Value::as_str).unwrap_or_default());
    }
    retro
}

/// Reads a finding in any of the forms that agents use.
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

#[cfg(test)]
mod tests;
