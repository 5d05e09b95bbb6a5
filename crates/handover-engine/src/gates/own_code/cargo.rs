//! Cargo: the worktree is inside of the checkout, so the checkout's `.cargo/config.toml` counts there too, and
//! its `paths` and patches lead to the checkout, as does a dependency with an absolute path. The folder for
//! builds is one that no other worktree uses (`runner/cargo_target.rs`).
//!
//! Cargo itself says which packages it would build.

use std::path::{Path, PathBuf};

use handover_agents::AgentEvent;
use serde::Deserialize;

use super::{OwnCode, elsewhere, folders_with};
use crate::gates::GateError;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    /// None for packages in folders.
    source: Option<String>,
}

pub(super) fn prove(
    own: &OwnCode<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<(), GateError> {
    for folder in folders_with(own.folder, "Cargo.toml") {
        let manifest = folder.join("Cargo.toml");
        let args = ["metadata", "--format-version=1", "--offline", "--manifest-path"];
        let args = args.iter().map(Into::into).chain([manifest.into()]).collect();
        // Without an answer, such as before the first download, the gate itself will say what is wrong.
        let answer =
            own.ask(Path::new("cargo"), own.folder, args, own.environment.clone(), on_event);
        let Some(metadata) = answer.and_then(|json| serde_json::from_str::<Metadata>(&json).ok())
        else {
            continue;
        };
        if let Some(stray) = metadata.packages.iter().find(|package| is_stray(own, package)) {
            let what = format!(
                "the package `{}`, by `paths` or a patch in `.cargo/config.toml` or an absolute path,",
                stray.name
            );
            return Err(elsewhere(what, &stray.manifest_path));
        }
    }
    Ok(())
}

/// Whether a package is taken from the checkout.
fn is_stray(own: &OwnCode<'_>, package: &Package) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let place = real(&package.manifest_path);
    package.source.is_none()
        && place.starts_with(real(own.checkout))
        && !place.starts_with(real(own.root))
}
