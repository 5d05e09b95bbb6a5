//! The format of a situation: a project, what happened in it, the request, and what the brief must say.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// The folder with the situations.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/briefs");

/// One file of the corpus.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Situation {
    /// The name of the file, without its extension.
    #[serde(skip)]
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// The files of the project, by path.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// What happened before the request, in this order.
    #[serde(default, rename = "step")]
    pub(super) steps: Vec<Step>,
    /// The request.
    pub brief: BriefRequest,
    /// What the brief must say.
    pub(super) expect: Expectations,
}

/// Something that happened.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    /// Writes a file, repeating its text this many times.
    Write {
        path: String,
        text: String,
        #[serde(default = "once")]
        times: usize,
    },
    /// Registers a file; writes it first if there is a text.
    Package {
        path: String,
        text: Option<String>,
        kind: Option<String>,
        by: Option<String>,
        #[serde(default, rename = "for")]
        consumers: Vec<String>,
        priority: Option<String>,
        group: Option<String>,
        summary: Option<String>,
    },
    /// Imports many packages. In every text, `{n}` is the number of the package and `{word}` the next of
    /// the words that `vary` lists for it.
    Packages {
        count: usize,
        kind: String,
        by: String,
        priority: String,
        group: Option<String>,
        summary: String,
        body: String,
        #[serde(default)]
        vary: BTreeMap<String, Vec<String>>,
    },
    /// Briefs an agent, which ends with the message; without one it was interrupted.
    Agent {
        role: String,
        group: Option<String>,
        #[serde(default = "any_task")]
        task: String,
        /// The last message: the lines of its block, or a text with the block in it.
        ends: Option<String>,
    },
    /// Records an agent's reasoning.
    Reasoning {
        role: String,
        phase: String,
        group: Option<String>,
        /// From 1.
        #[serde(default = "one")]
        attempt: u32,
        confidence: Option<String>,
        text: String,
    },
    /// Resolves an error, and confirms the solution this often.
    Solved {
        error: String,
        solution: String,
        #[serde(default)]
        confirmed: usize,
    },
    /// Runs any command of `handover`.
    Run { args: Vec<String>, stdin: Option<String> },
    /// Lets another program hold the write lock of the store from now on.
    Lock,
}

fn any_task() -> String {
    "Work on the group".to_owned()
}

fn once() -> usize {
    1
}

fn one() -> u32 {
    1
}

/// The agent that is briefed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefRequest {
    /// Its role.
    pub role: String,
    pub(super) group: Option<String>,
    pub(super) model: Option<String>,
    pub(super) task: Option<String>,
    /// More arguments.
    #[serde(default)]
    pub(super) args: Vec<String>,
}

/// What a brief is judged by. The text of its own task is not searched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectations {
    /// Texts in the first section: what the agent needs most, before everything else.
    #[serde(default)]
    pub(super) first: Vec<String>,
    /// Texts that must occur.
    #[serde(default)]
    pub(super) has: Vec<String>,
    /// Texts that must not occur.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// Texts that must occur exactly once.
    #[serde(default)]
    pub(super) once: Vec<String>,
    /// Texts that must occur in this order.
    #[serde(default)]
    pub(super) order: Vec<String>,
    /// The maximum tokens of context and specialization together.
    pub(super) tokens: u64,
    /// The maximum share of general advice, in percent.
    pub(super) advice: Option<u64>,
}

impl Situation {
    /// Reads a file of the corpus.
    fn read(path: &PathBuf) -> Result<Self, String> {
        let text = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
        let mut situation: Self =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default();
        situation.name = name.to_string_lossy().into_owned();
        Ok(situation)
    }

    /// Every situation of the corpus, by name.
    pub fn all() -> Result<Vec<Self>, String> {
        let entries = fs_err::read_dir(FOLDER).map_err(|error| error.to_string())?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        paths.iter().map(Self::read).collect()
    }
}
