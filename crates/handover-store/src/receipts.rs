//! Receipts.

use std::collections::BTreeMap;

use handover_model::learn::UseTallies;
use handover_model::{
    Delivery, GroupId, ItemKind, LeftOut, PackageId, ProjectId, Provided, Receipt, ReceiptId,
    ReceiptItem, ReceiptState, Role, Section, SessionId, Timestamp, Use, Zone,
};
use handover_text::{Clean, Redactor};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Receipts::put_receipt`]; its state is `assembled`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewReceipt {
    /// Its id; sorts by time.
    pub id: ReceiptId,
    /// The session that owns it.
    pub session: SessionId,
    /// The group of the agent, if any.
    pub group: Option<GroupId>,
    /// The role of the agent that gets the text.
    pub role: Role,
    /// The attempt of that role, from 0.
    pub iteration: u32,
    /// The model, as the caller named it.
    pub model: Option<Clean>,
    /// The tokenizer that counted.
    pub tokenizer: String,
    /// How full the context window was.
    pub zone: Zone,
    /// Tokens of the whole text.
    pub tokens: u64,
    /// BLAKE3 of the whole text.
    pub prompt_hash: String,
    /// Budget and use per section.
    pub sections: Vec<Section>,
    /// The items that the text contains.
    pub items: Vec<ReceiptItem>,
    /// The best candidates that were left out.
    pub left_out: Vec<LeftOut>,
    /// How many candidates were left out, by reason.
    pub left_out_counts: BTreeMap<String, u64>,
    /// How many secrets were redacted, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// What was trimmed to keep the budget, for people.
    pub trimmed: Vec<String>,
    /// Which parts of the prompt are present.
    pub provided: Provided,
    /// The beginning of the task; [`kept_task`] makes it.
    #[serde(default)]
    pub task: Option<Clean>,
    /// The text as the agent gets it, without its task.
    pub text: Option<Clean>,
    /// Whether it is about to be delivered, so that its packages count as consumed.
    pub claim: bool,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Bytes of a task that a receipt keeps.
pub const TASK_BYTES: usize = 4_096;

/// What a receipt keeps of a task: its beginning, without secrets. Nothing of an empty one.
pub fn kept_task(redactor: &Redactor, task: Option<&str>) -> Option<Clean> {
    let task = task.map(str::trim).filter(|task| !task.is_empty())?;
    // Redacted as a whole: half a secret at the end would not be recognized.
    let clean = redactor.clean(task);
    if clean.as_str().len() <= TASK_BYTES {
        return Some(clean);
    }
    let end = clean.as_str().floor_char_boundary(TASK_BYTES - "…".len());
    Some(redactor.clean(&format!("{}…", clean.as_str().get(..end).unwrap_or_default())))
}

/// What stands in a receipt instead of a text that shows private notes of another machine.
pub const WITHHELD: &str = "[private: it shows notes that stay on another machine]";

/// How long a claim without a delivery is valid: after that its process is presumed dead.
pub const CLAIM_SECONDS: i64 = 60;

/// A step of a receipt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ReceiptStep {
    /// The text was passed to this host.
    Delivered {
        /// The agent program, if known.
        host: Option<Clean>,
    },
    /// The agent was observed to have it.
    Confirmed,
    /// It never arrived.
    Failed {
        /// Why it did not.
        reason: Clean,
    },
}

impl ReceiptStep {
    /// The state that the step leads to.
    pub fn target(&self) -> ReceiptState {
        match self {
            Self::Delivered { .. } => ReceiptState::Delivered,
            Self::Confirmed => ReceiptState::Confirmed,
            Self::Failed { .. } => ReceiptState::Failed,
        }
    }

    /// Whether a receipt may take the step from a state. A step to the current state is allowed and changes
    /// nothing.
    pub fn allowed_from(&self, from: ReceiptState) -> bool {
        use ReceiptState::{Assembled, Confirmed, Delivered, Failed};
        match (from, self.target()) {
            (from, to) if from == to => true,
            (Assembled, Delivered | Failed) | (Delivered, Confirmed | Failed) => true,
            (Assembled | Delivered | Confirmed | Failed, _) => false,
        }
    }
}

/// One item of a receipt: which record went to which agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// The receipt.
    pub receipt: ReceiptId,
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub item: String,
    /// When the agent was observed opening the file.
    pub read_at: Option<Timestamp>,
}

/// An agent that was given a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The session of the agent.
    pub session: SessionId,
    /// How it was given.
    pub delivery: Delivery,
    /// What became of it, once its agent has ended.
    pub used: Option<Use>,
}

/// What became of one item of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemUse {
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub item: String,
    /// What became of it.
    pub used: Use,
}

/// Which receipts to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReceiptFilter {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this group.
    pub group: Option<GroupId>,
    /// Only of this role.
    pub role: Option<Role>,
    /// Only in this state.
    #[serde(default)]
    pub state: Option<ReceiptState>,
    /// Only made at this time or later.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// Only made at this time or earlier.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// How many to pass over.
    #[serde(default)]
    pub skip: u32,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// What the receipts of a period sum up to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptSums {
    /// Receipts by state.
    pub by_state: BTreeMap<ReceiptState, u64>,
    /// Tokens of those that were delivered.
    pub tokens: u64,
    /// The secrets that were redacted, by rule.
    pub redactions: BTreeMap<String, u64>,
}

impl ReceiptSums {
    /// How many were delivered.
    pub fn delivered(&self) -> u64 {
        let of = |state| self.by_state.get(&state).copied().unwrap_or_default();
        of(ReceiptState::Delivered) + of(ReceiptState::Confirmed)
    }
}

/// What the items of the delivered receipts of a period sum up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemSums {
    /// Known errors among them.
    pub errors: u64,
    /// Receipts of agents whose use of them was seen.
    pub judged: u64,
    /// The tokens of the items of these.
    pub tokens: u64,
    /// The tokens of those items that were used. Notes that are shown together have their tokens in the item before
    /// them, which counts if one of them was used.
    pub used_tokens: u64,
}

/// Receipts.
pub trait Receipts {
    /// Stores a receipt with its items.
    fn put_receipt(&self, new: &NewReceipt) -> Result<()>;

    /// Advances a receipt; rejected with [`WrongState`](crate::StoreError::WrongState) unless
    /// [`ReceiptStep::allowed_from`] permits it.
    fn advance_receipt(
        &self,
        id: &ReceiptId,
        step: &ReceiptStep,
        now: Timestamp,
    ) -> Result<Receipt>;

    /// Claims a receipt that was assembled earlier, so that only one agent gets it; rejected with
    /// [`WrongState`](crate::StoreError::WrongState) if it was already delivered, and with
    /// [`Claimed`](crate::StoreError::Claimed) while another process is delivering it.
    fn claim_receipt(&self, id: &ReceiptId, now: Timestamp) -> Result<()>;

    /// How many receipts were delivered to a role of a group or are currently claimed for it: the number of
    /// the next attempt.
    fn deliveries(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: &Role,
        now: Timestamp,
    ) -> Result<u32>;

    /// Records that the agent was observed opening a package of the receipt; the first time counts.
    fn mark_read(&self, id: &ReceiptId, package: PackageId, now: Timestamp) -> Result<Receipt>;

    /// Records what became of items of the receipt; what it does not have is ignored.
    fn mark_used(&self, id: &ReceiptId, uses: &[ItemUse]) -> Result<()>;

    /// How often items of a kind were used, and the kind as a whole: what [`mark_used`](Self::mark_used) recorded,
    /// fading from the time of each receipt.
    fn use_tallies(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        items: &[String],
    ) -> Result<UseTallies>;

    /// One receipt; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn receipt(&self, id: &ReceiptId) -> Result<Receipt>;

    /// Receipts, newest first, without their items and left-out candidates.
    fn receipts(&self, filter: &ReceiptFilter) -> Result<Vec<Receipt>>;

    /// Sums of all receipts of a project that were made since a time.
    fn receipt_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ReceiptSums>;

    /// Sums of the items of all receipts of a project that were made since a time and delivered.
    fn item_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ItemSums>;

    /// The items of all receipts of a session, by receipt and then in their order.
    fn handed(&self, session: &SessionId) -> Result<Vec<Handed>> {
        let filter = ReceiptFilter { session: Some(session.clone()), ..ReceiptFilter::default() };
        let mut ids: Vec<ReceiptId> =
            self.receipts(&filter)?.into_iter().map(|receipt| receipt.id).collect();
        ids.sort();
        let mut all = Vec::new();
        for id in ids {
            all.extend(self.receipt(&id)?.items.into_iter().map(|item| Handed {
                receipt: id.clone(),
                kind: item.kind,
                item: item.id,
                read_at: item.read_at,
            }));
        }
        Ok(all)
    }

    /// The items of some receipts of a session, by receipt and then in their order. Receipts of other sessions
    /// have none.
    fn handed_by(&self, session: &SessionId, receipts: &[ReceiptId]) -> Result<Vec<Handed>> {
        let mut handed = self.handed(session)?;
        handed.retain(|one| receipts.contains(&one.receipt));
        Ok(handed)
    }

    /// The agents of a project's sessions that were given a record, newest first; at most `limit`.
    fn given(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        item: &str,
        limit: u32,
    ) -> Result<Vec<Given>>;

    /// The packages, with versions, that were delivered to a role of a group in an iteration, or are
    /// currently claimed for it, sorted. Assembling alone consumes nothing.
    fn consumed(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: &Role,
        iteration: u32,
        now: Timestamp,
    ) -> Result<Vec<(PackageId, u32)>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_task_is_short_and_without_secrets() {
        let redactor = Redactor::default();
        let kept =
            |task: &str| kept_task(&redactor, Some(task)).map(|clean| clean.as_str().to_owned());
        assert_eq!(kept("  Fix the login.\n").as_deref(), Some("Fix the login."));
        assert_eq!(kept(" \n"), None);
        assert_eq!(kept_task(&redactor, None), None);
        let secret = "password=hunter2sEcretOfAll";
        let long = kept(&format!("{}{secret} {}", "é ".repeat(1_358), "x ".repeat(4_000))).unwrap();
        assert!(long.len() <= TASK_BYTES && long.ends_with('…'), "{}", long.len());
        assert!(!long.contains("hunter"), "not even a part of a secret that the cut goes through");
    }

    #[test]
    fn steps_follow_each_other() {
        use ReceiptState::{Assembled, Confirmed, Delivered, Failed};
        let reason = Redactor::default().clean("no program");
        for (step, target, allowed) in [
            (ReceiptStep::Delivered { host: None }, Delivered, &[Assembled, Delivered][..]),
            (ReceiptStep::Confirmed, Confirmed, &[Delivered, Confirmed]),
            (ReceiptStep::Failed { reason }, Failed, &[Assembled, Delivered, Failed]),
        ] {
            assert_eq!(step.target(), target);
            for from in ReceiptState::ALL {
                assert_eq!(step.allowed_from(*from), allowed.contains(from), "{from} to {target}");
            }
        }
    }
}
