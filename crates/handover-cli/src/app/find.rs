//! Records by what people type: a whole id, at least four characters of its beginning or end, `latest`, or a path.

use std::path::Path;

use handover_model::{
    Note, NoteId, PackageId, ProjectId, Receipt, ReceiptId, Run, RunId, Session, SessionId,
};
use handover_store::{
    ErrorFilter, NoteFilter, PackageFilter, ReceiptFilter, RecordKind, RunFilter, StoreError,
    StrategyFilter,
};

use super::App;
use crate::error::{Code, CommandError, Exit};
use crate::typos::nearest;

/// The newest record.
pub(crate) const LATEST: &str = "latest";

/// The fewest characters that stand for an id.
const FEWEST: usize = 4;

pub(crate) use handover_model::short_id;

/// A name that must be the id of one record.
struct Sought<'a> {
    what: RecordKind,
    name: &'a str,
}

impl Sought<'_> {
    /// The one id that the name stands for.
    fn among<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<&'i str, CommandError> {
        let ids: Vec<&str> = ids.into_iter().collect();
        let found: Vec<&str> = ids.iter().copied().filter(|id| self.matches(id)).collect();
        match found[..] {
            [only] => Ok(only),
            [] => Err(self.missing(&ids)),
            _ => Err(self.ambiguous(&found)),
        }
    }

    fn matches(&self, id: &str) -> bool {
        // `r_01a1` and `01a1` are the same beginning.
        let bare = id.split_once('_').map_or(id, |(_, bare)| bare);
        let name = self.name;
        name.len() >= FEWEST
            && (id.starts_with(name) || bare.starts_with(name) || id.ends_with(name))
    }

    fn missing(&self, ids: &[&str]) -> CommandError {
        let error = CommandError::from(StoreError::not_found(self.what, self.name));
        if self.name.len() < FEWEST && ids.iter().any(|id| id.ends_with(self.name)) {
            return error.hinted(format!("Give at least {FEWEST} characters of the id."));
        }
        let whole = || nearest(self.name, ids.iter().copied().chain([LATEST]));
        match self.part(ids).or_else(whole) {
            Some(meant) => error.hinted(format!("Did you mean `{meant}`?")),
            None => error,
        }
    }

    /// The only part of an id that is one typo away from the name: lists show the last six characters.
    fn part<'i>(&self, ids: &[&'i str]) -> Option<&'i str> {
        let (name, length) = (self.name, self.name.len());
        let ends = ids.iter().filter_map(|id| id.get(id.len().checked_sub(length)?..));
        let mut near = ends.filter(|end| length > FEWEST && strsim::osa_distance(name, end) == 1);
        near.next().filter(|_| near.next().is_none())
    }

    fn ambiguous(&self, found: &[&str]) -> CommandError {
        const NAMED: usize = 5;
        let mut named = found.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        if found.len() > NAMED {
            named.push_str(", …");
        }
        let message = format!("`{}` is part of {} ids: {named}", self.name, found.len());
        CommandError::new(Exit::Usage, Code::Ambiguous, message).hinted("Give more of the id.")
    }
}

impl App {
    /// A receipt: by id, by a part of it, or `latest`.
    pub(crate) fn find_receipt(&self, name: &str) -> Result<Receipt, CommandError> {
        let store = self.store()?;
        if let Ok(id) = ReceiptId::new(name) {
            match store.receipt(&id) {
                Err(StoreError::NotFound { .. }) => {}
                found => return Ok(found?),
            }
        }
        let filter = ReceiptFilter {
            session: self.named_session()?,
            limit: (name == LATEST).then_some(1),
            ..ReceiptFilter::default()
        };
        let all = store.receipts(&filter)?;
        let id = match all.first() {
            Some(newest) if name == LATEST => newest.id.as_str(),
            Some(_) | None => Sought { what: RecordKind::Receipt, name }
                .among(all.iter().map(|receipt| receipt.id.as_str()))?,
        };
        Ok(store.receipt(&ReceiptId::new(id)?)?)
    }

    /// A run: by id, by a part of it, or the latest.
    pub(crate) fn find_run(&self, name: Option<&str>) -> Result<Run, CommandError> {
        let store = self.store()?;
        let Some(name) = name.filter(|name| *name != LATEST) else {
            let filter = RunFilter { epic: None, limit: Some(1) };
            return store.runs(&filter)?.pop().ok_or_else(|| {
                CommandError::new(Exit::Usage, Code::NotFound, "there is no run yet")
                    .hinted("Start one with `handover run EPIC`.")
            });
        };
        if let Some(run) = RunId::new(name).ok().and_then(|id| store.run_record(&id).ok()) {
            return Ok(run);
        }
        let all = store.runs(&RunFilter { epic: None, limit: None })?;
        let sought = Sought { what: RecordKind::Run, name };
        let id = sought.among(all.iter().map(|run| run.id.as_str()))?;
        Ok(store.run_record(&RunId::new(id)?)?)
    }

    /// A session: by id, by a part of it, or the one that was opened last.
    pub(crate) fn find_session(&self, name: &str) -> Result<Session, CommandError> {
        let store = self.store()?;
        if let Some(session) = SessionId::new(name).ok().and_then(|id| store.session(&id).ok()) {
            return Ok(session);
        }
        let all = store.sessions(None)?;
        if name == LATEST
            && let Some(newest) = all.iter().max_by_key(|session| session.created_at)
        {
            return Ok(newest.clone());
        }
        let sought = Sought { what: RecordKind::Session, name };
        let id = sought.among(all.iter().map(|session| session.id.as_str()))?;
        Ok(store.session(&SessionId::new(id)?)?)
    }

    /// The session of the flag. One that does not exist is left to the command to refuse: some create it.
    pub(super) fn resolve_session(&self, given: &SessionId) -> Result<SessionId, CommandError> {
        // A store that cannot be read must not keep an agent from its brief.
        let Ok(store) = self.existing_store() else { return Ok(given.clone()) };
        match store.session(given) {
            Err(StoreError::NotFound { .. }) => {}
            Ok(_) | Err(_) => return Ok(given.clone()),
        }
        match self.find_session(given.as_str()) {
            Ok(session) => Ok(session.id),
            Err(error) if error.code == Code::Ambiguous => Err(error),
            Err(_) => Ok(given.clone()),
        }
    }

    /// Adds what was probably meant to the error about a session or group that does not exist.
    pub(crate) fn suggest(&self, error: CommandError) -> CommandError {
        let Some((what, name)) = &error.missing else { return error };
        let known: Vec<String> = if *what == RecordKind::Session {
            let all = self.store().ok().and_then(|store| store.sessions(None).ok());
            all.unwrap_or_default().into_iter().map(|session| session.id.into()).collect()
        } else if *what == RecordKind::Group {
            let all = self.session().and_then(|session| self.group_ids(&session));
            all.unwrap_or_default().into_iter().map(String::from).collect()
        } else {
            return error;
        };
        match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => {
                let hint = format!("Did you mean `{meant}`?");
                error.hinted(hint)
            }
            None => error,
        }
    }

    /// The hash of an error pattern, by any unique part of its beginning or end.
    pub(crate) fn find_error(&self, name: &str) -> Result<String, CommandError> {
        if name.trim().is_empty() {
            return Err(CommandError::invalid("the hash is empty")
                .hinted("Run `handover error list` to see the hashes."));
        }
        let (_, project) = self.learning()?;
        let all = self.store()?.errors(&project, &ErrorFilter::default())?;
        if name == LATEST
            && let Some(newest) = all.iter().max_by_key(|pattern| pattern.last_seen)
        {
            return Ok(newest.hash.clone());
        }
        let sought = Sought { what: RecordKind::ErrorPattern, name };
        Ok(sought.among(all.iter().map(|pattern| pattern.hash.as_str()))?.to_owned())
    }

    /// A note: by id, by a part of it, or the latest.
    pub(crate) fn find_note(&self, project: &ProjectId, name: &str) -> Result<Note, CommandError> {
        let store = self.store()?;
        if let Some(note) = NoteId::new(name).ok().and_then(|id| store.note(project, &id).ok()) {
            return Ok(note);
        }
        let mut all = store.notes(project, &NoteFilter::default())?;
        if name == LATEST
            && let Some(newest) = all.iter().max_by_key(|note| note.created_at)
        {
            return Ok(newest.clone());
        }
        let sought = Sought { what: RecordKind::Note, name };
        let ids = all.iter().map(|note| note.id.as_str());
        let id = sought.among(ids)?.to_owned();
        all.retain(|note| note.id.as_str() == id);
        all.pop().ok_or_else(|| StoreError::not_found(RecordKind::Note, name).into())
    }

    /// The id of a strategy: by a part of it, or the latest.
    pub(crate) fn find_strategy(
        &self,
        project: &ProjectId,
        name: &str,
    ) -> Result<String, CommandError> {
        let all = self.store()?.strategies(project, &StrategyFilter::default())?;
        if name == LATEST
            && let Some(newest) = all.iter().max_by_key(|strategy| strategy.last_seen)
        {
            return Ok(newest.id.clone());
        }
        let sought = Sought { what: RecordKind::Strategy, name };
        let ids = all.iter().map(|strategy| strategy.id.as_str());
        Ok(sought.among(ids)?.to_owned())
    }

    /// A package: by number, by the path of its file, or the latest. A path means its newest version.
    pub(crate) fn find_package(&self, name: &str) -> Result<PackageId, CommandError> {
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(name.parse()?);
        }
        let session = self.session()?;
        let all = self.store()?.packages(&session, &PackageFilter::default())?;
        if name == LATEST
            && let Some(newest) = all.iter().max_by_key(|package| package.id)
        {
            return Ok(newest.id);
        }
        let path = self.in_project(Path::new(name));
        let at = |path: &str| all.iter().find(|package| package.path == path);
        if let Some(package) = at(name).or_else(|| at(path.as_deref()?)) {
            return Ok(package.id);
        }
        let error = CommandError::from(StoreError::not_found(RecordKind::Package, name));
        Err(match nearest(name, all.iter().map(|package| package.path.as_str())) {
            Some(meant) => error.hinted(format!("Did you mean `{meant}`?")),
            None => error,
        })
    }

    /// The path of a file as packages have it: relative to the project.
    pub(crate) fn in_project(&self, path: &Path) -> Option<String> {
        let file = self.folder().ok()?.join(path);
        // A file that is gone is still the path of a package.
        let file = fs_err::canonicalize(&file).unwrap_or(file);
        let root = fs_err::canonicalize(&self.project().ok()?.root).ok()?;
        Some(file.strip_prefix(root).ok()?.to_str()?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 3] = ["r_01a1beef", "r_01a1cafe", "r_0202feed"];

    fn among(name: &str) -> Result<&'static str, CommandError> {
        Sought { what: RecordKind::Receipt, name }.among(IDS)
    }

    #[test]
    fn a_unique_beginning_or_end_is_enough() {
        for name in ["r_0202feed", "r_02", "0202", "feed"] {
            assert_eq!(among(name).unwrap(), "r_0202feed", "{name}");
        }
    }

    #[test]
    fn an_ambiguous_part_names_what_it_could_be() {
        let error = among("r_01a1").unwrap_err();
        assert_eq!((error.exit, error.code), (Exit::Usage, Code::Ambiguous));
        assert!(error.message.ends_with("r_01a1beef, r_01a1cafe"), "{}", error.message);
    }

    #[test]
    fn too_few_characters_and_unknown_ids_get_a_hint() {
        assert_eq!(
            among("eed").unwrap_err().hint.unwrap(),
            "Give at least 4 characters of the id."
        );
        assert_eq!(among("r_0202fed").unwrap_err().hint.unwrap(), "Did you mean `r_0202feed`?");
        // The end that lists show, with two letters swapped or another one.
        assert_eq!(among("02fede").unwrap_err().hint.unwrap(), "Did you mean `02feed`?");
        assert_eq!(among("a1cafa").unwrap_err().hint.unwrap(), "Did you mean `a1cafe`?");
    }

    #[test]
    fn lists_show_the_last_six() {
        assert_eq!(short_id("r_0202feed"), "02feed");
        assert_eq!(short_id("abc"), "abc");
    }
}
