//! Strategies.

use handover_model::learn::strategy_id;
use handover_model::{ProjectId, RecordState, Strategy, Timestamp};
use handover_store::rows::{self, STRATEGY, lower_trust};
use handover_store::{NewStrategy, RecordKind, Result, StoreError, Strategies, StrategyFilter};
use handover_text::Clean;

use crate::PostgresStore;
use crate::value::params;

impl PostgresStore {
    fn strategy(&self, id: &str) -> Result<Strategy> {
        let sql = format!("SELECT {STRATEGY} FROM strategy WHERE id = $1");
        self.first(&sql, params![id], rows::strategy)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Strategy, id))
    }

    fn raise_strategy(&self, id: &str, now: Timestamp) -> Result<()> {
        self.change(
            "UPDATE strategy SET helpfulness = helpfulness + 1,
                last_seen = greatest(last_seen, $2)
             WHERE id = $1",
            params![id, now],
        )?;
        Ok(())
    }

    fn learn(&self, new: &NewStrategy) -> Result<Strategy> {
        let id = strategy_id(&new.project, new.topic, new.insight.as_str());
        let created = self.change(
            "INSERT INTO strategy (id, project, topic, insight, helpfulness, language, framework,
                created_at, last_seen, trust)
             VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $7, $8) ON CONFLICT (id) DO NOTHING",
            params![
                id.as_str(),
                new.project.as_str(),
                new.topic.as_str(),
                new.insight.as_str(),
                new.language.as_ref().map(Clean::as_str),
                new.framework.as_ref().map(Clean::as_str),
                new.now,
                new.trust.as_str(),
            ],
        )?;
        let new_source = self.change(
            "INSERT INTO strategy_source (strategy, reasoning) VALUES ($1, $2)
             ON CONFLICT DO NOTHING",
            params![id.as_str(), new.source.0],
        )?;
        if created == 0 && new_source == 1 {
            self.raise_strategy(&id, new.now)?;
        }
        if created == 0 {
            // A strategy is as trusted as the least trusted of its sources.
            self.change(
                &format!(
                    "UPDATE strategy SET trust = {} WHERE id = $1",
                    lower_trust("trust", "$2")
                ),
                params![id.as_str(), new.trust.as_str()],
            )?;
        }
        self.strategy(&id)
    }
}

impl Strategies for PostgresStore {
    fn learn_strategies(&self, new: &[NewStrategy]) -> Result<Vec<Strategy>> {
        self.write(|| {
            let mut kept: Vec<Strategy> = Vec::new();
            for strategy in new {
                let learned = self.learn(strategy)?;
                match kept.iter_mut().find(|earlier| earlier.id == learned.id) {
                    Some(earlier) => *earlier = learned,
                    None => kept.push(learned),
                }
            }
            Ok(kept)
        })
    }

    fn strategy_helped(&self, id: &str, now: Timestamp) -> Result<Strategy> {
        self.write(|| {
            self.raise_strategy(id, now)?;
            self.strategy(id)
        })
    }

    fn set_strategy_state(
        &self,
        project: &ProjectId,
        id: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Strategy> {
        self.write(|| {
            let reason = reason.map(Clean::as_str);
            let changed = self.change(
                "UPDATE strategy SET state = $3, reason = $4 WHERE project = $1 AND id = $2",
                params![project.as_str(), id, state.as_str(), reason],
            )?;
            match changed {
                0 => Err(StoreError::not_found(RecordKind::Strategy, id)),
                _ => self.strategy(id),
            }
        })
    }

    fn strategies(&self, project: &ProjectId, filter: &StrategyFilter) -> Result<Vec<Strategy>> {
        // These columns are compared bytewise, so only ASCII letters are lowercased, as in the embedded store.
        self.all(
            &format!(
                "SELECT {STRATEGY} FROM strategy WHERE project = $1
                AND ($2 IS NULL OR language IS NULL OR lower(language) = lower($2 COLLATE \"C\"))
                AND ($3 IS NULL OR framework IS NULL OR lower(framework) = lower($3 COLLATE \"C\"))
                AND ($5 IS NULL OR state = $5)
             ORDER BY helpfulness DESC, last_seen DESC, id LIMIT $4"
            ),
            params![
                project.as_str(),
                &filter.language,
                &filter.framework,
                filter.limit,
                filter.state.map(RecordState::as_str)
            ],
            rows::strategy,
        )
    }
}
