//! Imports a BAZINGA database: sessions, groups, packages, reasoning, skill outputs, events, error patterns
//! and strategies.
//!
//! Older formats lack tables and columns; missing values get the defaults of the newest format. Invalid rows
//! are reported and skipped; tables without a counterpart are counted. Records are identified by their
//! content, so importing again adds only what is new.

mod learned;
mod row;
#[cfg(test)]
mod tests;
mod work;

use std::collections::BTreeMap;

use handover_model::{ProjectId, Timestamp};
use handover_store::archive::Value;
use handover_store::{Result, Store};
use handover_text::Redactor;
use serde::Serialize;

/// The table that every such database has.
pub const MARK: &str = "sessions";

/// The content of a table.
#[derive(Debug, Default)]
pub struct Table {
    /// The rows that could be read.
    pub rows: Vec<BTreeMap<String, Value>>,
    /// Why the rest could not be read.
    pub broken: Option<String>,
}

/// What an import depends on.
pub struct Source<'a> {
    /// Reads a table.
    pub table: &'a dyn Fn(&str) -> Table,
    /// Reads the text of a package's file, if it is available.
    pub file: &'a dyn Fn(&str) -> Option<String>,
    /// The project that the records become part of.
    pub project: &'a ProjectId,
    /// Removes secrets from all text.
    pub redactor: &'a Redactor,
    /// The time for rows that have none.
    pub now: Timestamp,
}

/// How many records of a kind were imported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Records that were added.
    pub added: u64,
    /// Records that already existed.
    pub present: u64,
}

impl Count {
    fn take(&mut self, new: bool) {
        *(if new { &mut self.added } else { &mut self.present }) += 1;
    }
}

/// A row that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The table of the row.
    pub table: &'static str,
    /// The row's id, name or position.
    pub row: String,
    /// Why it was skipped.
    pub problem: String,
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Sessions.
    pub sessions: Count,
    /// Task groups.
    pub groups: Count,
    /// Context packages.
    pub packages: Count,
    /// Pieces of reasoning.
    pub reasoning: Count,
    /// Skill outputs.
    pub skill_outputs: Count,
    /// Events.
    pub events: Count,
    /// Error patterns.
    pub errors: Count,
    /// Strategies.
    pub strategies: Count,
    /// Packages whose file was not available: their summary is used as their text.
    pub without_file: u64,
    /// Rows of tables without a counterpart, by table.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Rows that were skipped.
    pub damaged: Vec<Damage>,
}

/// Tables without a counterpart, including those of the program's own configuration.
const LEFT_OUT: [&str; 9] = [
    "state_snapshots",
    "token_usage",
    "development_plans",
    "success_criteria",
    "consumption_scope",
    "configuration",
    "decisions",
    "model_config",
    "agent_reasoning",
];

/// Imports everything, all or nothing.
pub fn import(store: &dyn Store, source: &Source<'_>) -> Result<Report> {
    store.writing(|store| {
        let mut report = Report::default();
        let sessions = work::sessions(store, source, &mut report)?;
        let packages = work::packages(store, source, &sessions, &mut report)?;
        work::groups(store, source, &sessions, &packages, &mut report)?;
        work::logs(store, source, &sessions, &mut report)?;
        work::skill_outputs(store, source, &sessions, &mut report)?;
        learned::errors(store, source, &mut report)?;
        learned::strategies(store, source, &mut report)?;
        for name in LEFT_OUT {
            let count = (source.table)(name).rows.len() as u64;
            if count > 0 {
                *report.left_out.entry(name).or_default() += count;
            }
        }
        Ok(report)
    })
}
