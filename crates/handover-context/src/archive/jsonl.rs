//! A project as JSON lines: a header, then one record per line, each after the records it refers to. The
//! text index is not included.

use std::io::{BufRead, Write};

use handover_model::{ProjectId, Trust};
use handover_store::archive::{
    Added, BadRecord, CleanRecord, KINDS, Kind, Record, SEQUENCE, Value,
};
use handover_store::{Fault, Store, StoreError};
use handover_text::Redactor;
use serde::{Deserialize, Serialize};

/// The format version of exports.
pub const FORMAT: u32 = 1;

/// The longest line that is read: the largest possible body, escaped, and some slack.
const MAX_LINE: u64 = 64 << 20;

/// The first line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// Identifies the file type.
    handover: Export,
    /// The format version.
    version: u32,
    /// The exported project.
    project: ProjectId,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Export {
    Export,
}

/// Why an export or import failed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Reading or writing failed.
    #[error("the file cannot be read or written")]
    Io(#[source] std::io::Error),
    /// Not an export.
    #[error("the first line is not the header of an export")]
    Header,
    /// Written by a newer version.
    #[error("the file has format {found}; this version supports formats up to {FORMAT}")]
    Newer {
        /// The format version of the file.
        found: u32,
    },
    /// A line is not a valid record.
    #[error("line {line}: {problem}")]
    Line {
        /// The line number, from 1.
        line: usize,
        /// What is wrong with the record.
        problem: String,
    },
    /// The records contradict each other, or no store would have them.
    #[error("line {line}: the store cannot take this record: {problem}")]
    Record {
        /// The line number, from 1.
        line: usize,
        /// What the store says about it.
        problem: String,
    },
    /// A line exceeds the limit.
    #[error("line {line} is longer than {} MiB", MAX_LINE >> 20)]
    TooLong {
        /// The line number, from 1.
        line: usize,
    },
    /// A record follows records that depend on it.
    #[error("line {line}: a `{kind}` record is out of order")]
    Order {
        /// The line number, from 1.
        line: usize,
        /// The kind of the record.
        kind: &'static str,
    },
}

/// Exports a store; returns the number of records.
pub fn export(
    store: &dyn Store,
    project: &ProjectId,
    out: &mut dyn Write,
) -> Result<u64, ArchiveError> {
    let header = Header { handover: Export::Export, version: FORMAT, project: project.clone() };
    let header = serde_json::to_string(&header).map_err(|e| ArchiveError::Io(e.into()))?;
    let (mut count, mut failed) = (0, None);
    let mut line = |text: &str| writeln!(out, "{text}");
    line(&header).map_err(ArchiveError::Io)?;
    let shown = store.consistently(&mut |store| {
        store.each_record(&mut |kept| {
            count += 1;
            line(&kept.record().to_json().to_string()).map_err(|error| {
                failed = Some(error);
                StoreError::Aborted
            })
        })
    });
    match failed {
        Some(error) => Err(ArchiveError::Io(error)),
        None => Ok(shown.map(|()| count)?),
    }
}

/// Imports what [`export`] wrote, all or nothing. Text is redacted like everything that is stored, and its trust
/// class is `outside`.
/// Importing the same file again adds nothing.
pub fn import(
    store: &dyn Store,
    input: &mut dyn BufRead,
    redactor: &Redactor,
) -> Result<Added, ArchiveError> {
    let mut lines = Lines { input, number: 0, last: 0 };
    lines.header()?;
    let (mut failed, mut line) = (None, 0);
    let added = store.put_records(&mut |sink| {
        loop {
            match lines.record() {
                Ok(Some(mut record)) => {
                    line = lines.number;
                    distrust(&mut record);
                    sink(CleanRecord::redacted(record, redactor))?;
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    failed = Some(error);
                    return Err(StoreError::Aborted);
                }
            }
        }
    });
    match failed {
        Some(error) => Err(error),
        None => added.map_err(|error| refused(error, line)),
    }
}

/// Nobody here vouches for an imported text, whatever its file says. What a receipt says stays: it is a record of
/// what happened.
fn distrust(record: &mut Record) {
    if record.kind.name == "receipt_item" {
        return;
    }
    let columns = record.kind.columns.iter().zip(&mut record.values);
    for (_, value) in columns.filter(|(column, _)| column.name == "trust") {
        *value = Value::Text(Trust::Outside.to_string());
    }
}

/// A store that could be opened and written does not become damaged by a record: whatever it refuses is wrong
/// with the file. A reference to a missing record may be noticed later than in its line.
fn refused(error: StoreError, line: usize) -> ArchiveError {
    let problem = match &error {
        StoreError::Backend { fault: Fault::Refused | Fault::Corrupt, source } => {
            source.to_string()
        }
        StoreError::NotFound { .. } | StoreError::Index(_) => error.to_string(),
        StoreError::AlreadySuperseded { .. }
        | StoreError::OtherSession { .. }
        | StoreError::PathTaken { .. }
        | StoreError::InUse { .. }
        | StoreError::WrongState { .. }
        | StoreError::Claimed { .. }
        | StoreError::Locked { .. }
        | StoreError::Fenced { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::Differs { .. }
        | StoreError::Newer { .. }
        | StoreError::Older { .. }
        | StoreError::Outdated { .. }
        | StoreError::Foreign { .. }
        | StoreError::Altered { .. }
        | StoreError::Aborted
        | StoreError::Denied { .. }
        | StoreError::Private
        | StoreError::Backend { .. } => return error.into(),
    };
    ArchiveError::Record { line, problem }
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: usize,
    /// The position of the last kind in the order of kinds.
    last: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<String>, ArchiveError> {
        let mut bytes = Vec::new();
        let mut limited = std::io::Read::take(&mut *self.input, MAX_LINE + 1);
        limited.read_until(b'\n', &mut bytes).map_err(ArchiveError::Io)?;
        self.number += 1;
        let line = self.number;
        if bytes.len() as u64 > MAX_LINE {
            return Err(ArchiveError::TooLong { line });
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let problem = |_| ArchiveError::Line { line, problem: "it is not UTF-8".to_owned() };
        String::from_utf8(bytes).map(Some).map_err(problem)
    }

    fn header(&mut self) -> Result<(), ArchiveError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let text = self.next()?.ok_or(ArchiveError::Header)?;
        // A newer header may have unknown fields.
        let version: Version = serde_json::from_str(&text).map_err(|_| ArchiveError::Header)?;
        if version.version > FORMAT {
            return Err(ArchiveError::Newer { found: version.version });
        }
        let _: Header = serde_json::from_str(&text).map_err(|_| ArchiveError::Header)?;
        Ok(())
    }

    fn record(&mut self) -> Result<Option<Record>, ArchiveError> {
        loop {
            let Some(text) = self.next()? else { return Ok(None) };
            if text.trim().is_empty() {
                continue;
            }
            let line = self.number;
            let json = serde_json::from_str(&text).map_err(|error| ArchiveError::Line {
                line,
                problem: format!("it is not JSON ({error})"),
            })?;
            let bad = |error: BadRecord| ArchiveError::Line { line, problem: error.to_string() };
            let record = Record::from_json(json).map_err(bad)?;
            let place = place(record.kind);
            if place < self.last {
                return Err(ArchiveError::Order { line, kind: record.kind.name });
            }
            self.last = place;
            return Ok(Some(record));
        }
    }
}

fn place(kind: &'static Kind) -> usize {
    KINDS.iter().chain([SEQUENCE]).position(|other| other == kind).unwrap_or(usize::MAX)
}
