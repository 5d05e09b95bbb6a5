//! Registers the handoffs of earlier epics as packages, entry by entry, so that each agent gets those
//! that are relevant to its task.

use handover_context::package_file::{
    DraftContext, Facts, NewText, PackageFileError, Placement, ProjectPaths, Put, register_file,
    write_text,
};
use handover_model::{EpicId, PackageKind, Priority, Role, SessionId, Trust};
use handover_store::{RunFilter, StoreError};

use super::Engine;
use crate::EngineError;
use crate::data::handoff_path;
use crate::git::Repo;
use crate::reducer::Plan;
use crate::retro::Handoff;
use crate::story;

/// A text that will become a package.
struct HandoffText {
    priority: Priority,
    topic: String,
    body: String,
    files: Vec<String>,
}

impl Engine<'_> {
    /// Registers the handoffs of the epics that this one depends on. Idempotent. Returns why entries
    /// were skipped; they do not stop the run.
    pub(super) fn register_handoffs(
        &self,
        repo: &Repo,
        plan: &Plan,
    ) -> Result<Vec<String>, EngineError> {
        let mut skipped = Vec::new();
        let layout = story::Layout::new(&self.config.runs);
        for epic in story::epic_dependencies(&self.project, &layout, &plan.epic)? {
            let path = repo.prefix.join(handoff_path(&epic));
            let Some(bytes) = repo.file_of(&plan.base, &path)? else { continue };
            let handoff = Handoff::parse(&String::from_utf8_lossy(&bytes));
            let trust = self.trust_in(&epic)?;
            for text in texts(&epic, &handoff) {
                match self.register(&plan.records_in, &text, trust) {
                    Ok(Put::Registered(_) | Put::Unchanged(_)) => {}
                    Ok(Put::Skipped(reason)) => skipped.push(reason),
                    Err(EngineError::Package(error)) => skipped.push(error.to_string()),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(skipped)
    }

    /// How far to believe the handoff of an epic: as far as the agents that worked on it. If they worked elsewhere, as
    /// agents.
    fn trust_in(&self, epic: &EpicId) -> Result<Trust, EngineError> {
        let filter = RunFilter { epic: Some(epic.clone()), ..RunFilter::default() };
        let runs = self.store.runs(&filter)?;
        let mut lowest = Trust::Agent;
        for run in runs {
            match handover_context::trust::of_session(self.store, &run.session, None) {
                Ok(trust) => lowest = lowest.min(trust),
                // It was purged.
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(lowest)
    }

    fn register(
        &self,
        session: &SessionId,
        text: &HandoffText,
        trust: Trust,
    ) -> Result<Put, EngineError> {
        let places = ProjectPaths::new(&self.project, &[])?;
        let setting = DraftContext {
            paths: &places,
            redactor: self.redactor,
            session,
            groups: &[],
            warn_bytes: self.config.packages.warn_bytes,
            max_bytes: self.config.packages.max_bytes,
            now: (self.now)(),
            trust,
        };
        let new = NewText {
            kind: PackageKind::Handoff,
            placement: Placement::Global,
            producer: Role::new("project_manager")?,
            consumers: &[],
            priority: text.priority,
            iteration: None,
            topic: Some(&text.topic),
            body: &text.body,
        };
        let written = write_text(&setting, &new)?;
        let facts = Facts { files: Some(text.files.clone()), ..Facts::default() };
        Ok(register_file(self.store, &setting, Ok::<_, PackageFileError>(written.located), facts)?)
    }
}

/// One text with the whole handoff, and one for each entry.
fn texts(epic: &EpicId, handoff: &Handoff) -> Vec<HandoffText> {
    if handoff.entries.is_empty() && handoff.summary.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = handoff
        .entries
        .iter()
        .map(|entry| format!("- {}: {}", entry.section.heading(), entry.text))
        .collect();
    let summary = if handoff.summary.is_empty() {
        format!("What epic {epic} established.")
    } else {
        handoff.summary.clone()
    };
    let whole = HandoffText {
        priority: Priority::High,
        topic: format!("epic {epic}"),
        body: format!(
            "# Handoff of epic {epic}\n\n## Summary\n\n{summary}\n\n## Entries\n\n{}\n",
            lines.join("\n")
        ),
        files: handoff.entries.iter().filter_map(|entry| entry.file.clone()).collect(),
    };
    let entries = handoff.entries.iter().enumerate().map(|(n, entry)| HandoffText {
        priority: Priority::Medium,
        topic: format!("epic {epic} {} {n}", entry.section.heading()),
        body: format!(
            "# {} of epic {epic}\n\n## Summary\n\n{} of epic {epic}: {}\n",
            entry.section.heading(),
            entry.section.heading(),
            entry.text
        ),
        files: entry.file.iter().cloned().collect(),
    });
    std::iter::once(whole).chain(entries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retro::{HandoffEntry, Section};

    fn epic() -> EpicId {
        EpicId::new("1").unwrap()
    }

    fn entry(section: Section, text: &str, file: Option<&str>) -> HandoffEntry {
        HandoffEntry { section, text: text.to_owned(), file: file.map(str::to_owned) }
    }

    #[test]
    fn a_handoff_is_a_package_for_the_whole_and_one_for_each_entry() {
        let handoff = Handoff {
            summary: "Accounts exist.".to_owned(),
            entries: vec![
                entry(Section::Gotchas, "times are UTC", Some("src/time.rs")),
                entry(Section::Decisions, "SQLite: one file", None),
            ],
        };
        let texts = texts(&epic(), &handoff);
        assert_eq!(texts.len(), 3);
        let [whole, gotcha, decision] = texts.as_slice() else { unreachable!() };
        assert_eq!((whole.priority, whole.topic.as_str()), (Priority::High, "epic 1"));
        assert_eq!(whole.files, ["src/time.rs"]);
        assert_eq!(
            whole.body,
            "# Handoff of epic 1\n\n## Summary\n\nAccounts exist.\n\n## Entries\n\n\
             - Gotchas: times are UTC\n- Decisions: SQLite: one file\n"
        );
        assert_eq!(
            (gotcha.priority, gotcha.topic.as_str()),
            (Priority::Medium, "epic 1 Gotchas 0")
        );
        assert_eq!(gotcha.files, ["src/time.rs"]);
        assert_eq!(
            gotcha.body,
            "# Gotchas of epic 1\n\n## Summary\n\nGotchas of epic 1: times are UTC\n"
        );
        assert_eq!((decision.topic.as_str(), decision.files.len()), ("epic 1 Decisions 1", 0));
    }

    #[test]
    fn a_handoff_without_a_summary_gets_one_and_an_empty_one_is_nothing() {
        let entries = vec![entry(Section::Files, "src/main.rs", Some("src/main.rs"))];
        let handoff = Handoff { summary: String::new(), entries };
        assert!(texts(&epic(), &handoff)[0].body.contains("What epic 1 established."));
        assert!(texts(&epic(), &Handoff::default()).is_empty());
        let only_summary = Handoff { summary: "x".to_owned(), entries: Vec::new() };
        assert_eq!(texts(&epic(), &only_summary).len(), 1);
    }
}
