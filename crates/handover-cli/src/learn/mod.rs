//! Learning: from the sources of notes into the store, a batch at a time. What was committed stays, so an
//! interrupted run continues where it stopped; what has not changed is not read again.

mod repeats;
mod tables;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use handover_knowledge::{
    Draft, Found, Git, Homes, Learned, Source, SourceContext, SourceError, Unit, note_id, source,
};
use handover_model::{NoteKind, ProjectId, SourceName, Timestamp, Trust};
use handover_store::{NewNote, NewUnit, StoreError};
use serde::Serialize;

use crate::app::App;
use crate::env;
use crate::error::{Code, CommandError, Exit, INSTALL_GIT};
pub(crate) use tables::Tables;

/// How many units are committed together.
const BATCH: usize = 256;

/// The name under which the stamp of a whole source is kept among its units.
const STAMP: &str = "*";

/// What to learn.
pub(crate) struct Lesson<'a> {
    pub(crate) sources: Vec<SourceName>,
    /// Only these files and folders, absolute; empty for all.
    pub(crate) paths: Vec<PathBuf>,
    /// Nothing older.
    pub(crate) since: Option<Timestamp>,
    /// Whether nothing is stored.
    pub(crate) preview: bool,
    /// Whether to stop as soon as possible.
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
    /// Called with how far a source is.
    pub(crate) progress: &'a dyn Fn(SourceName, usize, usize),
}

/// What came of one source.
#[derive(Debug, Serialize)]
pub(crate) struct Tally {
    pub(crate) source: SourceName,
    /// Documents, commits, conversations or foreign records.
    pub(crate) found: usize,
    pub(crate) new: usize,
    pub(crate) changed: usize,
    pub(crate) unchanged: usize,
    pub(crate) skipped: usize,
    /// Secrets that were removed before anything was stored.
    pub(crate) redactions: u64,
    /// Notes that were read this time.
    pub(crate) notes: usize,
    /// Units that are left for the next time.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) left: usize,
    /// Why the source cannot be used at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// What would be stored, in a preview.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) preview: Vec<Preview>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A note that would be stored.
#[derive(Debug, Serialize)]
pub(crate) struct Preview {
    pub(crate) id: String,
    pub(crate) kind: NoteKind,
    pub(crate) origin: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) trust: Trust,
}

impl Tally {
    fn new(source: SourceName) -> Self {
        Self {
            source,
            found: 0,
            new: 0,
            changed: 0,
            unchanged: 0,
            skipped: 0,
            redactions: 0,
            notes: 0,
            left: 0,
            problem: None,
            preview: Vec::new(),
        }
    }
}

/// The kind of a source's notes.
pub(crate) fn kind_of(source: SourceName) -> NoteKind {
    match source {
        SourceName::Docs => NoteKind::Doc,
        SourceName::Git => NoteKind::Commit,
        SourceName::Transcripts => NoteKind::Conversation,
        SourceName::Memories => NoteKind::Memory,
    }
}

/// The sources that the configuration does not switch off.
pub(crate) fn allowed(app: &App) -> Result<Vec<SourceName>, CommandError> {
    let learn = &app.config()?.learn;
    let on = |source: &SourceName| match source {
        SourceName::Docs => learn.docs,
        SourceName::Git => learn.git,
        SourceName::Transcripts => learn.transcripts,
        SourceName::Memories => learn.memories,
    };
    Ok(SourceName::ALL.iter().copied().filter(on).collect())
}

/// Learns from each source; what was learned before a stop is kept.
pub(crate) fn learn(app: &App, lesson: &Lesson<'_>) -> Result<Vec<Tally>, CommandError> {
    let (_, project) = app.learning()?;
    let root = app.project()?.root.clone();
    let git = Git::open(&root, app.environment()?).map_err(|error| {
        CommandError::new(Exit::Environment, Code::Git, error).hinted(INSTALL_GIT)
    })?;
    let mut checkouts = vec![root.clone()];
    checkouts.extend(app.project()?.worktrees());
    let homes = env::agent_homes();
    let context = SourceContext {
        root: &root,
        git: git.as_ref(),
        checkouts: &checkouts,
        homes: &homes,
        paths: &lesson.paths,
        since: lesson.since,
        tables: Some(&Tables),
        stop: lesson.stop,
    };
    let whole = lesson.paths.is_empty() && lesson.since.is_none();
    // Texts of a checkout that nobody agreed to are those of strangers.
    let trusted = app.trust_report()?.trusted;
    let mut tallies = Vec::new();
    for name in &lesson.sources {
        let mut tally = Tally::new(*name);
        if let Some(source) = source(*name) {
            let pupil = Pupil { app, project: &project, lesson, context: &context, trusted };
            match pupil.source(source, &mut tally) {
                Ok(()) => {}
                Err(Failed::Source(error)) => tally.problem = Some(error.to_string()),
                Err(Failed::Command(error)) => return Err(error),
            }
        }
        tallies.push(tally);
    }
    let of_files =
        lesson.sources.iter().any(|name| matches!(name, SourceName::Docs | SourceName::Git));
    // Briefs do without what is missing of the index.
    if of_files
        && whole
        && !lesson.preview
        && let Err(error) = app.updated_file_index(lesson.stop)
    {
        tracing::warn!(error = %error.message, "the index of files was not updated");
    }
    if tallies.iter().any(|tally| tally.notes > 0) && !lesson.preview && !(lesson.stop)() {
        repeats::collapse(app, &project)?;
    }
    Ok(tallies)
}

/// How many documents and commits have not been learned as they are now.
pub(crate) fn left(app: &App) -> Result<usize, CommandError> {
    let (_, project) = app.learning()?;
    let root = app.project()?.root.clone();
    let git = Git::open(&root, app.environment()?).ok().flatten();
    let context = SourceContext {
        root: &root,
        git: git.as_ref(),
        checkouts: &[],
        homes: &Homes::default(),
        paths: &[],
        since: None,
        tables: None,
        stop: &|| false,
    };
    let mut left = 0;
    for name in [SourceName::Docs, SourceName::Git] {
        let Some(source) =
            source(name).filter(|_| allowed(app).is_ok_and(|all| all.contains(&name)))
        else {
            continue;
        };
        let known: HashMap<String, String> = app
            .store()?
            .note_units(&project, kind_of(name))?
            .into_iter()
            .map(|unit| (unit.source, unit.fingerprint))
            .collect();
        // What cannot be looked at cannot be learned either.
        if let Ok(mut found) = source.discover(&context) {
            drop_secret_names(app, &mut found.units)?;
            let changed = |unit: &&Unit| known.get(&unit.source) != Some(&unit.fingerprint);
            left += found.units.iter().filter(changed).count();
        }
    }
    Ok(left)
}

/// Drops units whose names have a secret, as those of files may; how many.
fn drop_secret_names(app: &App, units: &mut Vec<Unit>) -> Result<usize, CommandError> {
    let (redactor, all) = (app.redactor()?, units.len());
    units.retain(|unit| redactor.find(&unit.source).is_empty());
    Ok(all - units.len())
}

/// Why a source was not learned from.
enum Failed {
    /// The source cannot be used; others can.
    Source(SourceError),
    Command(CommandError),
}

impl From<SourceError> for Failed {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<CommandError> for Failed {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Command(error.into())
    }
}

struct Pupil<'a> {
    app: &'a App,
    project: &'a ProjectId,
    lesson: &'a Lesson<'a>,
    context: &'a SourceContext<'a>,
    trusted: bool,
}

impl Pupil<'_> {
    fn source(&self, source: &dyn Source, tally: &mut Tally) -> Result<(), Failed> {
        let kind = kind_of(source.name());
        let store = self.app.store()?;
        let mut known: HashMap<String, String> = store
            .note_units(self.project, kind)?
            .into_iter()
            .map(|unit| (unit.source, unit.fingerprint))
            .collect();
        let last = known.remove(STAMP);
        let whole = self.lesson.paths.is_empty() && self.lesson.since.is_none();
        let stamp = if whole { source.stamp(self.context)? } else { None };
        if stamp.is_some() && stamp == last {
            (tally.found, tally.unchanged) = (known.len(), known.len());
            return Ok(());
        }
        let Found { mut units, skipped } = source.discover(self.context)?;
        tally.skipped += skipped.len() + drop_secret_names(self.app, &mut units)?;
        tally.found = units.len();
        let todo: Vec<Unit> = units
            .iter()
            .filter(|unit| known.get(&unit.source) != Some(&unit.fingerprint))
            .cloned()
            .collect();
        tally.new = todo.iter().filter(|unit| !known.contains_key(&unit.source)).count();
        tally.changed = todo.len() - tally.new;
        tally.unchanged = units.len() - todo.len();
        tally.left = self.read(source, kind, &todo, tally)?;
        if self.lesson.preview || tally.left > 0 || !whole {
            return Ok(());
        }
        if !source.outlives_its_units() {
            self.drop_vanished(kind, &known, &units)?;
        }
        if let Some(stamp) = stamp {
            let unit = NewUnit {
                kind,
                source: STAMP.to_owned(),
                fingerprint: Some(stamp),
                notes: Vec::new(),
            };
            store.learn_notes(self.project, &[unit], self.app.now())?;
        }
        Ok(())
    }

    /// Reads and stores units; how many are left because of a stop.
    fn read(
        &self,
        source: &dyn Source,
        kind: NoteKind,
        todo: &[Unit],
        tally: &mut Tally,
    ) -> Result<usize, Failed> {
        let store = self.app.store()?;
        let (mut done, mut failed) = (0, None);
        for batch in todo.chunks(BATCH) {
            if (self.lesson.stop)() {
                break;
            }
            (self.lesson.progress)(source.name(), done, todo.len());
            let mut units = Vec::with_capacity(batch.len());
            source.read(self.context, batch, &mut |learned| match self
                .unit(kind, batch, learned, tally)
            {
                Ok(unit) => units.extend(unit),
                Err(error) => failed = failed.take().or(Some(error)),
            })?;
            if let Some(error) = failed {
                return Err(Failed::Command(error));
            }
            done += units.len();
            if self.lesson.preview {
                tally
                    .preview
                    .extend(units.iter().flat_map(|unit| unit.notes.iter().map(preview(kind))));
            } else {
                store.learn_notes(self.project, &units, self.app.now())?;
            }
        }
        (self.lesson.progress)(source.name(), done, todo.len());
        Ok(todo.len().saturating_sub(done))
    }

    fn unit(
        &self,
        kind: NoteKind,
        batch: &[Unit],
        learned: Learned,
        tally: &mut Tally,
    ) -> Result<Option<NewUnit>, CommandError> {
        let Some(unit) = batch.get(learned.unit) else { return Ok(None) };
        tally.skipped += usize::from(!learned.skipped.is_empty());
        let mut seen = HashSet::new();
        let mut notes = Vec::with_capacity(learned.drafts.len());
        for draft in learned.drafts {
            let note = self.note(draft, tally)?;
            if seen.insert(note.id.clone()) {
                notes.push(note);
            }
        }
        tally.notes += notes.len();
        Ok(Some(NewUnit {
            kind,
            source: unit.source.clone(),
            fingerprint: Some(unit.fingerprint.clone()),
            notes,
        }))
    }

    /// Redacts a draft: from here on there is no other form of it.
    fn note(&self, draft: Draft, tally: &mut Tally) -> Result<NewNote, CommandError> {
        let redactor = self.app.redactor()?;
        let mut clean = |text: &str| {
            let clean = redactor.clean(text);
            tally.redactions += u64::from(clean.redactions());
            clean
        };
        let (title, text, origin) = (clean(&draft.title), clean(&draft.text), clean(&draft.origin));
        let strange = draft.trust == Trust::Project && !self.trusted;
        let trust = if strange { Trust::Outside } else { draft.trust };
        let list = |texts: &[String]| texts.iter().map(|text| redactor.clean(text)).collect();
        Ok(NewNote {
            id: note_id(draft.kind, origin.as_str(), text.as_str())?,
            hash: blake3::hash(text.as_str().as_bytes()).to_hex().to_string(),
            origin,
            title,
            text,
            trust,
            paths: list(&draft.paths),
            symbols: list(&draft.symbols),
            state: draft.state,
            reason: draft.reason.as_deref().map(|reason| redactor.clean(reason)),
            created_at: draft.created_at,
        })
    }

    /// Removes the notes of units that are no longer there.
    fn drop_vanished(
        &self,
        kind: NoteKind,
        known: &HashMap<String, String>,
        units: &[Unit],
    ) -> Result<(), CommandError> {
        let there: HashSet<&str> = units.iter().map(|unit| unit.source.as_str()).collect();
        let mut gone: Vec<NewUnit> = known
            .keys()
            .filter(|source| !there.contains(source.as_str()))
            .map(|source| NewUnit {
                kind,
                source: source.clone(),
                fingerprint: None,
                notes: Vec::new(),
            })
            .collect();
        gone.sort_by(|a, b| a.source.cmp(&b.source));
        for gone in gone.chunks(BATCH) {
            self.app.store()?.learn_notes(self.project, gone, self.app.now())?;
        }
        Ok(())
    }
}

fn preview(kind: NoteKind) -> impl Fn(&NewNote) -> Preview {
    move |note| Preview {
        id: note.id.to_string(),
        kind,
        origin: note.origin.as_str().to_owned(),
        title: note.title.as_str().to_owned(),
        text: note.text.as_str().to_owned(),
        trust: note.trust,
    }
}
