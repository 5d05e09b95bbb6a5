//! Receipts: what an agent received, and whether it arrived.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    Alive, AmendedBy, Fate, Form, GroupId, ItemKind, ReceiptId, ReceiptState, Role, ScreenFlag,
    SessionId, StaleName, Timestamp, Trust, Use, UseLearning, Zone,
};

/// The record of one assembly or brief and its delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Sorts by creation time.
    pub id: ReceiptId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The recipient's group, if any.
    pub group: Option<GroupId>,
    /// The recipient's role.
    pub role: Role,
    /// The recipient's attempt, starting at 0.
    pub iteration: u32,
    /// The model's name as given by the caller.
    pub model: Option<String>,
    /// The tokenizer used for all counts.
    pub tokenizer: String,
    /// How full the context window was.
    pub zone: Zone,
    /// Assembled, delivered, confirmed or failed.
    pub state: ReceiptState,
    /// The agent program, once known.
    pub host: Option<String>,
    /// Tokens of the whole text.
    pub tokens: u64,
    /// BLAKE3 of the whole text.
    pub prompt_hash: String,
    /// Budget and usage by section.
    pub sections: Vec<Section>,
    /// Everything that was included.
    pub items: Vec<ReceiptItem>,
    /// The highest-ranked items that were left out.
    pub left_out: Vec<LeftOut>,
    /// How many items were left out, by reason.
    pub left_out_counts: BTreeMap<String, u64>,
    /// How many secrets were removed, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// What was removed from the prompt to meet its budget, in words.
    #[serde(default)]
    pub trimmed: Vec<String>,
    /// Which parts of the prompt are present, and why others are not.
    #[serde(default)]
    pub provided: Provided,
    /// The beginning of the task, without secrets; in listings, its first characters.
    #[serde(default)]
    pub task: Option<String>,
    /// What the agent received, without its task; absent in listings.
    #[serde(default)]
    pub text: Option<String>,
    /// Why delivery failed, if it did.
    pub failure: Option<String>,
    /// When the text was assembled.
    pub created_at: Timestamp,
    /// When the text was passed to the agent program.
    pub delivered_at: Option<Timestamp>,
    /// When the agent was observed to have the text.
    pub confirmed_at: Option<Timestamp>,
}

/// Whether a part of a prompt is present, and if not, why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Provision {
    /// Complete.
    Present,
    /// Disabled in the configuration.
    Disabled {
        /// The configuration key.
        by: String,
    },
    /// Missing or incomplete because something failed.
    Degraded {
        /// What failed.
        reason: String,
    },
    /// Not provided.
    #[default]
    Missing,
}

/// The parts that the guard requires.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provided {
    /// Knowledge from other agents.
    pub context: Provision,
    /// Guidance for the project's technology.
    pub specialization: Provision,
    /// Whether the context was ranked by what agents used before; absent if that is off or too little is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_learning: Option<UseLearning>,
}

/// Budget and usage of one section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Such as `context` or `errors`.
    pub name: String,
    /// Tokens allowed.
    pub budget: u64,
    /// Tokens used.
    pub used: u64,
}

/// An item that was included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceiptItem {
    /// The kind of record.
    pub kind: ItemKind,
    /// The record's id as text.
    pub id: String,
    /// The record's version; 1 for kinds without versions.
    pub version: u32,
    /// How much of it was included.
    pub form: Form,
    /// Its ranking score.
    pub score: f64,
    /// The components of the score; for reasoning, [`ReceiptItem::CHARACTERS`].
    pub terms: BTreeMap<String, f64>,
    /// Its tokens in this form.
    pub tokens: u64,
    /// When the agent was observed opening the file.
    pub read_at: Option<Timestamp>,
    /// How far to believe it.
    pub trust: Trust,
    /// What the screen found in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// The names in it that were no longer what they were. As JSON also `alive`, which is the worst of it.
    #[serde(flatten, serialize_with = "write_stale", deserialize_with = "read_stale")]
    pub stale: Vec<StaleName>,
    /// What replaced it, if it was shown as outdated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<AmendedBy>,
    /// What became of it, once the agent has ended and its conversation shows it.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub used: Option<Use>,
}

/// The names, and what became of them in one word.
fn write_stale<S: Serializer>(stale: &[StaleName], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    map.serialize_entry("alive", &Alive::of(stale))?;
    if !stale.is_empty() {
        map.serialize_entry("stale", stale)?;
    }
    map.end()
}

fn read_stale<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<StaleName>, D::Error> {
    #[derive(Deserialize)]
    struct Names {
        #[serde(default)]
        stale: Vec<StaleName>,
    }
    Ok(Names::deserialize(from)?.stale)
}

impl ReceiptItem {
    /// The term that counts the characters of reasoning that were passed on.
    pub const CHARACTERS: &str = "characters";

    /// How many characters of it were passed on, where that is counted.
    pub fn characters(&self) -> Option<usize> {
        self.terms.get(Self::CHARACTERS).map(|characters| *characters as usize)
    }
}

/// An item that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The kind of record.
    pub kind: ItemKind,
    /// The record's id as text.
    pub id: String,
    /// Why it was left out.
    pub reason: Fate,
    /// Its ranking score.
    pub score: f64,
    /// What replaced it, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amended_by: Option<AmendedBy>,
}
