//! Brings an index up to date: reads the files that changed since the last time and the commits that were added,
//! and writes the file anew, copying what stayed the same.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use handover_files::{Folder, Sync as Durable};

use super::container::{Contents, MAX_BYTES};
use super::document::{Indexed, MAX_FILE, MAX_READ, Vocabulary};
use super::files::{self, FileKind};
use super::history;
use super::inverted::{Additions, Inverted, Renumber};
use super::model::Model;
use super::tables::{Document, NONE, Origin, Stamp};
use super::{Checkout, PlacesError, Progress, Watch, commits, file_name, folder_of, former};
use crate::GitError;

/// Files beyond these are not indexed.
const MAX_FILES: usize = 200_000;
/// Files that git does not track yet; more are a build or a download.
const MAX_UNTRACKED: usize = 2_000;
/// Indexes of other worktrees that are kept.
const KEPT: usize = 8;

/// A file that has to be read.
#[derive(Debug)]
struct Work {
    path: String,
    stamp: Stamp,
}

/// Updates the index of a checkout, or creates it. What a stop leaves undone is done the next time.
pub(super) fn update(
    project: &Folder,
    checkout: Checkout<'_>,
    watch: Watch<'_>,
) -> Result<Progress, PlacesError> {
    let (folder, name) = (folder_of(project), file_name(checkout.root));
    let origin = origin(checkout.root)?;
    let listed = match list(checkout, watch) {
        Err(GitError::Stopped) => return Ok(Progress::default()),
        listed => listed?,
    };
    let new = || Model::new(origin.clone());
    let known = load(&folder, &name, &origin);
    let mut updated = renew(known.unwrap_or_else(new), &listed, checkout, watch);
    if matches!(updated, Err(PlacesError::Damaged)) {
        // Its checksums are right, but it contradicts itself.
        updated = renew(new(), &listed, checkout, watch);
    }
    let (progress, changed) = updated?;
    if let Some(model) = changed {
        folder.replace(&name, &model.encode().encode(), Durable::No)?;
        folder.keep_newest(KEPT, |name| name.ends_with(super::ENDING));
    }
    Ok(progress)
}

/// The model with everything that is new, if there is anything new.
fn renew(
    mut model: Model,
    listed: &BTreeMap<String, Stamp>,
    checkout: Checkout<'_>,
    watch: Watch<'_>,
) -> Result<(Progress, Option<Model>), PlacesError> {
    let (before, is_new) = (model.origin.clone(), model.paths.is_empty());
    let mut progress = Progress::default();
    let work = compare(&mut model, listed, &mut progress);
    let renumbered = model.compact_documents();
    let renumber = renumbered.as_deref().map_or(Renumber::Keep, Renumber::To);
    let added = read_files(&mut model, checkout, work, watch, &mut progress);
    if renumbered.is_some() || !added.is_empty() {
        let merged = Inverted::merge(model.terms.view(), renumber, &added);
        model.terms = merged.ok_or(PlacesError::Damaged)?;
    }
    if progress.read + progress.removed > 0 {
        former::settle(&mut model);
    }
    let history_changed = commits::update(&mut model, checkout, watch)?;
    model.origin.unread = progress.unread as u64;
    progress.files = model.paths.iter().filter(|row| row.document != NONE).count();
    progress.commits = model.commits.iter().filter(|row| row.length > 0).count();
    progress.history_complete = model.origin.complete;
    let changed =
        is_new || progress.read + progress.removed > 0 || history_changed || model.origin != before;
    Ok((progress, changed.then_some(model)))
}

pub(super) fn origin(root: &Path) -> Result<Origin, PlacesError> {
    let inode = fs_err::metadata(root).map_err(PlacesError::Root)?.ino();
    Ok(Origin { root: root.to_string_lossy().into_owned(), inode, ..Origin::default() })
}

/// The index as it was left; none if it is missing, damaged or not of this checkout.
fn load(folder: &Folder, name: &str, origin: &Origin) -> Option<Model> {
    let bytes = folder.read(name, MAX_BYTES).ok()??;
    let model = Model::decode(&Contents::decode(&bytes)?)?;
    let ours = model.origin.root == origin.root && model.origin.inode == origin.inode;
    ours.then_some(model)
}

/// The files of a checkout, by path: tracked ones, and new ones that git does not ignore. One whose name has a
/// secret is left out.
fn list(checkout: Checkout<'_>, watch: Watch<'_>) -> Result<BTreeMap<String, Stamp>, GitError> {
    let Checkout { root, git, redactor } = checkout;
    let mut listed = BTreeMap::new();
    let mut add = |path: &[u8], blob: [u8; 20]| {
        if let Ok(path) = std::str::from_utf8(path)
            && files::is_candidate(path)
            && let Ok(data) = fs_err::symlink_metadata(root.join(path))
            && data.is_file()
            && data.len() <= MAX_FILE
            && redactor.find(path).is_empty()
        {
            let seconds = u64::try_from(data.mtime()).unwrap_or(0);
            let nanoseconds = u64::try_from(data.mtime_nsec()).unwrap_or(0);
            let modified = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
            listed.insert(path.to_owned(), Stamp { blob, size: data.len(), modified });
        }
        listed.len()
    };
    git.records(&["ls-files", "-s", "-z"], &[], 0, watch.stop, &mut |record| {
        // `100644 id stage<tab>path`; links and other repositories have other modes.
        let Some(tab) = memchr::memchr(b'\t', record) else { return true };
        let (head, path) = (&record[..tab], &record[tab + 1..]);
        if head.starts_with(b"100")
            && let Some(blob) = head.get(7..47).and_then(history::id)
        {
            return add(path, blob) < MAX_FILES;
        }
        true
    })
    .or_else(enough)?;
    let mut untracked = 0;
    let new = ["ls-files", "-o", "--exclude-standard", "-z"];
    git.records(&new, &[], 0, watch.stop, &mut |path| {
        untracked += 1;
        add(path, [0; 20]) < MAX_FILES && untracked < MAX_UNTRACKED
    })
    .or_else(enough)?;
    if (watch.stop)() { Err(GitError::Stopped) } else { Ok(listed) }
}

/// We stop reading a list that is too long.
fn enough(error: GitError) -> Result<(), GitError> {
    if matches!(error, GitError::Stopped) { Ok(()) } else { Err(error) }
}

/// Takes out what is gone and returns what has to be read: code first, because a stop may come.
fn compare(
    model: &mut Model,
    listed: &BTreeMap<String, Stamp>,
    progress: &mut Progress,
) -> Vec<Work> {
    let mut lost = HashMap::new();
    for path in 0..model.paths.len() as u32 {
        let document = model.paths[path as usize].document;
        if document != NONE && !model.path_text(path).is_some_and(|text| listed.contains_key(text))
        {
            let blob = model.stamps.get(document as usize).map_or([0; 20], |stamp| stamp.blob);
            lost.insert(blob, path);
            model.lose(path);
            progress.removed += 1;
        }
    }
    follow_unchanged(model, listed, lost);
    let known = |path: &str| {
        let document = model.paths[model.known_path(path)? as usize].document;
        model.stamps.get(document as usize)
    };
    let changed = listed.iter().filter(|(path, stamp)| known(path) != Some(stamp));
    let mut work: Vec<Work> =
        changed.map(|(path, stamp)| Work { path: path.clone(), stamp: *stamp }).collect();
    work.sort_by_key(|work| match files::kind(&work.path) {
        FileKind::Code => 0,
        FileKind::Test => 1,
        FileKind::Prose => 2,
        FileKind::Data => 3,
    });
    work
}

/// Files that were moved and not changed have the same content under a name that is new. A commit says more, once
/// there is one.
fn follow_unchanged(
    model: &mut Model,
    listed: &BTreeMap<String, Stamp>,
    mut lost: HashMap<[u8; 20], u32>,
) {
    lost.remove(&[0; 20]);
    if lost.is_empty() {
        return;
    }
    for (to, stamp) in listed {
        let is_new = model.known_path(to).is_none();
        if is_new && let Some(from) = lost.remove(&stamp.blob) {
            model.paths[from as usize].renamed = model.path(to);
        }
    }
}

/// What one thread has read.
#[derive(Default)]
struct Batch {
    vocabulary: Vocabulary,
    files: Vec<(usize, Option<Indexed>)>,
}

/// Reads files on all cores and adds them to the model; returns their postings.
fn read_files(
    model: &mut Model,
    checkout: Checkout<'_>,
    work: Vec<Work>,
    watch: Watch<'_>,
    progress: &mut Progress,
) -> Additions {
    let (next, batches) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let total = work.len();
    // The way to the checkout may be a link; below it, none is followed.
    let root = fs_err::canonicalize(checkout.root).unwrap_or_else(|_| checkout.root.to_owned());
    let read = || {
        let mut batch = Batch::default();
        while !(watch.stop)() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = work.get(at) else { break };
            let indexed = content(&root, &work.path)
                .and_then(|text| batch.vocabulary.index(&work.path, &text, checkout.redactor));
            batch.files.push((at, indexed));
            (watch.seen)(at + 1, total);
        }
        if let Ok(mut batches) = batches.lock() {
            batches.push(batch);
        }
    };
    // Starting a thread costs more than a few files.
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(work.len() / 16 + 1) {
            scope.spawn(read);
        }
        read();
    });
    let batches = batches.into_inner().unwrap_or_default();
    progress.read = batches.iter().map(|batch| batch.files.len()).sum();
    progress.unread = work.len() - progress.read;
    add_files(model, &work, batches)
}

fn add_files(model: &mut Model, work: &[Work], batches: Vec<Batch>) -> Additions {
    let mut order: Vec<(usize, usize, usize)> = Vec::new();
    for (batch, read) in batches.iter().enumerate() {
        order.extend(read.files.iter().enumerate().map(|(at, file)| (file.0, batch, at)));
    }
    order.sort_unstable();
    // Numbers ascend with the order of the work, whichever thread did it.
    let mut numbers = HashMap::new();
    for (at, batch, file) in order {
        let Work { path, stamp } = &work[at];
        let (path, kind) = (model.path(path), files::kind(path));
        let indexed = batches[batch].files[file].1.as_ref();
        if let Some(indexed) = indexed {
            model.symbols.extend_from_slice(indexed.symbols.as_bytes());
        }
        let (length, symbols_end) =
            (indexed.map_or(0, |indexed| indexed.length), model.symbols.len() as u32);
        let row = Document { length, path, symbols_end, kind };
        numbers.insert(at, model.add_document(row, *stamp));
    }
    let mut added = Additions::new();
    for batch in batches {
        let mut lists: Vec<Vec<(u32, u8)>> = Vec::new();
        for (at, indexed) in batch.files {
            let (Some(indexed), Some(number)) = (indexed, numbers.get(&at)) else { continue };
            for (term, occurrence) in indexed.terms {
                if lists.len() <= term as usize {
                    lists.resize_with(term as usize + 1, Vec::new);
                }
                lists[term as usize].push((*number, occurrence.0));
            }
        }
        for (term, number) in batch.vocabulary.into_terms() {
            if let Some(list) = lists.get_mut(number as usize).filter(|list| !list.is_empty()) {
                added.entry(term).or_default().append(list);
            }
        }
    }
    for list in added.values_mut() {
        list.sort_unstable();
    }
    added
}

/// The beginning of a file, reached without following a link.
fn content(root: &Path, path: &str) -> Option<Vec<u8>> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let file = Folder::at(root).inside(folders).open_file(name).ok()??;
    let mut bytes = Vec::new();
    file.take(MAX_READ).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
