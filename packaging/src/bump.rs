//! The files that name the version: the manifest, the lock files that list the workspace's crates, the plugin.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The workspace's lock file; every package in it without a source is one of its crates.
const LOCK: &str = "Cargo.lock";

/// Lock files of what is built outside of the workspace, from its crates.
const OTHER_LOCKS: [&str; 2] = ["bench/Cargo.lock", "fuzz/Cargo.lock"];

const MANIFEST: &str = "Cargo.toml";

const PLUGIN: &str = "plugin/.claude-plugin/plugin.json";

/// Writes another version into every file of a checkout that names it.
pub fn bump(folder: &Path, from: &str, to: &str) -> Result<()> {
    let read = |file: &str| fs_err::read_to_string(folder.join(file));
    let write = |file: &str, text: String| fs_err::write(folder.join(file), text);
    write(MANIFEST, in_manifest(&read(MANIFEST)?, to)?)?;
    write(PLUGIN, in_plugin(&read(PLUGIN)?, from, to)?)?;
    let lock = read(LOCK)?;
    let crates = own_crates(&lock);
    write(LOCK, in_lock(&lock, &crates, from, to)?)?;
    for file in OTHER_LOCKS {
        write(file, in_lock(&read(file)?, &crates, from, to).context(file)?)?;
    }
    Ok(())
}

/// The workspace's manifest with another version.
fn in_manifest(manifest: &str, version: &str) -> Result<String> {
    let (before, package) = manifest
        .split_once("[workspace.package]\n")
        .context("Cargo.toml has no [workspace.package]")?;
    let line =
        package.lines().find(|line| line.starts_with("version = ")).context("it has no version")?;
    let package = package.replacen(line, &format!("version = \"{version}\""), 1);
    Ok(format!("{before}[workspace.package]\n{package}"))
}

fn in_plugin(plugin: &str, from: &str, to: &str) -> Result<String> {
    let named = |version: &str| format!("\"version\": \"{version}\"");
    ensure!(plugin.contains(&named(from)), "{PLUGIN} does not have the version {from}");
    Ok(plugin.replacen(&named(from), &named(to), 1))
}

/// The start of an entry of a lock file.
const ENTRY: &str = "[[package]]\n";

fn own_crates(lock: &str) -> BTreeSet<&str> {
    let own = lock.split(ENTRY).skip(1).filter(|entry| !entry.contains("\nsource = "));
    own.filter_map(name).collect()
}

fn name(entry: &str) -> Option<&str> {
    entry.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

/// A lock file with another version of the workspace's crates. Editing it needs no network, unlike `cargo update`.
fn in_lock(lock: &str, crates: &BTreeSet<&str>, from: &str, to: &str) -> Result<String> {
    let line = |version: &str| format!("\nversion = \"{version}\"\n");
    let mut bumped = 0;
    let entries: Vec<String> = lock
        .split(ENTRY)
        .map(|entry| {
            let is_own = name(entry).is_some_and(|name| crates.contains(name));
            if !is_own || entry.contains("\nsource = ") || !entry.contains(&line(from)) {
                return entry.to_owned();
            }
            bumped += 1;
            entry.replacen(&line(from), &line(to), 1)
        })
        .collect();
    ensure!(bumped > 0, "no crate of the workspace has the version {from}");
    Ok(entries.join(ENTRY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_workspaces_version_changes() {
        let manifest = "[a]\nversion = \"1\"\n[workspace.package]\nversion = \"0.1.0\"\nrust-version = \"1.95\"\n";
        assert_eq!(
            in_manifest(manifest, "0.2.0").unwrap(),
            "[a]\nversion = \"1\"\n[workspace.package]\nversion = \"0.2.0\"\nrust-version = \"1.95\"\n"
        );
    }

    #[test]
    fn a_crate_of_another_origin_keeps_its_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\ndependencies = [\n \"other\",\n]\n\n\
            [[package]]\nname = \"other\"\nversion = \"0.1.0\"\nsource = \"registry\"\n\n\
            [[package]]\nname = \"apart\"\nversion = \"0.1.0\"\n";
        let crates = BTreeSet::from(["own", "other"]);
        let bumped = in_lock(lock, &crates, "0.1.0", "0.2.0").unwrap();
        assert_eq!(bumped, lock.replacen("\"0.1.0\"", "\"0.2.0\"", 1));
        assert!(in_lock(lock, &crates, "0.3.0", "0.4.0").is_err());
    }

    /// The files as they are: nothing is left that names the version before.
    #[test]
    fn every_file_names_the_same_version_before_and_after() {
        let root = crate::cargo::root();
        let from = env!("CARGO_PKG_VERSION");
        let copy = tempfile::tempdir().unwrap();
        for file in [MANIFEST, PLUGIN, LOCK].into_iter().chain(OTHER_LOCKS) {
            let to = copy.path().join(file);
            fs_err::create_dir_all(to.parent().unwrap()).unwrap();
            fs_err::copy(root.join(file), to).unwrap();
        }
        bump(copy.path(), from, "9.8.7-rc.1").unwrap();
        let read = |file: &str| fs_err::read_to_string(copy.path().join(file)).unwrap();
        assert!(read(MANIFEST).contains("version = \"9.8.7-rc.1\""));
        assert!(read(PLUGIN).contains("\"version\": \"9.8.7-rc.1\""));
        let lock = read(LOCK);
        let crates = own_crates(&lock);
        assert!(crates.contains("handover-cli") && crates.contains("packaging"), "{crates:?}");
        for file in OTHER_LOCKS.into_iter().chain([LOCK]) {
            let lock = read(file);
            let own = lock
                .split(ENTRY)
                .filter(|entry| name(entry).is_some_and(|name| crates.contains(name)));
            let mut count = 0;
            for entry in own {
                assert!(entry.contains("\nversion = \"9.8.7-rc.1\"\n"), "{file}: {entry}");
                count += 1;
            }
            assert!(count > 0, "{file}");
        }
    }
}
