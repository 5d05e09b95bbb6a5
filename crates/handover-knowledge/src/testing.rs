//! Real repositories and real transcripts for tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use serde_json::Value;

use crate::{Draft, ForeignTables, ForeignValue, Git, Homes, Skipped, Source, SourceContext, Unit};

/// A repository, usually in a temporary folder.
pub(crate) struct Repository {
    root: PathBuf,
    _folder: Option<TempDir>,
}

/// What a source knows of a repository.
#[derive(Debug)]
pub(crate) struct Everything {
    pub(crate) units: Vec<Unit>,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Learns everything.
pub(crate) fn learn(source: &dyn Source, repository: &Repository) -> Everything {
    let (git, homes) = (repository.open(), Homes::default());
    learn_in(source, &repository.context(&git, &homes, &[]))
}

/// Learns everything in some context.
pub(crate) fn learn_in(source: &dyn Source, context: &SourceContext<'_>) -> Everything {
    let found = source.discover(context).unwrap();
    let mut drafts: Vec<(usize, Draft)> = Vec::new();
    let mut skipped = found.skipped;
    let mut seen = Vec::new();
    source
        .read(context, &found.units, &mut |learned| {
            seen.push(learned.unit);
            drafts.extend(learned.drafts.into_iter().map(|draft| (learned.unit, draft)));
            skipped.extend(learned.skipped);
        })
        .unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..found.units.len()).collect::<Vec<_>>(), "every unit is answered once");
    drafts.sort_by_key(|(unit, _)| *unit);
    for (unit, draft) in &drafts {
        assert_eq!(draft.source, found.units[*unit].source);
        assert!(draft.text.chars().count() <= crate::MAX_TEXT_CHARS);
    }
    let drafts = drafts.into_iter().map(|(_, draft)| draft).collect();
    Everything { units: found.units, drafts, skipped }
}

impl Repository {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let repository = Self { root, _folder: Some(folder) };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// One that exists.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), _folder: None }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn context<'a>(
        &'a self,
        git: &'a Git,
        homes: &'a Homes,
        paths: &'a [PathBuf],
    ) -> SourceContext<'a> {
        SourceContext {
            root: &self.root,
            git: Some(git),
            checkouts: std::slice::from_ref(&self.root),
            homes,
            paths,
            since: None,
            tables: None,
            stop: &|| false,
        }
    }

    pub(crate) fn open(&self) -> Git {
        Git::open(self.root(), Self::environment()).unwrap().unwrap()
    }

    /// What git sees in tests: nothing of the user's.
    pub(crate) fn environment() -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap();
        vec![("PATH".into(), path), ("HOME".into(), "/nonexistent".into())]
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_at("2026-01-01T00:00:00Z", args)
    }

    pub(crate) fn git_at(&self, time: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .env_clear()
            .envs(Self::environment())
            .envs([("GIT_AUTHOR_DATE", time), ("GIT_COMMITTER_DATE", time)])
            .current_dir(self.root())
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes a file, and commits everything.
    pub(crate) fn commit(&self, path: &str, text: &str, message: &str) -> String {
        self.commit_at("2026-01-01T00:00:00Z", path, text, message)
    }

    pub(crate) fn commit_at(&self, time: &str, path: &str, text: &str, message: &str) -> String {
        self.write(path, text);
        self.git(&["add", "-A"]);
        self.git_at(time, &["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let whole = self.root().join(path);
        fs_err::create_dir_all(whole.parent().unwrap()).unwrap();
        fs_err::write(whole, text).unwrap();
    }
}

/// A transcript of a real program.
pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(name)
}

/// The home of somebody who uses every program.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let whole = self.path(path);
        fs_err::create_dir_all(whole.parent().unwrap()).unwrap();
        fs_err::write(whole, text).unwrap();
    }

    /// Puts a transcript of a real program somewhere.
    pub(crate) fn put(&self, name: &str, path: &str) {
        self.write(path, &fs_err::read_to_string(golden(name)).unwrap());
    }

    pub(crate) fn homes(&self) -> Homes {
        Homes::usual(|name| (name == "HOME").then(|| self.0.path().into()))
    }
}

/// Tables that are kept as JSON: a list of rows for each name.
pub(crate) struct Tables;

impl ForeignTables for Tables {
    fn rows(
        &self,
        database: &Path,
        table: &str,
        columns: &[&str],
        filter: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[ForeignValue]),
    ) -> Result<(), String> {
        let text = fs_err::read_to_string(database).map_err(|error| error.to_string())?;
        let tables: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        for row in tables[table].as_array().into_iter().flatten() {
            if filter.is_some_and(|(column, value)| row[column] != value) {
                continue;
            }
            let values = columns.iter().map(|column| match &row[*column] {
                Value::String(text) => ForeignValue::Text(text.clone()),
                Value::Number(number) => ForeignValue::Integer(number.as_i64().unwrap()),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                    ForeignValue::Null
                }
            });
            each(&values.collect::<Vec<_>>());
        }
        Ok(())
    }
}
