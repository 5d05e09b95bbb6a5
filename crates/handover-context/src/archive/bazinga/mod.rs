//! An existing BAZINGA database: its sessions, groups, packages, reasoning, skill outputs, events,
//! error patterns and strategies become ours.
//!
//! Older formats lack tables and columns; what is missing gets the value that the newest format would
//! give it. A row that makes no sense is reported and passed over; tables that have no counterpart are
//! counted. Everything is recognised by what it says, so importing again adds only what is new.

mod learned;
mod row;
mod work;

use std::collections::BTreeMap;

use handover_model::{ProjectId, Timestamp};
use handover_store::archive::Value;
use handover_store::{Result, Store};
use handover_text::Redactor;
use serde::Serialize;

/// The table that every such database has.
pub const MARK: &str = "sessions";

/// A table as it was found.
#[derive(Debug, Default)]
pub struct Table {
    /// Its rows.
    pub rows: Vec<BTreeMap<String, Value>>,
    /// Why the rest could not be read.
    pub broken: Option<String>,
}

/// Where the records come from and go to.
pub struct Source<'a> {
    /// A table by its name.
    pub table: &'a dyn Fn(&str) -> Table,
    /// The text of a package's file, if it is to be had.
    pub file: &'a dyn Fn(&str) -> Option<String>,
    /// The project that they become part of.
    pub project: &'a ProjectId,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// For rows that do not say when they were written.
    pub now: Timestamp,
}

/// How many records of a kind came in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// New ones.
    pub added: u64,
    /// Those that were there already.
    pub present: u64,
}

impl Count {
    fn take(&mut self, new: bool) {
        *(if new { &mut self.added } else { &mut self.present }) += 1;
    }
}

/// A row that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its table.
    pub table: &'static str,
    /// What it is known by.
    pub row: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What came of an import.
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
    /// Packages whose file was not to be had: their summary stands for their text.
    pub without_file: u64,
    /// Rows of tables that have no counterpart here.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Rows that were passed over.
    pub damaged: Vec<Damage>,
}

/// Tables that have no counterpart, and those that only tell how the program works.
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

/// Brings everything over, all or nothing.
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
