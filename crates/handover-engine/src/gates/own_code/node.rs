//! Node: packages of a workspace are links in `node_modules`, which lead to the checkout. A worktree has no
//! `node_modules` of its own; it gets one with links to its own packages. Everything else that is installed at the root
//! is found in the folders above the worktree; what is installed in other folders is linked.
//!
//! Yarn's Plug'n'Play has a file instead, with paths relative to it: it must be committed.

use std::cell::LazyCell;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{OwnCode, elsewhere};
use crate::gates::GateError;

const MODULES: &str = "node_modules";
/// How deep packages of a workspace are searched.
const DEPTH: usize = 3;
/// How many folders are searched at most.
const FOLDERS: usize = 2_000;

/// The table of packages of Yarn.
const PNP: [&str; 2] = [".pnp.cjs", ".pnp.js"];

pub(super) fn redirect(own: &OwnCode<'_>) -> Result<(), GateError> {
    let is_missing =
        |name: &&&str| own.checkout.join(name).exists() && !own.folder.join(name).exists();
    if let Some(table) = PNP.iter().find(is_missing) {
        let what = format!(
            "Yarn's `{table}`, which is not committed (commit it, or set `nodeLinker: node-modules`),"
        );
        return Err(elsewhere(what, &own.checkout.join(table)));
    }
    for folder in folders_with_modules(own.checkout) {
        let below = folder.strip_prefix(own.checkout).unwrap_or(&folder).to_owned();
        let into = own.folder.join(&below);
        if into.is_dir() && !has_own_modules(&into.join(MODULES)) {
            link_all(own, &folder, &below)?;
        }
    }
    Ok(())
}

/// Links what one folder of the checkout has installed into the same folder of the worktree.
fn link_all(own: &OwnCode<'_>, folder: &Path, below: &Path) -> Result<(), GateError> {
    // Of something inside, since a pattern such as `node_modules/` is about folders that are there.
    let is_ignored = LazyCell::new(|| (own.is_ignored)(&below.join(MODULES).join("package")));
    let is_root = below.as_os_str().is_empty();
    for (name, place) in installed(&folder.join(MODULES)) {
        let source = own.here(&place).filter(|_| !is_inside_modules(own.checkout, &place));
        // Other packages of the root are found without a link.
        let Some(target) = source.clone().or_else(|| (!is_root).then(|| place.clone())) else {
            continue;
        };
        let link = own.folder.join(below).join(MODULES).join(&name);
        // It is committed, or was linked before.
        if fs_err::canonicalize(&link).is_ok_and(|real| is_within(&real, own.folder)) {
            continue;
        }
        if !*is_ignored {
            let what = format!("the linked package `{name}`; git should ignore `{MODULES}`");
            return Err(elsewhere(what, &place));
        }
        let made = make_link(&target, &link).and_then(|()| fs_err::canonicalize(&link));
        // The proof: where the link leads. A package that the worktree does not have fails by itself.
        let leads_astray = match (made, &source) {
            (Ok(real), Some(_)) => !is_within(&real, own.folder),
            (Ok(_), None) => false,
            (Err(_), _) => target.exists(),
        };
        if leads_astray {
            return Err(elsewhere(format!("the linked package `{name}`"), &place));
        }
    }
    Ok(())
}

fn is_within(path: &Path, folder: &Path) -> bool {
    fs_err::canonicalize(folder).is_ok_and(|folder| path.starts_with(folder))
}

/// Whether a worktree has packages that were installed there, rather than our links.
fn has_own_modules(folder: &Path) -> bool {
    folder.join(".package-lock.json").exists() || folder.join(".modules.yaml").exists()
}

/// Whether a place is a dependency rather than a package of the project.
fn is_inside_modules(checkout: &Path, place: &Path) -> bool {
    let below = place.strip_prefix(checkout).unwrap_or(place);
    below.components().any(|part| part.as_os_str() == MODULES)
}

/// The folders of a project that have packages installed: the root and those in which gates are found.
fn folders_with_modules(checkout: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(checkout.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        seen += 1;
        if folder.join(MODULES).is_dir() {
            found.push(folder.clone());
        }
        if depth == DEPTH || seen > FOLDERS {
            continue;
        }
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && name != MODULES && !name.to_string_lossy().starts_with('.') {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// What is installed: the names of packages and of their programs, with where they are; links are followed.
fn installed(modules: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut add = |folder: &Path, scope: &str| {
        let Ok(entries) = fs_err::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_own = scope.is_empty() && name.starts_with(['.', '@']);
            if let (false, Ok(place)) = (is_own, fs_err::canonicalize(entry.path())) {
                found.push((format!("{scope}{name}"), place));
            }
        }
    };
    add(modules, "");
    add(&modules.join(".bin"), ".bin/");
    let Ok(entries) = fs_err::read_dir(modules) else { return found };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('@') && entry.path().is_dir() {
            add(&entry.path(), &format!("{name}/"));
        }
    }
    found.sort();
    found
}

fn make_link(target: &Path, link: &Path) -> std::io::Result<()> {
    if fs_err::read_link(link).is_ok_and(|old| old == target) {
        return Ok(());
    }
    if let Some(above) = link.parent() {
        fs_err::create_dir_all(above)?;
    }
    let _ = fs_err::remove_file(link);
    symlink(target, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_programs_are_listed_with_their_scope() {
        let root = tempfile::tempdir().unwrap();
        let modules = root.path().join(MODULES);
        for folder in
            ["node_modules/plain", "node_modules/@me", "node_modules/.bin", "packages/lib"]
        {
            fs_err::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs_err::write(modules.join(".package-lock.json"), "{}").unwrap();
        fs_err::write(root.path().join("packages/lib/cli.js"), "").unwrap();
        symlink("../../packages/lib", modules.join("@me/lib")).unwrap();
        symlink("../@me/lib/cli.js", modules.join(".bin/lib")).unwrap();
        symlink("../gone", modules.join("dangling")).unwrap();
        let real = fs_err::canonicalize(root.path().join("packages/lib")).unwrap();
        let plain = fs_err::canonicalize(modules.join("plain")).unwrap();
        let name = str::to_owned;
        assert_eq!(
            installed(&modules),
            [
                (name(".bin/lib"), real.join("cli.js")),
                (name("@me/lib"), real.clone()),
                (name("plain"), plain)
            ]
        );
        assert!(!is_inside_modules(root.path(), &real));
        assert!(is_inside_modules(root.path(), &modules.join("plain")));
        assert_eq!(folders_with_modules(root.path()), [root.path()]);
    }

    #[test]
    fn folders_are_found_although_the_root_has_nothing_installed() {
        let root = tempfile::tempdir().unwrap();
        for folder in
            ["frontend/node_modules/x/node_modules/y", "a/b/c/node_modules", "a/b/c/d/node_modules"]
        {
            fs_err::create_dir_all(root.path().join(folder)).unwrap();
        }
        let found = ["a/b/c", "frontend"].map(|folder| root.path().join(folder));
        assert_eq!(folders_with_modules(root.path()), found);
    }
}
