//! The shared store: PostgreSQL, for when one machine is not enough.
//!
//! One file per aggregate, each implementing its trait of handover-store, as in handover-sqlite. A
//! project has a schema of its own, so no statement can reach another project's rows. Writes of a
//! project wait for each other at an advisory lock, as they do at the write lock of a file: what is
//! read inside is still true when it is acted upon.
//!
//! **A server that goes away.** Reads, and writes that were not committed, are tried again on a new
//! connection. When the answer to a commit is lost, the token that the write left behind says whether
//! it was done; so nothing is done twice, and nothing that was acknowledged is lost. Work of callers
//! ([`Store::exclusively`]) is never repeated.

mod archive;
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
mod packages;
mod reasoning;
mod receipts;
mod register;
mod runs;
mod sessions;
mod skill_outputs;
mod strategies;
mod tls;
mod tokens;
mod transaction;
mod value;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use handover_model::{GroupId, ProjectId, SessionId, Timestamp};
use handover_store::{Check, Result, Store, StoreError};
use tokio_postgres::Row;

pub use location::{InvalidLocation, Location};

use crate::error::Failure;
use crate::link::{Link, Patience, Statement};
use crate::transaction::{Lock, Within};
use crate::value::{Param, params};

const SESSION_KEY: &str = "SELECT key FROM session WHERE id = $1";

/// That a row is of the session whose id is `$1`. Its key is found on the way: asking for it first
/// would be one more way to the server.
const OF_SESSION: &str = "session = (SELECT key FROM session WHERE id = $1)";

/// A project's store in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    link: RefCell<Link>,
    within: Cell<Within>,
    schema: String,
    project: ProjectId,
    location: Location,
}

impl PostgresStore {
    /// Opens the project's store, creating or migrating it if need be. Any number of clients may do
    /// so at once.
    pub fn open(location: &Location, project: &ProjectId) -> Result<Self> {
        Self::open_with(location, project, Patience::LONG)
    }

    /// The same for somebody who cannot wait longer than this for anything.
    pub fn open_within(
        location: &Location,
        project: &ProjectId,
        patience: Duration,
    ) -> Result<Self> {
        Self::open_with(location, project, Patience::of(patience))
    }

    fn open_with(location: &Location, project: &ProjectId, patience: Patience) -> Result<Self> {
        let schema = migrations::schema(project);
        let link = RefCell::new(Link::new(location, &schema, patience)?);
        let (project, location) = (project.clone(), location.clone());
        let store = Self { link, within: Cell::new(Within::Nothing), schema, project, location };
        store.connect(Instant::now() + patience.arrive)?;
        Ok(store)
    }

    /// Removes a project's store with everything in it; for tests and benchmarks.
    pub fn destroy(location: &Location, project: &ProjectId) -> Result<()> {
        let schema = migrations::schema(project);
        let mut link = Link::new(location, &schema, Patience::LONG)?;
        link.ensure(Instant::now() + Patience::LONG.arrive)?;
        link.batch(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).map_err(Failure::error)
    }

    /// Sees to a connection whose schema is in order, until a moment.
    fn connect(&self, until: Instant) -> Result<()> {
        let mut link = self.link.borrow_mut();
        loop {
            if !link.ensure(until)? {
                return Ok(());
            }
            match migrations::ensure(&mut link, &self.schema, &self.project, &self.location) {
                Ok(()) => return Ok(()),
                Err(Failure::Lost(_)) if Instant::now() < until => link.hang_up(),
                Err(failure) => {
                    link.hang_up();
                    return Err(failure.error());
                }
            }
        }
    }

    /// Asks something that only reads, or that is part of a transaction.
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

    /// The rows of statements about a session, which each of them names by its id as `$1`, such as with
    /// [`OF_SESSION`]; or the error that says that there is no such session.
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
            Some(_) | None => Err(StoreError::not_found("session", session)),
        }
    }

    /// Every row of a statement about a session, read.
    fn all_of<T>(
        &self,
        session: &SessionId,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut answers = self.rows_of(session, &[Statement { sql, params }])?;
        answers.next().unwrap_or_default().iter().map(read).collect()
    }

    /// Changes rows by several statements of a transaction.
    fn change_all(&self, statements: &[Statement<'_>]) -> Result<()> {
        self.link.borrow_mut().queries(statements).map(drop).map_err(Failure::error)
    }

    /// Every row of a statement, read.
    fn all<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows(sql, params)?.iter().map(read).collect()
    }

    /// The first row of a statement, read.
    fn first<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.rows(sql, params)?.first().map(read).transpose()
    }

    /// How many rows a statement of a transaction changes.
    fn change(&self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.link.borrow_mut().execute(sql, params).map_err(Failure::error)
    }

    /// The key of a session, or the error that says that there is none.
    fn session_key(&self, id: &SessionId) -> Result<i64> {
        self.first(SESSION_KEY, params![id.as_str()], |r| value::int(r, "key"))?
            .ok_or_else(|| StoreError::not_found("session", id))
    }

    /// Creates the group if it is named for the first time.
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
        // Reading every row is what a server can be asked for; its own pages are its own affair.
        let mut integrity = Vec::new();
        for table in self.all(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid
                AND relkind = 'r' ORDER BY relname",
            params![self.schema.as_str()],
            |r| value::text(r, "relname"),
        )? {
            let read = self.rows(&format!("SELECT count(t::text) FROM {table} t"), &[]);
            integrity.extend(read.err().map(|error| format!("{table}: {error}")));
        }
        let references = self.all(
            "SELECT conrelid::regclass::text || ' ' || conname AS broken FROM pg_constraint
             WHERE connamespace = to_regnamespace($1)::oid AND NOT convalidated ORDER BY 1",
            params![self.schema.as_str()],
            |r| value::text(r, "broken"),
        )?;
        let mut index = Vec::new();
        let sessions = self.all("SELECT key, id FROM session", &[], |r| {
            Ok((value::int(r, "key")?, value::text(r, "id")?))
        })?;
        for (key, id) in sessions {
            let problems = self.index_problems(key)?;
            index.extend(problems.into_iter().map(|problem| format!("session {id}: {problem}")));
        }
        Ok(vec![
            Check { name: "integrity", problems: integrity },
            Check { name: "references", problems: references },
            Check { name: "text index", problems: index },
        ])
    }
}
