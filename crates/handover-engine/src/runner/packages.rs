//! Files that an agent wants others to know.

use handover_context::debrief::{Kept, Origin, PackageNote, Setting, keep_packages};
use handover_context::package_file::ProjectPaths;
use handover_model::Timestamp;

use super::agent::Call;
use super::{Runner, group_of};
use crate::EngineError;
use crate::prompt::Prompt;

impl Runner<'_, '_> {
    /// Registers them. A file of the worktree is known by its place in the project, where whoever comes
    /// after finds it too; else it must be among the project's artifacts.
    pub(super) fn register(
        &mut self,
        call: &Call,
        prompt: &Prompt,
        notes: &[PackageNote],
        now: Timestamp,
    ) -> Result<(), EngineError> {
        if notes.is_empty() {
            return Ok(());
        }
        let origin = Origin {
            session: self.state.plan.records_in.clone(),
            group: Some(group_of(&call.seat.id)?),
            role: call.seat.step.role.clone(),
            agent: None,
            iteration: call.seat.attempt - 1,
            receipt: Some(prompt.receipt.clone()),
            now,
        };
        let folder = call.worktree.project();
        let there = |note: &&PackageNote| folder.join(&note.path).starts_with(&folder);
        let (inside, outside): (Vec<_>, Vec<_>) = notes.iter().partition(there);
        let mut refused = Vec::new();
        for (root, notes) in [(&folder, inside), (&self.engine.project, outside)] {
            let notes: Vec<PackageNote> = notes.into_iter().cloned().collect();
            // A voice's folder is gone by now.
            let kept = match ProjectPaths::new(root, &[]) {
                Ok(places) => self.registered(&places, &origin, &notes)?,
                Err(error) => Kept { refused: vec![error.to_string()], ..Kept::default() },
            };
            refused.extend(kept.refused.into_iter().filter(|_| !notes.is_empty()));
        }
        for reason in refused {
            self.warn(format!("{}: {reason}", call.seat.id))?;
        }
        Ok(())
    }

    fn registered(
        &self,
        places: &ProjectPaths,
        origin: &Origin,
        notes: &[PackageNote],
    ) -> Result<Kept, EngineError> {
        let engine = self.engine;
        let setting = Setting {
            store: engine.store,
            redactor: engine.redactor,
            places,
            config: engine.config,
            binding: &engine.prompter.binding(),
        };
        Ok(keep_packages(setting, origin, notes)?)
    }
}
