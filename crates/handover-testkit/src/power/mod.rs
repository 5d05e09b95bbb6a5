//! Power failures: records what real processes wrote and synced, and restores the disk to any state that a
//! power failure could have left.
//!
//! Synced data survives. Of every write since, any part may survive or not, in units of 512 bytes and in
//! any order. New names and renames survive once their folder was synced. Git does not sync folders: it
//! relies on journaling file systems, where names become durable in order and with any later sync. Its
//! files are judged by that rule, all others by the strict one.

mod scenes;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub use scenes::{Scene, power_failures};
use trace::{FileCall, Positions};

use crate::{Output, TestEnv};

/// The unit in which disks write.
const SECTOR: usize = 512;

/// A file, whatever its name.
type FileId = usize;

/// One step of a recording.
#[derive(Debug, Clone)]
enum Step {
    Write {
        file: FileId,
        at: u64,
        bytes: Vec<u8>,
    },
    Length {
        file: FileId,
        length: u64,
    },
    SyncFile(FileId),
    SyncFolder(PathBuf),
    Name {
        path: PathBuf,
        file: FileId,
        instead_of: Option<PathBuf>,
    },
    Unname(PathBuf),
    Folder(PathBuf),
    /// A command has responded.
    Acknowledged(usize),
}

/// What some commands did to the project.
pub struct Recording {
    /// The project as it was before.
    before: PathBuf,
    /// The files it had, and those that were added.
    names: BTreeMap<PathBuf, FileId>,
    steps: Vec<Step>,
    positions: Positions,
    lengths: BTreeMap<FileId, u64>,
    files: usize,
    commands: usize,
    /// Where the recording begins; earlier names are durable.
    first_step: usize,
    /// Files that were written out and become durable with the next sync of anything.
    written_out: Vec<FileId>,
}

fn is_answer(call: &FileCall) -> bool {
    *call == FileCall::Answer
}

impl Recording {
    /// Starts recording; the current content of the project counts as durable.
    pub fn start(env: &TestEnv) -> Self {
        let before = env.folder().join("before");
        copy(env, &env.path(""), &before);
        let mut recording = Self {
            before,
            names: BTreeMap::new(),
            steps: Vec::new(),
            positions: Positions::default(),
            lengths: BTreeMap::new(),
            files: 0,
            commands: 0,
            first_step: 0,
            written_out: Vec::new(),
        };
        let mut folders = vec![env.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(&folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => {
                        let file = recording.new_file(entry.metadata().unwrap().len());
                        recording.names.insert(entry.path(), file);
                    }
                }
            }
        }
        recording.names_before();
        recording
    }

    fn names_before(&mut self) {
        let names: Vec<_> = self.names.clone().into_iter().collect();
        for (path, file) in names {
            self.steps.push(Step::Name { path, file, instead_of: None });
        }
        self.first_step = self.steps.len();
    }

    fn new_file(&mut self, length: u64) -> FileId {
        self.files += 1;
        self.lengths.insert(self.files, length);
        self.files
    }

    /// Runs the program with this text on standard input, and records what it does. Returns its number and
    /// its output. Its first words acknowledge what it did.
    pub fn run(&mut self, env: &TestEnv, stdin: &str, args: &[&str]) -> (usize, Output) {
        self.record(env, stdin, args, |calls| calls.iter().position(is_answer))
    }

    /// The same for a command that reports its progress: its last words acknowledge it.
    pub fn run_to_its_end(&mut self, env: &TestEnv, args: &[&str]) -> (usize, Output) {
        self.record(env, "", args, |calls| calls.iter().rposition(is_answer))
    }

    fn record(
        &mut self,
        env: &TestEnv,
        stdin: &str,
        args: &[&str],
        answer: impl Fn(&[FileCall]) -> Option<usize>,
    ) -> (usize, Output) {
        let prefix = env.folder().join(format!("trace-{}", self.commands));
        let mut command = env.tool("strace");
        command.args(["-ff", "-y", "-xx", "-s", "100000000", "-qq", "-e", trace::TRACED]);
        command.args(["--absolute-timestamps=format:unix,precision:ns", "-o"]).arg(&prefix);
        command.arg(env.binary()).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = env.output(child);
        let number = self.commands;
        self.commands += 1;
        let calls = trace::read(&prefix);
        let answer = answer(&calls);
        for (at, call) in calls.into_iter().enumerate() {
            if Some(at) == answer {
                self.steps.push(Step::Acknowledged(number));
            }
            self.add(call, &env.path(""));
        }
        if answer.is_none() {
            self.steps.push(Step::Acknowledged(number));
        }
        for entry in fs_err::read_dir(env.folder()).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("trace-") {
                let _ = fs_err::remove_file(entry.path());
            }
        }
        (number, output)
    }

    /// How many points there are at which power can fail.
    pub fn moments(&self) -> usize {
        self.steps.len() - self.first_step
    }

    /// How often something was synced.
    pub fn syncs(&self) -> usize {
        let is_sync = |step: &&Step| matches!(step, Step::SyncFile(_) | Step::SyncFolder(_));
        self.steps.iter().filter(is_sync).count()
    }

    fn add(&mut self, call: FileCall, root: &Path) {
        let inside = |path: &Path| {
            // The index of the log is kept in memory; nothing relies on its file.
            path.starts_with(root) && !path.to_string_lossy().ends_with("-shm")
        };
        match call {
            FileCall::Open { path, creates, truncates, appends } if inside(&path) => {
                self.positions.open(&path, appends);
                if creates && !self.names.contains_key(&path) {
                    let file = self.new_file(0);
                    self.name(path.clone(), file, None);
                }
                if truncates {
                    self.length(&path, 0);
                }
            }
            FileCall::Write { path, at, bytes } if inside(&path) => {
                let Some(&file) = self.names.get(&path) else { return };
                let length = self.lengths[&file];
                let at = match at {
                    Some(at) => at,
                    None => self.positions.write(&path, bytes.len() as u64, length),
                };
                self.lengths.insert(file, length.max(at + bytes.len() as u64));
                self.steps.push(Step::Write { file, at, bytes });
            }
            FileCall::Seek { path, to } => self.positions.seek(&path, to),
            FileCall::Truncate { path, length } => self.length(&path, length),
            FileCall::WriteOut { path } => self.written_out.extend(self.names.get(&path)),
            FileCall::Sync { path } if inside(&path) => {
                let written_out = std::mem::take(&mut self.written_out);
                self.steps.extend(written_out.into_iter().map(Step::SyncFile));
                self.steps.push(match self.names.get(&path) {
                    Some(&file) => Step::SyncFile(file),
                    None => Step::SyncFolder(path),
                });
            }
            FileCall::Rename { from, to } => {
                if let Some(file) = self.names.remove(&from) {
                    self.name(to, file, Some(from));
                }
            }
            FileCall::Link { from, to } => {
                if let Some(&file) = self.names.get(&from) {
                    self.name(to, file, None);
                }
            }
            FileCall::Unlink { path } => {
                if self.names.remove(&path).is_some() {
                    self.steps.push(Step::Unname(path));
                }
            }
            FileCall::Folder { path } if inside(&path) => self.steps.push(Step::Folder(path)),
            FileCall::Open { .. }
            | FileCall::Write { .. }
            | FileCall::Sync { .. }
            | FileCall::Folder { .. }
            | FileCall::Symlink { .. }
            | FileCall::Answer => {}
        }
    }

    fn name(&mut self, path: PathBuf, file: FileId, instead_of: Option<PathBuf>) {
        self.names.insert(path.clone(), file);
        self.steps.push(Step::Name { path, file, instead_of });
    }

    fn length(&mut self, path: &Path, length: u64) {
        if let Some(&file) = self.names.get(path) {
            self.lengths.insert(file, length);
            self.steps.push(Step::Length { file, length });
        }
    }

    /// Restores the project to what a power failure before this step could have left; `seed` selects one of
    /// the possibilities. Returns the numbers of the commands that had been acknowledged.
    pub fn fail(&self, env: &TestEnv, moment: usize, seed: u64) -> BTreeSet<usize> {
        let moment = (self.first_step + moment).min(self.steps.len());
        let done = &self.steps[..moment];
        let mut random = Random(seed ^ 0x5DEE_CE66_D1CE_CAFE);
        let (names, lost) = self.names(done, &mut random);
        let root = env.path("");
        copy(env, &self.before, &root);
        // A folder whose name is lost is lost with its content.
        let is_lost = |path: &Path| lost.iter().any(|folder| path.starts_with(folder));
        for step in done {
            if let Step::Name { path, .. } = step {
                let _ = fs_err::remove_file(path);
            }
        }
        for (path, file) in names.iter().filter(|(path, _)| !is_lost(path)) {
            let content = content(self.first(done, *file, &root), done, *file, &mut random);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
        }
        let number = |step: &Step| {
            if let Step::Acknowledged(number) = step { Some(*number) } else { None }
        };
        done.iter().filter_map(number).collect()
    }

    /// The content that a file had before the recording.
    fn first(&self, done: &[Step], file: FileId, root: &Path) -> Vec<u8> {
        let name = done[..self.first_step].iter().find_map(|step| {
            if let Step::Name { path, file: named, .. } = step
                && *named == file
            {
                return path.strip_prefix(root).ok();
            }
            None
        });
        name.and_then(|path| fs_err::read(self.before.join(path)).ok()).unwrap_or_default()
    }

    /// The surviving names, and the folders whose own names are lost.
    fn names(
        &self,
        done: &[Step],
        random: &mut Random,
    ) -> (BTreeMap<PathBuf, FileId>, Vec<PathBuf>) {
        let is_sync = |step: &Step| matches!(step, Step::SyncFile(_) | Step::SyncFolder(_));
        let last_sync = done.iter().rposition(is_sync).unwrap_or(self.first_step);
        // With a journal, names become durable in order.
        let journaled = last_sync + random.below(done.len() + 1 - last_sync);
        let mut stays = |at: usize, path: &Path| {
            if at < self.first_step {
                return true;
            }
            if is_journaled(path) {
                return at < journaled;
            }
            let is_synced = |step: &Step| matches!(step, Step::SyncFolder(folder) if Some(folder.as_path()) == path.parent());
            done[at..].iter().any(is_synced) || random.coin()
        };
        let (mut names, mut lost) = (BTreeMap::new(), Vec::new());
        for (at, step) in done.iter().enumerate() {
            match step {
                Step::Name { path, file, instead_of } if stays(at, path) => {
                    names.insert(path.clone(), *file);
                    if let Some(old) = instead_of {
                        names.remove(old);
                    }
                }
                Step::Unname(path) if stays(at, path) => {
                    names.remove(path);
                }
                Step::Folder(path) if !stays(at, path) => lost.push(path.clone()),
                Step::Name { .. }
                | Step::Unname(_)
                | Step::Folder(_)
                | Step::Write { .. }
                | Step::Length { .. }
                | Step::SyncFile(_)
                | Step::SyncFolder(_)
                | Step::Acknowledged(_) => {}
            }
        }
        (names, lost)
    }
}

/// Whether a name is judged by the rule for journaling file systems.
fn is_journaled(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// What survives of a file.
fn content(first: Vec<u8>, done: &[Step], file: FileId, random: &mut Random) -> Vec<u8> {
    let synced =
        done.iter().rposition(|step| matches!(step, Step::SyncFile(synced) if *synced == file));
    let mut content = first;
    for (at, step) in done.iter().enumerate() {
        let is_synced = synced.is_some_and(|synced| at < synced);
        if let Step::Write { file: written, at, bytes } = step
            && *written == file
        {
            write(&mut content, *at as usize, bytes, is_synced, random);
        }
        if let Step::Length { file: cut, length } = step
            && *cut == file
            && (is_synced || random.coin())
        {
            content.resize(*length as usize, 0);
        }
    }
    content
}

fn write(content: &mut Vec<u8>, at: usize, bytes: &[u8], is_synced: bool, random: &mut Random) {
    // Most of it, or hardly any.
    let most = is_synced || random.coin();
    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
        if is_synced || (random.below(8) > 0) == most {
            let start = at + number * SECTOR;
            if content.len() < start + sector.len() {
                content.resize(start + sector.len(), 0);
            }
            content[start..start + sector.len()].copy_from_slice(sector);
        }
    }
}

/// Replaces a folder by a copy of another.
fn copy(env: &TestEnv, from: &Path, to: &Path) {
    let _ = fs_err::remove_dir_all(to);
    let done = env.tool("cp").arg("-a").arg(from).arg(to).current_dir(env.folder()).status();
    assert!(done.unwrap().success());
}

/// Pseudo-random numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 0
    }
}
