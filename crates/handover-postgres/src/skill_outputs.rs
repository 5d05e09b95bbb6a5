//! Skill outputs.

use handover_model::{GroupId, Role, SessionId, SkillName, SkillOutput};
use handover_store::rows::{self, SKILL_OUTPUT, to_json};
use handover_store::{NewSkillOutput, Result, SkillOutputFilter, SkillOutputs, StoreError};

use crate::value::params;
use crate::{OF_SESSION, PostgresStore};

impl SkillOutputs for PostgresStore {
    fn save_skill_output(&self, new: &NewSkillOutput) -> Result<SkillOutput> {
        self.write(|| {
            let session = self.session_key(&new.session)?;
            if let Some(group) = &new.group {
                self.ensure_group(session, group, new.now)?;
            }
            let saved = self.first(
                &format!(
                    "INSERT INTO skill_output
                    (session, skill, role, group_id, iteration, output, created_at)
                 SELECT $1, $2, $3, $4, coalesce(max(iteration), 0) + 1, $5, $6 FROM skill_output
                    WHERE session = $1 AND skill = $2 AND coalesce(role, '') = coalesce($3, '')
                        AND coalesce(group_id, '') = coalesce($4, '')
                 RETURNING {SKILL_OUTPUT}"
                ),
                params![
                    session,
                    new.skill.as_str(),
                    new.role.as_ref().map(Role::as_str),
                    new.group.as_ref().map(GroupId::as_str),
                    to_json(new.output.value()),
                    new.now,
                ],
                |row| rows::skill_output(&new.session, row),
            )?;
            saved.ok_or_else(|| StoreError::damaged("a skill output got no row"))
        })
    }

    fn skill_outputs(
        &self,
        session: &SessionId,
        filter: &SkillOutputFilter,
    ) -> Result<Vec<SkillOutput>> {
        self.all_of(
            session,
            &format!(
                "SELECT {SKILL_OUTPUT} FROM skill_output WHERE {OF_SESSION} AND ($2 IS NULL OR skill = $2)
                    AND ($3 IS NULL OR role = $3) AND ($4 IS NULL OR group_id = $4)
                 ORDER BY created_at DESC, id DESC LIMIT $5"
            ),
            params![
                session.as_str(),
                filter.skill.as_ref().map(SkillName::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.group.as_ref().map(GroupId::as_str),
                filter.limit,
            ],
            |row| rows::skill_output(session, row),
        )
    }
}
