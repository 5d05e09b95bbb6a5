//! Records as stored, for moving whole projects: between stores, into files, and back.
//!
//! A record is a row of one of the [`KINDS`], whose names, columns and order are the same in every backend.
//! Anything not listed here is not moved; a test of each backend compares the list with its tables. The
//! text index is not moved either: it is rebuilt.

mod check;

use handover_model::{Edit, NoteKind, RecordState, Trust};
use handover_text::Redactor;
use serde_json::{Map, Value as Json};

use crate::{Result, StoreError, WITHHELD};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A whole number.
    Int,
    /// A floating-point number.
    Real,
    /// An id, an enum, a hash or a path: exact.
    Name,
    /// Text written by people and agents, which is redacted on import.
    Words,
    /// JSON, which is redacted as a parsed value.
    Json,
    /// JSON that Handover generates, without text from people or agents.
    Facts,
}

/// A kind of record.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name of its table.
    pub name: &'static str,
    /// How many leading columns identify a record and determine the order.
    pub key: usize,
    /// The columns.
    pub columns: &'static [Column],
    /// Whether its first column is an id that the store generates and never reuses.
    pub numbered: bool,
}

/// A column of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub holds: Holds,
    /// Whether it may be null.
    pub optional: bool,
}

macro_rules! kinds {
    ($($name:ident $key:literal $($flag:ident)? : $($column:ident $holds:ident $(|$null:ident)?),+;)+) => {
        &[$(Kind {
            name: stringify!($name),
            key: $key,
            columns: &[$(Column {
                name: stringify!($column),
                holds: Holds::$holds,
                optional: false $(|| kinds!(@$null))?,
            }),+],
            numbered: false $(|| kinds!(@$flag))?,
        }),+]
    };
    (@Null) => { true };
    (@numbered) => { true };
}

/// Every kind; those that others refer to come first. Jobs and helpers of a run, the change feed and the
/// tokens of a service are not included: they belong to the installation, not to the project.
pub const KINDS: &[Kind] = kinds! {
    session 1 numbered: key Int, id Name, project Name, status Name, metadata Json, created_at Int, ended_at Int|Null;
    task_group 2: session Int, id Name, title Words|Null, status Name, specializations Json, component Words|Null, created_at Int;
    group_counter 3: session Int, group_id Name, name Name, value Int;
    package 1 numbered: id Int, session Int, group_id Name|Null, scope Name, kind Name, path Name, title Words|Null,
        summary Words, files Json, producer Name, priority Name, iteration Int|Null, version Int, supersedes Int|Null,
        superseded_by Int|Null, size_bytes Int, tokens Int, content_hash Name, created_at Int, trust Name, state Name, reason Words|Null;
    package_consumer 2: package Int, role Name;
    package_body 1: package Int, body Words;
    group_reference 3: session Int, group_id Name, position Int, package Int;
    reasoning 1 numbered: id Int, session Int, group_id Name|Null, role Name, agent_id Name|Null, iteration Int, phase Name,
        confidence Name|Null, content Words, refs Json, created_at Int, trust Name;
    verdict 1 numbered: id Int, session Int, group_id Name|Null, role Name, agent_id Name|Null, iteration Int,
        receipt Name|Null, verdict Name, summary Words|Null, findings Json, created_at Int, trust Name;
    skill_output 1 numbered: id Int, session Int, skill Name, role Name|Null, group_id Name|Null, iteration Int, output Json,
        created_at Int;
    error_pattern 2: project Name, hash Name, kind Words, message Words, hints Json, solved Int, confidence Int,
        occurrences Int, language Words|Null, first_seen Int, last_seen Int, ttl_days Int, example Words|Null,
        trust Name, state Name, reason Words|Null;
    error_trust 1 numbered: id Int, project Name, hash Name, confidence Int, changed_at Int;
    error_solution 3: project Name, hash Name, solution Words, uses Int, last_used Int;
    error_incident 1 numbered: id Int, project Name, hash Name, session Int|Null, group_id Name|Null, role Name|Null, command Words|Null,
        created_at Int;
    strategy 1: id Name, project Name, topic Name, insight Words, helpfulness Int, language Words|Null, framework Words|Null,
        created_at Int, last_seen Int, trust Name, state Name, reason Words|Null;
    strategy_source 2: strategy Name, reasoning Int;
    note 1 numbered: key Int, id Name, project Name, kind Name, origin Words, source Name, title Words, text Words, trust Name,
        paths Json, symbols Json, state Name, reason Words|Null, hash Name, created_at Int;
    note_unit 3: project Name, kind Name, source Name, fingerprint Name, learned_at Int;
    operation 1: id Name, project Name, session Int|Null, action Name, changes Json, undoes Name|Null, trust Name,
        author Words|Null, created_at Int;
    amendment 5: project Name, earlier_kind Name, earlier Name, later_kind Name, later Name, decision Name, decided_at Int;
    event 1 numbered: id Int, session Int, group_id Name|Null, type Name, payload Json, key Words|Null, key_hash Name|Null,
        created_at Int;
    receipt 1: id Name, session Int, group_id Name|Null, role Name, iteration Int, model Words|Null, tokenizer Name, zone Name,
        state Name, host Words|Null, tokens Int, prompt_hash Name, sections Facts, left_out Facts, left_out_counts Facts,
        redactions Facts, failure Words|Null, created_at Int, claimed_at Int|Null, delivered_at Int|Null, confirmed_at Int|Null,
        trimmed Facts, provided Facts, text Words|Null, task Words|Null;
    receipt_item 3: receipt Name, kind Name, item Name, position Int, version Int, form Name, score Real, terms Facts,
        tokens Int, read_at Int|Null, trust Name, flags Facts, stale Json, outdated Facts|Null, used Name|Null;
    run 1 numbered: key Int, id Name, epic Name, session Name, state Name, created_at Int, updated_at Int;
    run_journal 2: run Int, seq Int, kind Name, entry Json, created_at Int;
    epic_lock 1: epic Name, fence Int, owner Facts|Null, expires_at Int;
    host_binding 2: host Name, host_session Name, session Int, created_at Int;
    ticket 1: receipt Name, host Name, host_session Name, agent_type Words, name Words|Null, tool_use Name|Null, task_hash Name,
        task Words|Null, way Name, agent Name|Null, asked Int, ending Name|Null, created_at Int, closed_at Int|Null;
    host_version 2: host Name, version Words, drops_rewrites Int, seen_at Int;
};

/// The last id generated for a kind; not a table, but it is moved like one.
pub const SEQUENCE: &Kind = &Kind {
    name: "sequence",
    key: 1,
    columns: &[
        Column { name: "of", holds: Holds::Name, optional: false },
        Column { name: "last", holds: Holds::Int, optional: false },
    ],
    numbered: false,
};

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().chain([SEQUENCE]).find(|kind| kind.name == name)
    }

    /// Whether the text index depends on it.
    pub fn is_indexed(&self) -> bool {
        matches!(self.name, "package" | "package_consumer" | "package_body" | "note")
    }
}

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, or JSON as text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its values, in the order of the kind's columns.
    pub values: Vec<Value>,
}

/// Why a record from outside is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// Not an object with a `kind`.
    #[error("it is not a JSON object with a `kind`")]
    Shape,
    /// An unknown kind.
    #[error("there is no kind `{0}`")]
    Kind(String),
    /// An unknown column.
    #[error("a `{kind}` has no `{column}`")]
    Column {
        /// The kind.
        kind: &'static str,
        /// The column.
        column: String,
    },
    /// A missing column.
    #[error("`{column}` of a `{kind}` is missing")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The column.
        column: &'static str,
    },
    /// A value that does not fit its column.
    #[error("`{column}` of a `{kind}` has an invalid value")]
    Value {
        /// The kind.
        kind: &'static str,
        /// The column.
        column: &'static str,
    },
}

impl Record {
    /// The values that identify it.
    pub fn key(&self) -> &[Value] {
        &self.values[..self.kind.key.min(self.values.len())]
    }

    /// Whether a stored record is this one: all values are the same, but the store may trust it more.
    pub fn is_stored_as(&self, stored: &Self) -> bool {
        let class = |value: &Value| match value {
            Value::Text(word) => word.parse::<Trust>().ok(),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Bytes(_) => None,
        };
        let mut pairs = self.kind.columns.iter().zip(self.values.iter().zip(&stored.values));
        self.kind == stored.kind
            && self.values.len() == stored.values.len()
            && pairs.all(|(column, (ours, theirs))| {
                ours == theirs || column.name == "trust" && class(ours) < class(theirs)
            })
    }

    /// Whether it is a note, the unit of one, or what was done with one, that stays on its machine.
    pub fn is_private(&self) -> bool {
        if self.kind.name == "operation" {
            let edits: Option<Vec<Edit>> =
                self.text("changes").and_then(|text| serde_json::from_str(text).ok());
            return edits.is_none_or(|edits| edits.iter().any(|edit| edit.is_private()));
        }
        let of_note = matches!(self.kind.name, "note" | "note_unit");
        of_note
            && self.text("kind").is_some_and(|kind| kind.parse().is_ok_and(NoteKind::is_private))
    }

    /// The text in a column.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.values.get(self.column(column)?) {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Null | Value::Int(_) | Value::Real(_) | Value::Bytes(_)) | None => None,
        }
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.kind.columns.iter().position(|column| column.name == name)
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        let words = self.key().iter().map(|value| match value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => text.chars().take(40).collect(),
            Value::Null | Value::Real(_) | Value::Bytes(_) => "–".to_owned(),
        });
        format!("{} {}", self.kind.name, words.collect::<Vec<_>>().join("/"))
    }

    /// Converts it into a JSON object. Null columns are omitted.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("kind".to_owned(), self.kind.name.into());
        for (Column { name, holds, .. }, value) in self.kind.columns.iter().zip(&self.values) {
            let value = match value {
                Value::Null => continue,
                Value::Int(number) => (*number).into(),
                Value::Real(number) => (*number).into(),
                Value::Text(text) if matches!(holds, Holds::Json | Holds::Facts) => {
                    serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
                }
                Value::Text(text) => text.as_str().into(),
                Value::Bytes(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
            };
            // Packages and events have a column named `kind`.
            object.insert(outer(name).to_owned(), value);
        }
        Json::Object(object)
    }

    /// Converts a JSON object into a record.
    pub fn from_json(json: Json) -> Result<Self, BadRecord> {
        let Json::Object(mut object) = json else { return Err(BadRecord::Shape) };
        let Some(Json::String(name)) = object.remove("kind") else { return Err(BadRecord::Shape) };
        let kind = Kind::named(&name).ok_or(BadRecord::Kind(name))?;
        let mut values = Vec::with_capacity(kind.columns.len());
        for column in kind.columns {
            let wrong = || BadRecord::Value { kind: kind.name, column: column.name };
            let value = match (object.remove(outer(column.name)), column.holds) {
                (None | Some(Json::Null), _) if column.optional => Value::Null,
                // Exports of 0.1.0 have no classes, and nobody here vouches for them; nothing was checked, either.
                (None, _) if column.name == "trust" => Value::Text(Trust::Outside.to_string()),
                (None, _) if matches!(column.name, "flags" | "stale") => {
                    Value::Text("[]".to_owned())
                }
                // They were all in use.
                (None, _) if is_retirable(kind) && column.name == "state" => {
                    Value::Text(RecordState::Live.to_string())
                }
                (None, _) => {
                    return Err(BadRecord::Missing { kind: kind.name, column: column.name });
                }
                (Some(value), Holds::Json | Holds::Facts) => Value::Text(value.to_string()),
                (Some(value), Holds::Int) => Value::Int(value.as_i64().ok_or_else(wrong)?),
                (Some(value), Holds::Real) => Value::Real(value.as_f64().ok_or_else(wrong)?),
                (Some(Json::String(text)), Holds::Name | Holds::Words) => Value::Text(text),
                (Some(_), Holds::Name | Holds::Words) => return Err(wrong()),
            };
            if let Value::Text(text) = &value
                && !check::is_valid(kind.name, column.name, text)
            {
                return Err(wrong());
            }
            values.push(value);
        }
        match object.into_iter().next() {
            Some((column, _)) => Err(BadRecord::Column { kind: kind.name, column }),
            None => Ok(Self { kind, values }),
        }
    }

    /// The BLAKE3 hash over its kind and values.
    pub fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.kind.name.as_bytes());
        for value in &self.values {
            let (tag, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Int(number) => (1, &number.to_le_bytes()),
                Value::Real(number) => (2, &number.to_bits().to_le_bytes()),
                Value::Text(text) => (3, text.as_bytes()),
                Value::Bytes(bytes) => (4, bytes),
            };
            hasher.update(&[tag]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        hasher.finalize()
    }
}

/// Whether records of this kind can be retired, apart from notes, which always had a state.
fn is_retirable(kind: &Kind) -> bool {
    matches!(kind.name, "package" | "strategy" | "error_pattern")
}

/// The name of a column in JSON, where `kind` is the table of the record.
fn outer(column: &'static str) -> &'static str {
    if column == "kind" { "is" } else { column }
}

/// A record whose text has been redacted: the only form in which stores return and accept records.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanRecord(Record);

impl CleanRecord {
    /// A record that a backend has just read from its tables. Its text was redacted when it was written.
    /// Only backends may call this, which clippy enforces (`disallowed-methods`); everything else uses
    /// [`redacted`](Self::redacted).
    pub fn read_from_store(record: Record) -> Self {
        Self(record)
    }

    /// Redacts a record from outside.
    pub fn redacted(mut record: Record, redactor: &Redactor) -> Self {
        for (Column { holds, .. }, value) in record.kind.columns.iter().zip(&mut record.values) {
            if let Value::Text(text) = value {
                match holds {
                    Holds::Words => *text = redactor.clean(text).as_str().to_owned(),
                    Holds::Json => {
                        let json = serde_json::from_str(text).unwrap_or(Json::Null);
                        *text = redactor.clean_json(json).value().to_string();
                    }
                    Holds::Int | Holds::Real | Holds::Name | Holds::Facts => {}
                }
            }
        }
        Self(record)
    }

    /// A receipt whose text stays on its machine, or an item of it without the names in its text.
    #[must_use]
    pub fn withheld(mut self) -> Self {
        let (column, instead) = match self.0.kind.name {
            "receipt" => ("text", WITHHELD),
            "receipt_item" => ("stale", "[]"),
            _ => return self,
        };
        let column = self.0.column(column);
        if let Some(Value::Text(text)) = column.and_then(|at| self.0.values.get_mut(at)) {
            instead.clone_into(text);
        }
        self
    }

    /// The record itself.
    pub fn record(&self) -> &Record {
        &self.0
    }
}

/// How many records [`Archive::put_records`] wrote; sequences are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// New ones.
    pub added: u64,
    /// Those that already existed with the same values.
    pub present: u64,
}

/// Whole projects.
pub trait Archive {
    /// Visits every record: kind by kind, each in the order of its key, and the sequences last.
    fn each_record(&self, visit: &mut Sink<'_>) -> Result<()>;

    /// Writes, all or none, the records that `fill` passes to its argument, in the order of [`KINDS`]. A
    /// record that exists with the same values, or with a higher trust class, is skipped; one that exists with other values is rejected
    /// with [`Differs`](StoreError::Differs). Rebuilds the text index if packages were added.
    fn put_records(&self, fill: &mut Fill<'_>) -> Result<Added>;

    /// Replaces the values of a record that [`each_record`](Self::each_record) has just passed. If another
    /// record already has the new key, it is replaced, too. Does not touch the text index.
    fn replace_record(&self, old: &Record, new: &CleanRecord) -> Result<()>;
}

/// Receives records, one at a time.
pub type Sink<'a> = dyn FnMut(CleanRecord) -> Result<()> + 'a;

/// Passes records to a sink.
pub type Fill<'a> = dyn FnMut(&mut Sink<'_>) -> Result<()> + 'a;

/// The hash over all records of a store, and how many there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// Per kind, in order: how many there are, and the hash over their hashes.
    pub kinds: Vec<(&'static str, u64, String)>,
}

impl Digest {
    /// Reads every record of a store.
    pub fn of(store: &dyn Archive) -> Result<Self> {
        let mut sums = DigestSums::default();
        store.each_record(&mut |clean| {
            sums.add(clean.record());
            Ok(())
        })?;
        Ok(sums.finish())
    }

    /// The number of records, without sequences.
    pub fn records(&self) -> u64 {
        let records = self.kinds.iter().filter(|(kind, ..)| *kind != SEQUENCE.name);
        records.map(|(_, count, _)| count).sum()
    }

    /// The first kind in which two digests differ.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let all = self.kinds.iter().chain(&other.kinds);
        all.map(|(name, ..)| *name).find(|name| {
            let find = |digest: &Self| digest.kinds.iter().find(|(n, ..)| n == name).cloned();
            find(self) != find(other)
        })
    }
}

/// Accumulates a [`Digest`].
#[derive(Debug, Default)]
pub struct DigestSums {
    kinds: Vec<(&'static str, u64, blake3::Hasher)>,
}

impl DigestSums {
    /// Adds the next record.
    pub fn add(&mut self, record: &Record) {
        if self.kinds.last().is_none_or(|(name, ..)| *name != record.kind.name) {
            self.kinds.push((record.kind.name, 0, blake3::Hasher::new()));
        }
        if let Some((_, count, hasher)) = self.kinds.last_mut() {
            *count += 1;
            hasher.update(record.hash().as_bytes());
        }
    }

    /// The digest of all records.
    pub fn finish(self) -> Digest {
        let finish = |(name, count, hasher): (_, _, blake3::Hasher)| {
            (name, count, hasher.finalize().to_hex().to_string())
        };
        Digest { kinds: self.kinds.into_iter().map(finish).collect() }
    }
}

impl StoreError {
    /// A record that exists with other values.
    pub fn differs(record: &Record) -> Self {
        Self::Differs { record: record.name() }
    }
}

#[cfg(test)]
mod tests;
