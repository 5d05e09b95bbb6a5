//! Error patterns.

use handover_model::learn::Trust;
use handover_model::{
    ErrorIncident, ErrorPattern, GroupId, ProjectId, RecordState, Role, Timestamp,
};
use handover_store::rows::{self, ERROR_INCIDENT, ERROR_PATTERN, TRUST_AT, lower_trust, to_json};
use handover_store::{
    ErrorFilter, ErrorPatterns, ErrorSighting, Judgement, RecordKind, Result, StoreError, TrustAt,
};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, ensure_group, query, session_key, sums};

/// Whether a pattern and its solutions match their checksums.
fn intact() -> String {
    let (pattern, solution) =
        (sums::intact("error_pattern", "e"), sums::intact("error_solution", "w"));
    format!(
        "{pattern} AND NOT EXISTS (SELECT 1 FROM error_solution w
            WHERE w.project = e.project AND w.hash = e.hash AND NOT ({solution}))"
    )
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The one pattern whose hash starts with the prefix.
fn by_prefix(connection: &Connection, project: &ProjectId, prefix: &str) -> Result<ErrorPattern> {
    let intact = intact();
    let mut found = query::records(
        connection,
        &format!(
            "SELECT {ERROR_PATTERN}, {intact} FROM error_pattern e WHERE e.project = ?1 AND e.hash >= ?2 AND e.hash < ?2 || 'g'"
        ),
        (project.as_str(), prefix),
        rows::error_pattern,
    )?;
    match (found.len(), found.pop()) {
        (1, Some(pattern)) if !prefix.is_empty() => Ok(pattern),
        (0, _) | (_, None) => Err(StoreError::not_found(RecordKind::ErrorPattern, prefix)),
        (count, Some(_)) => Err(StoreError::Ambiguous { prefix: prefix.to_owned(), count }),
    }
}

/// The pattern with exactly this hash.
fn get(connection: &Connection, project: &ProjectId, hash: &str) -> Result<ErrorPattern> {
    let intact = intact();
    query::records(
        connection,
        &format!(
            "SELECT {ERROR_PATTERN}, {intact} FROM error_pattern e WHERE e.project = ?1 AND e.hash = ?2"
        ),
        (project.as_str(), hash),
        rows::error_pattern,
    )?
    .pop()
    .ok_or_else(|| StoreError::not_found(RecordKind::ErrorPattern, hash))
}

/// Counts a sighting in one statement and keeps its circumstances; returns the hash.
fn sight(tx: &Connection, sighting: &ErrorSighting) -> Result<String> {
    let signature = sighting.signature.signature();
    let hash = signature.hash();
    let now = sighting.now.as_micros();
    // A change computes a new sum: a damaged record would look sound again.
    match get(tx, &sighting.project, &hash) {
        Ok(_) | Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    tx.execute(
        &format!(
            "INSERT INTO error_pattern (project, hash, kind, message, hints, confidence, occurrences,
                language, first_seen, last_seen, ttl_days, example, trust)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?9, ?10, ?11)
             ON CONFLICT DO UPDATE SET occurrences = occurrences + 1,
                last_seen = max(last_seen, excluded.last_seen), ttl_days = excluded.ttl_days,
                language = ifnull(language, excluded.language),
                example = ifnull(excluded.example, example), trust = {}",
            lower_trust("trust", "excluded.trust")
        ),
        rusqlite::params![
            sighting.project.as_str(),
            hash,
            signature.kind,
            signature.message,
            to_json(&signature.hints),
            Trust::START.thousandths(),
            sighting.language.as_ref().map(Clean::as_str),
            now,
            sighting.ttl_days.max(1),
            sighting.signature.said(),
            sighting.trust.as_str(),
        ],
    )
    .map_err(backend)?;
    let session = sighting.session.as_ref().map(|id| session_key(tx, id)).transpose()?;
    if let (Some(session), Some(group)) = (session, &sighting.group) {
        ensure_group(tx, session, group, sighting.now)?;
    }
    tx.execute(
        "INSERT INTO error_incident (project, hash, session, group_id, role, command, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            sighting.project.as_str(),
            &hash,
            session,
            sighting.group.as_ref().map(GroupId::as_str),
            sighting.role.as_ref().map(Role::as_str),
            sighting.command.as_ref().map(Clean::as_str),
            now,
        ),
    )
    .map_err(backend)?;
    remember(tx, &sighting.project, &hash, sighting.now)?;
    Ok(hash)
}

/// Notes what the trust in a pattern is, if that has changed.
fn remember(tx: &Connection, project: &ProjectId, hash: &str, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO error_trust (project, hash, confidence, changed_at)
         SELECT e.project, e.hash, e.confidence, ?3 FROM error_pattern e
         WHERE e.project = ?1 AND e.hash = ?2 AND e.confidence IS NOT
            (SELECT t.confidence FROM error_trust t WHERE t.project = ?1 AND t.hash = ?2
             ORDER BY t.id DESC LIMIT 1)",
        (project.as_str(), hash, now.as_micros()),
    )
    .map_err(backend)?;
    Ok(())
}

impl ErrorPatterns for SqliteStore {
    fn record_error(&self, sighting: &ErrorSighting) -> Result<ErrorPattern> {
        self.write_unsynced(|tx| {
            let hash = sight(tx, sighting)?;
            get(tx, &sighting.project, &hash)
        })
    }

    fn resolve_error(&self, sighting: &ErrorSighting, solution: &Clean) -> Result<ErrorPattern> {
        let project = sighting.project.as_str();
        self.write(|tx| {
            let hash = sight(tx, sighting)?;
            // The first solution is a start, every further one a confirmation.
            tx.execute(
                "UPDATE error_pattern SET solved = 1,
                    confidence = CASE solved WHEN 1 THEN min(?4, confidence + ?3) ELSE confidence END
                 WHERE project = ?1 AND hash = ?2",
                (project, &hash, Trust::CONFIRM_STEP, Trust::MAX.thousandths()),
            )
            .map_err(backend)?;
            remember(tx, &sighting.project, &hash, sighting.now)?;
            tx.execute(
                "INSERT INTO error_solution (project, hash, solution, uses, last_used)
                 VALUES (?1, ?2, ?3, 1, ?4)
                 ON CONFLICT DO UPDATE SET uses = uses + 1, last_used = excluded.last_used",
                (project, &hash, solution.as_str(), sighting.now.as_micros()),
            )
            .map_err(backend)?;
            get(tx, &sighting.project, &hash)
        })
    }

    fn judge_error(
        &self,
        project: &ProjectId,
        hash: &str,
        verdict: Judgement,
        now: Timestamp,
    ) -> Result<ErrorPattern> {
        let step = match verdict {
            Judgement::Confirmed => Trust::CONFIRM_STEP,
            Judgement::Rejected => -Trust::REJECT_STEP,
        };
        // Only a use that helped shows that the pattern is still alive.
        let seen = (verdict == Judgement::Confirmed).then(|| now.as_micros());
        self.write(|tx| {
            let hash = by_prefix(tx, project, hash)?.hash;
            tx.execute(
                "UPDATE error_pattern SET confidence = max(?4, min(?5, confidence + ?3)),
                    last_seen = max(last_seen, ifnull(?6, last_seen))
                 WHERE project = ?1 AND hash = ?2",
                (
                    project.as_str(),
                    &hash,
                    step,
                    Trust::MIN.thousandths(),
                    Trust::MAX.thousandths(),
                    seen,
                ),
            )
            .map_err(backend)?;
            remember(tx, project, &hash, now)?;
            by_prefix(tx, project, &hash)
        })
    }

    fn set_error_state(
        &self,
        project: &ProjectId,
        hash: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<ErrorPattern> {
        self.write(|tx| {
            let hash = by_prefix(tx, project, hash)?.hash;
            let sql =
                "UPDATE error_pattern SET state = ?3, reason = ?4 WHERE project = ?1 AND hash = ?2";
            let reason = reason.map(Clean::as_str);
            query::execute(tx, sql, (project.as_str(), &hash, state.as_str(), reason))?;
            get(tx, project, &hash)
        })
    }

    fn errors(&self, project: &ProjectId, filter: &ErrorFilter) -> Result<Vec<ErrorPattern>> {
        let intact = intact();
        query::records(
            &self.connection,
            &format!(
                "SELECT {ERROR_PATTERN}, {intact} FROM error_pattern e WHERE e.project = ?1
                    AND (?2 IS NULL OR e.language IS NULL OR e.language = ?2 COLLATE NOCASE)
                    AND (?3 IS NULL OR e.confidence > ?3)
                    AND (?4 IS NULL OR e.last_seen >= ?4 - e.ttl_days * ?5)
                    AND (?7 IS NULL OR e.state = ?7)
                 ORDER BY e.confidence DESC, e.occurrences DESC, e.last_seen DESC, e.hash LIMIT ?6"
            ),
            (
                project.as_str(),
                &filter.language,
                filter.above.map(Trust::thousandths),
                filter.live_at.map(Timestamp::as_micros),
                MICROS_PER_DAY,
                filter.limit.map_or(-1, i64::from),
                filter.state.map(RecordState::as_str),
            ),
            rows::error_pattern,
        )
    }

    fn error_incidents(&self, project: &ProjectId, hash: &str) -> Result<Vec<ErrorIncident>> {
        let hash = by_prefix(&self.connection, project, hash)?.hash;
        let intact = sums::intact("error_incident", "i");
        query::records(
            &self.connection,
            &format!(
                "SELECT {ERROR_INCIDENT}, {intact}
                 FROM error_incident i LEFT JOIN session s ON s.key = i.session
                 WHERE i.project = ?1 AND i.hash = ?2 ORDER BY i.created_at DESC, i.id DESC"
            ),
            (project.as_str(), hash),
            rows::error_incident,
        )
    }

    fn error_trust(&self, project: &ProjectId, hash: &str) -> Result<Vec<TrustAt>> {
        let intact = sums::intact("error_trust", "error_trust");
        query::records(
            &self.connection,
            &format!(
                "SELECT {TRUST_AT}, {intact} FROM error_trust WHERE project = ?1 AND hash = ?2 ORDER BY id"
            ),
            (project.as_str(), hash),
            rows::trust_at,
        )
    }
}
