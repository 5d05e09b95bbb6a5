//! Tracked documents, a note per section. What counts is the text in the working tree; what of it is not
//! committed has not been agreed to by anybody, so it is believed like an agent.

mod again;
mod choose;
mod dates;
mod markup;
mod split;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use handover_files::{FileError, Folder};
use handover_model::{NoteKind, NoteState, SourceName, Timestamp, Trust};

use crate::mentions::mentions;
use crate::passage::passages;
use crate::source::Unit;
use crate::{
    Draft, Found, Git, GitError, Learned, SkipReason, Skipped, Source, SourceContext, SourceError,
};
pub use again::section_now;
use markup::Markup;

/// The largest document that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The most documents of a project.
const MAX_DOCUMENTS: usize = 20_000;

/// Changes when documents are read differently, so that they are read anew.
const VERSION: &str = "1";

/// Sections with fewer characters say nothing.
const LEAST_CHARS: usize = 40;

/// Documents.
pub(super) struct Docs;

impl Source for Docs {
    fn name(&self) -> SourceName {
        SourceName::Docs
    }

    fn discover(&self, context: &SourceContext<'_>) -> Result<Found, SourceError> {
        let git = context.git.ok_or(SourceError::NoRepository)?;
        let mut paths = tracked(git, context)?;
        paths.retain(|path| context.covers(path));
        choose::without_generated(git, context, &mut paths)?;
        paths.truncate(MAX_DOCUMENTS);
        let committed = committed(git, context)?;
        let mut found = Found::default();
        let root = Root::of(context.root);
        for path in paths {
            if context.stopped() {
                return Err(GitError::Stopped.into());
            }
            match root.read(&path) {
                Ok(Some(bytes)) => {
                    let hash = blake3::hash(&bytes).to_hex();
                    let blob = committed.get(&path).map_or(NO_BLOB, String::as_str);
                    let fingerprint = format!("{VERSION}:{}:{blob}", &hash[..32]);
                    found.units.push(Unit { source: path, fingerprint, place: None });
                }
                Ok(None) => {}
                Err(reason) => found.skipped.push(Skipped { what: path, reason }),
            }
        }
        Ok(found)
    }

    fn read(
        &self,
        context: &SourceContext<'_>,
        units: &[Unit],
        learned: &mut dyn FnMut(Learned),
    ) -> Result<(), SourceError> {
        let git = context.git.ok_or(SourceError::NoRepository)?;
        let paths: Vec<&str> = units.iter().map(|unit| unit.source.as_str()).collect();
        let dates = dates::last_changes(git, &paths, context)?;
        let reader = Reader { root: Root::of(context.root), dates, context };
        let blob = |unit: &Unit| unit.fingerprint.rsplit(':').next().map(ToOwned::to_owned);
        let (mut committed, mut added) = (Vec::new(), Vec::new());
        for (at, unit) in units.iter().enumerate() {
            match blob(unit).filter(|blob| blob != NO_BLOB) {
                Some(blob) => committed.push((at, blob)),
                None => added.push(at),
            }
        }
        let ids: Vec<&str> = committed.iter().map(|(_, blob)| blob.as_str()).collect();
        git.blobs(&ids, MAX_BYTES, context.stop, &mut |at, blob| {
            let unit = committed[at].0;
            learned(reader.learn(unit, paths[unit], blob));
        })?;
        for unit in added {
            learned(reader.learn(unit, paths[unit], None));
        }
        Ok(())
    }
}

/// In place of a blob, for a document that is not committed.
const NO_BLOB: &str = "-";

struct Reader<'a> {
    root: Root,
    dates: dates::Dates,
    context: &'a SourceContext<'a>,
}

impl Reader<'_> {
    fn learn(&self, unit: usize, path: &str, blob: Option<&[u8]>) -> Learned {
        let mut learned = Learned { unit, drafts: Vec::new(), skipped: Vec::new() };
        let mut skip = |reason| learned.skipped.push(Skipped { what: path.to_owned(), reason });
        let time = self.dates.of(path);
        match self.root.read(path).map(|bytes| bytes.map(String::from_utf8)) {
            Ok(Some(Ok(text))) => {
                if !choose::is_generated(&text) && !self.context.is_too_old(time) {
                    learned.drafts = drafts(path, &text, &Committed::of(blob, &text), time);
                }
            }
            Ok(None) => {}
            Ok(Some(Err(_))) => skip(SkipReason::Foreign),
            Err(reason) => skip(reason),
        }
        learned
    }
}

/// The notes of one document.
fn drafts(path: &str, text: &str, committed: &Committed, time: Timestamp) -> Vec<Draft> {
    let markup = Markup::of(path);
    let mut drafts = Vec::new();
    for section in split::sections(&markup::plain(markup, text), markup) {
        let body = markup::without_noise(&section.body);
        if body.chars().filter(|c| c.is_alphanumeric()).count() < LEAST_CHARS {
            continue;
        }
        let headings = section.headings.join(" > ");
        let origin =
            if headings.is_empty() { path.to_owned() } else { format!("{path}#{headings}") };
        let title = section.headings.last().cloned().unwrap_or_else(|| path.to_owned());
        for passage in passages(&body) {
            let named = mentions(&passage, &[]);
            let trust = if committed.has(&passage) { Trust::Project } else { Trust::Agent };
            let draft = Draft {
                kind: NoteKind::Doc,
                origin: origin.clone(),
                source: path.to_owned(),
                title: title.clone(),
                text: passage,
                trust,
                paths: named.paths,
                symbols: named.symbols,
                state: NoteState::Live,
                reason: None,
                created_at: time,
            };
            drafts.push(draft.bounded());
        }
    }
    drafts
}

/// The passages of a Markdown text that is not a document of the project, each with its headings.
pub(super) fn markdown_passages(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for section in split::sections(&markup::plain(Markup::Markdown, text), Markup::Markdown) {
        let body = markup::without_noise(&section.body);
        let headings = section.headings.join(" > ");
        all.extend(passages(&body).into_iter().map(|passage| (headings.clone(), passage)));
    }
    all
}

/// What of a document is committed.
enum Committed {
    Everything,
    /// Its lines, of which the committed version consists, without surrounding whitespace.
    Lines(HashSet<String>),
}

impl Committed {
    fn of(blob: Option<&[u8]>, text: &str) -> Self {
        let blob = String::from_utf8_lossy(blob.unwrap_or_default());
        if blob == text {
            return Self::Everything;
        }
        Self::Lines(blob.lines().map(|line| line.trim().to_owned()).collect())
    }

    /// Whether every line of a passage is.
    fn has(&self, passage: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Lines(lines) => {
                passage.lines().map(str::trim).all(|line| line.is_empty() || lines.contains(line))
            }
        }
    }
}

/// The project's files, read without following a link.
struct Root(Option<Folder>);

impl Root {
    fn of(root: &Path) -> Self {
        Self(fs_err::canonicalize(root).ok().map(Folder::at))
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SkipReason> {
        let Some(root) = &self.0 else { return Err(SkipReason::Unreadable) };
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (root.inside(folder), name),
            None => (root.clone(), path),
        };
        folder.read(name, MAX_BYTES).map_err(|error| reason(&error))
    }
}

/// Why a file is skipped.
pub(super) fn reason(error: &FileError) -> SkipReason {
    match error {
        error if error.is_irregular() => SkipReason::Irregular,
        FileError::TooLarge { .. } => SkipReason::TooLarge,
        FileError::NotText { .. } => SkipReason::Foreign,
        FileError::Io { .. }
        | FileError::Name { .. }
        | FileError::NotAFile { .. }
        | FileError::NotAFolder { .. } => SkipReason::Unreadable,
    }
}

/// The tracked documents, relative to the root, in order.
fn tracked(git: &Git, context: &SourceContext<'_>) -> Result<Vec<String>, GitError> {
    let mut paths = Vec::new();
    git.records(&["ls-files", "-s", "-z"], &[], 0, context.stop, &mut |record| {
        let entry = std::str::from_utf8(record).ok().and_then(|entry| entry.split_once('\t'));
        // Links and submodules have other modes.
        if let Some((meta, path)) = entry
            && meta.starts_with("100")
            && choose::is_document(path)
        {
            paths.push(path.to_owned());
        }
        true
    })?;
    // A file in conflict is listed three times.
    paths.dedup();
    choose::without_translations(&mut paths);
    Ok(paths)
}

/// The blob of each committed document.
fn committed(git: &Git, context: &SourceContext<'_>) -> Result<BTreeMap<String, String>, GitError> {
    let mut blobs = BTreeMap::new();
    if git.head()?.is_none() {
        return Ok(blobs);
    }
    git.records(&["ls-tree", "-r", "-z", "HEAD"], &[], 0, context.stop, &mut |record| {
        let entry = std::str::from_utf8(record).ok().and_then(|entry| entry.split_once('\t'));
        if let Some((meta, path)) = entry
            && choose::is_document(path)
            && let Some(blob) = meta.split(' ').nth(2)
        {
            blobs.insert(path.to_owned(), blob.to_owned());
        }
        true
    })?;
    Ok(blobs)
}

#[cfg(test)]
mod tests;
