//! Finds the transcripts of this project: by the folder that is recorded inside, never by reading conversations
//! of other projects further than that.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use handover_model::Host;

use super::lines::string_in_file;
use super::programs::{self, Program};
use crate::{Place, SkipReason, Skipped, SourceContext};

/// How deep folders of transcripts are searched.
const MAX_DEPTH: usize = 8;

/// The most files that are looked at.
const MAX_FILES: usize = 100_000;

/// A conversation that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The program that wrote it.
    pub host: Host,
    /// Unique among the conversations of the program.
    pub id: String,
    /// Where it is.
    pub place: Place,
    /// Changes whenever the conversation goes on: size and time, or what the database says.
    pub state: String,
}

impl Transcript {
    /// One in a file; none if the file is gone.
    pub(super) fn in_file(host: Host, id: impl Into<String>, path: PathBuf) -> Option<Self> {
        let data = fs_err::metadata(&path).ok()?;
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let state = format!("{}:{}", data.len(), changed.as_nanos());
        Some(Self { host, id: id.into(), place: Place::File(path), state })
    }
}

/// A search for the transcripts of this project.
pub(super) struct Search<'a> {
    pub(super) context: &'a SourceContext<'a>,
    pub(super) found: Vec<Transcript>,
    pub(super) skipped: Vec<Skipped>,
}

impl Search<'_> {
    /// Adds the files of a program that were begun in one of our checkouts: the folder is the first `cwd` in them.
    pub(super) fn keep_ours(&mut self, program: &dyn Program, files: Vec<PathBuf>) {
        for file in files {
            if self.context.stopped() {
                return;
            }
            let Some(id) = program.id_of(&file) else { continue };
            match string_in_file(&file, "cwd") {
                Ok(Some(folder)) if is_ours(Path::new(&folder), self.context) => {
                    self.found.extend(Transcript::in_file(program.host(), id, file));
                }
                Ok(_) => {}
                Err(reason) => {
                    self.skipped.push(Skipped { what: format!("{}:{id}", program.host()), reason });
                }
            }
        }
    }
}

/// The transcripts of this project, or those in the folders that were asked for.
pub fn find(context: &SourceContext<'_>) -> (Vec<Transcript>, Vec<Skipped>) {
    if !context.paths.is_empty() {
        return in_folders(context.paths, context.stop);
    }
    let mut search = Search { context, found: Vec::new(), skipped: Vec::new() };
    for program in programs::ALL {
        if context.stopped() {
            break;
        }
        program.find(&mut search);
    }
    (search.found, search.skipped)
}

/// Every transcript in these files and folders, whatever program and project it is of.
pub fn in_folders(paths: &[PathBuf], stop: &dyn Fn() -> bool) -> (Vec<Transcript>, Vec<Skipped>) {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for path in paths {
        let mut files = Vec::new();
        if path.is_dir() {
            walk(path, MAX_DEPTH, &mut files);
        } else {
            files.push(path.clone());
        }
        for file in files {
            if stop() {
                return (found, skipped);
            }
            match recognize(&file) {
                Some(transcript) => found.push(transcript),
                None => {
                    let what = file.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
                    skipped.push(Skipped { what: what.into_owned(), reason: SkipReason::Foreign });
                }
            }
        }
    }
    (found, skipped)
}

/// What kind of transcript a file is, if any.
pub(super) fn recognize(file: &Path) -> Option<Transcript> {
    let head = super::lines::head(file, super::lines::HEAD_BYTES).ok()?;
    let program = programs::ALL.iter().find(|program| program.recognizes(&head))?;
    let id = program.id_of(file)?;
    Transcript::in_file(program.host(), id, file.to_owned())
}

/// The JSON files below a folder, without following links, in order.
pub(super) fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs_err::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
        if files.len() >= MAX_FILES {
            return;
        }
        if kind.is_dir() && depth > 0 {
            walk(&path, depth - 1, files);
        } else if kind.is_file() && is_json(&path) {
            files.push(path);
        }
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
}

/// Whether a folder is, or is in, one of this project's checkouts.
pub(super) fn is_ours(folder: &Path, context: &SourceContext<'_>) -> bool {
    let is_inside = |folder: &Path| context.checkouts.iter().any(|one| folder.starts_with(one));
    // It may have been reached through a link.
    is_inside(folder) || fs_err::canonicalize(folder).is_ok_and(|folder| is_inside(&folder))
}

/// The name of a file without its extension.
pub(super) fn stem(path: &Path) -> Option<String> {
    path.file_stem()?.to_str().map(ToOwned::to_owned)
}
