//! Finds the files of an epic and its stories. File names and explicit fields count; a mention in the
//! text does not.

use std::path::{Path, PathBuf};

use handover_files::{FileError, read_text_bounded};
use handover_model::EpicId;

use super::companion;
use super::layout::in_each_folder;
use super::parse::{claims, strip_word};
use super::{Layout, Status, Story, StoryError};

/// Larger files are not read.
const MAX_BYTES: u64 = 1 << 20;

/// An epic and its stories.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// The epic.
    pub epic: EpicId,
    /// Its file, relative to the project.
    pub epic_file: Option<String>,
    /// Its stories in the order of work, each with the ids of its dependencies.
    pub stories: Vec<(Story, Vec<String>)>,
    /// Why each file was selected.
    pub matches: Vec<Match>,
    /// Why other files in the same folders were not.
    pub others: Vec<Match>,
}

impl Discovery {
    /// The files that carry a number of this epic in their names, but are not stories of it.
    pub(crate) fn numbered_others(&self) -> impl Iterator<Item = &Match> {
        self.others.iter().filter(|other| {
            let name = stem(Path::new(&other.path));
            matches!(named(&name, self.epic.as_str()), Named::Ours(_))
        })
    }
}

/// A file and why it was selected, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The file, relative to the project.
    pub path: String,
    /// The rule that decided.
    pub reason: &'static str,
}

/// A file in a folder of stories.
enum Candidate {
    /// A story of this epic, and why.
    Story(Box<Story>, &'static str),
    /// Something else, and why.
    Other(&'static str),
}

/// What a file name says about an epic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A story of this epic, with its number.
    Ours(u64),
    /// A story of another epic.
    Another,
    /// Neither.
    Nothing,
}

/// The epic that an argument names: `1`, `epic-1` or `docs/epics/epic-1-login.md`.
pub fn epic_id(word: &str) -> Result<EpicId, handover_model::InvalidId> {
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some(stem) = name.strip_suffix(".md") else {
        return EpicId::new(without_zeros(strip_word(word, "epic").unwrap_or(word)));
    };
    let id = strip_word(stem, "epic").unwrap_or(stem);
    // If a file name starts with a number, only that counts.
    let number = id.split('-').next().filter(|number| number.parse::<u64>().is_ok());
    EpicId::new(without_zeros(number.unwrap_or(id)))
}

fn without_zeros(id: &str) -> String {
    match id.parse::<u64>() {
        Ok(number) => number.to_string(),
        Err(_) => id.to_owned(),
    }
}

pub(super) fn same_epic(one: &str, other: &str) -> bool {
    without_zeros(one).eq_ignore_ascii_case(&without_zeros(other))
}

/// Finds the epic and its stories below a project's folder.
pub fn discover(root: &Path, layout: &Layout, epic: &EpicId) -> Result<Discovery, StoryError> {
    let (mut matches, mut others) = (Vec::new(), Vec::new());
    let epic_file = epic_file(root, layout, epic)?;
    if let Some((path, reason)) = &epic_file {
        matches.push(Match { path: path.clone(), reason });
    }
    let epic_file = epic_file.map(|(path, _)| path);
    let mut stories: Vec<Story> = Vec::new();
    let mut files = Vec::new();
    for folder in &layout.stories {
        for path in files_at(root, folder, true)? {
            if !files.contains(&path) {
                files.push(path);
            }
        }
    }
    let names: Vec<String> = files.iter().map(|path| stem(path).to_ascii_lowercase()).collect();
    let mut found = Vec::new();
    for path in files {
        let shown = relative(root, &path);
        if epic_file.as_ref() == Some(&shown) {
            continue;
        }
        match story(root, &path, epic, &names)? {
            Candidate::Story(story, reason) => found.push((*story, reason)),
            Candidate::Other(reason) => others.push(Match { path: shown, reason }),
        }
    }
    let companions = companion::among(&found);
    for (n, (story, reason)) in found.into_iter().enumerate() {
        let path = story.path.clone();
        if companions.contains(&n) {
            others.push(Match { path, reason: companion::REASON });
        } else {
            reject_twin(&stories, &story)?;
            matches.push(Match { path, reason });
            stories.push(story);
        }
    }
    if stories.is_empty() {
        let (epic, folders) = (epic.to_string(), layout.stories.clone());
        return Err(match epic_file {
            None => StoryError::NotFound { epic, epics: layout.epics.clone(), folders },
            Some(file) => {
                let text = read(&root.join(&file)).unwrap_or_default();
                let stories = super::epic::listed_stories(&text, epic.as_str());
                if stories.is_empty() {
                    StoryError::NoStories { epic, folders }
                } else {
                    StoryError::OnlyListed { epic, file, stories }
                }
            }
        });
    }
    let stories = super::in_order(epic.as_str(), stories)?;
    Ok(Discovery { epic: epic.clone(), epic_file, stories, matches, others })
}

/// Two files with the same name or number could be the same story.
fn reject_twin(stories: &[Story], story: &Story) -> Result<(), StoryError> {
    let is_twin = |other: &&Story| {
        other.id == story.id || other.number.is_some() && other.number == story.number
    };
    let Some(twin) = stories.iter().find(is_twin) else { return Ok(()) };
    let what = match story.number {
        Some(number) if twin.id != story.id => format!("story number {number}"),
        Some(_) | None => format!("story `{}`", story.id),
    };
    Err(StoryError::Ambiguous { what, paths: vec![twin.path.clone(), story.path.clone()] })
}

/// The file of an epic and why: one of its own, or else one that describes all epics.
pub(super) fn epic_file(
    root: &Path,
    layout: &Layout,
    epic: &EpicId,
) -> Result<Option<(String, &'static str)>, StoryError> {
    let mut found = Vec::new();
    let mut shared = Vec::new();
    for folder in &layout.epics {
        // Many other documents are in `docs`.
        let deep = folder != "docs";
        for path in files_at(root, folder, deep)? {
            let lower = stem(&path).to_ascii_lowercase();
            let shown = relative(root, &path);
            if lower == "epics" {
                let text = read(&path).unwrap_or_default();
                if super::epic::section(&text, epic).is_some() && !shared.contains(&shown) {
                    shared.push(shown);
                }
            } else if let Some(feature) = feature(&path).filter(|_| folder.contains('*')) {
                if feature_number(&feature, epic.as_str()).is_some() {
                    found.push(shown);
                }
            } else if names_epic(&lower, folder, epic) && !found.contains(&shown) {
                found.push(shown);
            }
        }
    }
    let reason = if found.is_empty() { "a heading in it" } else { "its name" };
    let mut files = if found.is_empty() { shared } else { found };
    match files.len() {
        0 | 1 => Ok(files.pop().map(|path| (path, reason))),
        _ => {
            Err(StoryError::Ambiguous { what: format!("the file of epic `{epic}`"), paths: files })
        }
    }
}

/// Whether the name of a file is that of an epic. A bare number counts only in folders of nothing but epics.
fn names_epic(stem: &str, folder: &str, epic: &EpicId) -> bool {
    let word = stem.strip_prefix("epic");
    if word.is_none() && !folder.ends_with("epics") {
        return false;
    }
    let rest = word.map_or(stem, |rest| rest.trim_start_matches(['-', '_', ' ']));
    starts_with_epic(rest, epic.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.', ' ']))
}

/// The rest of a name after the epic.
fn starts_with_epic<'t>(name: &'t str, epic: &str) -> Option<&'t str> {
    if let Ok(number) = epic.parse::<u64>() {
        let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
        return (name[..end].parse() == Ok(number)).then(|| &name[end..]);
    }
    let start = name.get(..epic.len())?;
    start.eq_ignore_ascii_case(epic).then(|| &name[epic.len()..])
}

/// What the name of a file, or a reference in the text, says.
pub(super) fn named(name: &str, epic: &str) -> Named {
    let lower = name.to_ascii_lowercase();
    let rest = lower
        .strip_prefix("story")
        .map_or(lower.as_str(), |rest| rest.trim_start_matches(['-', '_', '.', ' ']));
    if let Some(number) = starts_with_epic(rest, epic).and_then(number_after) {
        return Named::Ours(number);
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if digits > 0 && number_after(&rest[digits..]).is_some() {
        Named::Another
    } else {
        Named::Nothing
    }
}

/// `-2-title`, `.2` and `_2.x` as 2.
fn number_after(rest: &str) -> Option<u64> {
    let rest = rest.strip_prefix(['-', '.', '_'])?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let after = &rest[end..];
    // `1.5.0` is a version, not a story.
    let is_version =
        after.strip_prefix('.').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let ends_well = after.is_empty() || after.starts_with(['-', '_', '.', ' ']) && !is_version;
    rest[..end].parse().ok().filter(|_| ends_well)
}

/// The story in a file, if it belongs to this epic, and the reason.
fn story(
    root: &Path,
    path: &Path,
    epic: &EpicId,
    names: &[String],
) -> Result<Candidate, StoryError> {
    let is_list = LISTS.contains(&stem(path).as_str());
    let id = feature(path).filter(|_| is_list).unwrap_or_else(|| stem(path));
    let shown = relative(root, path);
    let lower = id.to_ascii_lowercase();
    if lower.starts_with("epic-") || lower == "epics" {
        return Ok(Candidate::Other("about an epic"));
    }
    let about = companion::about(&lower);
    if about.is_some_and(|story| names.iter().any(|name| name == story)) {
        return Ok(Candidate::Other(companion::REASON));
    }
    let name = match feature_number(&id, epic.as_str()) {
        Some(number) if is_list => Named::Ours(number),
        None if is_list => return Ok(Candidate::Other("of another epic")),
        Some(_) | None => named(&id, epic.as_str()),
    };
    let text = match read(path) {
        Ok(text) => text,
        // A file that is not a story by its name may be anything.
        Err(_) if !matches!(name, Named::Ours(_)) => {
            return Ok(Candidate::Other("cannot be read"));
        }
        Err(reason) => return Err(StoryError::BadFile { path: shown, reason }),
    };
    let claims = claims(&text);
    if about.is_some() && !companion::says_that_it_is_a_story(&text) {
        return Ok(Candidate::Other(companion::REASON));
    }
    let said: Vec<(&'static str, String)> = [
        ("its field `epic`", claims.epic.clone().filter(|epic| !epic.is_empty())),
        ("its title", claims.numbers.as_ref().map(|(epic, _)| epic.clone())),
    ]
    .into_iter()
    .filter_map(|(by, epic)| Some((by, epic?)))
    .collect();
    let ours = |said: &(&'static str, String)| same_epic(&said.1, epic.as_str());
    let reason = match name {
        Named::Ours(_) => Some("its name"),
        Named::Another | Named::Nothing => said.iter().find(|said| ours(said)).map(|said| said.0),
    };
    let Some(reason) = reason else {
        let is_anothers = name == Named::Another || !said.is_empty();
        let why = if is_anothers { "of another epic" } else { "names no epic" };
        return Ok(Candidate::Other(why));
    };
    let other = said.iter().find(|said| !ours(said)).cloned().or_else(|| {
        (name == Named::Another)
            .then(|| ("its name", id.split(['-', '.', '_']).next().unwrap_or_default().to_owned()))
    });
    if let Some((by_other, other)) = other {
        let one = epic.to_string();
        return Err(StoryError::Contradiction {
            path: shown,
            one,
            by_one: reason,
            other,
            by_other,
        });
    }
    if let Some(rule) = bad_name(&id) {
        return Err(StoryError::BadName { path: shown, rule });
    }
    let number = match name {
        Named::Ours(number) => Some(number),
        Named::Another | Named::Nothing => claims.numbers.map(|(_, number)| number),
    };
    let story = Story {
        status: Status::of(&text),
        title: if claims.title.is_empty() { id.clone() } else { claims.title },
        depends_on: claims.depends_on,
        path: shown,
        number,
        id,
        text,
    };
    Ok(Candidate::Story(Box::new(story), reason))
}

/// An id is used in signals, variables and messages: one line, bounded, only visible characters.
fn bad_name(id: &str) -> Option<&'static str> {
    if id.len() > 200 {
        Some("its name is longer than 200 bytes")
    } else if id.chars().any(char::is_control) {
        Some("its name holds control characters")
    } else if id.trim() != id || id.is_empty() {
        Some("its name begins or ends with white space")
    } else {
        None
    }
}

pub(super) fn read(path: &Path) -> Result<String, String> {
    match read_text_bounded(path, MAX_BYTES) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err("it is gone".to_owned()),
        Err(FileError::NotText { .. }) => Err("it is not UTF-8".to_owned()),
        Err(FileError::TooLarge { max, .. }) => Err(format!("it has more than {max} bytes")),
        Err(error) => Err(error.to_string()),
    }
}

/// Lists of tasks, which are named by their folders: `specs/001-cart/tasks.md` of spec-kit.
const LISTS: [&str; 1] = ["tasks"];

/// The name of the folder that a file is in.
fn feature(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?;
    Some(folder.to_string_lossy().into_owned())
}

/// A feature of spec-kit has one list of tasks: story 1 of the epic with its number or name.
fn feature_number(feature: &str, epic: &str) -> Option<u64> {
    let rest = starts_with_epic(feature, epic)?;
    (rest.is_empty() || rest.starts_with(['-', '_'])).then_some(1)
}

/// The Markdown files at a place of the layout.
fn files_at(root: &Path, place: &str, deep: bool) -> Result<Vec<PathBuf>, StoryError> {
    let Some((folder, file)) = in_each_folder(place) else {
        return markdown_files(root, &root.join(place), deep);
    };
    let mut files = markdown_files(root, &root.join(folder), true)?;
    let depth = Path::new(folder).components().count() + 2;
    files.retain(|path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        path.ends_with(file) && below.components().count() == depth
    });
    Ok(files)
}

/// The Markdown files of a folder inside the project, by name. A missing folder is empty.
fn markdown_files(root: &Path, folder: &Path, deep: bool) -> Result<Vec<PathBuf>, StoryError> {
    let read = |source| StoryError::Read { path: folder.to_owned(), source };
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(read(error)),
    };
    let inside = |path: &Path| fs_err::canonicalize(path).is_ok_and(|real| real.starts_with(root));
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(read)?.path();
        if !inside(&path) {
            continue;
        }
        if path.is_dir() {
            if deep {
                files.extend(markdown_files(root, &path, deep)?);
            }
        } else if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
            && path.is_file()
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_epics() {
        for (word, epic) in [
            ("1", "1"),
            ("01", "1"),
            ("epic-1", "1"),
            ("Epic 1", "1"),
            ("docs/epics/epic-1-login.md", "1"),
            ("docs/epics/epic-auth.md", "auth"),
            ("epic-007.md", "7"),
            ("auth", "auth"),
            ("2-login.md", "2"),
        ] {
            assert_eq!(epic_id(word).unwrap().as_str(), epic, "{word}");
        }
        assert!(epic_id("").is_err() && epic_id("../x").is_err());
    }

    #[test]
    fn a_name_says_which_epic_and_number() {
        use Named::{Another, Nothing, Ours};
        for (name, expected) in [
            ("1-2-login", Ours(2)),
            ("story-1-2-login", Ours(2)),
            ("Story 1.2", Ours(2)),
            ("01-02-login", Ours(2)),
            ("1_2", Ours(2)),
            ("1-2login", Nothing),
            ("1-login", Nothing),
            ("12-2-login", Another),
            ("2-1", Another),
            ("login", Nothing),
            ("1", Nothing),
            ("", Nothing),
        ] {
            assert_eq!(named(name, "1"), expected, "{name}");
        }
        assert_eq!(named("auth-3-login", "auth"), Ours(3));
        assert_eq!(named("AUTH-3", "auth"), Ours(3));
        assert_eq!(named("author-3", "auth"), Nothing);
    }

    #[test]
    fn a_number_ends_with_a_separator() {
        assert_eq!(number_after("-2-title"), Some(2));
        assert_eq!(number_after(".2"), Some(2));
        assert_eq!(number_after("_2.x"), Some(2));
        assert_eq!(number_after(".5.0"), None, "a version");
        assert_eq!(number_after("-2x"), None);
        assert_eq!(number_after("2"), None);
        assert_eq!(number_after("-"), None);
        assert_eq!(number_after("-99999999999999999999"), None);
    }

    #[test]
    fn names_are_one_visible_line() {
        assert_eq!(bad_name("1-2-login"), None);
        assert_eq!(bad_name(&"x".repeat(200)), None);
        assert!(bad_name(&"x".repeat(201)).unwrap().contains("longer than 200"));
        assert!(bad_name("a\nb").unwrap().contains("control characters"));
        assert!(bad_name(" a").unwrap().contains("white space"));
        assert!(bad_name("").is_some());
    }

    #[test]
    fn a_bare_number_names_an_epic_only_among_epics() {
        let names = |stem, folder| names_epic(stem, folder, &EpicId::new("1").unwrap());
        assert!(names("1-login", "docs/epics") && names("01", "epics"));
        assert!(!names("1-login", "docs"), "a chapter of a document");
        assert!(
            names("epic-1-login", "docs") && names("epic_01", "docs") && names("epic1", "docs")
        );
        assert!(!names("epic-11", "docs/epics") && !names("login", "docs/epics"));
    }

    #[test]
    fn epics_with_and_without_zeros_are_the_same() {
        assert!(same_epic("1", "01") && same_epic("Auth", "auth"));
        assert!(!same_epic("1", "10") && !same_epic("auth", "auth2"));
    }

    #[test]
    fn files_are_read_up_to_a_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs_err::write(&path, vec![b'x'; MAX_BYTES as usize]).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, MAX_BYTES);
        fs_err::write(&path, vec![b'x'; MAX_BYTES as usize + 1]).unwrap();
        assert!(read(&path).unwrap_err().contains("more than 1048576 bytes"));
        fs_err::write(&path, [0xff]).unwrap();
        assert_eq!(read(&path).unwrap_err(), "it is not UTF-8");
        assert!(read(&folder.path().join("missing.md")).is_err());
    }
}
