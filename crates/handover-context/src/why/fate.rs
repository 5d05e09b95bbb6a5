//! What became of a record for one agent, in words, and what would change it.

use std::fmt::Write as _;

use handover_model::{Fate, ItemKind, NoteState, Receipt, RecordState, Scope};
use serde::Serialize;

use super::missed::Missed;
use super::subject::Subject;
use super::{Agent, short_id};
use crate::assemble::Explained;

/// What brings up a record that the task does not touch.
pub(super) const MENTION: &str = "Mention its subject in the task.";

/// What became of one record.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Where it is from.
    pub origin: String,
    /// Whether it was considered at all.
    pub candidate: bool,
    /// Whether the agent got it.
    pub included: bool,
    /// Its place among the candidates of its kind, from 1.
    pub rank: Option<usize>,
    /// How many candidates of its kind there were.
    pub of: Option<usize>,
    /// Its ranking score.
    pub score: Option<f64>,
    /// The rule that decided.
    pub reason: Option<Fate>,
    /// The reason in a sentence.
    pub explanation: String,
    /// What would change that: sentences with commands.
    pub fixes: Vec<String>,
}

impl Finding {
    fn new(subject: &Subject) -> Self {
        Self {
            kind: subject.kind(),
            id: subject.id(),
            title: subject.title(),
            origin: subject.origin().to_owned(),
            candidate: false,
            included: false,
            rank: None,
            of: None,
            score: None,
            reason: None,
            explanation: String::new(),
            fixes: Vec::new(),
        }
    }

    /// One line that names the record.
    pub fn heading(&self) -> String {
        let id = if self.kind == ItemKind::Note { short_id(&self.id) } else { &self.id };
        format!("{} {id}: {} ({})", self.kind, self.title, self.origin)
    }

    /// What a receipt says about it. What the receipt does not keep is worked out from the record.
    pub(super) fn in_receipt(
        subject: &Subject,
        agent: &Agent,
        receipt: &Receipt,
        now: &[Explained],
        missed: Option<&Missed>,
    ) -> Self {
        let (kind, id) = (subject.kind(), subject.id());
        let mut finding = Self::new(subject);
        if let Some(at) = receipt.items.iter().position(|item| item.kind == kind && item.id == id) {
            let item = &receipt.items[at];
            let of_kind = receipt.items.iter().filter(|item| item.kind == kind);
            finding.candidate = true;
            finding.included = true;
            finding.rank =
                Some(receipt.items[..at].iter().filter(|item| item.kind == kind).count() + 1);
            finding.of = Some(of_kind.count());
            finding.score = Some(item.score);
            finding.explanation = format!(
                "The agent got version {} ({}, {} tokens).{}",
                item.version,
                item.form,
                item.tokens,
                if item.outdated.is_some() { " It was marked as outdated." } else { "" }
            );
            finding.fixes.push(format!(
                "`handover receipt show {} --text` prints what it read.",
                short_id(receipt.id.as_str())
            ));
            return finding;
        }
        if let Some(left) = receipt.left_out.iter().find(|left| left.kind == kind && left.id == id)
        {
            finding.candidate = true;
            finding.score = Some(left.score);
            finding.decide(left.reason, subject, agent);
            if let Some(by) = &left.amended_by {
                let _ = write!(finding.explanation, " ({by})");
            }
            return finding;
        }
        if let Some((why, fix)) = never_a_candidate(subject, agent, Some(receipt)) {
            finding.explanation = why;
            finding.fixes.extend(fix);
            return finding;
        }
        let today = Self::among(subject, agent, now, missed);
        let explanation = format!(
            "The receipt lists only the top items left out. Now: {}",
            lower_first(&today.explanation)
        );
        Self { explanation, ..today }
    }

    /// What would become of it now. `missed` is why it is not among the candidates, if it is not.
    pub(super) fn among(
        subject: &Subject,
        agent: &Agent,
        now: &[Explained],
        missed: Option<&Missed>,
    ) -> Self {
        let (kind, id) = (subject.kind(), subject.id());
        let mut finding = Self::new(subject);
        let of_kind = || now.iter().filter(|one| one.kind == kind);
        let Some(one) = of_kind().find(|one| one.id.to_string() == id) else {
            let (why, fix) = never_a_candidate(subject, agent, None)
                .unwrap_or_else(|| missed.unwrap_or(&Missed::NoWord).explained());
            finding.explanation = why;
            finding.fixes.extend(fix);
            return finding;
        };
        finding.candidate = true;
        finding.included = one.included;
        finding.score = Some(one.score);
        finding.rank = Some(of_kind().filter(|other| other.score > one.score).count() + 1);
        finding.of = Some(of_kind().count());
        finding.decide(one.reason, subject, agent);
        if let Some(detail) = &one.detail {
            let _ = write!(finding.explanation, " ({detail})");
        }
        finding
    }

    /// Explains a fate.
    fn decide(&mut self, fate: Fate, subject: &Subject, agent: &Agent) {
        let rank = match (self.rank, self.of) {
            (Some(rank), Some(of)) => format!(", rank {rank} of {of}"),
            _ => String::new(),
        };
        let (why, fixes) = explain(fate, subject, agent);
        self.reason = Some(fate);
        self.included = fate.is_in();
        self.explanation = format!("{why} ({fate}{rank}).");
        self.fixes = fixes;
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// Why a record cannot have been considered, and what would change that.
fn never_a_candidate(
    subject: &Subject,
    agent: &Agent,
    receipt: Option<&Receipt>,
) -> Option<(String, Option<String>)> {
    let later = |at| receipt.is_some_and(|receipt| at > receipt.created_at);
    match subject {
        Subject::Package(package) => {
            let (id, path) = (package.id, &package.path);
            if package.session != agent.session {
                return Some((
                    format!(
                        "It belongs to session {}; packages stay in their session.",
                        package.session
                    ),
                    Some(format!(
                        "`handover package add {path} --session {}` brings it over.",
                        agent.session
                    )),
                ));
            }
            if package.state == RecordState::Retired {
                return Some((
                    "It is retired.".to_owned(),
                    Some(format!("`handover package restore {id}` uses it again.")),
                ));
            }
            if let Some(by) = package.superseded_by {
                return Some((
                    format!("Version {} was superseded by package {by}.", package.version),
                    Some(format!("`handover why {by}` explains the newer one.")),
                ));
            }
            let foreign = package.group != agent.group && package.group.is_some();
            if foreign && package.scope == Scope::Group {
                return Some(explained(Fate::AnotherGroup, subject, agent));
            }
            if !package.consumers.is_empty() && !package.consumers.contains(&agent.role) {
                return Some(explained(Fate::AddressedToOthers, subject, agent));
            }
            later(package.created_at)
                .then(|| ("It was registered after that brief.".to_owned(), None))
        }
        Subject::Note(note) => match note.state {
            NoteState::Live => None,
            state @ (NoteState::Stale | NoteState::Amended | NoteState::Retired) => {
                let reason = note.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                Some((
                    format!("It does not count: it is {state}{reason}."),
                    Some(format!(
                        "`handover note restore {}` uses it again.",
                        short_id(note.id.as_str())
                    )),
                ))
            }
        },
    }
}

fn explained(fate: Fate, subject: &Subject, agent: &Agent) -> (String, Option<String>) {
    let (why, fixes) = explain(fate, subject, agent);
    (format!("{why} ({fate})."), fixes.into_iter().next())
}

/// A fate in a sentence.
pub fn sentence(fate: Fate) -> &'static str {
    match fate {
        Fate::Fits => "It is included in full",
        Fate::FitsShortened => "It is included, shortened to fit the budget",
        Fate::FitsAsPassages => "The passages of it that answer the task are included",
        Fate::FitsAsPath => "Only its path is included, to fit the budget",
        Fate::OverTheLimit => {
            "It was a candidate, but others ranked higher and the number of items is limited"
        }
        Fate::OverTheBudget => {
            "It was a candidate, but no form of it fits the tokens that were left"
        }
        Fate::LowPriority => "The agent's window was so full that only higher priorities got in",
        Fate::AnotherGroup => "It belongs to another group and is not global",
        Fate::AddressedToOthers => "It is addressed to other roles",
        Fate::DeliveredAlready => "This role got it before, in the same attempt",
        Fate::FileGone => "The file that it refers to is gone",
        Fate::Settled => "It reports work as failed that has been accepted since",
        Fate::OffTopic => "Too little of it has to do with the task",
        Fate::ShownAlready => "Another item says the same",
        Fate::Amended => "A later statement replaced it",
        Fate::Earlier => "A later statement about the same subject is in, and points to it",
        Fate::Retired => "It is retired",
        Fate::LoadedAnyway => "The agent program reads that file by itself",
        Fate::Distrusted => "It is trusted too little for this role",
        Fate::Screened => "It comes from outside and speaks to the agent instead of informing it",
    }
}

/// A fate in a sentence, and what would change it.
fn explain(fate: Fate, subject: &Subject, agent: &Agent) -> (&'static str, Vec<String>) {
    let (role, kind, id) = (&agent.role, subject.kind(), subject.id());
    let id = if kind == ItemKind::Note { short_id(&id).to_owned() } else { id };
    let update = |what: String| match subject {
        Subject::Package(package) => {
            format!("`handover package update {id} {} {what}`", package.path)
        }
        Subject::Note(_) => String::new(),
    };
    let set = |key: &str| format!("`handover config set assembly.roles.{role}.{key} N`");
    let say = || MENTION.to_owned();
    let fixes = match fate {
        Fate::OverTheLimit => vec![
            format!("{} allows more for {role}.", set("limit")),
            update("--priority high".to_owned()),
            say(),
        ],
        Fate::OverTheBudget => vec![
            format!("{} gives context a larger share.", set("context")),
            update("--priority critical".to_owned()),
        ],
        Fate::LowPriority => vec![update("--priority critical".to_owned())],
        Fate::AnotherGroup => vec![update("--global".to_owned()), group_fix(&id, agent)],
        Fate::AddressedToOthers => vec![update(format!("--consumer {role}"))],
        Fate::DeliveredAlready => vec![
            "`--iteration N` with the next number starts an attempt that gets everything again."
                .to_owned(),
            format!("`handover package show {id}` lists who got it."),
        ],
        Fate::FileGone => vec![format!("Restore the file, or `handover package retire {id}`.")],
        Fate::OffTopic => vec![say()],
        Fate::Amended | Fate::Earlier => {
            vec![format!("`handover {kind} reject {id}` says that it still counts.")]
        }
        Fate::Retired => vec![format!("`handover {kind} restore {id}` uses it again.")],
        Fate::Distrusted => vec![format!(
            "`handover config get assembly.roles.{role}.min_trust` shows the rule; `handover trust` trusts the checkout."
        )],
        Fate::Screened => vec![
            "Read it; if it is harmless, write what matters as a note: `handover note add TEXT`."
                .to_owned(),
        ],
        Fate::Fits
        | Fate::FitsShortened
        | Fate::FitsAsPassages
        | Fate::FitsAsPath
        | Fate::Settled
        | Fate::ShownAlready
        | Fate::LoadedAnyway => Vec::new(),
    };
    (sentence(fate), fixes.into_iter().filter(|fix| !fix.is_empty()).collect())
}

fn group_fix(id: &str, agent: &Agent) -> String {
    match &agent.group {
        Some(group) => format!("`handover group set {group} --ref {id}` points the group to it."),
        None => String::new(),
    }
}
