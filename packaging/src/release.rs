//! A release by one command: version, changelog, commit, tag. The tag starts the workflow that builds all platforms
//! and publishes them. A dry run does the same in a copy of the repository, and makes this platform's packages there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::{root, text_of};
use crate::changelog;

/// What to release.
#[derive(clap::Args)]
pub struct ReleaseArgs {
    /// Version to release [default: the next minor version]
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
    let version = match &args.version {
        Some(version) => version.trim_start_matches('v').to_owned(),
        None => next_minor(&current)?,
    };
    check_version(&version, &current)?;
    let tag = format!("v{version}");
    ensure!(text_of("git", &["tag", "--list", &tag])?.is_empty(), "the tag {tag} exists already");
    let clean = text_of("git", &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    if !args.dry_run {
        ensure!(clean, "there are uncommitted changes; commit or stash them first");
        tag_release(&root(), &version, &tag)?;
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
    tag_release(&copy, &version, &tag)?;
    let out = root().join("target").join(&tag);
    make_packages(&copy, &out, args.binary.as_deref())?;
    println!("\nThe release {tag} would be this commit, with these packages of this platform:\n");
    println!("{}", in_folder(&copy, "git", &["show", "--stat", "--format=%h %s", "HEAD"])?);
    println!("{}", fs_err::read_to_string(out.join(crate::checksums::FILE))?);
    println!("Nothing was changed here. The packages are in {}.", out.display());
    Ok(())
}

fn next_minor(version: &str) -> Result<String> {
    let mut parts = version.split('.');
    let (major, minor) =
        (parts.next().context("no major version")?, parts.next().context("no minor version")?);
    Ok(format!("{major}.{}.0", minor.parse::<u32>()? + 1))
}

/// A version has three numbers and is greater than the one before.
fn check_version(version: &str, current: &str) -> Result<()> {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let (release, _) = version.split_once('-').unwrap_or((version, ""));
        release
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<_>>>()
            .filter(|n| n.len() == 3)
    };
    let (Some(new), Some(old)) = (numbers(version), numbers(current)) else {
        bail!("`{version}` is no version: three numbers such as 1.2.3, or 1.2.3-rc.1");
    };
    ensure!(new > old, "{version} is not greater than {current}, the version of the sources");
    Ok(())
}

/// Writes version and changelog, commits and tags.
fn tag_release(folder: &Path, version: &str, tag: &str) -> Result<()> {
    let date = text_of("date", &["-u", "+%Y-%m-%d"])?;
    let path = folder.join("CHANGELOG.md");
    let changelog = changelog::released(&fs_err::read_to_string(&path)?, version, &date)?;
    let manifest = folder.join("Cargo.toml");
    let bumped = with_version(&fs_err::read_to_string(&manifest)?, version)?;
    fs_err::write(&path, &changelog)?;
    fs_err::write(&manifest, bumped)?;
    in_folder(folder, "cargo", &["update", "--quiet", "--workspace", "--offline"])?;
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

/// The workspace's manifest with another version.
fn with_version(manifest: &str, version: &str) -> Result<String> {
    let (before, package) = manifest
        .split_once("[workspace.package]\n")
        .context("Cargo.toml has no [workspace.package]")?;
    let line =
        package.lines().find(|line| line.starts_with("version = ")).context("it has no version")?;
    let package = package.replacen(line, &format!("version = \"{version}\""), 1);
    Ok(format!("{before}[workspace.package]\n{package}"))
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
        assert_eq!(next_minor("0.1.9").unwrap(), "0.2.0");
        check_version("0.2.0", "0.1.0").unwrap();
        check_version("1.0.0-rc.1", "0.9.0").unwrap();
        for wrong in ["0.1.0", "0.0.9", "1.0", "next", "1.0.x"] {
            assert!(check_version(wrong, "0.1.0").is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_the_workspaces_version_changes() {
        let manifest = "[a]\nversion = \"1\"\n[workspace.package]\nversion = \"0.1.0\"\nrust-version = \"1.95\"\n";
        assert_eq!(
            with_version(manifest, "0.2.0").unwrap(),
            "[a]\nversion = \"1\"\n[workspace.package]\nversion = \"0.2.0\"\nrust-version = \"1.95\"\n"
        );
    }
}
