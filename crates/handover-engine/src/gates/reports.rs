//! Finds the report files of a gate. A report is a path or a pattern in which `*` stands for any part of
//! one name and `**` for any number of folders, because tools like Gradle write one file per test class.

use std::path::{Component, Path, PathBuf};

/// How many report files are read.
const MAX_FILES: usize = 5_000;
/// How many folders are searched for them.
const MAX_FOLDERS: usize = 20_000;
/// The largest report that is read.
const MAX_BYTES: u64 = 32 << 20;
/// Folders that cannot hold reports of the project.
const SKIPPED: &[&str] = &[".git", "node_modules", ".gradle"];

/// The report files below a folder, sorted. Links to folders are not followed.
pub(super) fn find(folder: &Path, patterns: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pattern in patterns {
        let parts: Vec<String> = pattern
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                Component::ParentDir => Some("..".to_owned()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
            })
            .collect();
        if parts.iter().any(|part| part.contains('*')) && pattern.is_relative() {
            let mut folders = 0;
            search(folder, &parts, &mut folders, &mut found);
        } else {
            found.push(folder.join(pattern));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(MAX_FILES);
    found
}

/// Deletes the reports of an earlier run, which must not be mistaken for new ones.
pub(super) fn clear(folder: &Path, patterns: &[PathBuf]) {
    for file in find(folder, patterns) {
        let _ = fs_err::remove_file(file);
    }
}

/// The contents of all reports that exist.
pub(super) fn read(folder: &Path, patterns: &[PathBuf]) -> Vec<String> {
    let is_readable = |file: &PathBuf| {
        fs_err::metadata(file).is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES)
    };
    let files = find(folder, patterns).into_iter().filter(is_readable);
    files.filter_map(|file| fs_err::read_to_string(file).ok()).collect()
}

fn search(folder: &Path, parts: &[String], folders: &mut usize, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else { return };
    *folders += 1;
    if *folders > MAX_FOLDERS || found.len() >= MAX_FILES {
        return;
    }
    if part == "**" {
        search(folder, rest, folders, found);
    }
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && SKIPPED.contains(&name.as_ref()) {
            continue;
        }
        match (part.as_str(), rest.is_empty()) {
            ("**", _) if is_folder => search(&entry.path(), parts, folders, found),
            ("**", _) => {}
            (part, true) if !is_folder && matches(part, &name) => found.push(entry.path()),
            (part, false) if is_folder && matches(part, &name) => {
                search(&entry.path(), rest, folders, found);
            }
            (_, _) => {}
        }
    }
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::super::testing::project;
    use super::*;

    fn found(files: &[(&str, &str)], pattern: &str) -> Vec<String> {
        let root = project(files);
        let below = |path: PathBuf| path.strip_prefix(root.path()).unwrap().display().to_string();
        find(root.path(), &[pattern.into()]).into_iter().map(below).collect()
    }

    #[test]
    fn names_match_patterns() {
        for (pattern, name) in
            [("TEST-*.xml", "TEST-a.B.xml"), ("*", "x"), ("a", "a"), ("*.x*", "1.xml"), ("a*", "a")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("TEST-*.xml", "TEST-a.txt"), ("a", "ab"), ("*.xml", "xml"), ("ab*ba", "aba")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_cross_folders() {
        let files = [
            ("build/test-results/test/TEST-a.xml", ""),
            ("app/build/test-results/unit/TEST-b.xml", ""),
            ("app/build/test-results/unit/other.xml", ""),
            ("app/build/reports/TEST-c.xml", ""),
            (".git/build/test-results/test/TEST-d.xml", ""),
        ];
        assert_eq!(
            found(&files, "**/build/test-results/**/TEST-*.xml"),
            ["app/build/test-results/unit/TEST-b.xml", "build/test-results/test/TEST-a.xml"]
        );
        assert_eq!(found(&files, "app/*/reports/*.xml"), ["app/build/reports/TEST-c.xml"]);
    }

    #[test]
    fn a_plain_path_is_itself_and_missing_reports_are_not_read() {
        let root = project(&[("out/a.xml", "A"), ("out/b.xml", "B")]);
        let patterns = ["out/a.xml".into(), "out/missing.xml".into()];
        assert_eq!(read(root.path(), &patterns), ["A"]);
        assert_eq!(read(root.path(), &["out/*.xml".into()]), ["A", "B"]);
        clear(root.path(), &["out/*.xml".into()]);
        assert!(read(root.path(), &["out/*.xml".into()]).is_empty());
    }

    #[test]
    fn links_and_third_party_folders_are_not_searched() {
        let root = project(&[
            ("a/out/x.xml", ""),
            ("node_modules/p/out/x.xml", ""),
            (".gradle/out/x.xml", ""),
        ]);
        std::os::unix::fs::symlink(root.path().join("a"), root.path().join("linked")).unwrap();
        let found = find(root.path(), &["**/out/*.xml".into(), "a/out/x.xml".into()]);
        assert_eq!(found, [root.path().join("a/out/x.xml")]);
    }

    #[test]
    fn an_absolute_pattern_is_a_path() {
        let root = project(&[("a.xml", "A")]);
        let whole = root.path().join("a.xml");
        assert_eq!(read(Path::new("/nowhere"), std::slice::from_ref(&whole)), ["A"]);
        assert_eq!(find(Path::new("/nowhere"), &["/x/*.xml".into()]), [PathBuf::from("/x/*.xml")]);
        let up = find(&root.path().join("sub"), &["../a.xml".into()]);
        assert_eq!(up, [root.path().join("sub/../a.xml")]);
    }

    #[test]
    fn folders_and_invalid_utf8_are_not_read() {
        let root = project(&[("out/a.xml/inner", "x")]);
        fs_err::write(root.path().join("out/b.xml"), [0xff, 0xfe]).unwrap();
        assert_eq!(read(root.path(), &["out/a.xml".into(), "out/b.xml".into()]), [""; 0]);
        clear(root.path(), &["out/a.xml".into()]);
        assert!(root.path().join("out/a.xml/inner").exists());
    }
}
