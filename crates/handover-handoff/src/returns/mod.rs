//! The way back: a long report of an agent becomes a package, and its parent reads a summary and where the rest is.
//!
//! Nothing is lost: the text is stored first, and without that it is not shortened. `excerpt.rs` chooses what of it
//! the parent reads.

mod excerpt;

use std::fmt::Write;

use handover_context::package_file::{
    DraftContext, Facts, NewText, PackageFileError, Placement, Put, register_file, write_text,
};
use handover_model::roles::writes_code;
use handover_model::{GroupId, Package, PackageKind, Priority, Timestamp, Tokenizer, Trust};
use handover_store::{Store, StoreError};
use handover_text::cut::{cut_to_tokens, one_line};
use handover_text::tokens;

use crate::ending::Earned;
use crate::{Assignment, Debrief, HandoffError, Handoffs, OutsideRead, read_ending};

/// How much of a shortened report is its summary at most, in percent.
const SUMMARY_PERCENT: u64 = 40;

/// A report on its way to the parent of the agent that wrote it, for [`Handoffs::shorten`].
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Who wrote it.
    pub assignment: &'a Assignment,
    /// The text that the parent would read.
    pub text: &'a str,
    /// What the agent was asked for; what answers it is kept.
    pub task: &'a str,
    /// The most tokens that the parent may get.
    pub limit: u64,
    /// How the parent's model counts.
    pub tokenizer: Tokenizer,
    /// What the agent read from outside first, as far as its conversation tells.
    pub outside: Option<&'a OutsideRead>,
    /// The current time.
    pub now: Timestamp,
}

/// A report that became a package.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortened {
    /// The package with the whole text.
    pub package: Package,
    /// What the parent reads instead.
    pub text: String,
    /// Tokens of the whole text.
    pub before: u64,
    /// Tokens of what the parent reads.
    pub after: u64,
}

/// Why a report stays as it is although it is too long.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Its file could not be written.
    #[error(transparent)]
    File(#[from] PackageFileError),
    /// The store does not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no store.
    #[error(transparent)]
    Handoff(#[from] HandoffError),
    /// It is no valid package.
    #[error("the report cannot become a package: {0}")]
    Skipped(String),
    /// Not even where to read it fits.
    #[error("the place of the report does not fit into {0} tokens")]
    NoRoom(u64),
}

impl Handoffs<'_> {
    /// Stores a report that is longer than its limit as a package, and returns what its parent reads instead. None
    /// if it is short enough.
    pub fn shorten(&self, report: &Report<'_>) -> Result<Option<Shortened>, ReportError> {
        if tokens::fits(report.tokenizer, report.text, report.limit) {
            return Ok(None);
        }
        let store = self.store()?;
        let assignment = report.assignment;
        let trust = Earned::of(store, assignment, report.outside, None)?.trust;
        let package = self.keep_report(store, report, trust)?;
        // What was redacted in the package is redacted here, too.
        let clean = self.redactor.clean(report.text);
        let before = tokens::count(report.tokenizer, report.text);
        let text = compose(report, clean.as_str(), &package, before)
            .ok_or(ReportError::NoRoom(report.limit))?;
        let after = tokens::count(report.tokenizer, &text);
        Ok(Some(Shortened { package, text, before, after }))
    }

    /// Writes the whole report below the session's artifacts and registers it. The file goes again if the store does
    /// not take it.
    fn keep_report(
        &self,
        store: &dyn Store,
        report: &Report<'_>,
        trust: Trust,
    ) -> Result<Package, ReportError> {
        let assignment = report.assignment;
        let groups: Vec<GroupId> =
            store.groups(&assignment.session)?.into_iter().map(|group| group.id).collect();
        let config = &self.config.packages;
        let context = DraftContext {
            paths: self.paths,
            redactor: self.redactor,
            session: &assignment.session,
            groups: &groups,
            warn_bytes: config.warn_bytes,
            max_bytes: config.max_bytes,
            now: report.now,
            trust,
        };
        let debrief = read_ending(report.text);
        let topic = format!("report of {}", assignment.role);
        let written = write_text(
            &context,
            &NewText {
                kind: match writes_code(&assignment.role) {
                    true => PackageKind::Handoff,
                    false => PackageKind::Research,
                },
                placement: assignment.group.clone().map_or(Placement::Global, Placement::Group),
                producer: assignment.role.clone(),
                // All who work on the same thing may read it; that it is long makes it no more important.
                consumers: &[],
                priority: Priority::Low,
                iteration: Some(assignment.iteration),
                topic: Some(&topic),
                body: report.text,
            },
        )?;
        let facts = Facts { summary: debrief.summary, ..Facts::default() };
        match register_file(store, &context, Ok(written.located.clone()), facts) {
            Ok(Put::Registered(registered) | Put::Unchanged(registered)) => Ok(registered.package),
            Ok(Put::Skipped(reason)) => {
                written.take_back();
                Err(ReportError::Skipped(reason))
            }
            Err(error) => {
                written.take_back();
                Err(error.into())
            }
        }
    }
}

/// What the parent reads: where the whole report is, what its author says about it in short, and the passages that
/// answer the task. None if not even the first fits.
fn compose(report: &Report<'_>, text: &str, package: &Package, before: u64) -> Option<String> {
    let Report { limit, tokenizer, task, .. } = *report;
    let (id, path) = (package.id, &package.path);
    let pointer = |place: &str| {
        format!(
            "[Handover: this report is shortened; the whole of {before} tokens is package {id}. \
             To read it, run `handover package show {id} --body`{place}.]\n"
        )
    };
    let fits = |text: &String| tokens::fits(tokenizer, text, limit);
    let named = pointer(&format!(" or open `{path}`"));
    let mut shown = Some(named).filter(fits).or_else(|| Some(pointer("")).filter(fits))?;
    let left = |shown: &str| limit.saturating_sub(tokens::count(tokenizer, shown));
    let debrief = read_ending(text);
    for line in in_short(&debrief) {
        let most = left(&shown).min(limit * SUMMARY_PERCENT / 100);
        let longer = format!("{shown}\n{}\n", cut_to_tokens(&line, tokenizer, most));
        if fits(&longer) {
            shown = longer;
        }
    }
    let mut room = left(&shown);
    // Texts that fit one by one may be over by a token or two when they are joined.
    while room > 0 {
        let passages = excerpt::excerpt(text, task, tokenizer, room);
        if passages.is_empty() {
            break;
        }
        let longer = format!("{shown}\n{passages}\n");
        if fits(&longer) {
            return Some(longer);
        }
        room = room.saturating_sub(1 + room / 10);
    }
    Some(shown)
}

/// What the author of a report says in short, one text each.
fn in_short(debrief: &Debrief) -> Vec<String> {
    let mut texts = Vec::new();
    let mut first = String::new();
    if let Some(verdict) = debrief.verdict {
        let _ = write!(first, "Verdict: {verdict}. ");
    }
    first.push_str(&debrief.summary.as_deref().map(one_line).unwrap_or_default());
    if !first.trim().is_empty() {
        texts.push(first.trim_end().to_owned());
    }
    texts.extend(debrief.findings.iter().map(|finding| format!("- {}", one_line(finding))));
    texts
}
