//! Runs, their journals, and the lock of an epic.

use handover_model::{EpicId, JournalEntry, LockOwner, ProjectId, Run, RunId, Timestamp};
use handover_store::rows::{
    self, Columns, DECIDED, EPIC_LOCK, EpicLock, JOURNAL_ENTRY, RUN, to_json,
};
use handover_store::{
    DayCost, Decided, LockClaim, NewJournalEntry, NewRun, RecordKind, Result, RunFilter, Runs,
    StoreError,
};
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, query, sums};

fn lock(connection: &Connection, epic: &EpicId) -> Result<Option<EpicLock>> {
    let intact = sums::intact("epic_lock", "epic_lock");
    let sql = format!("SELECT {EPIC_LOCK}, {intact} FROM epic_lock WHERE epic = ?1");
    query::record(connection, &sql, [epic.as_str()], rows::epic_lock)
}

fn check_fence(connection: &Connection, epic: &EpicId, fence: u64) -> Result<()> {
    match lock(connection, epic)? {
        Some(EpicLock { fence: current, owner: Some(_), .. }) if current == fence => Ok(()),
        Some(_) | None => Err(StoreError::Fenced { epic: epic.clone() }),
    }
}

impl Runs for SqliteStore {
    fn lock_epic(&self, claim: &LockClaim) -> Result<u64> {
        self.write(|tx| {
            let fence = match lock(tx, &claim.epic)? {
                Some(EpicLock { fence, owner: Some(owner), expires_at })
                    if expires_at > claim.now && claim.over != Some(fence) =>
                {
                    return Err(StoreError::Locked { epic: claim.epic.clone(), owner, fence });
                }
                Some(EpicLock { fence, .. }) => fence + 1,
                None => 1,
            };
            tx.execute(
                "INSERT INTO epic_lock (epic, fence, owner, expires_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (epic) DO UPDATE SET fence = ?2, owner = ?3, expires_at = ?4",
                (
                    claim.epic.as_str(),
                    fence.cast_signed(),
                    to_json(&claim.owner),
                    claim.until.as_micros(),
                ),
            )
            .map_err(backend)?;
            Ok(fence)
        })
    }

    fn unlock_epic(&self, epic: &EpicId, fence: u64) -> Result<()> {
        self.write_unsynced(|tx| {
            tx.execute(
                "UPDATE epic_lock SET owner = NULL WHERE epic = ?1 AND fence = ?2",
                (epic.as_str(), fence.cast_signed()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn keep_epic(&self, epic: &EpicId, fence: u64, until: Timestamp) -> Result<()> {
        self.write_unsynced(|tx| {
            check_fence(tx, epic, fence)?;
            tx.execute(
                "UPDATE epic_lock SET expires_at = max(expires_at, ?2) WHERE epic = ?1",
                (epic.as_str(), until.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn epic_owner(&self, epic: &EpicId) -> Result<Option<(LockOwner, u64)>> {
        let held = lock(&self.connection, epic)?;
        Ok(held.and_then(|lock| lock.owner.map(|owner| (owner, lock.fence))))
    }

    fn start_run(&self, new: &NewRun, fence: u64) -> Result<()> {
        self.write(|tx| {
            check_fence(tx, &new.epic, fence)?;
            let now = new.now.as_micros();
            tx.execute(
                "INSERT INTO run (id, epic, session, state, created_at, updated_at)
                 VALUES (?1, ?2, ?3, 'running', ?4, ?4)",
                (new.id.as_str(), new.epic.as_str(), new.session.as_str(), now),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn append_journal(&self, run: &RunId, new: &NewJournalEntry, fence: u64) -> Result<()> {
        self.write(|tx| {
            let found = query::first(
                tx,
                "SELECT key, epic, (SELECT ifnull(max(seq), 0) FROM run_journal WHERE run = key)
                 FROM run WHERE id = ?1",
                [run.as_str()],
                |row| {
                    let mut columns = Columns::of(row);
                    Ok((columns.int::<i64>()?, columns.parsed()?, columns.int::<u64>()?))
                },
            )?;
            let (key, epic, last) =
                found.ok_or_else(|| StoreError::not_found(RecordKind::Run, run))?;
            check_fence(tx, &epic, fence)?;
            if new.seq != last + 1 {
                return Err(StoreError::Fenced { epic });
            }
            tx.execute(
                "INSERT INTO run_journal (run, seq, kind, entry, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    key,
                    new.seq.cast_signed(),
                    new.kind.as_str(),
                    to_json(new.entry.value()),
                    new.now.as_micros(),
                ),
            )
            .map_err(backend)?;
            tx.execute(
                "UPDATE run SET updated_at = ?2, state = ifnull(?3, state) WHERE key = ?1",
                (key, new.now.as_micros(), new.state.map(handover_model::RunState::as_str)),
            )
            .map_err(backend)?;
            tx.execute(
                "UPDATE epic_lock SET expires_at = ?2 WHERE epic = ?1",
                (epic.as_str(), new.until.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn journal(&self, run: &RunId, from: u64) -> Result<Vec<JournalEntry>> {
        self.run_record(run)?;
        let intact = sums::intact("run_journal", "j");
        query::records(
            &self.connection,
            &format!(
                "SELECT {JOURNAL_ENTRY}, {intact} FROM run_journal j JOIN run ON run.key = j.run
                 WHERE run.id = ?1 AND j.seq >= ?2 ORDER BY j.seq"
            ),
            (run.as_str(), from.cast_signed()),
            rows::journal_entry,
        )
    }

    fn run_record(&self, id: &RunId) -> Result<Run> {
        let intact = sums::intact("run", "run");
        let sql = format!("SELECT {RUN}, {intact} FROM run WHERE id = ?1");
        query::record(&self.connection, &sql, [id.as_str()], rows::run)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Run, id))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>> {
        let intact = sums::intact("run", "run");
        query::records(
            &self.connection,
            &format!(
                "SELECT {RUN}, {intact} FROM run WHERE (?1 IS NULL OR epic = ?1)
                 ORDER BY created_at DESC, key DESC LIMIT ?2"
            ),
            (filter.epic.as_ref().map(EpicId::as_str), filter.limit.map_or(-1, i64::from)),
            rows::run,
        )
    }

    fn decided(&self, project: &ProjectId, limit: u32) -> Result<Vec<Decided>> {
        let intact = sums::intact("run_journal", "j");
        query::records(
            &self.connection,
            &format!(
                "SELECT {DECIDED}, {intact}
                 FROM run r JOIN session s ON s.id = r.session JOIN run_journal j ON j.run = r.key
                 WHERE s.project = ?1 AND j.kind = 'result'
                    AND coalesce(json_extract(j.entry, '$.by'), json_extract(j.entry, '$.approval.by')) IS NOT NULL
                 ORDER BY j.created_at DESC, r.key DESC, j.seq DESC LIMIT ?2"
            ),
            (project.as_str(), limit),
            rows::decided,
        )
    }

    fn agent_costs(&self, project: &ProjectId, since: Timestamp) -> Result<Vec<DayCost>> {
        query::all(
            &self.connection,
            "SELECT j.created_at / 86400000000, count(*),
                coalesce(sum(json_extract(j.entry, '$.spent.cost_usd')), 0.0) + 0.0
             FROM run r JOIN session s ON s.id = r.session JOIN run_journal j ON j.run = r.key
             WHERE s.project = ?1 AND r.updated_at >= ?2 AND j.created_at >= ?2
                AND j.kind = 'result' AND json_extract(j.entry, '$.event') = 'phase_ended'
             GROUP BY 1 ORDER BY 1",
            (project.as_str(), since.as_micros()),
            rows::day_cost,
        )
    }
}
