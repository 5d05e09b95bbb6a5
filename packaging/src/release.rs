//! A release by one command: version, changelog, commit, tag. The tag starts the workflow that builds all platforms
//! and publishes them. A dry run does the same in a copy of the repository, and makes this platform's packages there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bump::bump;
use crate::cargo::{root, text_of};
use crate::changelog;
use crate::version::Version;

/// What to release.
#[derive(clap::Args)]
pub struct ReleaseArgs {
    /// Version to release [default: the next minor version, or the release of a pre-release]
    version: Option<String>,
    /// Change nothing here: do everything in a copy below target/release-dry-run
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: package this program instead of building one
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    binary: Option<PathBuf>,
}

/// Releases, or rehearses it.
pub fn release(args: &ReleaseArgs) -> Result<()> {
    let current = crate::cargo::manifest("version")?;
    let version = new_version(args.version.as_deref(), &current)?;
    let tag = format!("v{version}");
    ensure!(text_of("git", &["tag", "--list", &tag])?.is_empty(), "the tag {tag} exists already");
    let clean = text_of("git", &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    if !args.dry_run {
        ensure!(clean, "there are uncommitted changes; commit or stash them first");
        tag_release(&root(), &current, &version, &tag)?;
        println!("Tagged {tag}. Publish it with: git push --atomic origin HEAD {tag}");
        return Ok(());
    }
    if !clean {
        println!("Uncommitted changes are not part of this rehearsal.");
    }
    let copy = root().join("target/release-dry-run");
    if copy.exists() {
        fs_err::remove_dir_all(&copy)?;
    }
    let path = copy.to_string_lossy().into_owned();
    text_of("git", &["clone", "--quiet", "--local", ".", &path])?;
    // A machine that only rehearses may have no name for commits.
    for (key, value) in [("user.name", "Rehearsal"), ("user.email", "rehearsal@example.com")] {
        in_folder(&copy, "git", &["config", key, value])?;
    }
    tag_release(&copy, &current, &version, &tag)?;
    let out = root().join("target").join(&tag);
    make_packages(&copy, &out, args.binary.as_deref())?;
    println!("\nThe release {tag} would be this commit, with these packages of this platform:\n");
    println!("{}", in_folder(&copy, "git", &["show", "--stat", "--format=%h %s", "HEAD"])?);
    println!("{}", fs_err::read_to_string(out.join(crate::checksums::FILE))?);
    println!("Nothing was changed here. The packages are in {}.", out.display());
    Ok(())
}

/// The version to release, which is greater than the one before.
fn new_version(given: Option<&str>, current: &str) -> Result<String> {
    let old: Version = current.parse()?;
    let new = match given {
        Some(version) => version.trim_start_matches('v').parse()?,
        None => old.next(),
    };
    ensure!(new > old, "{new} is not greater than {current}, the version of the sources");
    Ok(new.to_string())
}

/// Writes version and changelog, commits and tags.
fn tag_release(folder: &Path, current: &str, version: &str, tag: &str) -> Result<()> {
    let date = text_of("date", &["-u", "+%Y-%m-%d"])?;
    let path = folder.join("CHANGELOG.md");
    let changelog = changelog::released(&fs_err::read_to_string(&path)?, version, &date)?;
    fs_err::write(&path, &changelog)?;
    bump(folder, current, version)?;
    in_folder(
        folder,
        "git",
        &["commit", "--quiet", "--all", "--message", &format!("release: {version}")],
    )?;
    let notes = changelog::section(&changelog, version).unwrap_or_default().trim();
    // The heading would be a comment, and lines of Markdown are kept as they are.
    let message = format!("Handover {version}\n\n{notes}\n");
    in_folder(
        folder,
        "git",
        &["tag", "--annotate", "--cleanup=verbatim", "--message", &message, tag],
    )?;
    Ok(())
}

/// The copy's own sources make its packages, in the target folder of these.
fn make_packages(copy: &Path, out: &Path, binary: Option<&Path>) -> Result<()> {
    if out.exists() {
        fs_err::remove_dir_all(out)?;
    }
    let mut cargo = Command::new("cargo");
    cargo
        .args(["run", "--quiet", "--locked", "--package", "packaging", "--", "dist", "--out"])
        .arg(out)
        .env("CARGO_TARGET_DIR", root().join("target"))
        .current_dir(copy);
    if let Some(binary) = binary {
        cargo.arg("--binary").arg(binary.canonicalize()?);
    }
    ensure!(cargo.status().context("running cargo")?.success(), "the packages could not be made");
    Ok(())
}

fn in_folder(folder: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("running {program}"))?;
    ensure!(output.status.success(), "`{program} {}` failed", args.first().unwrap_or(&""));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_grow() {
        let new = |given: &str, current: &str| new_version(Some(given), current);
        assert_eq!(new("v0.2.0", "0.1.0").unwrap(), "0.2.0");
        assert_eq!(new("1.0.0-rc.1", "0.9.0").unwrap(), "1.0.0-rc.1");
        assert_eq!(new("1.0.0-rc.2", "1.0.0-rc.1").unwrap(), "1.0.0-rc.2");
        assert_eq!(new("1.0.0", "1.0.0-rc.1").unwrap(), "1.0.0");
        assert_eq!(new_version(None, "0.1.9").unwrap(), "0.2.0");
        for wrong in ["0.1.0", "0.0.9", "0.1.0-rc.1", "1.0", "next"] {
            assert!(new(wrong, "0.1.0").is_err(), "{wrong}");
        }
        assert!(new("1.0.0-rc.1", "1.0.0-rc.1").is_err());
    }
}
