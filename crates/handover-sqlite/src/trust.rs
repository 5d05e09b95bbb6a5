//! Trust classes that are lowered afterwards.

use handover_model::{GroupId, Trust};
use handover_store::{Result, TrustClasses, WrittenBy};

use crate::error::backend;
use crate::{SqliteStore, session_key, sums};

impl TrustClasses for SqliteStore {
    fn lower_trust(&self, written: &WrittenBy, trust: Trust) -> Result<u64> {
        if trust >= Trust::Agent {
            return Ok(0);
        }
        self.write(|tx| {
            let session = session_key(tx, &written.session)?;
            let group = written.group.as_ref().map(GroupId::as_str);
            let (role, since) = (written.role.as_str(), written.since.as_micros());
            let mut changed = 0;
            for (table, of_agent) in [
                ("package", "session = ?1 AND ifnull(group_id, ?2) IS ?2 AND producer = ?3 AND created_at >= ?4"),
                ("reasoning", "session = ?1 AND ifnull(group_id, ?2) IS ?2 AND role = ?3 AND created_at >= ?4"),
                (
                    "error_pattern",
                    "(project, hash) IN (SELECT i.project, i.hash FROM error_incident i
                        WHERE i.session = ?1 AND ifnull(i.group_id, ?2) IS ?2 AND i.role = ?3
                            AND i.created_at >= ?4)",
                ),
                (
                    "strategy",
                    "id IN (SELECT w.strategy FROM strategy_source w JOIN reasoning r ON r.id = w.reasoning
                        WHERE r.session = ?1 AND ifnull(r.group_id, ?2) IS ?2 AND r.role = ?3
                            AND r.created_at >= ?4)",
                ),
            ] {
                // A change computes a new sum: a damaged record would look sound again.
                let intact = sums::intact(table, table);
                let sql = format!(
                    "UPDATE {table} SET trust = ?5 WHERE {of_agent} AND trust = 'agent' AND {intact}"
                );
                let rows = tx.execute(&sql, (session, group, role, since, trust.as_str()));
                changed += rows.map_err(backend)? as u64;
            }
            Ok(changed)
        })
    }
}
