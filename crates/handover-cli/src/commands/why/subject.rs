//! What a name can mean: a package, a note, a file that packages and notes are about, or words.

use handover_context::everything::{Everything, search};
use handover_model::{ItemKind, Note, Package, PackageId, SessionId};
use handover_store::{NoteFilter, PackageFilter, Versions};

use crate::app::App;
use crate::error::CommandError;

/// The most records that are explained at once.
const MOST: usize = 5;

/// A record that was asked about.
#[derive(Debug)]
pub(super) enum Subject {
    Package(Package),
    Note(Note),
}

impl Subject {
    /// What a name means, best first. Nothing, if no record has it.
    pub(super) fn find(
        app: &App,
        session: &SessionId,
        name: &str,
    ) -> Result<Vec<Self>, CommandError> {
        let store = app.store()?;
        if let Ok(id) = name.parse::<PackageId>() {
            return Ok(vec![Self::Package(store.package(id)?)]);
        }
        let path = app.in_project(name.as_ref()).unwrap_or_else(|| name.to_owned());
        let packages = packages_at(app, session, &path)?;
        if !packages.is_empty() {
            return Ok(packages);
        }
        let (_, project) = app.learning()?;
        match app.find_note(&project, name) {
            Ok(note) => return Ok(vec![Self::Note(note)]),
            Err(error) if error.code == "ambiguous" => return Err(error),
            Err(_) => {}
        }
        let about = about(app, session, &path)?;
        if !about.is_empty() {
            return Ok(about);
        }
        by_words(app, name)
    }

    pub(super) fn kind(&self) -> ItemKind {
        match self {
            Self::Package(_) => ItemKind::Package,
            Self::Note(_) => ItemKind::Note,
        }
    }

    pub(super) fn id(&self) -> String {
        match self {
            Self::Package(package) => package.id.to_string(),
            Self::Note(note) => note.id.to_string(),
        }
    }

    /// What people call it.
    pub(super) fn title(&self) -> String {
        let text = match self {
            Self::Package(package) => package.title.as_ref().unwrap_or(&package.summary),
            Self::Note(note) => &note.title,
        };
        handover_text::cut::cut(&handover_text::cut::one_line(text), 80)
    }

    /// Where it is from.
    pub(super) fn origin(&self) -> &str {
        match self {
            Self::Package(package) => &package.path,
            Self::Note(note) => &note.origin,
        }
    }
}

/// The newest package of a path in the agent's session, else in any other.
fn packages_at(app: &App, session: &SessionId, path: &str) -> Result<Vec<Subject>, CommandError> {
    let store = app.store()?;
    let filter = PackageFilter {
        path: Some(path.to_owned()),
        versions: Versions::Latest,
        ..PackageFilter::default()
    };
    let own = store.packages(session, &filter)?;
    if !own.is_empty() {
        return Ok(own.into_iter().map(Subject::Package).collect());
    }
    let mut found = Vec::new();
    for other in store.sessions(None)? {
        found.extend(store.packages(&other.id, &filter)?.into_iter().map(Subject::Package));
        if found.len() >= MOST {
            break;
        }
    }
    Ok(found)
}

/// Packages and notes that are about a file.
fn about(app: &App, session: &SessionId, path: &str) -> Result<Vec<Subject>, CommandError> {
    let (_, project) = app.learning()?;
    let packages = app.store()?.packages(session, &PackageFilter::default())?;
    let packages =
        packages.into_iter().filter(|package| package.files.iter().any(|file| file == path));
    let notes = app.store()?.notes(&project, &NoteFilter::default())?;
    let notes = notes
        .into_iter()
        .filter(|note| note.source == path || note.paths.iter().any(|file| file == path));
    Ok(packages.map(Subject::Package).chain(notes.map(Subject::Note)).take(MOST).collect())
}

/// The packages and notes that a search finds.
fn by_words(app: &App, text: &str) -> Result<Vec<Subject>, CommandError> {
    let store = app.store()?;
    let (_, project) = app.learning()?;
    let query = Everything {
        project: &project,
        text,
        limit: MOST,
        session: None,
        group: None,
        of: None,
        kind: None,
        since: None,
        config: &app.config()?.assembly,
    };
    let found = store.reading(|store| search(store, &query))?.found;
    let mut subjects = Vec::new();
    for hit in found {
        let id = hit.id.to_string();
        if hit.of == ItemKind::Package {
            subjects.push(Subject::Package(store.package(id.parse()?)?));
        } else if hit.of == ItemKind::Note {
            subjects.push(Subject::Note(app.find_note(&project, &id)?));
        }
    }
    Ok(subjects)
}
