//! Strategies.

use handover_model::learn::strategy_id;
use handover_model::{ProjectId, RecordState, Strategy, Timestamp, Trust};
use handover_store::rows::{self, STRATEGY};
use handover_store::{NewStrategy, RecordKind, Result, StoreError, Strategies, StrategyFilter};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, query, sums};

fn get(connection: &Connection, id: &str) -> Result<Strategy> {
    let intact = sums::intact("strategy", "strategy");
    let sql = format!("SELECT {STRATEGY}, {intact} FROM strategy WHERE id = ?1");
    query::record(connection, &sql, [id], rows::strategy)?
        .ok_or_else(|| StoreError::not_found(RecordKind::Strategy, id))
}

fn raise(tx: &Connection, id: &str, now: Timestamp) -> Result<()> {
    // A change computes a new sum: a damaged record would look sound again.
    get(tx, id)?;
    tx.execute(
        "UPDATE strategy SET helpfulness = helpfulness + 1, last_seen = max(last_seen, ?2)
         WHERE id = ?1",
        (id, now.as_micros()),
    )
    .map_err(backend)?;
    Ok(())
}

/// A strategy is as trusted as the least trusted of its sources.
fn lower(tx: &Connection, id: &str, trust: Trust) -> Result<()> {
    if get(tx, id)?.trust <= trust {
        return Ok(());
    }
    tx.execute("UPDATE strategy SET trust = ?2 WHERE id = ?1", (id, trust.as_str()))
        .map_err(backend)?;
    Ok(())
}

fn learn(tx: &Connection, new: &NewStrategy) -> Result<Strategy> {
    let id = strategy_id(&new.project, new.topic, new.insight.as_str());
    let created = tx
        .execute(
            "INSERT INTO strategy (id, project, topic, insight, helpfulness, language, framework,
                created_at, last_seen, trust)
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?7, ?8) ON CONFLICT (id) DO NOTHING",
            (
                &id,
                new.project.as_str(),
                new.topic.as_str(),
                new.insight.as_str(),
                new.language.as_ref().map(Clean::as_str),
                new.framework.as_ref().map(Clean::as_str),
                new.now.as_micros(),
                new.trust.as_str(),
            ),
        )
        .map_err(backend)?;
    let new_source = tx
        .execute(
            "INSERT INTO strategy_source (strategy, reasoning) VALUES (?1, ?2)
             ON CONFLICT DO NOTHING",
            (&id, new.source.0),
        )
        .map_err(backend)?;
    if created == 0 && new_source == 1 {
        raise(tx, &id, new.now)?;
    }
    if created == 0 {
        lower(tx, &id, new.trust)?;
    }
    get(tx, &id)
}

impl Strategies for SqliteStore {
    fn learn_strategies(&self, new: &[NewStrategy]) -> Result<Vec<Strategy>> {
        self.write(|tx| {
            let mut kept: Vec<Strategy> = Vec::new();
            for strategy in new {
                let learned = learn(tx, strategy)?;
                match kept.iter_mut().find(|earlier| earlier.id == learned.id) {
                    Some(earlier) => *earlier = learned,
                    None => kept.push(learned),
                }
            }
            Ok(kept)
        })
    }

    fn strategy_helped(&self, id: &str, now: Timestamp) -> Result<Strategy> {
        self.write(|tx| {
            raise(tx, id, now)?;
            get(tx, id)
        })
    }

    fn set_strategy_state(
        &self,
        project: &ProjectId,
        id: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Strategy> {
        self.write(|tx| {
            // A change computes a new sum: a damaged record would look sound again.
            if get(tx, id)?.project != *project {
                return Err(StoreError::not_found(RecordKind::Strategy, id));
            }
            let sql = "UPDATE strategy SET state = ?2, reason = ?3 WHERE id = ?1";
            query::execute(tx, sql, (id, state.as_str(), reason.map(Clean::as_str)))?;
            get(tx, id)
        })
    }

    fn strategies(&self, project: &ProjectId, filter: &StrategyFilter) -> Result<Vec<Strategy>> {
        let intact = sums::intact("strategy", "strategy");
        query::records(
            &self.connection,
            &format!(
                "SELECT {STRATEGY}, {intact} FROM strategy WHERE project = ?1
                    AND (?2 IS NULL OR language IS NULL OR language = ?2 COLLATE NOCASE)
                    AND (?3 IS NULL OR framework IS NULL OR framework = ?3 COLLATE NOCASE)
                    AND (?5 IS NULL OR state = ?5)
                 ORDER BY helpfulness DESC, last_seen DESC, id LIMIT ?4"
            ),
            (
                project.as_str(),
                &filter.language,
                &filter.framework,
                filter.limit.map_or(-1, i64::from),
                filter.state.map(RecordState::as_str),
            ),
            rows::strategy,
        )
    }
}
