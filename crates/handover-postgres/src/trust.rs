//! Trust classes that are lowered afterwards.

use handover_model::{GroupId, Trust};
use handover_store::{Result, TrustClasses, WrittenBy};

use crate::PostgresStore;
use crate::value::params;

impl TrustClasses for PostgresStore {
    fn lower_trust(&self, written: &WrittenBy, trust: Trust) -> Result<u64> {
        if trust >= Trust::Agent {
            return Ok(0);
        }
        self.write(|| {
            let session = self.session_key(&written.session)?;
            let group = written.group.as_ref().map(GroupId::as_str);
            let mut changed = 0;
            for (table, of_agent) in [
                (
                    "package",
                    "session = $1 AND coalesce(group_id, $2) IS NOT DISTINCT FROM $2 AND producer = $3
                        AND created_at >= $4",
                ),
                (
                    "reasoning",
                    "session = $1 AND coalesce(group_id, $2) IS NOT DISTINCT FROM $2 AND role = $3
                        AND created_at >= $4",
                ),
                (
                    "error_pattern",
                    "(project, hash) IN (SELECT i.project, i.hash FROM error_incident i
                        WHERE i.session = $1 AND coalesce(i.group_id, $2) IS NOT DISTINCT FROM $2 AND i.role = $3
                            AND i.created_at >= $4)",
                ),
                (
                    "strategy",
                    "id IN (SELECT w.strategy FROM strategy_source w JOIN reasoning r ON r.id = w.reasoning
                        WHERE r.session = $1 AND coalesce(r.group_id, $2) IS NOT DISTINCT FROM $2 AND r.role = $3
                            AND r.created_at >= $4)",
                ),
            ] {
                let sql =
                    format!("UPDATE {table} SET trust = $5 WHERE {of_agent} AND trust = 'agent'");
                let params =
                    params![session, group, written.role.as_str(), written.since, trust.as_str()];
                changed += self.change(&sql, params)?;
            }
            Ok(changed)
        })
    }
}
