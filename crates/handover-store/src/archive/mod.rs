//! Every record as it is kept, for moving whole projects: between stores, into files, and back.
//!
//! A record is a row of one of the [`KINDS`], whose names, columns and order are the same in every
//! backend. What is not listed here does not move: a test of each backend holds the list against its
//! tables.

mod check;

use handover_text::Redactor;
use serde_json::{Map, Value as Json};

use crate::{Result, StoreError};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A whole number.
    Int,
    /// A fraction.
    Real,
    /// An id, a word of a closed set, a hash or a path: exact.
    Name,
    /// Text of people and agents, which passes redaction on its way in.
    Words,
    /// JSON, which passes redaction as a parsed value.
    Json,
    /// JSON of our own making, without anybody's words.
    Facts,
    /// Bytes.
    Bytes,
}

/// A kind of record.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name of its table.
    pub name: &'static str,
    /// How many of the first columns identify a record and give the order.
    pub key: usize,
    /// The columns.
    pub columns: &'static [Column],
    /// Whether it is part of the text index, which can be made anew out of the others.
    pub index: bool,
    /// Whether its first column is a number that the store gives out and never gives out twice.
    pub numbered: bool,
}

/// A column of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// Whether it may hold nothing.
    pub optional: bool,
}

macro_rules! kinds {
    ($($name:ident $key:literal $($flag:ident)* : $($column:ident $holds:ident $(|$null:ident)?),+;)+) => {
        &[$(Kind {
            name: stringify!($name),
            key: $key,
            columns: &[$(Column {
                name: stringify!($column),
                holds: Holds::$holds,
                optional: false $(|| kinds!(@$null))?,
            }),+],
            index: false $(|| kinds!(@index $flag))*,
            numbered: false $(|| kinds!(@numbered $flag))*,
        }),+]
    };
    (@Null) => { true };
    (@index index) => { true };
    (@index numbered) => { false };
    (@numbered numbered) => { true };
    (@numbered index) => { false };
}

/// Every kind, those that others refer to first. What helpers of a run are about to do, the feed
/// and the tokens of a service are not among them: they belong to the place.
pub const KINDS: &[Kind] = kinds! {
    session 1 numbered: key Int, id Name, project Name, status Name, metadata Json, created_at Int, ended_at Int|Null;
    task_group 2: session Int, id Name, title Words|Null, status Name, specializations Json, component Words|Null, created_at Int;
    group_counter 3: session Int, group_id Name, name Name, value Int;
    package 1 numbered: id Int, session Int, group_id Name|Null, scope Name, kind Name, path Name, title Words|Null,
        summary Words, files Json, producer Name, priority Name, iteration Int|Null, version Int, supersedes Int|Null,
        superseded_by Int|Null, size_bytes Int, tokens Int, content_hash Name, created_at Int;
    package_consumer 2: package Int, role Name;
    package_body 1: package Int, body Words;
    group_reference 3: session Int, group_id Name, position Int, package Int;
    reasoning 1 numbered: id Int, session Int, group_id Name|Null, role Name, agent_id Name|Null, iteration Int, phase Name,
        confidence Name|Null, content Words, refs Json, created_at Int;
    skill_output 1 numbered: id Int, session Int, skill Name, role Name|Null, group_id Name|Null, iteration Int, output Json,
        created_at Int;
    error_pattern 2: project Name, hash Name, kind Words, message Words, hints Json, solved Int, confidence Int,
        occurrences Int, language Words|Null, first_seen Int, last_seen Int, ttl_days Int;
    error_trust 1 numbered: id Int, project Name, hash Name, confidence Int, changed_at Int;
    error_solution 3: project Name, hash Name, solution Words, uses Int, last_used Int;
    error_incident 1 numbered: id Int, project Name, hash Name, session Int|Null, group_id Name|Null, role Name|Null, command Words|Null,
        created_at Int;
    strategy 1: id Name, project Name, topic Name, insight Words, helpfulness Int, language Words|Null, framework Words|Null,
        created_at Int, last_seen Int;
    strategy_source 2: strategy Name, reasoning Int;
    event 1 numbered: id Int, session Int, group_id Name|Null, type Name, payload Json, key Words|Null, key_hash Name|Null,
        created_at Int;
    receipt 1: id Name, session Int, group_id Name|Null, role Name, iteration Int, model Words|Null, tokenizer Name, zone Name,
        state Name, host Words|Null, tokens Int, prompt_hash Name, sections Facts, left_out Facts, left_out_counts Facts,
        redactions Facts, failure Words|Null, created_at Int, claimed_at Int|Null, delivered_at Int|Null, confirmed_at Int|Null,
        trimmed Facts, provided Facts, text Words|Null;
    receipt_item 3: receipt Name, kind Name, item Name, position Int, version Int, form Name, score Real, terms Facts,
        tokens Int, read_at Int|Null;
    run 1 numbered: key Int, id Name, epic Name, session Name, state Name, created_at Int, updated_at Int;
    run_journal 2: run Int, seq Int, kind Name, entry Json, created_at Int;
    epic_lock 1: epic Name, fence Int, owner Facts|Null, expires_at Int;
    host_binding 2: host Name, host_session Name, session Int, created_at Int;
    ticket 1: receipt Name, host Name, host_session Name, agent_type Words, task_hash Name, way Name, agent Name|Null,
        asked Int, created_at Int, closed_at Int|Null;
    host_version 2: host Name, version Words, drops_rewrites Int, seen_at Int;
    candidate_sheet 2 index: session Int, sheet Int, candidates Bytes;
    package_terms 1 index: package Int, terms Bytes;
    posting_page 3 index: session Int, term Name, page Int, postings Bytes;
    fresh_package 2 index: session Int, package Int;
};

/// How far the numbers of a kind have been given out; not a table, but it moves like one.
pub const SEQUENCE: &Kind = &Kind {
    name: "sequence",
    key: 1,
    columns: &[
        Column { name: "of", holds: Holds::Name, optional: false },
        Column { name: "last", holds: Holds::Int, optional: false },
    ],
    index: false,
    numbered: false,
};

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().chain([SEQUENCE]).find(|kind| kind.name == name)
    }

    /// Whether the text index depends on it.
    pub fn is_indexed(&self) -> bool {
        matches!(self.name, "package" | "package_consumer" | "package_body")
    }
}

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A fraction.
    Real(f64),
    /// Text, or JSON as text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What it is.
    pub kind: &'static Kind,
    /// Its values, in the order of the kind's columns.
    pub values: Vec<Value>,
}

/// What is wrong with a record that came from outside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// Not an object with a `kind`.
    #[error("it is not a JSON object with a `kind`")]
    Shape,
    /// Of no kind that is known.
    #[error("there is no kind `{0}`")]
    Kind(String),
    /// With a column that the kind does not have.
    #[error("a `{kind}` has no `{column}`")]
    Column {
        /// The kind.
        kind: &'static str,
        /// The column.
        column: String,
    },
    /// Without a column that must be there.
    #[error("`{column}` of a `{kind}` is missing")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The column.
        column: &'static str,
    },
    /// With a value of another type.
    #[error("`{column}` of a `{kind}` cannot be that")]
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

    /// What it is called in a message.
    pub fn name(&self) -> String {
        let words = self.key().iter().map(|value| match value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => text.chars().take(40).collect(),
            Value::Null | Value::Real(_) | Value::Bytes(_) => "–".to_owned(),
        });
        format!("{} {}", self.kind.name, words.collect::<Vec<_>>().join("/"))
    }

    /// It as a JSON object. Columns without a value are left out.
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
            // The kinds of packages and events are columns of that name.
            object.insert(outer(name).to_owned(), value);
        }
        Json::Object(object)
    }

    /// A record out of a JSON object.
    pub fn from_json(json: Json) -> Result<Self, BadRecord> {
        let Json::Object(mut object) = json else { return Err(BadRecord::Shape) };
        let Some(Json::String(name)) = object.remove("kind") else { return Err(BadRecord::Shape) };
        let kind = Kind::named(&name).ok_or(BadRecord::Kind(name))?;
        let mut values = Vec::with_capacity(kind.columns.len());
        for column in kind.columns {
            let wrong = || BadRecord::Value { kind: kind.name, column: column.name };
            let value = match (object.remove(outer(column.name)), column.holds) {
                (None | Some(Json::Null), _) if column.optional => Value::Null,
                (None, _) => {
                    return Err(BadRecord::Missing { kind: kind.name, column: column.name });
                }
                (Some(value), Holds::Json | Holds::Facts) => Value::Text(value.to_string()),
                (Some(value), Holds::Int) => Value::Int(value.as_i64().ok_or_else(wrong)?),
                (Some(value), Holds::Real) => Value::Real(value.as_f64().ok_or_else(wrong)?),
                (Some(Json::String(text)), Holds::Name | Holds::Words) => Value::Text(text),
                (Some(Json::String(text)), Holds::Bytes) => {
                    Value::Bytes(from_hex(&text).ok_or_else(wrong)?)
                }
                (Some(_), Holds::Name | Holds::Words | Holds::Bytes) => return Err(wrong()),
            };
            if let Value::Text(text) = &value
                && !check::makes_sense(kind.name, column.name, text)
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

    /// Its BLAKE3 hash: over the columns and their values as they are kept.
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

/// The name of a column in JSON, where `kind` is what says which table a record is of.
fn outer(column: &'static str) -> &'static str {
    if column == "kind" { "is" } else { column }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// A record that may be put into a store: one that was in a store, or one whose words have passed
/// redaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept(Record);

impl Kept {
    /// A record that a store has given out. Only stores say this.
    pub fn of_store(record: Record) -> Self {
        Self(record)
    }

    /// A record from outside, with its words redacted.
    pub fn redacted(mut record: Record, redactor: &Redactor) -> Self {
        for (Column { holds, .. }, value) in record.kind.columns.iter().zip(&mut record.values) {
            if let Value::Text(text) = value {
                match holds {
                    Holds::Words => *text = redactor.clean(text).as_str().to_owned(),
                    Holds::Json => {
                        let json = serde_json::from_str(text).unwrap_or(Json::Null);
                        *text = redactor.clean_json(json).value().to_string();
                    }
                    Holds::Int | Holds::Real | Holds::Name | Holds::Facts | Holds::Bytes => {}
                }
            }
        }
        Self(record)
    }

    /// The record.
    pub fn record(&self) -> &Record {
        &self.0
    }
}

/// Whether the text index is part of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// It is, page by page.
    Included,
    /// It is not; it is made anew out of the packages.
    MadeAnew,
}

impl Index {
    /// The kinds that are part of it all, in order.
    pub fn kinds(self) -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().filter(move |kind| self == Self::Included || !kind.index)
    }
}

/// What became of records that were put into a store; numbers given out and the text index are not
/// counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// How many are new.
    pub added: u64,
    /// How many were there already, the same in every value.
    pub present: u64,
}

/// Whole projects.
pub trait Archive {
    /// Shows every record: kind by kind, each in the order of its key, and at last how far numbers
    /// have been given out.
    fn each_record(&self, index: Index, visit: &mut Sink<'_>) -> Result<()>;

    /// Puts in, all or none, what `fill` gives to the function that it is called with, in the order
    /// of [`KINDS`]. A record that is there already and the same in every value is passed over; one
    /// that is there and differs is refused with [`Differs`](StoreError::Differs).
    fn put_records(&self, index: Index, fill: &mut Fill<'_>) -> Result<Added>;
}

/// Takes records, one at a time.
pub type Sink<'a> = dyn FnMut(Kept) -> Result<()> + 'a;

/// Gives records to a sink.
pub type Fill<'a> = dyn FnMut(&mut Sink<'_>) -> Result<()> + 'a;

/// The hash over all records of a store, and how many there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// Per kind, in order: how many there are, and the hash over their hashes.
    pub kinds: Vec<(&'static str, u64, String)>,
}

impl Digest {
    /// Reads every record of a store.
    pub fn of(store: &dyn Archive, index: Index) -> Result<Self> {
        let mut sums = DigestSums::default();
        store.each_record(index, &mut |kept| {
            sums.add(kept.record());
            Ok(())
        })?;
        Ok(sums.finish())
    }

    /// How many records there are, numbers given out apart.
    pub fn records(&self) -> u64 {
        let records = self.kinds.iter().filter(|(kind, ..)| *kind != SEQUENCE.name);
        records.map(|(_, count, _)| count).sum()
    }

    /// The first kind in which two differ.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let all = self.kinds.iter().chain(&other.kinds);
        all.map(|(name, ..)| *name).find(|name| {
            let find = |digest: &Self| digest.kinds.iter().find(|(n, ..)| n == name).cloned();
            find(self) != find(other)
        })
    }
}

/// A digest that is being made.
#[derive(Debug, Default)]
pub struct DigestSums {
    kinds: Vec<(&'static str, u64, blake3::Hasher)>,
}

impl DigestSums {
    /// Takes the next record.
    pub fn add(&mut self, record: &Record) {
        if self.kinds.last().is_none_or(|(name, ..)| *name != record.kind.name) {
            self.kinds.push((record.kind.name, 0, blake3::Hasher::new()));
        }
        if let Some((_, count, hasher)) = self.kinds.last_mut() {
            *count += 1;
            hasher.update(record.hash().as_bytes());
        }
    }

    /// The digest of all that were taken.
    pub fn finish(self) -> Digest {
        let finish = |(name, count, hasher): (_, _, blake3::Hasher)| {
            (name, count, hasher.finalize().to_hex().to_string())
        };
        Digest { kinds: self.kinds.into_iter().map(finish).collect() }
    }
}

impl StoreError {
    /// A record that is there and says something else.
    pub fn differs(record: &Record) -> Self {
        Self::Differs { record: record.name() }
    }
}
