//! Records of runs, hook hosts and the service.

use handover_model::{Change, HostVersion, JournalEntry, LockOwner, Run, Ticket, Timestamp, Token};

use super::{Columns, Row};
use crate::{Decided, Job, Result};

/// Of `run`.
pub const RUN: &str = "id, epic, session, state, created_at, updated_at";

/// Reads [`RUN`].
pub fn run(row: &dyn Row) -> Result<Run> {
    let mut c = Columns::of(row);
    Ok(Run {
        id: c.parsed()?,
        epic: c.parsed()?,
        session: c.parsed()?,
        state: c.parsed()?,
        created_at: c.time()?,
        updated_at: c.time()?,
    })
}

/// The lock of an epic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpicLock {
    /// Increases with every owner.
    pub fence: u64,
    /// The engine that holds the lock, unless it is free.
    pub owner: Option<LockOwner>,
    /// When the owner loses it.
    pub expires_at: Timestamp,
}

/// Of `epic_lock`.
pub const EPIC_LOCK: &str = "fence, owner, expires_at";

/// Reads [`EPIC_LOCK`].
pub fn epic_lock(row: &dyn Row) -> Result<EpicLock> {
    let mut c = Columns::of(row);
    Ok(EpicLock { fence: c.int()?, owner: c.json_opt()?, expires_at: c.time()? })
}

/// Of `run_journal j`.
pub const JOURNAL_ENTRY: &str = "j.seq, j.kind, j.entry, j.created_at";

/// Reads [`JOURNAL_ENTRY`].
pub fn journal_entry(row: &dyn Row) -> Result<JournalEntry> {
    let mut c = Columns::of(row);
    Ok(JournalEntry { seq: c.int()?, kind: c.parsed()?, entry: c.json()?, created_at: c.time()? })
}

/// Of `run r` and `run_journal j`.
pub const DECIDED: &str = "r.id, r.epic, j.seq, j.kind, j.entry, j.created_at";

/// Reads [`DECIDED`].
pub fn decided(row: &dyn Row) -> Result<Decided> {
    let mut c = Columns::of(row);
    let (run, epic) = (c.parsed()?, c.parsed()?);
    let (seq, kind) = (c.int()?, c.parsed()?);
    let entry = JournalEntry { seq, kind, entry: c.json()?, created_at: c.time()? };
    Ok(Decided { run, epic, entry })
}

/// Of `run_job j`.
pub const JOB: &str = "j.seq, j.work, j.taker, j.result";

/// Reads [`JOB`].
pub fn job(row: &dyn Row) -> Result<Job> {
    let mut c = Columns::of(row);
    Ok(Job { seq: c.int()?, work: c.json()?, taker: c.text_opt()?, result: c.json_opt()? })
}

/// Of `ticket`.
pub const TICKET: &str = "receipt, host, host_session, agent_type, name, tool_use, task_hash, task, way, \
    agent, asked, ending, created_at, closed_at";

/// Reads [`TICKET`].
pub fn ticket(row: &dyn Row) -> Result<Ticket> {
    let mut c = Columns::of(row);
    Ok(Ticket {
        receipt: c.parsed()?,
        host: c.parsed()?,
        host_session: c.parsed()?,
        agent_type: c.text()?,
        name: c.text_opt()?,
        tool_use: c.parsed_opt()?,
        task_hash: c.text()?,
        task: c.text_opt()?,
        way: c.parsed()?,
        agent: c.parsed_opt()?,
        asked: c.flag()?,
        ending: c.text_opt()?,
        created_at: c.time()?,
        closed_at: c.time_opt()?,
    })
}

/// Of `host_version`.
pub const HOST_VERSION: &str = "host, version, drops_rewrites, seen_at";

/// Reads [`HOST_VERSION`].
pub fn host_version(row: &dyn Row) -> Result<HostVersion> {
    let mut c = Columns::of(row);
    Ok(HostVersion {
        host: c.parsed()?,
        version: c.text()?,
        drops_rewrites: c.flag()?,
        seen_at: c.time()?,
    })
}

/// Of `change`. Changes of the project have no session.
pub const CHANGE: &str = "id, kind, project, nullif(session, ''), subject, detail, at";

/// Reads [`CHANGE`].
pub fn change(row: &dyn Row) -> Result<Change> {
    let mut c = Columns::of(row);
    Ok(Change {
        id: c.int()?,
        kind: c.parsed()?,
        project: c.parsed()?,
        session: c.parsed_opt()?,
        subject: c.text()?,
        detail: c.text()?,
        at: c.time()?,
    })
}

/// Of `token`.
pub const TOKEN: &str = "id, name, kind, scope, project, hash, created_at, expires_at, ended_at";

/// Reads [`TOKEN`].
pub fn token(row: &dyn Row) -> Result<Token> {
    let mut c = Columns::of(row);
    Ok(Token {
        id: c.parsed()?,
        name: c.text_opt()?,
        kind: c.parsed()?,
        scope: c.parsed()?,
        project: c.parsed_opt()?,
        hash: c.text()?,
        created_at: c.time()?,
        expires_at: c.time_opt()?,
        ended_at: c.time_opt()?,
    })
}
