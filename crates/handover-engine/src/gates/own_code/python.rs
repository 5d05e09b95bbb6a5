//! Python: what was installed in a virtual environment leads to the checkout (an editable install) or is a copy of
//! what it once was. The source folders of the worktree come first in `PYTHONPATH`, and then Python is asked again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handover_agents::{AgentEvent, Environment};
use serde::Deserialize;

use super::{DEPTH, OwnCode, Redirection, elsewhere, walk};
use crate::gates::{Gate, GateError};

/// Where virtual environments keep their interpreter.
pub(in crate::gates) const PYTHONS: [&str; 2] = [".venv/bin/python", "venv/bin/python"];

const PROBE: &str = include_str!("probe.py");
const PATH: &str = "PYTHONPATH";
/// Files of a Python project.
const MANIFESTS: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];
/// Programs that make an environment of their own in the worktree.
const MANAGERS: [&str; 8] = ["uv", "tox", "nox", "hatch", "poetry", "pdm", "pixi", "rye"];

/// What an interpreter says about one folder of the project.
#[derive(Deserialize)]
struct Found {
    /// Folders of the worktree that must come first, relative to it.
    roots: Vec<PathBuf>,
    /// Modules that would be imported from elsewhere, and where they are.
    strays: Vec<(String, PathBuf)>,
}

/// An interpreter, and the folders of the project that it is used for.
struct Interpreter {
    program: PathBuf,
    folders: BTreeSet<PathBuf>,
}

pub(super) fn redirect(
    own: &OwnCode<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Vec<Redirection>, GateError> {
    let mut redirections: Vec<Redirection> = Vec::new();
    for Interpreter { program, folders } in interpreters(own) {
        let mut ask = |folders: &BTreeSet<PathBuf>, environment| -> Option<Vec<Found>> {
            let mut args: Vec<OsString> = vec!["-c".into(), PROBE.into()];
            args.extend([own.checkout.into(), own.folder.into()]);
            args.extend(folders.iter().map(Into::into));
            serde_json::from_str(own.ask(&program, args, environment, on_event)?.trim()).ok()
        };
        let Some(found) = ask(&folders, own.environment.clone()) else { continue };
        for (folder, Found { roots, strays }) in folders.into_iter().zip(found) {
            if roots.is_empty() && strays.is_empty() {
                continue;
            }
            let (value, environment) = path(own, &roots)?;
            // The proof: what Python would import now.
            let again = ask(&BTreeSet::from([folder.clone()]), environment);
            let left = again.into_iter().flatten().flat_map(|found| found.strays);
            if let Some((module, place)) = left.into_iter().next() {
                return Err(elsewhere(format!("the Python module `{module}`"), &place));
            }
            redirections.push(Redirection { folder, name: PATH.to_owned(), value });
        }
    }
    Ok(redirections)
}

/// The search path with these folders in front, and the environment that has it.
fn path(own: &OwnCode<'_>, roots: &[PathBuf]) -> Result<(OsString, Environment), GateError> {
    let before = own.environment.get(PATH).map(OsString::from).unwrap_or_default();
    let before = std::env::split_paths(&before).filter(|entry| !entry.as_os_str().is_empty());
    let here = |root: &PathBuf| match root.as_os_str() == "." {
        true => own.folder.to_owned(),
        false => own.folder.join(root),
    };
    let all: Vec<PathBuf> = roots.iter().map(here).chain(before).collect();
    let value = std::env::join_paths(&all)
        .map_err(|_| elsewhere("a folder with a colon in its name", own.folder))?;
    let mut environment = own.environment.clone();
    environment.set(PATH, &value);
    Ok((value, environment))
}

/// The interpreters of the project: those of its gates, and for every folder that is a Python project that of the
/// nearest virtual environment, or the usual one.
fn interpreters(own: &OwnCode<'_>) -> Vec<Interpreter> {
    let mut found: Vec<Interpreter> = Vec::new();
    let mut add = |program: PathBuf, folder: &Path| match found
        .iter_mut()
        .find(|it| it.program == program)
    {
        Some(known) => {
            known.folders.insert(folder.to_owned());
        }
        None => found.push(Interpreter { program, folders: BTreeSet::from([folder.to_owned()]) }),
    };
    let is_managed = |gate: &Gate| MANAGERS.iter().any(|name| gate.program.as_os_str() == *name);
    let mut of_gates =
        own.gates.iter().filter_map(|gate| Some((of_gate(own, gate)?, gate))).peekable();
    if of_gates.peek().is_none() && own.gates.iter().any(is_managed) {
        return Vec::new();
    }
    for (program, gate) in of_gates {
        add(program, &gate.folder);
    }
    let installed = |folder: &Path| {
        PYTHONS.iter().map(|name| own.checkout.join(folder).join(name)).find(|it| it.exists())
    };
    walk(own.folder, &mut |path| {
        let folder = path.strip_prefix(own.folder).unwrap_or(path);
        let is_project = MANIFESTS.iter().any(|name| path.join(name).exists());
        if is_project || installed(folder).is_some() {
            let nearest = folder.ancestors().take(DEPTH + 1).find_map(installed);
            add(nearest.unwrap_or_else(|| "python3".into()), folder);
        }
        true
    });
    found
}

/// The interpreter that a gate starts, if it starts one itself or through `pytest`.
fn of_gate(own: &OwnCode<'_>, gate: &Gate) -> Option<PathBuf> {
    let name = gate.program.file_name()?.to_str()?;
    if name.starts_with("python") {
        return Some(gate.program.clone());
    }
    if !matches!(name, "pytest" | "py.test") {
        return None;
    }
    let folders: Vec<PathBuf> = match gate.program.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            vec![own.folder.join(&gate.folder).join(folder)]
        }
        _ => std::env::split_paths(own.environment.get("PATH")?).collect(),
    };
    let beside = folders.iter().find(|folder| folder.join(name).exists())?;
    ["python", "python3"].iter().map(|name| beside.join(name)).find(|python| python.exists())
}
