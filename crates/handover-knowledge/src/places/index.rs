//! An index, open for questions.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use handover_files::Folder;
use handover_text::words;

use super::codec::Reader;
use super::container::{Pieces, Section};
use super::document::Occurrence;
use super::inverted::each_posting;
use super::lookup::Lexicon;
use super::model::range;
use super::tables::{self, DELETED, Document, NONE, Origin, PathHash, PathRow, Row, path_hash};
use super::{Checkout, Evidence, Place, PlacesError, Progress, Watch, Weights};
use super::{file_name, folder_of, rank, update};

/// At most so many places are in a brief.
const BRIEF: usize = 8;
/// A place with a smaller share of the best score is a guess that costs tokens.
const BRIEF_FLOOR: f64 = 0.3;

/// What the best file or commit must have of the task's words for a brief: in doubt an agent looks for itself.
const BRIEF_LEAST: f32 = 0.45;

/// How often a renamed file is followed.
pub(super) const MAX_RENAMES: usize = 8;

/// The index of a checkout.
#[derive(Debug)]
pub struct Index {
    pub(super) pieces: Pieces,
    pub(super) root: PathBuf,
    origin: Origin,
    /// The tables that every name is looked up in, read when the first one is.
    tables: PathTables,
}

#[derive(Debug, Default)]
struct PathTables {
    rows: OnceLock<Vec<u8>>,
    hashes: OnceLock<Vec<u8>>,
    name_hashes: OnceLock<Vec<u8>>,
}

/// Whether a name is part of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A file defines it.
    Defined,
    /// Only its use was found: the scanner does not see every definition.
    Mentioned,
    /// No file that is indexed has it.
    Absent,
}

impl Index {
    /// Opens the index of a checkout. None if there is none that can be used: an update creates it.
    pub fn open(project: &Folder, root: &Path) -> Option<Self> {
        let file = folder_of(project).open_file(&file_name(root)).ok()??;
        let pieces = Pieces::open(file)?;
        let origin = Origin::decode(&pieces.section(Section::Origin)?)?;
        let here = update::origin(root).ok()?;
        let ours = origin.root == here.root && origin.inode == here.inode;
        let tables = PathTables::default();
        ours.then(|| Self { pieces, root: root.to_owned(), origin, tables })
    }

    /// Whether there is an index of a checkout; it may be of another one that was in the same place.
    pub fn is_there(project: &Folder, root: &Path) -> bool {
        folder_of(project).has(&file_name(root))
    }

    /// Creates the index of a checkout or brings it up to date.
    pub fn update(
        project: &Folder,
        checkout: Checkout<'_>,
        watch: Watch<'_>,
    ) -> Result<Progress, PlacesError> {
        update::update(project, checkout, watch)
    }

    /// The files that a task is probably about, best first. Nothing if little of the task is known here.
    pub fn places(&self, task: &str, evidence: &Evidence, limit: usize) -> Vec<Place> {
        self.weighted_places(task, evidence, limit, &Weights::default())
    }

    /// The few that belong in a brief: those that are not far behind the best. Typing mistakes are not forgiven: every
    /// spawn waits for this, and a word that no file has is rarely one.
    pub fn places_for_brief(&self, task: &str, evidence: &Evidence) -> Vec<Place> {
        let weights = Weights { forgiven: 0.0, floor: BRIEF_LEAST, ..Weights::default() };
        let mut places = self.weighted_places(task, evidence, BRIEF, &weights);
        let best = places.first().map_or(0.0, |place| place.score);
        places.retain(|place| place.score >= best * BRIEF_FLOOR);
        places
    }

    /// The same with other weights, for evaluations.
    pub fn weighted_places(
        &self,
        task: &str,
        evidence: &Evidence,
        limit: usize,
        weights: &Weights,
    ) -> Vec<Place> {
        rank::rank(self, task, evidence, limit, weights).unwrap_or_default()
    }

    /// The commit up to which the history is known; empty if there is none.
    pub fn head(&self) -> &str {
        &self.origin.head
    }

    /// Whether nothing was left for the next update.
    pub fn is_complete(&self) -> bool {
        self.origin.unread == 0 && self.origin.complete
    }

    /// Whether every file was read.
    pub(super) fn is_read(&self) -> bool {
        self.origin.unread == 0
    }

    /// Every file that can be found, in no particular order.
    pub fn files(&self) -> Vec<String> {
        let documents = || tables::decode::<Document>(&self.pieces.section(Section::Documents)?);
        let live = documents().unwrap_or_default().into_iter().filter(|row| row.length > 0);
        live.filter_map(|row| self.path_text(row.path)).collect()
    }

    /// Whether the working tree has this file or folder. `path` is relative to the root of the project. What is
    /// behind a link is taken for existing, without following it.
    pub fn exists(&self, path: &str) -> bool {
        let plain =
            !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        let kind = |path: &Path| fs_err::symlink_metadata(path).ok().map(|data| data.file_type());
        if !plain {
            return false;
        }
        let whole = self.root.join(path);
        let folders = path.match_indices('/').map(|(end, _)| self.root.join(&path[..end]));
        for folder in folders.take_while(|folder| *folder != whole) {
            match kind(&folder) {
                Some(kind) if kind.is_symlink() => return true,
                Some(_) => {}
                None => return false,
            }
        }
        kind(&whole).is_some()
    }

    /// The name of this file today, if the history says that it was renamed and it does not exist any more.
    pub fn renamed(&self, path: &str) -> Option<String> {
        if self.exists(path) {
            return None;
        }
        let mut row = self.path_row(self.path_number(path)?)?;
        for _ in 0..MAX_RENAMES {
            if matches!(row.renamed, NONE | DELETED) {
                return None;
            }
            let name = self.path_text(row.renamed)?;
            if self.exists(&name) {
                return Some(name);
            }
            row = self.path_row(row.renamed)?;
        }
        None
    }

    /// Whether a name, spelled exactly like this, is part of the code. Of a name of one word, uses are found by
    /// their stem.
    pub fn symbol(&self, name: &str) -> Presence {
        self.find_symbol(name).unwrap_or(Presence::Absent)
    }

    fn find_symbol(&self, name: &str) -> Option<Presence> {
        // A qualified name is known by its last part.
        let name = name.rsplit([':', '.']).next()?.trim_end_matches(['(', ')', '!']);
        // The first term of an identifier is all of it.
        let whole = words::terms(name).into_iter().next()?;
        let lexicon = Lexicon::of_files(&self.pieces)?;
        let entry = lexicon.find(&[whole]).pop().flatten()?;
        let documents: Vec<Document> = tables::decode(&self.pieces.section(Section::Documents)?)?;
        let (mut mentioned, mut defining) = (false, Vec::new());
        each_posting(&lexicon.postings(entry)?, |document, byte| {
            let at = document as usize;
            if documents.get(at).is_some_and(|row| row.length > 0) {
                let found = Occurrence(byte);
                mentioned |= found.text() > 0;
                if found.symbols() > 0 {
                    defining.push(at);
                }
            }
        })?;
        let defined = defining.into_iter().any(|at| {
            self.symbols(&documents, at).is_some_and(|all| all.lines().any(|line| line == name))
        });
        Some(match (defined, mentioned) {
            (true, _) => Presence::Defined,
            (false, true) => Presence::Mentioned,
            (false, false) => Presence::Absent,
        })
    }

    /// The subject of a commit of this history, by the first digits of its id; none if it is not part of it.
    pub fn commit(&self, id: &str) -> Option<String> {
        if id.len() < 7 || id.len() > 40 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let id = id.to_ascii_lowercase();
        let ids = self.pieces.section(Section::CommitIds)?;
        let rows: Vec<tables::CommitRow> = tables::decode(&self.pieces.section(Section::Commits)?)?;
        let digit = |bytes: &[u8; 20], at: usize| {
            let byte = bytes[at / 2];
            char::from_digit(
                u32::from(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 }),
                16,
            )
        };
        let same =
            |bytes: &[u8; 20]| id.chars().enumerate().all(|(at, c)| digit(bytes, at) == Some(c));
        let mut found = ids.as_chunks::<20>().0.iter().zip(&rows).enumerate();
        let (at, _) = found.find(|(_, (bytes, row))| row.length > 0 && same(bytes))?;
        self.subject(&rows, at)
    }

    pub(super) fn subject(&self, rows: &[tables::CommitRow], at: usize) -> Option<String> {
        self.text(Section::Subjects, range(at, |at| rows[at].subject_end))
    }

    /// The names that a document defines, a line each.
    pub(super) fn symbols(&self, documents: &[Document], at: usize) -> Option<String> {
        self.text(Section::Symbols, range(at, |at| documents[at].symbols_end))
    }

    pub(super) fn path_text(&self, path: u32) -> Option<String> {
        let end = self.path_row(path)?.text_end;
        let start =
            path.checked_sub(1).map_or(Some(0), |before| Some(self.path_row(before)?.text_end))?;
        self.text(Section::PathTexts, start as usize..end as usize)
    }

    /// The number of a path; none if it was never seen.
    pub(super) fn path_number(&self, path: &str) -> Option<u32> {
        let hashes = self.table(&self.tables.hashes, Section::PathHashes);
        let same = hashed(hashes, path_hash(path), usize::MAX)?;
        same.into_iter().find(|number| self.path_text(*number).as_deref() == Some(path))
    }

    /// The paths whose last part may be this one; none if there are more than `most`.
    pub(super) fn paths_by_name(&self, name: &str, most: usize) -> Option<Vec<u32>> {
        let hashes = self.table(&self.tables.name_hashes, Section::NameHashes);
        hashed(hashes, path_hash(name), most)
    }

    pub(super) fn path_row(&self, path: u32) -> Option<PathRow> {
        row(self.table(&self.tables.rows, Section::Paths), path as usize)
    }

    /// A whole section, without its checksum: what is found is compared with the text of the path.
    fn table<'s>(&self, table: &'s OnceLock<Vec<u8>>, section: Section) -> &'s [u8] {
        let read = || self.pieces.piece(section, 0, self.pieces.length(section));
        table.get_or_init(|| read().unwrap_or_default())
    }

    fn text(&self, section: Section, range: std::ops::Range<usize>) -> Option<String> {
        let bytes = self.pieces.piece(section, range.start as u64, range.end as u64)?;
        String::from_utf8(bytes).ok()
    }
}

/// A row of a table.
fn row<R: Row>(table: &[u8], at: usize) -> Option<R> {
    let start = at.checked_mul(R::SIZE)?;
    R::decode(&mut Reader::new(table.get(start..start + R::SIZE)?))
}

/// The paths of a hash; none if there are more than `most`.
fn hashed(table: &[u8], hash: u32, most: usize) -> Option<Vec<u32>> {
    let at = |at: usize| row::<PathHash>(table, at);
    let (mut low, mut high) = (0, table.len() / PathHash::SIZE);
    while low < high {
        let middle = usize::midpoint(low, high);
        if at(middle)?.hash < hash { low = middle + 1 } else { high = middle }
    }
    let mut paths = Vec::new();
    while let Some(found) = at(low).filter(|row| row.hash == hash) {
        if paths.len() >= most {
            return None;
        }
        paths.push(found.path);
        low += 1;
    }
    Some(paths)
}
