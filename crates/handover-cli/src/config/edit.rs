//! Changes to a configuration file that keep its comments and its order.
//!
//! Nothing is written that could not be read again: a change is checked as the file would be.

use std::path::{Path, PathBuf};

use handover_files::read_text_bounded;
use handover_model::config::{Key, Risk};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::unknown::{did_you_mean, place_of};
use super::{FILE, Loaded, MAX_BYTES, Setting, Source, parse};
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::project::Project;
use crate::typos::nearest;

/// A configuration file that can be changed.
#[derive(Debug)]
pub(crate) enum ConfigFile {
    /// The user's own.
    User(PathBuf),
    /// The one in a project's `.handover/`.
    Project(Project),
}

/// A key that a user named, and the place in its table.
#[derive(Debug)]
pub(crate) struct KeyPath {
    pub(crate) key: &'static Key,
    within: Vec<String>,
}

impl KeyPath {
    pub(crate) fn parse(name: &str) -> Result<Self, CommandError> {
        match place_of(name) {
            Some((key, within)) => Ok(Self { key, within }),
            None => Err(CommandError::invalid(format!("unknown configuration key `{name}`"))
                .hinted(did_you_mean(name))),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.key.name.split('.').chain(self.within.iter().map(String::as_str))
    }

    /// Where it is in the configuration as JSON.
    pub(crate) fn pointer(&self) -> String {
        self.names().map(|name| format!("/{name}")).collect()
    }

    /// A value that was typed: text if the key takes text, else TOML.
    fn value(&self, text: &str) -> Value {
        let setting = Setting {
            key: self.key,
            within: self.within.clone(),
            value: toml::Value::String(text.to_owned()),
            source: Source::Flag,
        };
        match text.parse::<Value>() {
            Ok(value) if parse(std::slice::from_ref(&setting), "").is_err() => value,
            Ok(_) | Err(_) => Value::from(text),
        }
    }
}

impl ConfigFile {
    /// The user's file.
    pub(crate) fn of_user() -> Result<Self, CommandError> {
        env::user_config_file().map(Self::User).ok_or_else(|| {
            CommandError::new(Exit::Environment, "no_home", "there is no home folder")
                .hinted("Set HOME or XDG_CONFIG_HOME.")
        })
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::User(path) => path.clone(),
            Self::Project(project) => project.folder().path().join(FILE),
        }
    }

    fn source(&self) -> Source {
        match self {
            Self::User(_) => Source::UserFile(self.path()),
            Self::Project(_) => Source::ProjectFile(self.path()),
        }
    }

    /// Its text; empty if it does not exist.
    pub(crate) fn read(&self) -> Result<String, CommandError> {
        let text = match self {
            Self::User(path) => read_text_bounded(path, MAX_BYTES)?,
            Self::Project(project) => project.folder().read_text(FILE, MAX_BYTES)?,
        };
        Ok(text.unwrap_or_default())
    }

    /// Fails if a text could not be read as this file.
    pub(crate) fn check(&self, text: &str) -> Result<(), CommandError> {
        let (mut loaded, source) = (Loaded::default(), self.source());
        let layer = loaded.file(Ok(Some(text.to_owned())), &source)?;
        loaded.add(layer, &source)?;
        loaded.check_keys(false)
    }

    /// Replaces the file as a whole, after checking the text.
    pub(crate) fn write(&self, text: &str) -> Result<(), CommandError> {
        self.check(text)?;
        match self {
            Self::User(path) => replace(path, text).map_err(|error| io(&error)),
            Self::Project(project) => Ok(project.folder().replace_shared(FILE, text.as_bytes())?),
        }
    }

    /// Explains why a value was refused. If the file was already wrong before, that is what has to be fixed.
    pub(crate) fn refused(
        &self,
        before: &str,
        path: &KeyPath,
        value: &str,
        error: CommandError,
    ) -> CommandError {
        if self.check(before).is_err() {
            return error;
        }
        let place = format!("{}: ", self.source());
        let reason = error.message.strip_prefix(&place).unwrap_or(&error.message);
        let names = path.names().collect::<Vec<_>>().join(".");
        let reason = reason.strip_suffix(&format!(" in `{names}`")).unwrap_or(reason);
        if reason.starts_with("unknown key") {
            // Its hint names the nearest one.
            return error;
        }
        let allowed = reason.rsplit_once("; use ").map_or("", |(_, allowed)| allowed);
        let allowed = allowed.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let hint = match nearest(value, allowed) {
            Some(meant) => format!("Did you mean `{meant}`? Nothing was changed."),
            None => "Nothing was changed; docs/configuration.md describes every key.".to_owned(),
        };
        CommandError::new(error.exit, error.code, format!("{names}: {reason}")).hinted(hint)
    }

    /// The text with a value set, or removed if there is none.
    pub(crate) fn with(&self, path: &KeyPath, value: Option<&str>) -> Result<String, CommandError> {
        if path.key.risk == Risk::UserOnly && matches!(self, Self::Project(_)) {
            let message = format!("`{}` only works in your own configuration", path.key.name);
            return Err(CommandError::invalid(message).hinted("Add `--user`."));
        }
        let text = self.read()?;
        let mut document: DocumentMut =
            text.parse().map_err(|error| super::bad(&error, &self.source()))?;
        let names: Vec<&str> = path.names().collect();
        match value {
            Some(value) => {
                if !put(document.as_table_mut(), &names, path.value(value)) {
                    let message = format!("{} has no table for it", self.path().display());
                    return Err(CommandError::invalid(message)
                        .hinted("`handover config edit` opens the file."));
                }
            }
            None => remove(document.as_table_mut(), &names),
        }
        Ok(document.to_string())
    }
}

/// Sets a value. One that is there keeps the comments around it.
fn put(table: &mut dyn TableLike, names: &[&str], value: Value) -> bool {
    let [name, rest @ ..] = names else { return false };
    let new = || match rest {
        [] => Item::None,
        _ => {
            let mut table = Table::new();
            // One that only has tables needs no heading.
            table.set_implicit(true);
            Item::Table(table)
        }
    };
    let item = table.entry(name).or_insert_with(new);
    // `guard = "warn"` is short for a table with one key.
    if rest.is_empty() || item.is_str() {
        match item.as_value_mut() {
            Some(old) => {
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => *item = Item::Value(value),
        }
        return true;
    }
    item.as_table_like_mut().is_some_and(|table| put(table, rest, value))
}

/// Removes a value, and the tables that only had it.
fn remove(table: &mut dyn TableLike, names: &[&str]) {
    match names {
        [] => {}
        [name] => {
            table.remove(name);
        }
        [name, rest @ ..] => {
            let Some(item) = table.get_mut(name) else { return };
            let is_empty = match item.as_table_like_mut() {
                Some(inner) => {
                    remove(inner, rest);
                    inner.is_empty()
                }
                None => item.is_str(),
            };
            if is_empty {
                table.remove(name);
            }
        }
    }
}

/// Replaces a file, or the file that a link leads to: people keep their configuration elsewhere.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, key: &str, value: Option<&str>) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        let path = KeyPath::parse(key).unwrap();
        let names: Vec<&str> = path.names().collect();
        match value {
            Some(value) => assert!(put(document.as_table_mut(), &names, path.value(value))),
            None => remove(document.as_table_mut(), &names),
        }
        document.to_string()
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "# ours\n[packages]\n# large ones\nwarn_bytes = 1 # bytes\n\n[guard]\nmode = \"warn\"\n";
        let changed = set(text, "packages.warn_bytes", Some("2000"));
        assert_eq!(changed, text.replace("= 1 #", "= 2000 #"));
        let added = set(text, "packages.max_bytes", Some("9"));
        assert_eq!(added, text.replace("# bytes\n", "# bytes\nmax_bytes = 9\n"));
        assert_eq!(set(&added, "packages.max_bytes", None), text);
    }

    #[test]
    fn values_have_the_type_of_their_key() {
        assert_eq!(set("", "guard.mode", Some("strict")), "[guard]\nmode = \"strict\"\n");
        assert_eq!(set("guard = \"warn\"\n", "guard.mode", Some("strict")), "guard = \"strict\"\n");
        assert_eq!(set("", "project.id", Some("7")), "[project]\nid = \"7\"\n");
        let nested = set("", "assembly.roles.developer.limit", Some("7"));
        assert!(nested.contains("limit = 7"), "{nested}");
        assert_eq!(set(&nested, "assembly.roles.developer.limit", None).trim(), "");
    }
}
