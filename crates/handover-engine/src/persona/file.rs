//! Reads one persona file: bounded, parsed strictly, every error with its line.

use std::path::{Path, PathBuf};

use handover_files::{FileError, Folder, read_text_bounded};
use handover_model::config::PersonaOverride;
use handover_model::{InvalidId, PersonaId, Profile, Role};
use serde::Deserialize;
use toml::Spanned;

use super::{Persona, PersonaError, PersonaRule};

const MAX_BYTES: u64 = 64 << 10;
const MOST_FILES: usize = 200;
/// The longest name or title, and the longest other value.
const SHORT: usize = 80;
const LONG: usize = 2_000;

/// The text of a file; none if it does not exist. In a folder of the project no link is followed.
pub(super) fn read(
    folder: &Path,
    id: &PersonaId,
    links: bool,
) -> Result<Option<String>, PersonaError> {
    let name = format!("{id}.toml");
    let path = folder.join(&name);
    let text = match links {
        true => read_text_bounded(&path, MAX_BYTES),
        false => Folder::at(folder).read_text(&name, MAX_BYTES),
    };
    text.map_err(|error| {
        let message = match error {
            FileError::TooLarge { max, .. } => format!("it has more than {max} bytes"),
            FileError::NotText { .. } => "it is not UTF-8".to_owned(),
            FileError::NotAFile { .. } | FileError::NotAFolder { .. } | FileError::Name { .. } => {
                "it is not a file".to_owned()
            }
            FileError::Io { source, .. } => format!("it cannot be read: {}", source.kind()),
        };
        fault(&path, 1, PersonaRule::File, message)
    })
}

/// What is wrong with the names of files in a folder.
pub(super) fn misnamed_in(folder: &Path) -> impl Iterator<Item = PersonaError> {
    let problem = |(path, id): (PathBuf, Result<PersonaId, InvalidId>)| {
        Some(fault(&path, 1, PersonaRule::Name, id.err()?.to_string()))
    };
    files_in(folder).filter_map(problem)
}

/// The personas that have a file in a folder.
pub(super) fn ids_in(folder: &Path) -> Vec<PersonaId> {
    files_in(folder).filter_map(|(_, id)| id.ok()).collect()
}

fn files_in(folder: &Path) -> impl Iterator<Item = (PathBuf, Result<PersonaId, InvalidId>)> {
    let entries = fs_err::read_dir(folder).ok().into_iter().flatten().flatten().take(MOST_FILES);
    let paths = entries.map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.map(|path| {
        let id =
            PersonaId::new(path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default());
        (path, id)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: Option<Spanned<String>>,
    title: Option<Spanned<String>>,
    role: Option<Role>,
    focus: Option<Spanned<String>>,
    style: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    permissions: Option<Profile>,
}

pub(super) fn parse(path: &Path, text: &str) -> Result<PersonaOverride, PersonaError> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let at = |error: &toml::de::Error| line(error.span().map_or(0, |span| span.start));
    let rule = |error: &toml::de::Error, rule| {
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        fault(path, at(error), rule, message)
    };
    if let Err(error) = text.parse::<toml::Table>() {
        return Err(rule(&error, PersonaRule::Syntax));
    }
    let fields: Fields = toml::from_str(text).map_err(|error| rule(&error, PersonaRule::Field))?;
    let checked = |field: &'static str, value: Option<Spanned<String>>, most: usize| {
        let Some(value) = value else { return Ok(None) };
        let at = line(value.span().start);
        let value = value.into_inner().trim().to_owned();
        let chars = value.chars().count();
        if chars == 0 || chars > most {
            let message = format!("`{field}` has {chars} characters; 1 to {most} are allowed");
            return Err(fault(path, at, PersonaRule::Size, message));
        }
        Ok(Some(value))
    };
    Ok(PersonaOverride {
        name: checked("name", fields.name, SHORT)?,
        title: checked("title", fields.title, SHORT)?,
        role: fields.role,
        focus: checked("focus", fields.focus, LONG)?,
        style: checked("style", fields.style, LONG)?,
        model: checked("model", fields.model, SHORT)?,
        permissions: fields.permissions,
    })
}

/// Builds a persona from its merged layers, or names the missing field.
pub(super) fn whole(id: &PersonaId, said: PersonaOverride) -> Result<Persona, &'static str> {
    let PersonaOverride { name, title, role, focus, style, model, permissions } = said;
    // Persona names follow the rules of roles, so this is a valid role.
    let own = || Role::new(id.as_str()).map_err(|_| "role");
    Ok(Persona {
        id: id.clone(),
        name: name.ok_or("name")?,
        title: title.ok_or("title")?,
        role: role.map_or_else(own, Ok)?,
        focus: focus.ok_or("focus")?,
        style: style.unwrap_or_else(|| "plain".to_owned()),
        model,
        permissions: permissions.unwrap_or(Profile::ReadOnly),
    })
}

fn fault(file: &Path, line: usize, rule: PersonaRule, message: String) -> PersonaError {
    PersonaError::File { file: file.to_owned(), line, rule, message }
}
