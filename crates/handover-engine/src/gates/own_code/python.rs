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
/// Programs whose `run python` is the interpreter that their gates use: that of an environment of their own, or of
/// the one that is active.
const MANAGERS: [&str; 6] = ["uv", "hatch", "poetry", "pdm", "pixi", "rye"];
/// Programs that install the worktree in an environment of their own, which is there only while they run.
const BUILDERS: [&str; 2] = ["tox", "nox"];

/// What an interpreter says about one folder of the project.
#[derive(Deserialize)]
struct Found {
    /// Folders of the worktree that must come first, relative to it.
    roots: Vec<PathBuf>,
    /// Modules that would be imported from elsewhere, and where they are.
    strays: Vec<(String, PathBuf)>,
}

/// How an interpreter is started.
#[derive(PartialEq)]
struct Interpreter {
    program: PathBuf,
    /// What comes before its own arguments.
    prefix: &'static [&'static str],
    /// Where: managers read the project that is there.
    place: PathBuf,
}

pub(super) fn redirect(
    own: &OwnCode<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Vec<Redirection>, GateError> {
    let mut redirections: Vec<Redirection> = Vec::new();
    for (interpreter, folders) in interpreters(own) {
        let mut ask = |folders: &BTreeSet<PathBuf>, environment| -> Option<Vec<Found>> {
            let Interpreter { program, prefix, place } = &interpreter;
            let mut args: Vec<OsString> = prefix.iter().map(Into::into).collect();
            args.extend(["-c".into(), PROBE.into()]);
            args.extend([own.checkout.into(), own.folder.into()]);
            args.extend(folders.iter().map(Into::into));
            let answer = own.ask(program, place, args, environment, on_event)?;
            // A manager may say something first.
            serde_json::from_str(answer.lines().next_back()?).ok()
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

/// The interpreters of the project, each with the folders that it is used for: those of its gates, and for every folder
/// that is a Python project that of the nearest virtual environment, or the usual one.
fn interpreters(own: &OwnCode<'_>) -> Vec<(Interpreter, BTreeSet<PathBuf>)> {
    let mut found: Vec<(Interpreter, BTreeSet<PathBuf>)> = Vec::new();
    let mut add = |interpreter: Interpreter, folder: &Path| {
        let folder = folder.to_owned();
        match found.iter_mut().find(|(known, _)| *known == interpreter) {
            Some((_, folders)) => drop(folders.insert(folder)),
            None => found.push((interpreter, BTreeSet::from([folder]))),
        }
    };
    let plain =
        |program: PathBuf| Interpreter { program, prefix: &[], place: own.folder.to_owned() };
    let (mut is_direct, mut is_managed) = (false, false);
    for gate in own.gates {
        if let Some(program) = of_gate(own, gate) {
            is_direct = true;
            add(plain(program), &gate.folder);
        } else if is_one_of(gate, &MANAGERS) {
            is_managed = true;
            let (program, place) = (gate.program.clone(), own.folder.join(&gate.folder));
            add(Interpreter { program, prefix: &["run", "python"], place }, &gate.folder);
        } else if is_one_of(gate, &BUILDERS) {
            is_managed = true;
        }
    }
    if is_managed && !is_direct {
        return found;
    }
    let installed = |folder: &Path| {
        PYTHONS.iter().map(|name| own.checkout.join(folder).join(name)).find(|it| it.exists())
    };
    walk(own.folder, &mut |path| {
        let folder = path.strip_prefix(own.folder).unwrap_or(path);
        let is_project = MANIFESTS.iter().any(|name| path.join(name).exists());
        if is_project || installed(folder).is_some() {
            let nearest = folder.ancestors().take(DEPTH + 1).find_map(installed);
            add(plain(nearest.unwrap_or_else(|| "python3".into())), folder);
        }
        true
    });
    found
}

fn is_one_of(gate: &Gate, names: &[&str]) -> bool {
    let name = gate.program.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| names.contains(&name))
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
