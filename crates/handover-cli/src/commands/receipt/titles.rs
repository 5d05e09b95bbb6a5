//! What people call the records that a receipt lists.

use handover_model::{ErrorPattern, NoteId, ProjectId, Reasoning, SessionId, Strategy};
use handover_store::{ErrorFilter, ReasoningFilter, StrategyFilter};
use handover_text::cut;

use crate::app::{App, short_id};

/// The longest title.
const CHARS: usize = 60;

/// Looks up titles. A record that is gone has none.
pub(super) struct Titles<'a> {
    app: &'a App,
    project: Option<ProjectId>,
    strategies: Vec<Strategy>,
    errors: Vec<ErrorPattern>,
    reasoning: Vec<Reasoning>,
}

impl<'a> Titles<'a> {
    /// Those of a receipt's project and session.
    pub(super) fn new(app: &'a App, session: &SessionId) -> Self {
        let project = app.learning().ok().map(|(_, project)| project);
        let both = project.as_ref().and_then(|project| {
            let store = app.store().ok()?;
            let strategies = store.strategies(project, &StrategyFilter::default()).ok()?;
            Some((strategies, store.errors(project, &ErrorFilter::default()).ok()?))
        });
        let (strategies, errors) = both.unwrap_or_default();
        let reasoning = app
            .store()
            .ok()
            .and_then(|store| store.reasoning(session, &ReasoningFilter::default()).ok());
        Self { app, project, strategies, errors, reasoning: reasoning.unwrap_or_default() }
    }

    /// A record with its title: `package 3 OAuth at the identity provider`.
    pub(super) fn of(&self, kind: &str, id: &str) -> String {
        let title = self.title(kind, id).map(|title| cut::cut(&cut::one_line(&title), CHARS));
        let id = if id.bytes().all(|byte| byte.is_ascii_digit()) { id } else { short_id(id) };
        match title.filter(|title| !title.is_empty()) {
            Some(title) => format!("{kind} {id} “{title}”"),
            None => format!("{kind} {id}"),
        }
    }

    fn title(&self, kind: &str, id: &str) -> Option<String> {
        let (store, project) = (self.app.store().ok()?, self.project.as_ref()?);
        match kind {
            "package" => {
                let package = store.package(id.parse().ok()?).ok()?;
                Some(package.title.unwrap_or(package.path))
            }
            "note" => {
                let note = store.note(project, &NoteId::new(id).ok()?).ok()?;
                Some(if note.title.is_empty() { note.origin } else { note.title })
            }
            "strategy" => {
                self.strategies.iter().find(|one| one.id == id).map(|one| one.insight.clone())
            }
            "error" => self.errors.iter().find(|one| one.hash == id).map(|one| one.said()),
            "reasoning" => {
                let entry = self.reasoning.iter().find(|one| one.id.to_string() == id);
                entry.map(|entry| entry.content.clone())
            }
            _ => None,
        }
    }
}
