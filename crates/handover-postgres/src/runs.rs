//! Runs, their journals, and the lock of an epic.

use handover_model::{EpicId, JournalEntry, LockOwner, ProjectId, Run, RunId, Timestamp};
use handover_store::rows::{
    self, Columns, DECIDED, EPIC_LOCK, EpicLock, JOURNAL_ENTRY, RUN, to_json,
};
use handover_store::{
    DayCost, Decided, LockClaim, NewJournalEntry, NewRun, RecordKind, Result, RunFilter, Runs,
    StoreError,
};

use crate::PostgresStore;
use crate::link::Statement;
use crate::value::params;

impl PostgresStore {
    fn epic_lock(&self, epic: &EpicId) -> Result<Option<EpicLock>> {
        let sql = format!("SELECT {EPIC_LOCK} FROM epic_lock WHERE epic = $1");
        self.first(&sql, params![epic.as_str()], rows::epic_lock)
    }

    fn check_fence(&self, epic: &EpicId, fence: u64) -> Result<()> {
        match self.epic_lock(epic)? {
            Some(EpicLock { fence: current, owner: Some(_), .. }) if current == fence => Ok(()),
            Some(_) | None => Err(StoreError::Fenced { epic: epic.clone() }),
        }
    }
}

impl Runs for PostgresStore {
    fn lock_epic(&self, claim: &LockClaim) -> Result<u64> {
        self.write(|| {
            let fence = match self.epic_lock(&claim.epic)? {
                Some(EpicLock { fence, owner: Some(owner), expires_at })
                    if expires_at > claim.now && claim.over != Some(fence) =>
                {
                    return Err(StoreError::Locked { epic: claim.epic.clone(), owner, fence });
                }
                Some(EpicLock { fence, .. }) => fence + 1,
                None => 1,
            };
            self.change(
                "INSERT INTO epic_lock (epic, fence, owner, expires_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (epic) DO UPDATE SET fence = $2, owner = $3, expires_at = $4",
                params![claim.epic.as_str(), fence, to_json(&claim.owner), claim.until],
            )?;
            Ok(fence)
        })
    }

    fn unlock_epic(&self, epic: &EpicId, fence: u64) -> Result<()> {
        self.write(|| {
            self.change(
                "UPDATE epic_lock SET owner = NULL WHERE epic = $1 AND fence = $2",
                params![epic.as_str(), fence],
            )?;
            Ok(())
        })
    }

    fn keep_epic(&self, epic: &EpicId, fence: u64, until: Timestamp) -> Result<()> {
        self.write(|| {
            self.check_fence(epic, fence)?;
            self.change(
                "UPDATE epic_lock SET expires_at = greatest(expires_at, $2) WHERE epic = $1",
                params![epic.as_str(), until],
            )?;
            Ok(())
        })
    }

    fn epic_owner(&self, epic: &EpicId) -> Result<Option<(LockOwner, u64)>> {
        let held = self.epic_lock(epic)?;
        Ok(held.and_then(|lock| lock.owner.map(|owner| (owner, lock.fence))))
    }

    fn start_run(&self, new: &NewRun, fence: u64) -> Result<()> {
        self.write(|| {
            self.check_fence(&new.epic, fence)?;
            self.change(
                "INSERT INTO run (id, epic, session, state, created_at, updated_at)
                 VALUES ($1, $2, $3, 'running', $4, $4)",
                params![new.id.as_str(), new.epic.as_str(), new.session.as_str(), new.now],
            )?;
            Ok(())
        })
    }

    fn append_journal(&self, run: &RunId, new: &NewJournalEntry, fence: u64) -> Result<()> {
        self.write(|| {
            let found = self.first(
                "SELECT key, epic, (SELECT coalesce(max(seq), 0) FROM run_journal WHERE run = key)
                 FROM run WHERE id = $1",
                params![run.as_str()],
                |row| {
                    let mut columns = Columns::of(row);
                    Ok((columns.int::<i64>()?, columns.parsed()?, columns.int::<u64>()?))
                },
            )?;
            let (key, epic, last) =
                found.ok_or_else(|| StoreError::not_found(RecordKind::Run, run))?;
            self.check_fence(&epic, fence)?;
            if new.seq != last + 1 {
                return Err(StoreError::Fenced { epic });
            }
            let entry = to_json(new.entry.value());
            let state = new.state.map(handover_model::RunState::as_str);
            self.change_all(&[
                Statement {
                    sql: "INSERT INTO run_journal (run, seq, kind, entry, created_at)
                          VALUES ($1, $2, $3, $4, $5)",
                    params: params![key, new.seq, new.kind.as_str(), entry, new.now],
                },
                Statement {
                    sql: "UPDATE run SET updated_at = $2, state = coalesce($3, state)
                          WHERE key = $1",
                    params: params![key, new.now, state],
                },
                Statement {
                    sql: "UPDATE epic_lock SET expires_at = $2 WHERE epic = $1",
                    params: params![epic.as_str(), new.until],
                },
            ])
        })
    }

    fn journal(&self, run: &RunId, from: u64) -> Result<Vec<JournalEntry>> {
        let entries = self.all(
            &format!(
                "SELECT {JOURNAL_ENTRY} FROM run_journal j JOIN run ON run.key = j.run
                 WHERE run.id = $1 AND j.seq >= $2 ORDER BY j.seq"
            ),
            params![run.as_str(), from],
            rows::journal_entry,
        )?;
        // A run with entries exists.
        if entries.is_empty() {
            self.run_record(run)?;
        }
        Ok(entries)
    }

    fn run_record(&self, id: &RunId) -> Result<Run> {
        let sql = format!("SELECT {RUN} FROM run WHERE id = $1");
        self.first(&sql, params![id.as_str()], rows::run)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Run, id))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>> {
        self.all(
            &format!(
                "SELECT {RUN} FROM run WHERE ($1 IS NULL OR epic = $1)
                 ORDER BY created_at DESC, key DESC LIMIT $2"
            ),
            params![filter.epic.as_ref().map(EpicId::as_str), filter.limit],
            rows::run,
        )
    }

    fn decided(&self, project: &ProjectId, limit: u32) -> Result<Vec<Decided>> {
        self.all(
            &format!(
                "SELECT {DECIDED}
                 FROM run r JOIN session s ON s.id = r.session JOIN run_journal j ON j.run = r.key
                 WHERE s.project = $1 AND j.kind = 'result'
                    AND coalesce(j.entry::json ->> 'by', j.entry::json #>> '{{approval,by}}') IS NOT NULL
                 ORDER BY j.created_at DESC, r.key DESC, j.seq DESC LIMIT $2"
            ),
            params![project.as_str(), limit],
            rows::decided,
        )
    }

    fn agent_costs(&self, project: &ProjectId, since: Timestamp) -> Result<Vec<DayCost>> {
        self.all(
            "SELECT j.created_at / 86400000000 AS day, count(*),
                coalesce(sum((j.entry::json #>> '{spent,cost_usd}')::float8), 0)
             FROM run r JOIN session s ON s.id = r.session JOIN run_journal j ON j.run = r.key
             WHERE s.project = $1 AND r.updated_at >= $2 AND j.created_at >= $2
                AND j.kind = 'result' AND j.entry::json ->> 'event' = 'phase_ended'
             GROUP BY day ORDER BY day",
            params![project.as_str(), since.as_micros()],
            rows::day_cost,
        )
    }
}
