//! Imports packages from JSON lines.
//!
//! Every line is checked before anything is written. Bodies become files below the artifacts folder, and
//! are removed again if the registration fails.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use handover_files::{FileError, Folder};
use handover_model::{GroupId, PackageKind, Priority, Role, Scope, Timestamp};
use handover_store::NewPackage;
use serde::Deserialize;

use super::draft::{DraftContext, draft};
use super::paths::not_ours;
use super::{Facts, PackageFileError, Placement, write};

/// One line of an import.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportLine {
    /// What the package contains.
    pub kind: PackageKind,
    /// The role that wrote it.
    pub producer: Role,
    /// How important it is.
    pub priority: Priority,
    /// What other agents see.
    pub summary: String,
    /// The group it came from.
    pub group: Option<GroupId>,
    /// Whether only its group receives it.
    pub scope: Option<Scope>,
    /// The roles it is for.
    pub consumers: Option<Vec<Role>>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// An existing file.
    pub path: Option<PathBuf>,
    /// The text, if there is no file yet.
    pub body: Option<String>,
    /// The file name for `body`.
    pub name: Option<String>,
    /// Paths it is about.
    pub files: Option<Vec<String>>,
}

/// Why an import failed. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not JSON of the expected shape.
    #[error("line {line} is not valid: {message}")]
    Json {
        /// The line number.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// Not exactly one of `path` and `body`.
    #[error("line {line} must have either `path` or `body`")]
    Source {
        /// The line number.
        line: usize,
    },
    /// Scope `group` without a group.
    #[error("line {line} has scope `group` and no `group`")]
    Scope {
        /// The line number.
        line: usize,
    },
    /// An invalid file name.
    #[error("line {line}: `{name}` is not a file name of letters, digits, `.`, `_` and `-`")]
    Name {
        /// The line number.
        line: usize,
        /// The rejected name.
        name: String,
    },
    /// Two lines use the same file name for different texts.
    #[error("line {line} has the name of line {first} and another body")]
    Twice {
        /// The line number.
        line: usize,
        /// The line that used the name first.
        first: usize,
    },
    /// The file exists and was not imported, or was modified since.
    #[error("line {line}: `{}` exists with other content", path.display())]
    Taken {
        /// The line number.
        line: usize,
        /// The existing file.
        path: PathBuf,
    },
    /// The file cannot be registered as a package.
    #[error("line {line} cannot be a package")]
    File {
        /// The line number.
        line: usize,
        /// The underlying error.
        #[source]
        source: Box<PackageFileError>,
    },
    /// Writing a body failed.
    #[error("the body of line {line} cannot be written")]
    Write {
        /// The line number.
        line: usize,
        /// The underlying error.
        #[source]
        source: std::io::Error,
    },
}

/// An import whose files are written and whose packages are ready to be registered.
#[derive(Debug)]
pub struct PreparedImport {
    /// One per line, in order.
    pub packages: Vec<NewPackage>,
    written: Vec<Written>,
}

#[derive(Debug)]
struct Written {
    folder: Folder,
    name: String,
    /// The previous content, if the file existed.
    former: Option<Vec<u8>>,
}

impl PreparedImport {
    /// Restores the files as they were before.
    pub fn undo(self) {
        undo(&self.written);
    }
}

fn undo(written: &[Written]) {
    for file in written.iter().rev() {
        // Best effort: the error that caused the rollback is the one to report.
        let _ = match &file.former {
            Some(bytes) => file.folder.replace_shared(&file.name, bytes),
            None => file.folder.remove(&file.name),
        };
    }
}

/// What an import depends on besides its lines.
#[derive(Clone, Copy)]
pub struct ImportContext<'a> {
    /// How packages are drafted.
    pub draft: &'a DraftContext<'a>,
    /// The group of lines that name neither group nor scope.
    pub group: Option<&'a GroupId>,
    /// The content hash registered for a path, if any: only such files may be replaced.
    pub registered: &'a dyn Fn(&str) -> Option<String>,
}

/// Checks every line, then writes the bodies. Nothing is left behind on error.
pub fn prepare_import(
    import: &ImportContext<'_>,
    text: &str,
) -> Result<PreparedImport, ImportError> {
    let context = import.draft;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            let mut checked = check(index + 1, line)?;
            if checked.group.is_none() && checked.scope.is_none() {
                checked.group = import.group.cloned();
            }
            lines.push((index + 1, checked));
        }
    }
    let folder = context.paths.context(context.session);
    let mut prepared =
        PreparedImport { packages: Vec::with_capacity(lines.len()), written: Vec::new() };
    let mut names: HashMap<String, (usize, String)> = HashMap::new();
    for (number, line) in lines {
        let added = file_of(import, &folder, number, &line, &mut names, &mut prepared.written)
            .and_then(|path| package_of(context, number, &path, line));
        match added {
            Ok(package) => prepared.packages.push(package),
            Err(error) => {
                prepared.undo();
                return Err(error);
            }
        }
    }
    Ok(prepared)
}

fn check(number: usize, text: &str) -> Result<ImportLine, ImportError> {
    let line: ImportLine = serde_json::from_str(text)
        .map_err(|error| ImportError::Json { line: number, message: json_message(&error) })?;
    if line.path.is_some() == line.body.is_some() {
        return Err(ImportError::Source { line: number });
    }
    if line.body.as_ref().is_some_and(|body| body.trim().is_empty()) {
        return Err(ImportError::Source { line: number });
    }
    if line.scope == Some(Scope::Group) && line.group.is_none() {
        return Err(ImportError::Scope { line: number });
    }
    if let Some(name) = &line.name {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if stem.is_empty() || stem.len() > 200 || stem.starts_with('.') || !stem.chars().all(fine) {
            return Err(ImportError::Name { line: number, name: name.clone() });
        }
    }
    Ok(line)
}

/// The parser's message without its line number: it has only seen one line.
fn json_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line 1 column ") {
        Some(at) => format!("{} (column {})", &text[..at], &text[at + 18..]),
        None => text,
    }
}

/// The file of a line: the existing one, or a new one with the body.
fn file_of(
    import: &ImportContext<'_>,
    folder: &Folder,
    number: usize,
    line: &ImportLine,
    names: &mut HashMap<String, (usize, String)>,
    written: &mut Vec<Written>,
) -> Result<PathBuf, ImportError> {
    let Some(body) = &line.body else {
        return Ok(line.path.clone().unwrap_or_default());
    };
    let context = import.draft;
    // We write this file and agents read it, so secrets must not get into it.
    let text = file_text(line, context.redactor.clean(body).as_str());
    let name = match &line.name {
        Some(name) => format!("{}.md", name.strip_suffix(".md").unwrap_or(name)),
        None => format!("imported-{}.md", &super::content_hash(text.as_bytes())[..16]),
    };
    let here = folder.path();
    let path = here.strip_prefix(context.paths.root()).unwrap_or(&here).join(&name);
    if let Some((first, same)) = names.get(&name) {
        return if *same == text {
            Ok(path)
        } else {
            Err(ImportError::Twice { line: number, first: *first })
        };
    }
    let former = match folder.read(&name, context.max_bytes) {
        Ok(former) => former,
        // Something else than a file of bearable size is not ours, and not read to its end.
        Err(FileError::NotAFile { .. } | FileError::TooLarge { .. }) => {
            return Err(ImportError::Taken { line: number, path });
        }
        Err(error) => return Err(not_written(number, error)),
    };
    if former.as_deref() != Some(text.as_bytes()) {
        let ours = former.as_ref().is_none_or(|bytes| {
            (import.registered)(&path.display().to_string()) == Some(super::content_hash(bytes))
        });
        if !ours {
            return Err(ImportError::Taken { line: number, path });
        }
        folder
            .replace_shared(&name, text.as_bytes())
            .map_err(|error| not_written(number, error))?;
        written.push(Written { folder: folder.clone(), name: name.clone(), former });
    }
    names.insert(name, (number, text));
    Ok(path)
}

fn not_written(line: usize, error: FileError) -> ImportError {
    if let FileError::Io { source, .. } = error {
        ImportError::Write { line, source }
    } else {
        ImportError::File { line, source: Box::new(not_ours(error)) }
    }
}

/// The file repeats the line's metadata, so that the index can be rebuilt from it.
fn file_text(line: &ImportLine, body: &str) -> String {
    write::file_text(&write::Head {
        kind: line.kind,
        group: line.group.as_ref().map(GroupId::as_str),
        producer: &line.producer,
        consumers: line.consumers.as_deref().unwrap_or_default(),
        priority: line.priority,
        iteration: None,
        body,
    })
}

fn package_of(
    context: &DraftContext<'_>,
    number: usize,
    path: &Path,
    line: ImportLine,
) -> Result<NewPackage, ImportError> {
    let file_error = |source| ImportError::File { line: number, source: Box::new(source) };
    let located = context.paths.locate_untrusted(path).map_err(file_error)?;
    let global = line.scope == Some(Scope::Global) || line.group.is_none();
    let facts = Facts {
        kind: Some(line.kind),
        producer: Some(line.producer),
        consumers: Some(line.consumers.unwrap_or_default()),
        priority: Some(line.priority),
        summary: Some(line.summary),
        placement: line.group.clone().map(Placement::Group),
        default_group: None,
        files: line.files,
        iteration: None,
        former: None,
    };
    let mut package = draft(context, &located, facts).map_err(file_error)?.package;
    if global {
        package.scope = Scope::Global;
    }
    if let Some(time) = line.created_at {
        package.created_at = time;
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package_file::content_hash;
    use crate::testing::{TestProject, group};

    const LINE: &str =
        r#""kind":"research","producer":"developer","priority":"high","summary":"s""#;
    const CONTEXT: &str = ".handover/artifacts/s1/context";

    fn prepare(
        project: &TestProject,
        text: &str,
        registered: &dyn Fn(&str) -> Option<String>,
    ) -> Result<PreparedImport, ImportError> {
        let draft = project.context();
        prepare_import(&ImportContext { draft: &draft, group: None, registered }, text)
    }

    fn import(project: &TestProject, text: &str) -> Result<PreparedImport, ImportError> {
        prepare(project, text, &|_| None)
    }

    fn error(text: &str) -> ImportError {
        import(&TestProject::new(), text).unwrap_err()
    }

    fn line(rest: &str) -> String {
        format!("{{{LINE},{rest}}}")
    }

    #[test]
    fn bodies_become_files_that_repeat_the_metadata() {
        let project = TestProject::new();
        let text = line(r##""body":"# T\npassword=hunter2sEcret","name":"notes","group":"P1""##);
        let prepared = import(&project, &format!("\u{feff}\n{text}\n\n")).unwrap();
        let [package] = &prepared.packages[..] else { panic!("{prepared:?}") };
        assert_eq!(package.path, format!("{CONTEXT}/notes.md"));
        assert_eq!((&package.group, package.scope), (&Some(group("P1")), Scope::Group));
        assert_eq!((package.summary.as_str(), package.priority), ("s", Priority::High));
        assert_eq!(
            project.read(&package.path),
            "---\ntype: research\ngroup_id: 'P1'\nproducer: developer\npriority: high\n---\n\
             # T\npassword=[REDACTED-1]\n"
        );
        prepared.undo();
        assert!(!project.paths.root().join(format!("{CONTEXT}/notes.md")).exists());
    }

    #[test]
    fn existing_files_are_registered_in_place() {
        let project = TestProject::new();
        project.write("docs/a.md", "text");
        let rest = r#""path":"docs/a.md","created_at":"2020-01-02T03:04:05Z","files":["src/x.rs"]"#;
        let prepared = import(&project, &line(rest)).unwrap();
        let package = &prepared.packages[0];
        let created: Timestamp = "2020-01-02T03:04:05Z".parse().unwrap();
        assert_eq!((package.path.as_str(), package.created_at), ("docs/a.md", created));
        assert_eq!((&package.group, package.scope), (&None, Scope::Global));
        prepared.undo();
        assert_eq!(project.read("docs/a.md"), "text");
    }

    #[test]
    fn lines_without_group_and_scope_get_the_default_group() {
        let project = TestProject::new();
        let (draft, group) = (project.context(), group("P9"));
        let context = ImportContext { draft: &draft, group: Some(&group), registered: &|_| None };
        let text = [
            line(r#""body":"one""#),
            line(r#""body":"two","scope":"global""#),
            line(r#""body":"three","group":"P1","scope":"global""#),
        ];
        let prepared = prepare_import(&context, &text.join("\n")).unwrap();
        let placed: Vec<_> = prepared
            .packages
            .iter()
            .map(|p| (p.group.as_ref().map(GroupId::as_str), p.scope))
            .collect();
        assert_eq!(
            placed,
            [(Some("P9"), Scope::Group), (None, Scope::Global), (Some("P1"), Scope::Global)]
        );
    }

    #[test]
    fn invalid_lines_are_reported_by_number() {
        assert!(matches!(error("\n{}"), ImportError::Json { line: 2, .. }));
        let message = error(&line(r#""body":"x","kind2":1"#)).to_string();
        assert!(message.starts_with("line 1 is not valid: ") && message.contains("(column "));
        assert!(!message.contains("at line"));
        assert!(matches!(error(&line(r#""files":[]"#)), ImportError::Source { line: 1 }));
        assert!(matches!(
            error(&line(r#""body":"x","path":"a.md""#)),
            ImportError::Source { line: 1 }
        ));
        assert!(matches!(error(&line(r#""body":" ""#)), ImportError::Source { line: 1 }));
        assert!(matches!(
            error(&line(r#""body":"x","scope":"group""#)),
            ImportError::Scope { line: 1 }
        ));
        for path in ["none.md", "../x.md", "/etc/passwd"] {
            let error = error(&line(&format!(r#""path":"{path}""#)));
            assert!(matches!(error, ImportError::File { line: 1, .. }), "{path}: {error}");
        }
    }

    #[test]
    fn names_are_plain_file_names() {
        for bad in ["", ".md", ".hidden", "a/b", "..", "a b", "ä", &"x".repeat(201)] {
            let error = error(&line(&format!(r#""body":"x","name":"{bad}""#)));
            assert!(matches!(error, ImportError::Name { line: 1, .. }), "{bad}: {error}");
        }
        for good in ["a", "a.md", "A_1-b.c", &"x".repeat(200)] {
            let project = TestProject::new();
            let text = line(&format!(r#""body":"x","name":"{good}""#));
            assert!(import(&project, &text).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_failure_undoes_the_files_before_it() {
        let project = TestProject::new();
        let text = [line(r#""body":"one","name":"one""#), line(r#""path":"none.md""#)];
        let error = import(&project, &text.join("\n")).unwrap_err();
        assert!(matches!(error, ImportError::File { line: 2, .. }), "{error}");
        assert!(!project.paths.root().join(format!("{CONTEXT}/one.md")).exists());
    }

    #[test]
    fn one_name_has_one_text() {
        let project = TestProject::new();
        let (one, two) =
            (line(r#""body":"one","name":"n""#), line(r#""body":"two","name":"n.md""#));
        let twice = import(&project, &format!("{one}\n{one}")).unwrap();
        assert_eq!((twice.packages.len(), twice.written.len()), (2, 1));
        twice.undo();
        let error = import(&project, &format!("{one}\n{two}")).unwrap_err();
        assert!(matches!(error, ImportError::Twice { line: 2, first: 1 }), "{error}");
    }

    #[test]
    fn only_registered_files_are_replaced_and_undo_restores_them() {
        let project = TestProject::new();
        let path = format!("{CONTEXT}/n.md");
        project.write(&path, "mine");
        let text = line(r#""body":"new","name":"n""#);
        let error = import(&project, &text).unwrap_err();
        assert!(matches!(error, ImportError::Taken { line: 1, .. }), "{error}");
        assert_eq!(project.read(&path), "mine");
        let changed = |_: &str| Some(content_hash(b"something else"));
        assert!(prepare(&project, &text, &changed).is_err());
        let known = |asked: &str| (asked == path).then(|| content_hash(b"mine"));
        let prepared = prepare(&project, &text, &known).unwrap();
        assert!(project.read(&path).ends_with("new\n"));
        prepared.undo();
        assert_eq!(project.read(&path), "mine");
    }

    #[test]
    fn links_are_never_written_through() {
        let project = TestProject::new();
        let target = project.outside("target.md");
        fs_err::write(&target, "outside").unwrap();
        project.write(&format!("{CONTEXT}/x.md"), "x");
        let link = project.paths.root().join(format!("{CONTEXT}/n.md"));
        std::os::unix::fs::symlink(&target, link).unwrap();
        let known = |_: &str| Some(content_hash(b"outside"));
        let result = prepare(&project, &line(r#""body":"new","name":"n""#), &known);
        assert!(matches!(result, Err(ImportError::Taken { .. })));
        assert_eq!(fs_err::read_to_string(target).unwrap(), "outside");
    }

    #[test]
    fn a_pipe_or_a_folder_in_the_place_of_a_file_is_left_alone() {
        let project = TestProject::new();
        project.write(&format!("{CONTEXT}/x.md"), "x");
        let context = project.paths.root().join(CONTEXT);
        let pipe = std::process::Command::new("mkfifo").arg(context.join("n.md")).status();
        assert!(pipe.unwrap().success());
        fs_err::create_dir(context.join("m.md")).unwrap();
        for name in ["n", "m"] {
            let text = line(&format!(r#""body":"new","name":"{name}""#));
            let result = prepare(&project, &text, &|_: &str| None);
            assert!(matches!(result, Err(ImportError::Taken { .. })), "{name}");
        }
    }

    #[test]
    fn equal_texts_without_a_name_share_a_file() {
        let project = TestProject::new();
        let text = line(r#""body":"same""#);
        let first = import(&project, &text).unwrap();
        let again = import(&project, &text).unwrap();
        assert_eq!(first.packages[0].path, again.packages[0].path);
        assert!(first.packages[0].path.starts_with(&format!("{CONTEXT}/imported-")));
        assert!(again.written.is_empty());
    }
}
