//! Expiry: retiring what is old, or what no brief has used for long. Off unless the configuration says otherwise.
//!
//! What stays: critical packages and those that a group refers to; what a person wrote; documents and commits,
//! which live as long as their source; error patterns, which have a time to live of their own.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::config::ForgetConfig;
use handover_model::{
    Action, Edit, ItemKind, Note, NoteKind, NoteState, Package, PackageId, Priority, RecordState,
    Session, Standing, Strategy, Timestamp, Trust,
};
use handover_store::{NoteFilter, PackageFilter, ReceiptFilter, Store, StrategyFilter};
use handover_text::Clean;

use super::{ByHand, Result, note_standing, standing, transaction};

/// A record that is about to expire.
#[derive(Debug, Clone, PartialEq)]
pub struct Expiring {
    record: Record,
    /// What it is retired for, as its readers see it.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Record {
    Package(Box<Package>),
    Note(Box<Note>),
    Strategy(Box<Strategy>),
}

impl Expiring {
    /// The record's name in messages.
    pub fn subject(&self) -> String {
        match &self.record {
            Record::Package(package) => format!("package {} ({})", package.id, package.path),
            Record::Note(note) => format!("note {}", note.id),
            Record::Strategy(strategy) => format!("strategy {}", strategy.id),
        }
    }
}

/// What would expire now.
pub fn expired(
    store: &dyn Store,
    project: &handover_model::ProjectId,
    config: &ForgetConfig,
    now: Timestamp,
) -> Result<Vec<Expiring>> {
    if config.after_days == 0 && config.unused_days == 0 {
        return Ok(Vec::new());
    }
    let mut sessions = store.sessions(None)?;
    sessions.retain(|session| session.project == *project);
    let rule = Rule { config, now, used: last_used(store, &sessions)? };
    let mut expiring = Vec::new();
    for session in &sessions {
        let chosen: BTreeSet<PackageId> =
            store.groups(&session.id)?.into_iter().flat_map(|group| group.references).collect();
        let filter = PackageFilter { state: Some(RecordState::Live), ..PackageFilter::default() };
        for package in store.packages(&session.id, &filter)? {
            let id = package.id.to_string();
            let stays = package.priority == Priority::Critical
                || package.trust == Trust::Person
                || chosen.contains(&package.id);
            if !stays && let Some(reason) = rule.expires(ItemKind::Package, &id, package.created_at)
            {
                expiring.push(Expiring { record: Record::Package(Box::new(package)), reason });
            }
        }
    }
    for kind in [NoteKind::Conversation, NoteKind::Memory] {
        let filter =
            NoteFilter { kind: Some(kind), state: Some(NoteState::Live), ..NoteFilter::default() };
        for note in store.notes(project, &filter)? {
            if note.trust != Trust::Person
                && let Some(reason) =
                    rule.expires(ItemKind::Note, note.id.as_str(), note.created_at)
            {
                expiring.push(Expiring { record: Record::Note(Box::new(note)), reason });
            }
        }
    }
    let filter = StrategyFilter { state: Some(RecordState::Live), ..StrategyFilter::default() };
    for strategy in store.strategies(project, &filter)? {
        if let Some(reason) = rule.expires(ItemKind::Strategy, &strategy.id, strategy.last_seen) {
            expiring.push(Expiring { record: Record::Strategy(Box::new(strategy)), reason });
        }
    }
    Ok(expiring)
}

/// When each record was last delivered.
fn last_used(
    store: &dyn Store,
    sessions: &[Session],
) -> Result<BTreeMap<(ItemKind, String), Timestamp>> {
    let mut used = BTreeMap::new();
    for session in sessions {
        let filter =
            ReceiptFilter { session: Some(session.id.clone()), ..ReceiptFilter::default() };
        let receipts = store.receipts(&filter)?;
        let delivered: BTreeMap<_, _> =
            receipts.into_iter().filter_map(|one| Some((one.id, one.delivered_at?))).collect();
        for item in store.handed(&session.id)? {
            if let Some(at) = delivered.get(&item.receipt) {
                let last = used.entry((item.kind, item.item)).or_insert(*at);
                *last = (*last).max(*at);
            }
        }
    }
    Ok(used)
}

struct Rule<'a> {
    config: &'a ForgetConfig,
    now: Timestamp,
    used: BTreeMap<(ItemKind, String), Timestamp>,
}

impl Rule<'_> {
    /// Why a record expires, if it does. `seen` is when it was created or last learned.
    fn expires(&self, kind: ItemKind, id: &str, seen: Timestamp) -> Option<String> {
        let ForgetConfig { after_days, unused_days, .. } = *self.config;
        let used = self.used.get(&(kind, id.to_owned())).copied().unwrap_or(seen).max(seen);
        if after_days > 0 && seen < self.now.days_before(after_days) {
            Some(format!("expired: older than {after_days} days"))
        } else if unused_days > 0 && used < self.now.days_before(unused_days) {
            Some(format!("expired: not used for {unused_days} days"))
        } else {
            None
        }
    }
}

impl ByHand<'_> {
    /// Retires what has expired, as one operation; returns what that was.
    pub fn expire(&self, config: &ForgetConfig) -> Result<Vec<Expiring>> {
        if config.after_days == 0 && config.unused_days == 0 {
            return Ok(Vec::new());
        }
        transaction(self.store, |store| {
            let expiring = expired(store, self.project, config, self.now)?;
            let mut edits = Vec::with_capacity(expiring.len());
            let mut packages: BTreeMap<&str, Vec<PackageId>> = BTreeMap::new();
            for Expiring { record, reason } in &expiring {
                let clean = self.redactor.clean(reason);
                let after = Standing { state: RecordState::Retired, reason: Some(reason.clone()) };
                edits.push(match record {
                    Record::Package(package) => {
                        packages.entry(reason).or_default().push(package.id);
                        Edit::Package { id: package.id, before: standing(&**package), after }
                    }
                    Record::Note(note) => self.expire_note(store, note, &clean)?,
                    Record::Strategy(strategy) => {
                        let (id, retired) = (strategy.id.clone(), RecordState::Retired);
                        store.set_strategy_state(self.project, &id, retired, Some(&clean))?;
                        Edit::Strategy { id, before: standing(&**strategy), after }
                    }
                });
            }
            for (reason, ids) in packages {
                let reason = self.redactor.clean(reason);
                store.set_package_state(&ids, RecordState::Retired, Some(&reason))?;
            }
            self.log(store, Action::Expire, None, edits, None)?;
            Ok(expiring)
        })
    }

    fn expire_note(&self, store: &dyn Store, note: &Note, reason: &Clean) -> Result<Edit> {
        let (id, retired) = (note.id.clone(), NoteState::Retired);
        let after = store.set_note_state(self.project, &id, retired, Some(reason), self.now)?;
        Ok(Edit::Note { id, before: note_standing(note), after: note_standing(&after) })
    }
}
