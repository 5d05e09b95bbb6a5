//! Jobs of a run that other machines may take. Taking one locks its row and skips locked ones, so that
//! takers do not wait for each other.

use handover_model::{RunId, Timestamp};
use handover_store::rows::{self, Columns, JOB, to_json};
use handover_store::{Hold, Job, Jobs, NewJob, RecordKind, Result, StoreError};
use handover_text::CleanJson;

use crate::PostgresStore;
use crate::value::params;

impl PostgresStore {
    fn run_key(&self, run: &RunId) -> Result<i64> {
        let sql = "SELECT key FROM run WHERE id = $1";
        self.first(sql, params![run.as_str()], |row| Columns::of(row).int())?
            .ok_or_else(|| StoreError::not_found(RecordKind::Run, run))
    }
}

impl Jobs for PostgresStore {
    fn offer_job(&self, new: &NewJob) -> Result<()> {
        self.write_rows(|| {
            let work = to_json(new.work.value());
            self.change(
                "INSERT INTO run_job (run, seq, work, created_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT DO NOTHING",
                params![self.run_key(&new.run)?, new.seq, work, new.now],
            )?;
            Ok(())
        })
    }

    fn take_job(&self, hold: &Hold, now: Timestamp) -> Result<Option<Job>> {
        self.write_rows(|| {
            self.first(
                &format!(
                    "WITH free AS (
                    SELECT seq FROM run_job
                    WHERE run = $1 AND result IS NULL AND (taker IS NULL OR expires_at <= $4)
                    ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED
                 )
                 UPDATE run_job j SET taker = $2, expires_at = $3
                 FROM free WHERE j.run = $1 AND j.seq = free.seq
                 RETURNING {JOB}"
                ),
                params![self.run_key(&hold.run)?, hold.taker.as_str(), hold.until, now],
                rows::job,
            )
        })
    }

    fn keep_job(&self, hold: &Hold, seq: u64) -> Result<bool> {
        self.write_rows(|| {
            let kept = self.change(
                "UPDATE run_job SET expires_at = $4
                 WHERE run = $1 AND seq = $2 AND taker = $3 AND result IS NULL",
                params![self.run_key(&hold.run)?, seq, hold.taker.as_str(), hold.until],
            )?;
            Ok(kept > 0)
        })
    }

    fn finish_job(&self, hold: &Hold, seq: u64, result: &CleanJson) -> Result<bool> {
        self.write_rows(|| {
            let result = to_json(result.value());
            let done = self.change(
                "UPDATE run_job SET result = $4
                 WHERE run = $1 AND seq = $2 AND taker = $3 AND result IS NULL",
                params![self.run_key(&hold.run)?, seq, hold.taker.as_str(), result],
            )?;
            Ok(done > 0)
        })
    }

    fn job(&self, run: &RunId, seq: u64) -> Result<Option<Job>> {
        self.first(
            &format!("SELECT {JOB} FROM run_job j WHERE j.run = $1 AND j.seq = $2"),
            params![self.run_key(run)?, seq],
            rows::job,
        )
    }

    fn withdraw_job(&self, run: &RunId, seq: u64) -> Result<()> {
        self.write_rows(|| {
            let run = self.run_key(run)?;
            self.change("DELETE FROM run_job WHERE run = $1 AND seq = $2", params![run, seq])?;
            Ok(())
        })
    }

    fn announce_helper(&self, hold: &Hold, slots: u32) -> Result<()> {
        self.write_rows(|| {
            let run = self.run_key(&hold.run)?;
            self.change(
                "INSERT INTO run_helper (run, helper, slots, expires_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (run, helper) DO UPDATE SET slots = $3, expires_at = $4",
                params![run, hold.taker.as_str(), i64::from(slots), hold.until],
            )?;
            Ok(())
        })
    }

    fn helping_slots(&self, run: &RunId, now: Timestamp) -> Result<u32> {
        let slots = self.first(
            "SELECT coalesce(sum(slots), 0)::BIGINT AS slots
             FROM run_helper JOIN run ON run.key = run_helper.run
             WHERE run.id = $1 AND expires_at > $2",
            params![run.as_str(), now],
            |row| Columns::of(row).int(),
        )?;
        Ok(slots.unwrap_or_default())
    }
}
