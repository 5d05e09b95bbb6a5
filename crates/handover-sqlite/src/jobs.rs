//! Work of a run that other machines may do.

use handover_model::{RunId, Timestamp};
use handover_store::rows::{self, Columns, JOB, to_json};
use handover_store::{Hold, Job, Jobs, NewJob, RecordKind, Result, StoreError};
use handover_text::CleanJson;
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, query};

fn key(connection: &Connection, run: &RunId) -> Result<i64> {
    let sql = "SELECT key FROM run WHERE id = ?1";
    query::first(connection, sql, [run.as_str()], |row| Columns::of(row).int())?
        .ok_or_else(|| StoreError::not_found(RecordKind::Run, run))
}

impl Jobs for SqliteStore {
    fn offer_job(&self, new: &NewJob) -> Result<()> {
        self.write(|tx| {
            let work = to_json(new.work.value());
            tx.execute(
                "INSERT INTO run_job (run, seq, work, created_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
                (key(tx, &new.run)?, new.seq.cast_signed(), work, new.now.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn take_job(&self, hold: &Hold, now: Timestamp) -> Result<Option<Job>> {
        self.write_unsynced(|tx| {
            query::first(
                tx,
                // RETURNING cannot name the table by its alias.
                "UPDATE run_job SET taker = ?2, expires_at = ?3
                 WHERE run = ?1 AND seq = (SELECT min(seq) FROM run_job WHERE run = ?1
                    AND result IS NULL AND (taker IS NULL OR expires_at <= ?4))
                 RETURNING seq, work, taker, result",
                (key(tx, &hold.run)?, &hold.taker, hold.until.as_micros(), now.as_micros()),
                rows::job,
            )
        })
    }

    fn keep_job(&self, hold: &Hold, seq: u64) -> Result<bool> {
        self.write_unsynced(|tx| {
            tx.execute(
                "UPDATE run_job SET expires_at = ?4
                 WHERE run = ?1 AND seq = ?2 AND taker = ?3 AND result IS NULL",
                (key(tx, &hold.run)?, seq.cast_signed(), &hold.taker, hold.until.as_micros()),
            )
            .map(|changed| changed > 0)
            .map_err(backend)
        })
    }

    fn finish_job(&self, hold: &Hold, seq: u64, result: &CleanJson) -> Result<bool> {
        self.write(|tx| {
            tx.execute(
                "UPDATE run_job SET result = ?4
                 WHERE run = ?1 AND seq = ?2 AND taker = ?3 AND result IS NULL",
                (key(tx, &hold.run)?, seq.cast_signed(), &hold.taker, to_json(result.value())),
            )
            .map(|changed| changed > 0)
            .map_err(backend)
        })
    }

    fn job(&self, run: &RunId, seq: u64) -> Result<Option<Job>> {
        query::first(
            &self.connection,
            &format!("SELECT {JOB} FROM run_job j WHERE j.run = ?1 AND j.seq = ?2"),
            (key(&self.connection, run)?, seq.cast_signed()),
            rows::job,
        )
    }

    fn withdraw_job(&self, run: &RunId, seq: u64) -> Result<()> {
        self.write_unsynced(|tx| {
            tx.execute(
                "DELETE FROM run_job WHERE run = ?1 AND seq = ?2",
                (key(tx, run)?, seq.cast_signed()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn announce_helper(&self, hold: &Hold, slots: u32) -> Result<()> {
        self.write_unsynced(|tx| {
            tx.execute(
                "INSERT INTO run_helper (run, helper, slots, expires_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET slots = ?3, expires_at = ?4",
                (key(tx, &hold.run)?, &hold.taker, slots, hold.until.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn helping_slots(&self, run: &RunId, now: Timestamp) -> Result<u32> {
        let slots = query::first(
            &self.connection,
            "SELECT ifnull(sum(slots), 0) FROM run_helper JOIN run ON run.key = run_helper.run
             WHERE run.id = ?1 AND expires_at > ?2",
            (run.as_str(), now.as_micros()),
            |row| Columns::of(row).int(),
        )?;
        Ok(slots.unwrap_or_default())
    }
}
