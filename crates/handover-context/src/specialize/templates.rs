//! Loads templates: built in, from the user's folder, from the project's; the last one wins.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_files::{FileError, read_text_bounded};
use handover_model::Category;
use handover_model::config::Agreement;
use handover_text::tokens::{self, Tokenizer};
use ignore::WalkBuilder;
use serde::Serialize;

use super::body::{Body, Problem, Rule};
use super::header::{self, Header};
use crate::stack::{canonical, catalog};

/// The most tokens a template may have.
pub const MOST_TOKENS: u64 = 450;

/// The folder for templates inside `.handover/`; the user's folder has the same name.
pub const FOLDER: &str = "specializations";

/// The size limit of a template file.
const MOST_BYTES: u64 = 64 * 1024;
/// The most files of a folder that are read.
const MOST_FILES: usize = 1_000;
/// The deepest level that is searched.
const MOST_DEPTH: usize = 4;

/// A built-in template, as written by the build script.
struct Embedded {
    name: &'static str,
    category: Category,
    priority: u8,
    detect: &'static [&'static str],
    compatible_with: &'static [&'static str],
    requires: &'static [&'static str],
    text: &'static str,
}

static EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// Where a template was loaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Built in: trusted.
    BuiltIn,
    /// From the user's folder.
    User,
    /// From the project: anyone may have written it.
    Project,
}

impl Source {
    /// The text form in JSON and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A template: its header, and its text, which is parsed only when it is used.
#[derive(Debug, Clone)]
pub struct Template {
    /// The parsed front matter.
    pub header: Header,
    /// Where it was loaded from.
    pub source: Source,
    /// The file, unless it is built in.
    pub file: Option<PathBuf>,
    text: Cow<'static, str>,
}

impl Template {
    /// The whole file.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn body(&self) -> Body {
        match header::parse(&self.header.name, &self.text) {
            Ok((_, body, line)) => Body::parse(body, line),
            Err(_) => Body::default(),
        }
    }
}

/// A file that is not a valid template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTemplate {
    /// The path of the file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// All templates, by name.
#[derive(Debug, Clone, Default)]
pub struct Templates {
    by_name: BTreeMap<String, Template>,
    /// Files that are not valid templates.
    pub bad: Vec<BadTemplate>,
    /// How many files of the project are not used, because the user has not agreed to them.
    pub untrusted: usize,
}

impl Templates {
    /// The built-in templates alone.
    pub fn built_in() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let template = |embedded: &Embedded| Template {
            header: known(Header {
                name: embedded.name.to_owned(),
                category: embedded.category,
                priority: embedded.priority,
                detect: words(embedded.detect),
                compatible_with: words(embedded.compatible_with),
                requires: words(embedded.requires),
            }),
            source: Source::BuiltIn,
            file: None,
            text: Cow::Borrowed(embedded.text),
        };
        let named = EMBEDDED.iter().map(|e| (e.name.to_owned(), template(e)));
        Self { by_name: named.collect(), ..Self::default() }
    }

    /// The built-in templates, overridden by those in the user's and the project's folder, which need not exist.
    /// Of the project's, only what the user has agreed to. An invalid file is reported and does not override
    /// anything.
    pub fn load(user: Option<&Path>, project: Option<(&Path, &Agreement)>) -> Self {
        let mut templates = Self::built_in();
        if let Some(folder) = user {
            templates.add_folder(folder, Source::User, &Agreement::Everything);
        }
        if let Some((folder, agreement)) = project {
            templates.add_folder(folder, Source::Project, agreement);
        }
        templates
    }

    /// The readable files of a project's folder: their paths below `.handover/`, and their texts.
    pub fn texts_of(folder: &Path) -> Vec<(PathBuf, String)> {
        let named = |path: PathBuf| Some((key_of(folder, &path), read(&path).ok()?));
        files_in(folder, Source::Project).into_iter().filter_map(named).collect()
    }

    /// No templates, for callers that add their own.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a template from a text; `name` is the file name without `.md`.
    pub fn add(&mut self, name: &str, text: String, source: Source) -> Result<(), Problem> {
        let (header, _, _) = header::parse(name, &text).map_err(problem)?;
        let header = known(header);
        let template = Template { header, source, file: None, text: Cow::Owned(text) };
        self.by_name.insert(template.header.name.clone(), template);
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path, source: Source, agreement: &Agreement) {
        for path in files_in(folder, source) {
            let text = match read(&path) {
                Ok(text) => text,
                Err(problem) => {
                    self.bad.push(BadTemplate { file: path, problem });
                    continue;
                }
            };
            if !agreement.covers(&key_of(folder, &path).to_string_lossy(), text.as_bytes()) {
                self.untrusted += 1;
                continue;
            }
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            match self.add(name, text, source) {
                Ok(()) => {
                    if let Some(template) = self.by_name.get_mut(name) {
                        template.file = Some(path);
                    }
                }
                Err(problem) => self.bad.push(BadTemplate { file: path, problem }),
            }
        }
    }

    /// A template by its name.
    pub fn get(&self, name: &str) -> Option<&Template> {
        self.by_name.get(name)
    }

    /// A template by name, path, another spelling, or technology.
    pub fn find(&self, word: &str) -> Option<&Template> {
        let stem = word.trim().rsplit('/').next().unwrap_or(word).trim_end_matches(".md");
        let canonical = canonical(stem);
        self.get(stem).or_else(|| self.get(&canonical)).or_else(|| {
            let mut named = self.iter();
            named.find(|template| template.header.detect.contains(&canonical))
        })
    }

    /// Every template, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Template> {
        self.by_name.values()
    }

    /// The number of templates.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Every problem of a template file.
    pub fn validate(&self, path: &Path) -> Vec<Problem> {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        match read(path) {
            Ok(text) => self.validate_text(name, &text),
            Err(problem) => vec![problem],
        }
    }

    /// Every problem of a template text.
    pub fn validate_text(&self, name: &str, text: &str) -> Vec<Problem> {
        let (header, rest, line) = match header::parse(name, text) {
            Ok(parts) => parts,
            Err(error) => return vec![problem(error)],
        };
        let mut problems = Vec::new();
        for required in &header.requires {
            let name = canonical(required);
            if catalog::find(&name).is_none() && self.get(&name).is_none() {
                let message = format!("nothing is called `{required}`, so it is never there");
                problems.push(Problem { line: 2, rule: Rule::Requires, message });
            }
        }
        problems.extend(Body::parse(rest, line).problems);
        let tokens = Tokenizer::ALL.iter().map(|t| tokens::count(*t, rest)).max().unwrap_or(0);
        if tokens > MOST_TOKENS {
            let message = format!("the body has {tokens} tokens, and {MOST_TOKENS} are allowed");
            problems.push(Problem { line, rule: Rule::Size, message });
        }
        problems
    }
}

/// The template files in a folder.
fn files_in(folder: &Path, source: Source) -> Vec<PathBuf> {
    // A user may link to templates elsewhere; a project must not point outside itself.
    let links = source == Source::User;
    let folder_data =
        if links { fs_err::metadata(folder) } else { fs_err::symlink_metadata(folder) };
    if !folder_data.is_ok_and(|data| data.is_dir()) {
        return Vec::new();
    }
    // A template counts even if git ignores it: someone put it there.
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .follow_links(links)
        .max_depth(Some(MOST_DEPTH))
        .sort_by_file_name(Ord::cmp)
        .build();
    let is_template = |path: &Path| {
        let is_readme = path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"));
        path.extension().is_some_and(|extension| extension == "md") && !is_readme
    };
    walk.flatten()
        .take(MOST_FILES)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| is_template(path))
        .collect()
}

/// The path of a project's template below `.handover/`, under which the user agrees to it.
fn key_of(folder: &Path, path: &Path) -> PathBuf {
    Path::new(FOLDER).join(path.strip_prefix(folder).unwrap_or(path))
}

/// The header with canonical names of technologies.
fn known(mut header: Header) -> Header {
    for name in header.detect.iter_mut().chain(&mut header.requires) {
        *name = canonical(name);
    }
    header
}

fn problem(error: header::HeaderError) -> Problem {
    Problem { line: error.line, rule: Rule::Header, message: error.message }
}

fn read(path: &Path) -> Result<String, Problem> {
    let fail = |message: String| Problem { line: 1, rule: Rule::File, message };
    match read_text_bounded(path, MOST_BYTES) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(fail("there is no such file".to_owned())),
        Err(FileError::NotAFile { .. }) => Err(fail("it is not a file".to_owned())),
        Err(FileError::NotText { .. }) => Err(fail("it is not UTF-8".to_owned())),
        Err(FileError::TooLarge { max, .. }) => Err(fail(format!("it has more than {max} bytes"))),
        Err(FileError::NotAFolder { .. } | FileError::Name { .. } | FileError::Io { .. }) => {
            Err(fail("it cannot be read".to_owned()))
        }
    }
}
