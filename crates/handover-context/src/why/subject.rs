//! What a name can mean: a package, a note, a file that packages and notes are about, or words.

use handover_model::config::AssemblyConfig;
use handover_model::{ItemKind, Note, NoteId, Package, PackageId, ProjectId, SessionId};
use handover_store::{NoteFilter, PackageFilter, Result, Store, StoreError, Versions};
use handover_text::cut::{cut, one_line};

use crate::everything::{Everything, search};

/// The most records that are explained at once.
const MOST: usize = 5;

/// The fewest characters of an id that name a note.
const FEWEST: usize = 4;

/// The newest note.
const LATEST: &str = "latest";

/// A record that was asked about.
#[derive(Debug)]
pub enum Subject {
    /// A package.
    Package(Package),
    /// A note.
    Note(Note),
}

/// Where names are looked up.
#[derive(Clone, Copy)]
pub struct Library<'a> {
    /// The records.
    pub store: &'a dyn Store,
    /// The project that notes belong to.
    pub project: &'a ProjectId,
    /// How a search ranks.
    pub config: &'a AssemblyConfig,
    /// The session of the agent, whose packages come first.
    pub session: &'a SessionId,
}

impl std::fmt::Debug for Library<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("session", self.session).finish_non_exhaustive()
    }
}

impl Library<'_> {
    /// What a name means, best first: nothing, if no record has it. `path` is the name as a path in the project.
    pub fn find(&self, name: &str, path: &str) -> Result<Vec<Subject>> {
        let mut found = match name.parse::<PackageId>() {
            // The end of a note's id, as lists show it, may be nothing but digits.
            Ok(id) => match self.store.package(id) {
                Err(StoreError::NotFound { .. }) => Vec::new(),
                package => vec![Subject::Package(package?)],
            },
            Err(_) => Vec::new(),
        };
        if found.is_empty() {
            found = self.packages_at(path)?;
        }
        if found.is_empty() {
            found = self.notes_named(name)?;
        }
        if found.is_empty() {
            found = self.about(path)?;
        }
        if found.is_empty() {
            found = self.by_words(name)?;
        }
        Ok(found)
    }

    /// The newest package of a path in the agent's session, else in any other.
    fn packages_at(&self, path: &str) -> Result<Vec<Subject>> {
        let filter = PackageFilter {
            path: Some(path.to_owned()),
            versions: Versions::Latest,
            ..PackageFilter::default()
        };
        let own = self.store.packages(self.session, &filter)?;
        if !own.is_empty() {
            return Ok(own.into_iter().map(Subject::Package).collect());
        }
        let mut found = Vec::new();
        for other in self.store.sessions(None)? {
            let more = self.store.packages(&other.id, &filter)?;
            found.extend(more.into_iter().map(Subject::Package));
            if found.len() >= MOST {
                break;
            }
        }
        Ok(found)
    }

    /// The note of this id, or those whose id starts or ends with the name.
    fn notes_named(&self, name: &str) -> Result<Vec<Subject>> {
        if let Ok(id) = NoteId::new(name) {
            match self.store.note(self.project, &id) {
                Err(StoreError::NotFound { .. }) => {}
                found => return Ok(vec![Subject::Note(found?)]),
            }
        }
        if name.len() < FEWEST || name.contains(char::is_whitespace) {
            return Ok(Vec::new());
        }
        let named = |note: &Note| {
            let id = note.id.as_str();
            let bare = id.split_once('_').map_or(id, |(_, bare)| bare);
            id.starts_with(name) || bare.starts_with(name) || id.ends_with(name)
        };
        let all = self.store.notes(self.project, &NoteFilter::default())?;
        if name == LATEST {
            let newest = all.into_iter().max_by_key(|note| note.created_at);
            return Ok(newest.map(Subject::Note).into_iter().collect());
        }
        Ok(all.into_iter().filter(named).map(Subject::Note).take(MOST).collect())
    }

    /// Packages and notes that are about a file.
    fn about(&self, path: &str) -> Result<Vec<Subject>> {
        let packages = self.store.packages(self.session, &PackageFilter::default())?;
        let packages =
            packages.into_iter().filter(|package| package.files.iter().any(|file| file == path));
        let notes = self.store.notes(self.project, &NoteFilter::default())?;
        let notes = notes
            .into_iter()
            .filter(|note| note.source == path || note.paths.iter().any(|file| file == path));
        Ok(packages.map(Subject::Package).chain(notes.map(Subject::Note)).take(MOST).collect())
    }

    /// The packages and notes that a search finds.
    fn by_words(&self, text: &str) -> Result<Vec<Subject>> {
        let query = Everything {
            project: self.project,
            text,
            limit: MOST,
            session: None,
            group: None,
            of: None,
            kind: None,
            since: None,
            config: self.config,
        };
        let found = self.store.reading(|store| search(store, &query))?.found;
        let mut subjects = Vec::new();
        for hit in found {
            let id = hit.id.to_string();
            if hit.of == ItemKind::Package
                && let Ok(id) = id.parse()
            {
                subjects.push(Subject::Package(self.store.package(id)?));
            } else if hit.of == ItemKind::Note
                && let Ok(id) = NoteId::new(&id)
            {
                subjects.push(Subject::Note(self.store.note(self.project, &id)?));
            }
        }
        Ok(subjects)
    }
}

impl Subject {
    /// The kind of record.
    pub fn kind(&self) -> ItemKind {
        match self {
            Self::Package(_) => ItemKind::Package,
            Self::Note(_) => ItemKind::Note,
        }
    }

    /// Its id, as text.
    pub fn id(&self) -> String {
        match self {
            Self::Package(package) => package.id.to_string(),
            Self::Note(note) => note.id.to_string(),
        }
    }

    /// What people call it.
    pub fn title(&self) -> String {
        let text = match self {
            Self::Package(package) => package.title.as_ref().unwrap_or(&package.summary),
            Self::Note(note) => &note.title,
        };
        cut(&one_line(text), 80)
    }

    /// Where it is from.
    pub fn origin(&self) -> &str {
        match self {
            Self::Package(package) => &package.path,
            Self::Note(note) => &note.origin,
        }
    }
}
