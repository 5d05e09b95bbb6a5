//! Calls of Cargo and git.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::target::Target;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// A command in the workspace.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stderr(Stdio::inherit());
    command
}

/// What a command prints, without the end of the last line.
pub fn text_of(program: &str, args: &[&str]) -> Result<String> {
    let output =
        command(program).args(args).output().with_context(|| format!("running {program}"))?;
    ensure!(output.status.success(), "`{program} {}` failed", args.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Builds the released program: optimized, and on Linux without any shared library.
pub fn build(target: &Target) -> Result<PathBuf> {
    let mut cargo = command("cargo");
    cargo
        .args(["build", "--release", "--locked", "--package", "handover-cli", "--bin", "handover"])
        // Named even if it is the host: only then do the flags spare procedural macros, which cannot be static.
        .args(["--target", target.triple, "--message-format", "json-render-diagnostics"]);
    if target.is_static() {
        let name =
            format!("CARGO_TARGET_{}_RUSTFLAGS", target.triple.to_uppercase().replace('-', "_"));
        cargo.env(name, "-C target-feature=+crt-static");
    }
    if let Some(commit) = commit() {
        cargo.env("HANDOVER_COMMIT", commit);
    }
    let output = cargo.output().context("running cargo build")?;
    ensure!(output.status.success(), "the build for {} failed", target.triple);
    String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo named no executable")
}

/// The commit that is checked out, marked if the sources differ from it; none outside a repository.
fn commit() -> Option<String> {
    let quiet = |args: &[&str]| {
        let output = command("git").args(args).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    quiet(&["ls-files", "--error-unmatch", "packaging/Cargo.toml"])?;
    let commit = quiet(&["rev-parse", "--short=9", "HEAD"])?;
    let clean = quiet(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if clean { commit } else { format!("{commit}-modified") })
}

/// When the sources were committed, in seconds since 1970; `SOURCE_DATE_EPOCH` overrides it. Every file of every
/// package has this time, so that the same sources become the same bytes.
pub fn epoch() -> u64 {
    let given = std::env::var_os("SOURCE_DATE_EPOCH").and_then(|time| time.into_string().ok());
    let time = given.or_else(|| text_of("git", &["log", "-1", "--format=%ct"]).ok());
    // Zip files know no earlier time than 1980.
    time.and_then(|time| time.parse().ok()).unwrap_or(0).max(315_532_800)
}

/// All packages that the program for a platform is made of, as Cargo describes them.
pub fn metadata(target: &Target) -> Result<Value> {
    let text = text_of(
        "cargo",
        &["metadata", "--format-version=1", "--locked", "--filter-platform", target.triple],
    )?;
    Ok(serde_json::from_str(&text)?)
}

/// A field of the command line's manifest.
pub fn manifest(field: &str) -> Result<String> {
    let text = text_of("cargo", &["metadata", "--format-version=1", "--no-deps"])?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let own = packages.iter().find(|package| package["name"] == "handover-cli");
    let value = own.and_then(|package| package[field].as_str());
    Ok(value.with_context(|| format!("the manifest of handover-cli has no {field}"))?.to_owned())
}
