//! What a source is: something that finds units, and reads those that have changed into drafts.
//!
//! The caller remembers the fingerprint of each unit, so learning again only reads what changed. Nothing found
//! on disk is an error: what cannot be used is skipped with a reason.

use std::path::{Path, PathBuf};

use handover_model::{SourceName, Timestamp};

use crate::{Draft, Git, GitError};

/// A source of notes.
pub trait Source: Sync {
    /// Its name on the command line.
    fn name(&self) -> SourceName;

    /// A cheap fingerprint of the whole source. If it is the one of the last time that everything was learned,
    /// nothing has changed. None if there is none.
    fn stamp(&self, _context: &SourceContext<'_>) -> Result<Option<String>, SourceError> {
        Ok(None)
    }

    /// Finds everything that can be learned, newest first where that is known.
    fn discover(&self, context: &SourceContext<'_>) -> Result<Found, SourceError>;

    /// Reads units of [`Self::discover`], usually those that have changed. Each is handed over as soon as it is
    /// read, in any order; those that a stop left unread are not.
    fn read(
        &self,
        context: &SourceContext<'_>,
        units: &[Unit],
        learned: &mut dyn FnMut(Learned),
    ) -> Result<(), SourceError>;

    /// Whether the notes of a unit outlive it, as those of a deleted conversation do.
    fn outlives_its_units(&self) -> bool {
        false
    }
}

/// What a source may look at.
pub struct SourceContext<'a> {
    /// The root of the project.
    pub root: &'a Path,
    /// Its repository; none if it is in none.
    pub git: Option<&'a Git>,
    /// Every folder that is a checkout of this project: the root, its worktrees. Conversations that were held in
    /// one of them or below are of this project.
    pub checkouts: &'a [PathBuf],
    /// Where agent programs and other tools keep their files.
    pub homes: &'a Homes,
    /// Only these files and folders; empty for everything.
    pub paths: &'a [PathBuf],
    /// Nothing older than this.
    pub since: Option<Timestamp>,
    /// Reads tables of foreign databases; without it those are skipped.
    pub tables: Option<&'a dyn ForeignTables>,
    /// Whether to stop as soon as possible.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl SourceContext<'_> {
    /// Whether a path, relative to the root, is one of those that were asked for.
    pub(crate) fn covers(&self, path: &str) -> bool {
        let whole = self.root.join(path);
        self.paths.is_empty() || self.paths.iter().any(|asked| whole.starts_with(asked))
    }

    pub(crate) fn is_too_old(&self, time: Timestamp) -> bool {
        self.since.is_some_and(|since| time < since)
    }

    pub(crate) fn stopped(&self) -> bool {
        (self.stop)()
    }
}

/// The folders of agent programs and other tools.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    /// `~/.claude`, or `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// `~/.codex`, or `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `~/.gemini`.
    pub gemini: Option<PathBuf>,
    /// `~/.copilot`, or `COPILOT_HOME`.
    pub copilot: Option<PathBuf>,
    /// `$XDG_DATA_HOME/opencode`, which is `~/.local/share/opencode` by default.
    pub opencode: Option<PathBuf>,
    /// `~/.qwen`, or `QWEN_HOME`.
    pub qwen: Option<PathBuf>,
    /// `~/.claude-mem`, or `CLAUDE_MEM_DATA_DIR`.
    pub claude_mem: Option<PathBuf>,
}

impl Homes {
    /// The usual folders, given the variables of the environment. Empty variables count as unset.
    pub fn usual(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let folder =
            |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = folder("HOME");
        let at = |below: &str| home.as_ref().map(|home| home.join(below));
        Self {
            claude: folder("CLAUDE_CONFIG_DIR").or_else(|| at(".claude")),
            codex: folder("CODEX_HOME").or_else(|| at(".codex")),
            gemini: folder("GEMINI_CLI_HOME")
                .map(|home| home.join(".gemini"))
                .or_else(|| at(".gemini")),
            copilot: folder("COPILOT_HOME").or_else(|| at(".copilot")),
            opencode: folder("XDG_DATA_HOME")
                .map(|data| data.join("opencode"))
                .or_else(|| at(".local/share/opencode")),
            qwen: folder("QWEN_HOME").or_else(|| at(".qwen")),
            claude_mem: folder("CLAUDE_MEM_DATA_DIR").or_else(|| at(".claude-mem")),
        }
    }
}

/// Reads the databases of other programs, because only one crate opens databases.
pub trait ForeignTables: Sync {
    /// Calls `each` with the values of these columns, for each row of a table in which `filter.0` is `filter.1`,
    /// ordered by the first column. A column that does not exist is empty. The database is not changed.
    fn rows(
        &self,
        database: &Path,
        table: &str,
        columns: &[&str],
        filter: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[ForeignValue]),
    ) -> Result<(), String>;
}

/// A value in a foreign table.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignValue {
    /// Nothing, or a blob.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// Text.
    Text(String),
}

impl ForeignValue {
    /// The text; empty for anything else.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Null | Self::Integer(_) | Self::Real(_) => "",
        }
    }

    /// The number, also of a text.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Null | Self::Real(_) => None,
        }
    }
}

/// What can be learned, replaced and forgotten as a whole: a document, a commit, a conversation, a foreign record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name; the `source` of its notes.
    pub source: String,
    /// Changes whenever its notes could change.
    pub fingerprint: String,
    /// Where it is, if that is not clear from its name.
    pub(crate) place: Option<Place>,
}

/// Where something is kept by another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file of its own.
    File(PathBuf),
    /// In a database.
    Row {
        /// The file of the database.
        database: PathBuf,
        /// Its id there.
        id: String,
    },
}

/// What a source found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// What can be learned, without duplicates.
    pub units: Vec<Unit>,
    /// What cannot.
    pub skipped: Vec<Skipped>,
}

/// A unit that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// Which of the units that were asked for.
    pub unit: usize,
    /// What it says, in its own order; often nothing.
    pub drafts: Vec<Draft>,
    /// Why it, or a part of it, could not be used.
    pub skipped: Vec<Skipped>,
}

/// Something that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path or name.
    pub what: String,
    /// What keeps it from being used.
    pub reason: SkipReason,
}

/// Why something cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum SkipReason {
    /// A link, a pipe, a device, a folder where a file should be.
    #[error("not a regular file")]
    Irregular,
    /// More than is read of one file.
    #[error("too large")]
    TooLarge,
    /// Permissions, or it went away.
    #[error("cannot be read")]
    Unreadable,
    /// Neither text nor a format that is known.
    #[error("unknown format")]
    Foreign,
    /// Some lines of it are broken or cut off.
    #[error("partly damaged")]
    Damaged,
}

/// Why a source cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is kept in git, and the project is not.
    #[error("the project is not in a git repository")]
    NoRepository,
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}
