//! Python: an editable install in a virtual environment names folders of the checkout. The same folders of the
//! worktree come first in `PYTHONPATH`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handover_agents::AgentEvent;
use serde::Deserialize;

use super::{OwnCode, Variables, elsewhere};
use crate::gates::GateError;

const PROBE: &str = include_str!("probe.py");
const PATH: &str = "PYTHONPATH";
/// Files of a Python project.
const MANIFESTS: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];

#[derive(Deserialize)]
struct Found {
    /// Folders of the checkout, relative to it.
    roots: Vec<PathBuf>,
    /// Modules that would be imported from the checkout, and where they are.
    strays: Vec<(String, PathBuf)>,
}

pub(super) fn redirect(
    own: &OwnCode<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Variables, GateError> {
    let Some(python) = interpreter(own) else { return Ok(Vec::new()) };
    let mut ask = |environment| -> Option<Found> {
        let args: Vec<OsString> =
            vec!["-c".into(), PROBE.into(), own.checkout.into(), own.folder.into()];
        serde_json::from_str(own.ask(&python, args, environment, on_event)?.trim()).ok()
    };
    let Some(found) = ask(own.environment.clone()) else { return Ok(Vec::new()) };
    if found.roots.is_empty() && found.strays.is_empty() {
        return Ok(Vec::new());
    }
    let before = own.environment.get(PATH).map(OsString::from).unwrap_or_default();
    let mut path: Vec<PathBuf> = found.roots.iter().map(|root| own.folder.join(root)).collect();
    path.extend(std::env::split_paths(&before).filter(|entry| !entry.as_os_str().is_empty()));
    let Ok(path) = std::env::join_paths(&path) else {
        return Err(elsewhere("a folder with a colon in its name", own.folder));
    };
    let mut environment = own.environment.clone();
    environment.set(PATH, &path);
    // The proof: what Python would import now.
    if let Some((module, place)) =
        ask(environment).and_then(|found| found.strays.into_iter().next())
    {
        return Err(elsewhere(format!("the Python module `{module}`"), &place));
    }
    Ok(vec![(PATH.to_owned(), path)])
}

/// The interpreter of the project: that of its virtual environment, or the usual one.
fn interpreter(own: &OwnCode<'_>) -> Option<PathBuf> {
    let of = [".venv/bin/python", "venv/bin/python"].map(|it| own.checkout.join(it));
    of.into_iter().find(|python| python.exists()).or_else(|| {
        let is_project = MANIFESTS.iter().any(|name| own.folder.join(name).exists());
        is_project.then(|| Path::new("python3").to_owned())
    })
}
