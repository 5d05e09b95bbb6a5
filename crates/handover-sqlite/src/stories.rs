//! Stories that runners share.

use handover_model::{EpicId, LockOwner, RunId, StoryId, Timestamp};
use handover_store::{
    ClaimedStory, NewStoryEntry, Result, SharedStory, StoreError, Stories, StoryClaim, StoryEnd,
};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::backend;
use crate::{SqliteStore, row};

/// The key of a run and what it works on.
fn run_key(connection: &Connection, run: &RunId) -> Result<(i64, EpicId)> {
    connection
        .query_row("SELECT key, epic FROM run WHERE id = ?1", [run.as_str()], |r| {
            Ok((r.get(0)?, row::parsed(r, 1)?))
        })
        .optional()
        .map_err(backend)?
        .ok_or_else(|| StoreError::not_found("run", run))
}

fn owner(r: &Row<'_>) -> rusqlite::Result<Option<LockOwner>> {
    let owned = r.get_ref("owner")?.as_str_or_null()?.is_some();
    if owned { row::json(r, "owner").map(Some) } else { Ok(None) }
}

/// Moves the end of a lease; refused if it is another's.
fn renew(
    tx: &Connection,
    run: (i64, EpicId),
    story: &StoryId,
    fence: u64,
    until: Timestamp,
) -> Result<()> {
    let renewed = tx
        .execute(
            "UPDATE run_story SET expires_at = ?4
             WHERE run = ?1 AND story = ?2 AND fence = ?3 AND owner IS NOT NULL",
            (run.0, story.as_str(), fence.cast_signed(), until.as_micros()),
        )
        .map_err(backend)?;
    if renewed == 1 { Ok(()) } else { Err(StoreError::Fenced { epic: run.1 }) }
}

impl Stories for SqliteStore {
    fn offer_stories(&self, run: &RunId, stories: &[StoryId]) -> Result<()> {
        self.write_through(|tx| {
            let (key, _) = run_key(tx, run)?;
            for story in stories {
                tx.execute(
                    "INSERT INTO run_story (run, position, story)
                     SELECT ?1, ifnull(max(position), 0) + 1, ?2 FROM run_story WHERE run = ?1
                     ON CONFLICT DO NOTHING",
                    (key, story.as_str()),
                )
                .map_err(backend)?;
            }
            Ok(())
        })
    }

    fn claim_story(&self, claim: &StoryClaim) -> Result<Option<ClaimedStory>> {
        self.write_through(|tx| {
            let (key, epic) = run_key(tx, &claim.run)?;
            if epic != claim.epic {
                return Err(StoreError::not_found("run of this epic", &claim.run));
            }
            let free = tx
                .query_row(
                    "SELECT story, fence + 1 AS fence, owner FROM run_story
                     WHERE run = ?1 AND closed = 0 AND (owner IS NULL OR expires_at <= ?2)
                     ORDER BY position LIMIT 1",
                    (key, claim.now.as_micros()),
                    |r| {
                        Ok(ClaimedStory {
                            story: row::parsed(r, "story")?,
                            fence: row::count(r, "fence")?,
                            taken_over: owner(r)?,
                        })
                    },
                )
                .optional()
                .map_err(backend)?;
            if let Some(claimed) = &free {
                tx.execute(
                    "UPDATE run_story SET fence = ?3, owner = ?4, expires_at = ?5
                     WHERE run = ?1 AND story = ?2",
                    (
                        key,
                        claimed.story.as_str(),
                        claimed.fence.cast_signed(),
                        row::to_json(&claim.owner),
                        claim.until.as_micros(),
                    ),
                )
                .map_err(backend)?;
            }
            Ok(free)
        })
    }

    fn renew_story(
        &self,
        run: &RunId,
        story: &StoryId,
        fence: u64,
        until: Timestamp,
    ) -> Result<()> {
        self.write(|tx| renew(tx, run_key(tx, run)?, story, fence, until))
    }

    fn release_story(&self, run: &RunId, story: &StoryId, fence: u64, end: StoryEnd) -> Result<()> {
        self.write_through(|tx| {
            let (key, _) = run_key(tx, run)?;
            tx.execute(
                "UPDATE run_story SET owner = NULL, closed = ?4
                 WHERE run = ?1 AND story = ?2 AND fence = ?3 AND owner IS NOT NULL",
                (key, story.as_str(), fence.cast_signed(), end == StoryEnd::Closed),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn stories(&self, run: &RunId) -> Result<Vec<SharedStory>> {
        let (key, _) = run_key(&self.connection, run)?;
        row::all(
            &self.connection,
            "SELECT story, closed, owner, fence, expires_at FROM run_story WHERE run = ?1
             ORDER BY position",
            [key],
            |r| {
                Ok(SharedStory {
                    story: row::parsed(r, "story")?,
                    closed: r.get("closed")?,
                    owner: owner(r)?,
                    fence: row::count(r, "fence")?,
                    expires_at: row::time(r, "expires_at")?,
                })
            },
        )
    }

    fn append_story_journal(&self, run: &RunId, new: &NewStoryEntry, fence: u64) -> Result<u64> {
        self.write_through(|tx| {
            let (key, epic) = run_key(tx, run)?;
            renew(tx, (key, epic), &new.story, fence, new.until)?;
            let seq = tx
                .query_row(
                    "INSERT INTO run_journal (run, seq, kind, entry, created_at)
                     SELECT ?1, ifnull(max(seq), 0) + 1, ?2, ?3, ?4 FROM run_journal WHERE run = ?1
                     RETURNING seq",
                    (key, new.kind.as_str(), row::to_json(new.entry.value()), new.now.as_micros()),
                    |r| row::count(r, 0),
                )
                .map_err(backend)?;
            tx.execute(
                "UPDATE run SET updated_at = ?2, state = ifnull(?3, state) WHERE key = ?1",
                (key, new.now.as_micros(), new.state.map(handover_model::RunState::as_str)),
            )
            .map_err(backend)?;
            Ok(seq)
        })
    }
}
