//! Skill outputs.

use handover_model::{GroupId, Role, SessionId, SkillName, SkillOutput};
use handover_store::rows::{self, SKILL_OUTPUT, to_json};
use handover_store::{NewSkillOutput, Result, SkillOutputFilter, SkillOutputs, StoreError};

use crate::durability::Promise;
use crate::{SqliteStore, ensure_group, query, session_key, sums};

impl SkillOutputs for SqliteStore {
    fn save_skill_output(&self, new: &NewSkillOutput) -> Result<SkillOutput> {
        let role = new.role.as_ref().map(Role::as_str);
        let group = new.group.as_ref().map(GroupId::as_str);
        // Inside another transaction it only belongs to what that one keeps.
        let promise = match self.connection.is_autocommit() {
            true => Promise::Synced,
            false => Promise::Committed,
        };
        self.transact(promise, |tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            let saved = query::first(
                tx,
                &format!(
                    "INSERT INTO skill_output
                        (session, skill, role, group_id, iteration, output, created_at)
                     SELECT ?1, ?2, ?3, ?4, ifnull(max(iteration), 0) + 1, ?5, ?6 FROM skill_output
                        WHERE session = ?1 AND skill = ?2 AND ifnull(role, '') = ifnull(?3, '')
                            AND ifnull(group_id, '') = ifnull(?4, '')
                     RETURNING {SKILL_OUTPUT}"
                ),
                (
                    session,
                    new.skill.as_str(),
                    role,
                    group,
                    to_json(new.output.value()),
                    new.now.as_micros(),
                ),
                |row| rows::skill_output(&new.session, row),
            )?;
            saved.ok_or_else(|| StoreError::damaged("an insert returned no row"))
        })
    }

    fn skill_outputs(
        &self,
        session: &SessionId,
        filter: &SkillOutputFilter,
    ) -> Result<Vec<SkillOutput>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("skill_output", "skill_output");
        query::records(
            &self.connection,
            &format!(
                "SELECT {SKILL_OUTPUT}, {intact} FROM skill_output
                 WHERE session = ?1 AND (?2 IS NULL OR skill = ?2) AND (?3 IS NULL OR role = ?3)
                    AND (?4 IS NULL OR group_id = ?4)
                 ORDER BY created_at DESC, id DESC LIMIT ?5"
            ),
            (
                key,
                filter.skill.as_ref().map(SkillName::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.group.as_ref().map(GroupId::as_str),
                filter.limit.map_or(-1, i64::from),
            ),
            |row| rows::skill_output(session, row),
        )
    }
}
