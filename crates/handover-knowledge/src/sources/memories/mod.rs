//! The memories of other tools: a file each, and a line in the registry. What another tool's model wrote about the
//! project is a hint, so it is believed less than what is said here.

mod beads;
mod claude;
mod claude_mem;
mod export;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use handover_files::open_regular;
use handover_model::{NoteKind, NoteState, SourceName, Timestamp, Trust};

use crate::mentions::mentions;
use crate::passage::passages;
use crate::source::Unit;
use crate::{
    Draft, Found, Learned, Place, SkipReason, Skipped, Source, SourceContext, SourceError,
};

/// Changes when memories are read differently, so that they are read anew.
const VERSION: &str = "1";

/// The longest file of lines, and the longest line.
const MAX_BYTES: u64 = 256 << 20;

/// The most notes of one memory.
const MAX_NOTES: usize = 10_000;

/// The most passages of one record.
const MAX_PASSAGES: usize = 4;

/// A tool that remembers something about projects.
trait Memory: Sync {
    /// Its name, with which the names of its units begin.
    fn name(&self) -> &'static str;

    /// The places where it keeps what it knows about this project, each with a name of its own.
    fn find(&self, context: &SourceContext<'_>) -> Vec<(String, PathBuf)>;

    /// The name of its unit in a file or folder that was asked for; none if it is not one of its own.
    fn recognizes(&self, path: &Path, context: &SourceContext<'_>) -> Option<String>;

    fn read(&self, maker: &Maker<'_>, path: &Path) -> Result<Vec<Draft>, SkipReason>;
}

const MEMORIES: &[&dyn Memory] =
    &[&claude::ClaudeMemory, &claude_mem::ClaudeMem, &beads::Beads, &export::Export];

/// Memories.
pub(super) struct Memories;

impl Source for Memories {
    fn name(&self) -> SourceName {
        SourceName::Memories
    }

    fn discover(&self, context: &SourceContext<'_>) -> Result<Found, SourceError> {
        let mut found = Found::default();
        for memory in MEMORIES.iter().filter(|_| context.paths.is_empty()) {
            for (name, path) in memory.find(context) {
                add(&mut found, *memory, name, path);
            }
        }
        for path in context.paths {
            let known = MEMORIES
                .iter()
                .find_map(|memory| Some((*memory, memory.recognizes(path, context)?)));
            match known {
                Some((memory, name)) => add(&mut found, memory, name, path.clone()),
                None => {
                    found.skipped.push(Skipped { what: shown(path), reason: SkipReason::Foreign });
                }
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
        for (at, unit) in units.iter().enumerate() {
            if context.stopped() {
                return Ok(());
            }
            let mut one = Learned { unit: at, drafts: Vec::new(), skipped: Vec::new() };
            match learn(unit, context) {
                Ok(drafts) => one.drafts = drafts,
                Err(reason) => one.skipped.push(Skipped { what: unit.source.clone(), reason }),
            }
            one.drafts.retain(|draft| !context.is_too_old(draft.created_at));
            learned(one);
        }
        Ok(())
    }

    fn outlives_its_units(&self) -> bool {
        true
    }
}

fn add(found: &mut Found, memory: &dyn Memory, name: String, path: PathBuf) {
    let source = format!("{}:{name}", memory.name());
    if found.units.iter().any(|unit| unit.source == source) {
        return;
    }
    match state(&path) {
        Ok(state) => {
            let fingerprint = format!("{VERSION}:{state}");
            found.units.push(Unit { source, fingerprint, place: Some(Place::File(path)) });
        }
        Err(reason) => found.skipped.push(Skipped { what: source, reason }),
    }
}

fn learn(unit: &Unit, context: &SourceContext<'_>) -> Result<Vec<Draft>, SkipReason> {
    let (name, _) = unit.source.split_once(':').ok_or(SkipReason::Foreign)?;
    let memory = MEMORIES.iter().find(|memory| memory.name() == name).ok_or(SkipReason::Foreign)?;
    let Some(Place::File(path)) = &unit.place else { return Err(SkipReason::Foreign) };
    let maker = Maker { source: &unit.source, context };
    let mut drafts = memory.read(&maker, path)?;
    let extra = drafts.len().saturating_sub(MAX_NOTES);
    drafts.drain(..extra);
    Ok(drafts)
}

/// Makes the drafts of one unit.
struct Maker<'a> {
    source: &'a str,
    context: &'a SourceContext<'a>,
}

/// What a record of a memory says.
struct Record<'a> {
    /// What tells it from the others of the unit.
    id: &'a str,
    title: &'a str,
    text: &'a str,
    trust: Trust,
    time: Timestamp,
}

impl Maker<'_> {
    fn drafts(&self, record: &Record<'_>) -> Vec<Draft> {
        let passages = passages(record.text).into_iter().take(MAX_PASSAGES);
        let make = |text: String| {
            let named = mentions(&text, self.context.checkouts);
            let draft = Draft {
                kind: NoteKind::Memory,
                origin: format!("{}#{}", self.source, record.id),
                source: self.source.to_owned(),
                title: record.title.to_owned(),
                text,
                trust: record.trust,
                paths: named.paths,
                symbols: named.symbols,
                state: NoteState::Live,
                reason: None,
                created_at: record.time,
            };
            draft.bounded()
        };
        passages.map(make).collect()
    }
}

/// Joins what is there of several texts, a paragraph each.
fn joined<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The size and time of a file, and of the log that a database keeps beside it.
fn state(path: &Path) -> Result<String, SkipReason> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let one = |path: &Path| {
        let data = open_regular(path).ok()?.metadata().ok()?;
        let time = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{}:{}", data.len(), time.as_nanos()))
    };
    let file = one(path).ok_or(SkipReason::Unreadable)?;
    Ok(format!("{file}:{}", one(Path::new(&log)).unwrap_or_default()))
}

/// When a file was changed.
fn changed(path: &Path) -> Timestamp {
    let time = open_regular(path).ok().and_then(|file| file.metadata().ok()?.modified().ok());
    let micros =
        time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_micros());
    Timestamp::from_micros(micros.and_then(|micros| i64::try_from(micros).ok()).unwrap_or_default())
}

fn shown(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
