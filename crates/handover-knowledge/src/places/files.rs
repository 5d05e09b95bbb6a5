//! Which files of a checkout are worth indexing, and what kind of file a path is.

/// Folders of other people's or generated code.
const FOREIGN_FOLDERS: &[&str] = &[
    "node_modules",
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "bower_components",
    "__snapshots__",
    "__pycache__",
    ".yarn",
    ".git",
    handover_files::NAME,
    "site-packages",
    "Godeps",
    "Pods",
];

/// Names of files that programs write.
const WRITTEN_FILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "bun.lockb",
    "go.sum",
    "go.work.sum",
    "Package.resolved",
    "packages.lock.json",
    "gradlew",
    "gradlew.bat",
    "mvnw",
    "mvnw.cmd",
];

/// Names of files that every change touches or none: nobody needs to read of them. In lower case, without their end.
const KEPT_BY_HABIT: &[&str] = &[
    "authors",
    "changelog",
    "changes",
    "contributors",
    "copying",
    "history",
    "license",
    "licence",
    "license-apache",
    "license-mit",
    "news",
    "release-notes",
    "releases",
];

/// Ends of names whose content is no text, or no text that a person writes. Sorted.
const USELESS_ENDS: &[&str] = &[
    "7z", "a", "avif", "bin", "bmp", "br", "bz2", "class", "crt", "csv", "dat", "db", "dll",
    "dylib", "eot", "exe", "gif", "gz", "icns", "ico", "ipynb", "jar", "jpeg", "jpg", "key", "lib",
    "lock", "map", "mo", "mov", "mp3", "mp4", "npy", "o", "obj", "ogg", "otf", "parquet", "patch",
    "pb", "pdf", "pem", "pkl", "png", "pyc", "rar", "rdb", "snap", "so", "sqlite", "sqlite3",
    "sum", "svg", "tar", "tgz", "tif", "tiff", "tsv", "ttf", "wasm", "wav", "webm", "webp", "woff",
    "woff2", "xls", "xlsx", "xz", "zip", "zst",
];

/// Ends of names of prose. Sorted.
const PROSE_ENDS: &[&str] =
    &["adoc", "asciidoc", "htm", "markdown", "md", "mdx", "org", "rst", "tex", "txt"];

/// Ends of names of data and settings. Sorted.
const DATA_ENDS: &[&str] = &[
    "cfg",
    "conf",
    "editorconfig",
    "env",
    "gitattributes",
    "gitignore",
    "ini",
    "json",
    "json5",
    "jsonc",
    "po",
    "pot",
    "properties",
    "toml",
    "xml",
    "yaml",
    "yml",
];

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Code,
    Test,
    Prose,
    Data,
}

impl FileKind {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Code, Self::Test, Self::Prose, Self::Data].get(usize::from(byte)).copied()
    }
}

/// The part of a path after its last slash.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The part of a name after its last dot, in lower case.
pub(super) fn end(path: &str) -> Option<String> {
    name(path).rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase())
}

/// Whether a file may be indexed, by its path alone.
pub(super) fn is_candidate(path: &str) -> bool {
    let name = name(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase();
    // `history.js` is code.
    let prose = end(path).is_none_or(|end| PROSE_ENDS.binary_search(&end.as_str()).is_ok());
    let habit = prose && KEPT_BY_HABIT.contains(&stem.as_str());
    let foreign = path.split('/').rev().skip(1).any(|folder| FOREIGN_FOLDERS.contains(&folder));
    let useless = end(path).is_some_and(|end| USELESS_ENDS.binary_search(&end.as_str()).is_ok());
    let minified =
        name.contains(".min.") || name.contains(".bundle.") || name.contains(".generated.");
    !(foreign || habit || useless || minified || WRITTEN_FILES.contains(&name) || path.len() > 1024)
}

pub(super) fn kind(path: &str) -> FileKind {
    let end = end(path);
    let is = |ends: &[&str]| end.as_deref().is_some_and(|end| ends.binary_search(&end).is_ok());
    if is(PROSE_ENDS) {
        FileKind::Prose
    } else if is(DATA_ENDS) {
        FileKind::Data
    } else if is_test(path) {
        FileKind::Test
    } else {
        FileKind::Code
    }
}

fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = folders.split('/').any(|folder| {
        matches!(folder, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing" | "testdata")
    });
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    in_folder
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// Whether the content of a file is text that people write.
pub(super) fn is_written_by_people(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(8192)];
    if memchr::memchr(0, start).is_some() {
        return false;
    }
    // A line of minified code or of data is long.
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    if bytes.len() > 2000 && bytes.len() / lines > 400 {
        return false;
    }
    let head = &bytes[..bytes.len().min(600)];
    let says = |words: &[u8]| memchr::memmem::find(head, words).is_some();
    let generated = says(b"@generated")
        || says(b"Code generated by")
        || says(b"Generated by the protocol buffer compiler")
        || says(b"This file is automatically generated")
        || says(b"This file is generated")
        || says(b"autogenerated") && says(b"edit");
    !generated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [USELESS_ENDS, PROSE_ENDS, DATA_ENDS] {
            assert!(list.is_sorted());
        }
    }

    #[test]
    fn what_nobody_writes_is_left_out() {
        for path in [
            "vendor/a.go",
            "web/node_modules/x/index.js",
            "Cargo.lock",
            "yarn.lock",
            "go.sum",
            "logo.png",
            "static/jquery.min.js",
            "CHANGES.rst",
            "LICENSE",
            "api.generated.ts",
            "tests/__snapshots__/a.js",
        ] {
            assert!(!is_candidate(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "vendor.go",
            "Makefile",
            "docs/lock.md",
            "src/history.js",
            ".github/workflows/ci.yml",
        ] {
            assert!(is_candidate(path), "{path}");
        }
    }

    #[test]
    fn kinds_follow_names() {
        let cases = [
            ("src/auth.rs", FileKind::Code),
            ("Makefile", FileKind::Code),
            ("tests/it/a.rs", FileKind::Test),
            ("auth_test.go", FileKind::Test),
            ("src/AuthTest.java", FileKind::Test),
            ("src/a.spec.ts", FileKind::Test),
            ("src/latest.ts", FileKind::Code),
            ("docs/tests/README.md", FileKind::Prose),
            ("package.json", FileKind::Data),
        ];
        for (path, expected) in cases {
            assert_eq!(kind(path), expected, "{path}");
        }
    }

    #[test]
    fn binary_minified_and_generated_content_is_left_out() {
        assert!(is_written_by_people(b""));
        assert!(is_written_by_people(b"fn main() {}\n"));
        assert!(!is_written_by_people(b"\x7fELF\0\0"));
        assert!(!is_written_by_people(b"// Code generated by protoc. DO NOT EDIT.\n"));
        assert!(!is_written_by_people("x=1;".repeat(1000).as_bytes()));
        assert!(is_written_by_people("x = 1;\n".repeat(1000).as_bytes()));
    }
}
