//! The shared store: PostgreSQL, for when one machine is not enough.
//!
//! One file per aggregate, each implementing its trait of handover-store, as in handover-sqlite. A project
//! has its own schema, so no statement can reach another project's rows. Writes of a project are serialized
//! by an advisory lock, like those of a file by its write lock: what they read still holds when they write.
//!
//! **Lost connections.** Reads, and writes that were not committed, are retried on a new connection. If the
//! reply to a commit is lost, the token that the write inserted shows whether it was committed; so nothing
//! is done twice, and nothing acknowledged is lost. Work of callers ([`Store::exclusively`]) is never
//! retried.

mod amendments;
mod archive;
mod batches;
mod error;
mod errors;
mod events;
mod feed;
mod groups;
mod hosts;
mod index;
mod jobs;
mod link;
mod location;
mod migrations;
mod note_index;
mod notes;
mod operations;
mod packages;
mod reasoning;
mod rebuild;
mod receipts;
mod register;
mod runs;
mod sessions;
mod skill_outputs;
mod strategies;
mod tallies;
mod tls;
mod tokens;
mod transaction;
mod trust;
mod value;
mod verdicts;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use handover_model::{GroupId, ProjectId, SessionId, Timestamp};
use handover_store::rows::{self, Columns};
use handover_store::{
    Check, CheckedPart, OlderFormat, RecordKind, Result, Store, StoreError, Upgraded,
};
use tokio_postgres::Row;

pub use location::{InvalidLocation, Location};

use crate::error::Failure;
use crate::link::{Link, Patience, Statement};
use crate::migrations::MIGRATIONS;
use crate::transaction::{Lock, Within};
use crate::value::{Param, PgRow, params};

const SESSION_KEY: &str = "SELECT key FROM session WHERE id = $1";

/// Matches rows of the session whose id is `$1`. A separate query for its key would be one more round
/// trip.
const OF_SESSION: &str = "session = (SELECT key FROM session WHERE id = $1)";

/// A project's store in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    link: RefCell<Link>,
    within: Cell<Within>,
    schema: String,
    project: ProjectId,
    location: Location,
    opening: Opening,
    upgraded: RefCell<Option<Upgraded>>,
}

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
struct Opening {
    patience: Patience,
    migrations: &'static [&'static str],
    older: OlderFormat,
}

impl Opening {
    /// Without upgrading what others may use.
    fn within(patience: Patience) -> Self {
        Self { patience, migrations: MIGRATIONS, older: OlderFormat::Keep }
    }
}

impl PostgresStore {
    /// Opens the project's store, creating it if necessary. Any number of clients may do so at once. One in an older
    /// format is refused: see [`upgrade`](Self::upgrade).
    pub fn open(location: &Location, project: &ProjectId) -> Result<Self> {
        Self::open_with(location, project, Opening::within(Patience::LONG))
    }

    /// The same with a limit on how long to wait for anything.
    pub fn open_within(
        location: &Location,
        project: &ProjectId,
        patience: Duration,
    ) -> Result<Self> {
        Self::open_with(location, project, Opening::within(Patience::of(patience)))
    }

    /// Opens the store and brings it to the current format, which clients of older versions cannot open.
    pub fn upgrade(location: &Location, project: &ProjectId) -> Result<Self> {
        let opening = Opening::within(Patience::LONG);
        Self::open_with(location, project, Opening { older: OlderFormat::Upgrade, ..opening })
    }

    /// The format that this version writes.
    pub fn format() -> i64 {
        MIGRATIONS.len() as i64
    }

    /// The upgrade that opening it was, if it was one.
    pub fn upgraded(&self) -> Option<Upgraded> {
        self.upgraded.borrow().clone()
    }

    /// Opens with any list of migrations, so that tests can add one.
    fn open_with(location: &Location, project: &ProjectId, opening: Opening) -> Result<Self> {
        let schema = migrations::schema(project);
        let link = RefCell::new(Link::new(location, &schema, opening.patience)?);
        let (project, location) = (project.clone(), location.clone());
        let within = Cell::new(Within::Nothing);
        let upgraded = RefCell::default();
        let store = Self { link, within, schema, project, location, opening, upgraded };
        store.connect(Instant::now() + opening.patience.arrive)?;
        Ok(store)
    }

    /// Removes a project's store with everything in it; for tests and benchmarks.
    pub fn destroy(location: &Location, project: &ProjectId) -> Result<()> {
        let schema = migrations::schema(project);
        let mut link = Link::new(location, &schema, Patience::LONG)?;
        link.ensure(Instant::now() + Patience::LONG.arrive)?;
        link.batch(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).map_err(Failure::error)
    }

    /// Makes sure that there is a connection to a migrated schema; gives up at `until`.
    fn connect(&self, until: Instant) -> Result<()> {
        let mut link = self.link.borrow_mut();
        loop {
            if !link.ensure(until)? {
                return Ok(());
            }
            let target = migrations::Target {
                schema: &self.schema,
                project: &self.project,
                database: &self.location,
                migrations: self.opening.migrations,
                older: self.opening.older,
            };
            match target.ensure(&mut link) {
                Ok(upgraded) => {
                    if upgraded.is_some() {
                        *self.upgraded.borrow_mut() = upgraded;
                    }
                    return Ok(());
                }
                Err(Failure::Lost(_)) if Instant::now() < until => link.hang_up(),
                Err(failure) => {
                    link.hang_up();
                    return Err(failure.error());
                }
            }
        }
    }

    /// Runs a query that only reads, or is part of a transaction.
    fn ask<T>(&self, question: impl Fn(&mut Link) -> Result<T, Failure>) -> Result<T> {
        if self.within.get() != Within::Nothing {
            return question(&mut self.link.borrow_mut()).map_err(Failure::error);
        }
        let until = Instant::now() + self.link.borrow().patience().recover;
        loop {
            self.connect(until)?;
            let answer = question(&mut self.link.borrow_mut());
            match answer {
                Err(Failure::Lost(_)) if Instant::now() < until => {}
                answer => return answer.map_err(Failure::error),
            }
        }
    }

    /// The rows of a statement.
    fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.ask(|link| link.query(sql, params))
    }

    /// The rows of statements about a session, whose id is `$1` of each, as in [`OF_SESSION`]; or
    /// [`StoreError::NotFound`].
    fn rows_of(
        &self,
        session: &SessionId,
        statements: &[Statement<'_>],
    ) -> Result<std::vec::IntoIter<Vec<Row>>> {
        let known = Statement { sql: SESSION_KEY, params: params![session.as_str()] };
        let mut asked = vec![known];
        asked.extend(statements);
        let mut answers = self.ask(|link| link.queries(&asked))?.into_iter();
        match answers.next() {
            Some(known) if !known.is_empty() => Ok(answers),
            Some(_) | None => Err(StoreError::not_found(RecordKind::Session, session)),
        }
    }

    /// Reads every row of a statement about a session.
    fn all_of<T>(
        &self,
        session: &SessionId,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn rows::Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut answers = self.rows_of(session, &[Statement { sql, params }])?;
        answers.next().unwrap_or_default().iter().map(|row| read(&PgRow(row))).collect()
    }

    /// Runs several statements of a transaction that change rows.
    fn change_all(&self, statements: &[Statement<'_>]) -> Result<()> {
        self.link.borrow_mut().queries(statements).map(drop).map_err(Failure::error)
    }

    /// Reads every row of a statement.
    fn all<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn rows::Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(sql, params)?.iter().map(|row| read(&PgRow(row))).collect()
    }

    /// Reads the first row of a statement.
    fn first<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnOnce(&dyn rows::Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.rows(sql, params)?.first().map(|row| read(&PgRow(row))).transpose()
    }

    /// Runs a statement of a transaction; returns how many rows it changed.
    fn change(&self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.link.borrow_mut().execute(sql, params).map_err(Failure::error)
    }

    /// The key of a session, or [`StoreError::NotFound`].
    fn session_key(&self, id: &SessionId) -> Result<i64> {
        self.first(SESSION_KEY, params![id.as_str()], |row| Columns::of(row).int())?
            .ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
    }

    /// Creates the group unless it exists.
    fn ensure_group(&self, session: i64, group: &GroupId, now: Timestamp) -> Result<()> {
        self.change(
            "INSERT INTO task_group (session, id, created_at) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING",
            params![session, group.as_str(), now],
        )?;
        Ok(())
    }
}

impl Store for PostgresStore {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.once(Lock::Project, || work(self))
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.snapshot(|| work(self))
    }

    fn check(&self) -> Result<Vec<Check>> {
        // Reading every row is all that a client can check.
        let mut integrity = Vec::new();
        for table in self.all(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid
                AND relkind = 'r' ORDER BY relname",
            params![self.schema.as_str()],
            |row| Columns::of(row).text(),
        )? {
            let read = self.rows(&format!("SELECT count(t::text) FROM {table} t"), &[]);
            integrity.extend(read.err().map(|error| format!("{table}: {error}")));
        }
        let references = self.all(
            "SELECT conrelid::regclass::text || ' ' || conname AS broken FROM pg_constraint
             WHERE connamespace = to_regnamespace($1)::oid AND NOT convalidated ORDER BY 1",
            params![self.schema.as_str()],
            |row| Columns::of(row).text(),
        )?;
        let mut index = Vec::new();
        let sessions = self.all("SELECT key, id FROM session", &[], |row| {
            let mut columns = Columns::of(row);
            Ok((columns.int()?, columns.text()?))
        })?;
        for (key, id) in sessions {
            let problems = self.index_problems(key)?;
            index.extend(problems.into_iter().map(|problem| format!("session {id}: {problem}")));
        }
        index.extend(self.note_problems()?);
        Ok(vec![
            Check { part: CheckedPart::Integrity, problems: integrity },
            Check { part: CheckedPart::References, problems: references },
            Check { part: CheckedPart::TextIndex, problems: index },
        ])
    }
}
