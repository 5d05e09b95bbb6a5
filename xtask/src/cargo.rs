//! Calls of Cargo.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The folder of the workspace.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Builds `handover` in a profile and returns the binary, wherever the target folder is.
pub fn build_handover(profile: &str) -> Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["build", "--quiet", "--package", "handover-cli", "--bin", "handover"])
        .args(["--profile", profile, "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo build")?;
    ensure!(output.status.success(), "the {profile} build failed");
    let messages = String::from_utf8(output.stdout)?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo named no executable")
}

/// The workspace's own packages, as `cargo metadata` describes them.
pub fn packages() -> Result<Vec<Value>> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--no-deps"])
        .current_dir(ROOT)
        .stderr(Stdio::inherit())
        .output()
        .context("running cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed");
    let mut metadata: Value = serde_json::from_slice(&output.stdout)?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        other => anyhow::bail!("cargo metadata listed no packages but {other}"),
    }
}
