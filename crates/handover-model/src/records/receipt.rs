//! Receipts: what an agent was given, and how far that came.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Form, GroupId, ItemKind, ReceiptId, ReceiptState, Role, SessionId, Timestamp, Zone};

/// The record of one assembly or brief, and of its delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Sorts by time.
    pub id: ReceiptId,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The group of the agent, if any.
    pub group: Option<GroupId>,
    /// Who the text is for.
    pub role: Role,
    /// Which attempt.
    pub iteration: u32,
    /// The model, as it was named.
    pub model: Option<String>,
    /// How tokens were counted.
    pub tokenizer: String,
    /// How full the window was.
    pub zone: Zone,
    /// How far it has come.
    pub state: ReceiptState,
    /// The agent program, once known.
    pub host: Option<String>,
    /// Tokens of the whole text.
    pub tokens: u64,
    /// BLAKE3 of the whole text.
    pub prompt_hash: String,
    /// Budget and use per section.
    pub sections: Vec<Section>,
    /// Everything that is in.
    pub items: Vec<ReceiptItem>,
    /// The best of what is out.
    pub left_out: Vec<LeftOut>,
    /// How much is out, by reason.
    pub left_out_counts: BTreeMap<String, u64>,
    /// How many secrets were taken out, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// What was left out of the prompt to keep its budget, in words.
    #[serde(default)]
    pub trimmed: Vec<String>,
    /// Which parts of the prompt are there, and if not, why.
    #[serde(default)]
    pub provided: Provided,
    /// What the agent got, without its task; not in listings.
    #[serde(default)]
    pub text: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// When the text was made.
    pub created_at: Timestamp,
    /// When it was handed over.
    pub delivered_at: Option<Timestamp>,
    /// When the agent was seen to have it.
    pub confirmed_at: Option<Timestamp>,
}

/// Whether a part of a prompt is there, and if not, why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Provision {
    /// It is there.
    Present,
    /// The configuration wants it so.
    Disabled {
        /// The key that says so.
        by: String,
    },
    /// It could not be made, or not wholly.
    Degraded {
        /// Why.
        reason: String,
    },
    /// Nobody provided it.
    #[default]
    Missing,
}

/// The parts without which no agent should start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provided {
    /// What other agents found out.
    pub context: Provision,
    /// What holds for the project's technology.
    pub specialization: Provision,
}

/// Budget and use of one section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Such as `context` or `errors`.
    pub name: String,
    /// Tokens allowed.
    pub budget: u64,
    /// Tokens used.
    pub used: u64,
}

/// One item that is in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptItem {
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub id: String,
    /// Its version; 1 for kinds without versions.
    pub version: u32,
    /// How much of it is in.
    pub form: Form,
    /// Its rank value.
    pub score: f64,
    /// The terms that make up the score.
    pub terms: BTreeMap<String, f64>,
    /// What it costs.
    pub tokens: u64,
    /// When the agent was seen opening the file.
    pub read_at: Option<Timestamp>,
}

/// One item that is out, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub id: String,
    /// Why.
    pub reason: String,
    /// Its rank value.
    pub score: f64,
}
