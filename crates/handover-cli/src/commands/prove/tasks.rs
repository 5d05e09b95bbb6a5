//! The tasks of a file, with the commits that they name.

use std::path::{Path, PathBuf};

use handover_engine::EngineError;
use handover_engine::git::Repo;
use handover_files::{FileError, read_text_bounded};
use handover_model::Timestamp;
use handover_prove::file::MAX_BYTES;
use handover_prove::{Task, TaskFile};

use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input::{file_like, no_file};
use crate::typos;

/// A task whose commits exist.
pub(super) struct PreparedTask {
    pub(super) task: Task,
    /// The commit from which agents start.
    pub(super) start: String,
    /// When it was made: nothing that was learned later may help.
    pub(super) at: Timestamp,
    /// Files that the judge relies on, with the commits that have them.
    pub(super) judge_files: Vec<(String, String)>,
}

/// Reads a file of tasks; its absolute path, too.
pub(super) fn read(app: &App, path: &Path) -> Result<(PathBuf, TaskFile), CommandError> {
    let whole = app.folder()?.join(path);
    let shown = path.display();
    let text = match read_text_bounded(&whole, MAX_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(missing(path)),
        Err(
            error @ (FileError::TooLarge { .. }
            | FileError::NotText { .. }
            | FileError::NotAFile { .. }),
        ) => {
            return Err(CommandError::new(Exit::Usage, "invalid_input", &error));
        }
        Err(error) => return Err(error.into()),
    };
    let file = TaskFile::parse(&text)
        .map_err(|error| CommandError::invalid(format!("{shown}: {error}")).hinted(error.hint()))?;
    Ok((whole, file))
}

fn missing(path: &Path) -> CommandError {
    let error = no_file(path);
    // `prove inti` is read as the name of a file.
    match path.to_str().and_then(|name| typos::nearest(name, ["init"])) {
        Some(meant) => error.hinted(format!("Did you mean `handover prove {meant}`?")),
        None if file_like(path).is_some() => error,
        None => error
            .hinted("`handover prove init FILE.toml` finds tasks in the history of the project."),
    }
}

/// Looks up every commit before anything is started.
pub(super) fn prepare(repo: &Repo, file: &TaskFile) -> Result<Vec<PreparedTask>, CommandError> {
    file.tasks.iter().map(|task| prepared(repo, task)).collect()
}

pub(super) fn prepared(repo: &Repo, task: &Task) -> Result<PreparedTask, CommandError> {
    let commit = |key: &str, name: &str| {
        let found = repo.resolve(name).map_err(EngineError::from)?;
        found.ok_or_else(|| {
            let message = format!("task `{}`: `{key}` names `{name}`, which is no commit here", task.id);
            CommandError::invalid(message)
                .hinted("A shallow clone has only the last commits: `git fetch --unshallow` gets the others.")
        })
    };
    let start = commit("start", &task.start)?;
    let at = repo.commit_time(&start).map_err(EngineError::from)?;
    let mut judge_files = Vec::new();
    for (path, name) in &task.judge_files {
        let of = commit("judge_files", name)?;
        if repo.file_of(&of, Path::new(path)).map_err(EngineError::from)?.is_none() {
            let message = format!("task `{}`: commit `{name}` has no file `{path}`", task.id);
            return Err(CommandError::invalid(message)
                .hinted("`judge_files` gives the commit that has the file as it should be."));
        }
        judge_files.push((path.clone(), of));
    }
    // What the command names is part of the judge, too; an agent must not rewrite it.
    for word in &task.judge {
        let is_listed = judge_files.iter().any(|(path, _)| path == word);
        if !is_listed
            && handover_prove::file::is_inside(word)
            && repo.file_of(&start, Path::new(word)).map_err(EngineError::from)?.is_some()
        {
            judge_files.push((word.clone(), start.clone()));
        }
    }
    Ok(PreparedTask { task: task.clone(), start, at, judge_files })
}
