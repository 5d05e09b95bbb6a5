//! The logs and results of agents. While a story is in progress they are outside of the tree that holds the worktrees,
//! so that a reviewer does not come across what the developer thought; then they are kept with the run.

use handover_files::{Folder, Kind};
use handover_model::RunId;

use super::{Engine, Runner};
use crate::EngineError;
use crate::git::ref_part;

/// The folder of the logs of stories in progress, in `.handover/`.
pub(crate) const LOGS: &str = "logs";

impl Engine<'_> {
    /// The logs of a run's stories that are in progress.
    pub(super) fn live_logs(&self, run: &RunId) -> Folder {
        Folder::of(&self.project).inside(LOGS).inside(run.as_str())
    }
}

impl Runner<'_, '_> {
    /// The folder of a story's logs.
    pub(super) fn logs(&mut self, story: &str) -> Result<Folder, EngineError> {
        let folder = self.engine.live_logs(&self.journal.run).inside(ref_part(story));
        folder.create()?;
        self.live_logs.insert(story.to_owned());
        Ok(folder)
    }

    /// Keeps the logs of stories that are settled with the run. A log that cannot be moved stays where it is.
    pub(super) fn keep_logs(&mut self) {
        let state = &self.state;
        let is_settled = |id: &str| state.story(id).is_none_or(|story| story.is_settled());
        let settled: Vec<String> =
            self.live_logs.iter().filter(|id| is_settled(id.as_str())).cloned().collect();
        let live = self.engine.live_logs(&self.journal.run);
        for story in settled {
            let (from, to) = (live.inside(ref_part(&story)), self.folder.inside(ref_part(&story)));
            for entry in from.entries().unwrap_or_default() {
                if entry.kind == Kind::File {
                    let _ = from.move_file(&entry.name, &to);
                }
            }
            from.remove_if_empty();
            self.live_logs.remove(&story);
        }
        live.remove_if_empty();
    }
}
