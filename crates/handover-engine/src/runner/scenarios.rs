//! Finds the scenarios of an epic as a run would.

use handover_model::{EpicId, Host};

use super::Engine;
use crate::EngineError;
use crate::bounded;
use crate::data::uat_data_path;
use crate::git::Repo;
use crate::uat::{Document, UatError, parse};

impl Engine<'_> {
    /// The scenarios of an epic: those of the user's checkout, unless the epic's branch has changed them.
    /// None if there are none. `at` is the commit to look at instead of the epic's branch.
    pub fn scenarios(
        &self,
        epic: &EpicId,
        at: Option<&str>,
    ) -> Result<Option<Document>, EngineError> {
        let repo = Repo::open(&self.project, self.environment_of(Host::COMMAND))?;
        let path = uat_data_path(epic);
        let in_repo = repo.prefix.join(&path);
        let branch = match at {
            Some(commit) => Some(commit.to_owned()),
            None => repo.resolve(&format!("refs/heads/handover/epic-{epic}"))?,
        };
        let base = match &branch {
            Some(commit) => repo.file_of(commit, &in_repo)?,
            None => None,
        };
        let committed = repo.file_of("HEAD", &in_repo)?;
        let on_disk = bounded::bytes(&self.project.join(&path));
        let bytes = if base.is_some() && base != committed { base } else { on_disk.or(base) };
        let Some(bytes) = bytes else { return Ok(None) };
        let mut document = parse(&String::from_utf8_lossy(&bytes))
            .map_err(|problems| UatError { path, problems })?;
        document.epic = epic.to_string();
        Ok(Some(document))
    }
}
