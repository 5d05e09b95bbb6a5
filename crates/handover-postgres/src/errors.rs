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

use crate::PostgresStore;
use crate::value::params;

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl PostgresStore {
    /// The one pattern whose hash starts with the prefix.
    fn error_by_prefix(&self, project: &ProjectId, prefix: &str) -> Result<ErrorPattern> {
        let mut found = self.all(
            &format!("SELECT {ERROR_PATTERN} FROM error_pattern e WHERE e.project = $1 AND e.hash >= $2 AND e.hash < $2 || 'g'"),
            params![project.as_str(), prefix],
            rows::error_pattern,
        )?;
        match (found.len(), found.pop()) {
            (1, Some(pattern)) if !prefix.is_empty() => Ok(pattern),
            (0, _) | (_, None) => Err(StoreError::not_found(RecordKind::ErrorPattern, prefix)),
            (count, Some(_)) => Err(StoreError::Ambiguous { prefix: prefix.to_owned(), count }),
        }
    }

    /// The pattern with exactly this hash.
    fn error(&self, project: &ProjectId, hash: &str) -> Result<ErrorPattern> {
        let sql = format!(
            "SELECT {ERROR_PATTERN} FROM error_pattern e WHERE e.project = $1 AND e.hash = $2"
        );
        self.first(&sql, params![project.as_str(), hash], rows::error_pattern)?
            .ok_or_else(|| StoreError::not_found(RecordKind::ErrorPattern, hash))
    }

    /// Counts a sighting in one statement and stores its circumstances; returns the hash.
    fn sight(&self, sighting: &ErrorSighting) -> Result<String> {
        let signature = sighting.signature.signature();
        let hash = signature.hash();
        let now = sighting.now;
        self.change(
            &format!(
                "INSERT INTO error_pattern AS e (project, hash, kind, message, hints, confidence,
                    occurrences, language, first_seen, last_seen, ttl_days, example, trust)
                 VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $8, $9, $10, $11)
                 ON CONFLICT (project, hash) DO UPDATE SET occurrences = e.occurrences + 1,
                    last_seen = greatest(e.last_seen, excluded.last_seen),
                    ttl_days = excluded.ttl_days, language = coalesce(e.language, excluded.language),
                    example = coalesce(excluded.example, e.example), trust = {}",
                lower_trust("e.trust", "excluded.trust")
            ),
            params![
                sighting.project.as_str(),
                hash.as_str(),
                &signature.kind,
                &signature.message,
                to_json(&signature.hints),
                Trust::START.thousandths(),
                sighting.language.as_ref().map(Clean::as_str),
                now,
                sighting.ttl_days.max(1),
                sighting.signature.said(),
                sighting.trust.as_str(),
            ],
        )?;
        let session = sighting.session.as_ref().map(|id| self.session_key(id)).transpose()?;
        if let (Some(session), Some(group)) = (session, &sighting.group) {
            self.ensure_group(session, group, now)?;
        }
        self.change(
            "INSERT INTO error_incident (project, hash, session, group_id, role, command, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                sighting.project.as_str(),
                hash.as_str(),
                session,
                sighting.group.as_ref().map(GroupId::as_str),
                sighting.role.as_ref().map(Role::as_str),
                sighting.command.as_ref().map(Clean::as_str),
                now,
            ],
        )?;
        self.remember_trust(&sighting.project, &hash, now)?;
        Ok(hash)
    }

    /// Records the trust in a pattern if it has changed.
    fn remember_trust(&self, project: &ProjectId, hash: &str, now: Timestamp) -> Result<()> {
        self.change(
            "INSERT INTO error_trust (project, hash, confidence, changed_at)
             SELECT e.project, e.hash, e.confidence, $3 FROM error_pattern e
             WHERE e.project = $1 AND e.hash = $2 AND e.confidence IS DISTINCT FROM
                (SELECT t.confidence FROM error_trust t WHERE t.project = $1 AND t.hash = $2
                 ORDER BY t.id DESC LIMIT 1)",
            params![project.as_str(), hash, now],
        )?;
        Ok(())
    }
}

impl ErrorPatterns for PostgresStore {
    fn record_error(&self, sighting: &ErrorSighting) -> Result<ErrorPattern> {
        self.write(|| {
            let hash = self.sight(sighting)?;
            self.error(&sighting.project, &hash)
        })
    }

    fn resolve_error(&self, sighting: &ErrorSighting, solution: &Clean) -> Result<ErrorPattern> {
        let project = sighting.project.as_str();
        self.write(|| {
            let hash = self.sight(sighting)?;
            // The first solution is the start, every further one a confirmation.
            self.change(
                "UPDATE error_pattern SET solved = 1,
                    confidence = CASE solved WHEN 1 THEN least($4, confidence + $3)
                        ELSE confidence END
                 WHERE project = $1 AND hash = $2",
                params![project, hash.as_str(), Trust::CONFIRM_STEP, Trust::MAX.thousandths()],
            )?;
            self.change(
                "INSERT INTO error_solution AS s (project, hash, solution, uses, last_used)
                 VALUES ($1, $2, $3, 1, $4)
                 ON CONFLICT (project, hash, md5(solution))
                    DO UPDATE SET uses = s.uses + 1, last_used = excluded.last_used",
                params![project, hash.as_str(), solution.as_str(), sighting.now],
            )?;
            self.remember_trust(&sighting.project, &hash, sighting.now)?;
            self.error(&sighting.project, &hash)
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
        self.write(|| {
            let hash = self.error_by_prefix(project, hash)?.hash;
            self.change(
                "UPDATE error_pattern SET confidence = greatest($4, least($5, confidence + $3)),
                    last_seen = greatest(last_seen, $6)
                 WHERE project = $1 AND hash = $2",
                params![
                    project.as_str(),
                    hash.as_str(),
                    step,
                    Trust::MIN.thousandths(),
                    Trust::MAX.thousandths(),
                    seen,
                ],
            )?;
            self.remember_trust(project, &hash, now)?;
            self.error(project, &hash)
        })
    }

    fn set_error_state(
        &self,
        project: &ProjectId,
        hash: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<ErrorPattern> {
        self.write(|| {
            let hash = self.error_by_prefix(project, hash)?.hash;
            let reason = reason.map(Clean::as_str);
            self.change(
                "UPDATE error_pattern SET state = $3, reason = $4 WHERE project = $1 AND hash = $2",
                params![project.as_str(), hash.as_str(), state.as_str(), reason],
            )?;
            self.error(project, &hash)
        })
    }

    fn errors(&self, project: &ProjectId, filter: &ErrorFilter) -> Result<Vec<ErrorPattern>> {
        self.all(
            &format!(
                "SELECT {ERROR_PATTERN} FROM error_pattern e WHERE e.project = $1
                    AND ($2 IS NULL OR e.language IS NULL
                        OR lower(e.language) = lower($2 COLLATE \"C\"))
                    AND ($3 IS NULL OR e.confidence > $3)
                    AND ($4 IS NULL OR e.last_seen >= $4 - e.ttl_days * $5)
                    AND ($7 IS NULL OR e.state = $7)
                 ORDER BY e.confidence DESC, e.occurrences DESC, e.last_seen DESC, e.hash LIMIT $6"
            ),
            params![
                project.as_str(),
                &filter.language,
                filter.above.map(Trust::thousandths),
                filter.live_at.map(Timestamp::as_micros),
                MICROS_PER_DAY,
                filter.limit,
                filter.state.map(RecordState::as_str),
            ],
            rows::error_pattern,
        )
    }

    fn error_incidents(&self, project: &ProjectId, hash: &str) -> Result<Vec<ErrorIncident>> {
        let hash = self.error_by_prefix(project, hash)?.hash;
        self.all(
            &format!(
                "SELECT {ERROR_INCIDENT}
                 FROM error_incident i LEFT JOIN session s ON s.key = i.session
                 WHERE i.project = $1 AND i.hash = $2 ORDER BY i.created_at DESC, i.id DESC"
            ),
            params![project.as_str(), hash.as_str()],
            rows::error_incident,
        )
    }

    fn error_trust(&self, project: &ProjectId, hash: &str) -> Result<Vec<TrustAt>> {
        self.all(
            &format!(
                "SELECT {TRUST_AT} FROM error_trust WHERE project = $1 AND hash = $2 ORDER BY id"
            ),
            params![project.as_str(), hash],
            rows::trust_at,
        )
    }
}
