//! Work of a run that other machines may do. Taking some locks one row and skips those that others
//! lock, so that takers do not wait for each other.

use handover_model::{RunId, Timestamp};
use handover_store::{Hold, Job, Jobs, NewJob, Result, StoreError};
use handover_text::CleanJson;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::value::{self, params};

fn read(r: &Row) -> Result<Job> {
    let done = value::text_opt(r, "result")?.is_some();
    Ok(Job {
        seq: value::int(r, "seq")?,
        work: value::json(r, "work")?,
        taker: value::text_opt(r, "taker")?,
        result: if done { Some(value::json(r, "result")?) } else { None },
    })
}

impl PostgresStore {
    fn run_key(&self, run: &RunId) -> Result<i64> {
        let sql = "SELECT key FROM run WHERE id = $1";
        self.first(sql, params![run.as_str()], |r| value::int(r, "key"))?
            .ok_or_else(|| StoreError::not_found("run", run))
    }
}

impl Jobs for PostgresStore {
    fn offer_job(&self, new: &NewJob) -> Result<()> {
        self.write_rows(|| {
            let work = value::to_json(new.work.value());
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
                "WITH free AS (
                    SELECT seq FROM run_job
                    WHERE run = $1 AND result IS NULL AND (taker IS NULL OR expires_at <= $4)
                    ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED
                 )
                 UPDATE run_job j SET taker = $2, expires_at = $3
                 FROM free WHERE j.run = $1 AND j.seq = free.seq
                 RETURNING j.seq, j.work, j.taker, j.result",
                params![self.run_key(&hold.run)?, hold.taker.as_str(), hold.until, now],
                read,
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
            let result = value::to_json(result.value());
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
            "SELECT seq, work, taker, result FROM run_job WHERE run = $1 AND seq = $2",
            params![self.run_key(run)?, seq],
            read,
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
            |r| value::int(r, "slots"),
        )?;
        Ok(slots.unwrap_or_default())
    }
}
