//! Stories that runners share. A claim locks one row and skips those that others lock, so runners do
//! not wait for each other.

use handover_model::{EpicId, LockOwner, RunId, StoryId, Timestamp};
use handover_store::{
    ClaimedStory, NewStoryEntry, Result, SharedStory, StoreError, Stories, StoryClaim, StoryEnd,
};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::value::{self, params};

fn owner(r: &Row, column: &str) -> Result<Option<LockOwner>> {
    if value::text_opt(r, column)?.is_some() { value::json(r, column).map(Some) } else { Ok(None) }
}

impl PostgresStore {
    /// The key of a run and what it works on.
    fn run_key(&self, run: &RunId) -> Result<(i64, EpicId)> {
        let sql = "SELECT key, epic FROM run WHERE id = $1";
        self.first(sql, params![run.as_str()], |r| {
            Ok((value::int(r, "key")?, value::parsed(r, "epic")?))
        })?
        .ok_or_else(|| StoreError::not_found("run", run))
    }

    /// Moves the end of a lease; refused if it is another's.
    fn renew(
        &self,
        run: (i64, EpicId),
        story: &StoryId,
        fence: u64,
        until: Timestamp,
    ) -> Result<()> {
        let renewed = self.change(
            "UPDATE run_story SET expires_at = $4
             WHERE run = $1 AND story = $2 AND fence = $3 AND owner IS NOT NULL",
            params![run.0, story.as_str(), fence, until],
        )?;
        if renewed == 1 { Ok(()) } else { Err(StoreError::Fenced { epic: run.1 }) }
    }
}

impl Stories for PostgresStore {
    fn offer_stories(&self, run: &RunId, stories: &[StoryId]) -> Result<()> {
        self.write(|| {
            let (key, _) = self.run_key(run)?;
            for story in stories {
                self.change(
                    "INSERT INTO run_story (run, position, story)
                     SELECT $1, coalesce(max(position), 0) + 1, $2 FROM run_story WHERE run = $1
                     ON CONFLICT DO NOTHING",
                    params![key, story.as_str()],
                )?;
            }
            Ok(())
        })
    }

    fn claim_story(&self, claim: &StoryClaim) -> Result<Option<ClaimedStory>> {
        self.write_rows(|| {
            let (key, epic) = self.run_key(&claim.run)?;
            if epic != claim.epic {
                return Err(StoreError::not_found("run of this epic", &claim.run));
            }
            self.first(
                "WITH free AS (
                    SELECT story, owner FROM run_story
                    WHERE run = $1 AND closed = 0 AND (owner IS NULL OR expires_at <= $2)
                    ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED
                 )
                 UPDATE run_story s SET fence = s.fence + 1, owner = $3, expires_at = $4
                 FROM free WHERE s.run = $1 AND s.story = free.story
                 RETURNING s.story, s.fence, free.owner AS former",
                params![key, claim.now, value::to_json(&claim.owner), claim.until],
                |r| {
                    Ok(ClaimedStory {
                        story: value::parsed(r, "story")?,
                        fence: value::int(r, "fence")?,
                        taken_over: owner(r, "former")?,
                    })
                },
            )
        })
    }

    fn renew_story(
        &self,
        run: &RunId,
        story: &StoryId,
        fence: u64,
        until: Timestamp,
    ) -> Result<()> {
        self.write_rows(|| self.renew(self.run_key(run)?, story, fence, until))
    }

    fn release_story(&self, run: &RunId, story: &StoryId, fence: u64, end: StoryEnd) -> Result<()> {
        self.write_rows(|| {
            let (key, _) = self.run_key(run)?;
            self.change(
                "UPDATE run_story SET owner = NULL, closed = $4
                 WHERE run = $1 AND story = $2 AND fence = $3 AND owner IS NOT NULL",
                params![key, story.as_str(), fence, end == StoryEnd::Closed],
            )?;
            Ok(())
        })
    }

    fn stories(&self, run: &RunId) -> Result<Vec<SharedStory>> {
        let (key, _) = self.run_key(run)?;
        self.all(
            "SELECT story, closed, owner, fence, expires_at FROM run_story WHERE run = $1
             ORDER BY position",
            params![key],
            |r| {
                Ok(SharedStory {
                    story: value::parsed(r, "story")?,
                    closed: value::flag(r, "closed")?,
                    owner: owner(r, "owner")?,
                    fence: value::int(r, "fence")?,
                    expires_at: value::time(r, "expires_at")?,
                })
            },
        )
    }

    fn append_story_journal(&self, run: &RunId, new: &NewStoryEntry, fence: u64) -> Result<u64> {
        self.write(|| {
            let (key, epic) = self.run_key(run)?;
            self.renew((key, epic), &new.story, fence, new.until)?;
            let seq = self.first(
                "INSERT INTO run_journal (run, seq, kind, entry, created_at)
                 SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4 FROM run_journal WHERE run = $1
                 RETURNING seq",
                params![key, new.kind.as_str(), value::to_json(new.entry.value()), new.now],
                |r| value::int(r, "seq"),
            )?;
            self.change(
                "UPDATE run SET updated_at = $2, state = coalesce($3, state) WHERE key = $1",
                params![key, new.now, new.state.map(handover_model::RunState::as_str)],
            )?;
            seq.ok_or_else(|| StoreError::damaged("an entry got no place"))
        })
    }
}
