//! What an argument can be: words of closed sets, and names and ids of the project's records.

use clap::Arg;
use handover_context::everything::{KINDS, TYPES};
use handover_hosts::Registry;
use handover_model::config::KEYS;
use handover_model::{
    Confidence, GroupStatus, NoteKind, NoteState, PackageKind, Phase, Priority, ProjectId,
    RecordState, SessionStatus, SourceName, TestingMode, models, roles,
};
use handover_store::{
    ErrorFilter, NoteFilter, PackageFilter, ReceiptFilter, RunFilter, Store, StrategyFilter,
};

use crate::app::{App, short_id};

/// The most ids that are offered, the newest first.
const MOST: u32 = 200;

/// The values of an argument of a command. Nothing, if they are not known or are files.
pub(super) fn of(app: &App, path: &[&str], argument: &Arg) -> Vec<String> {
    let fixed = argument.get_possible_values();
    if !fixed.is_empty() {
        return fixed.iter().map(|value| value.get_name().to_owned()).collect();
    }
    let (noun, id) = (path.first().copied().unwrap_or_default(), argument.get_id().as_str());
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match id {
        "role" | "producer" | "consumer" => known_roles(app),
        "kind" if noun == "note" => words(NoteKind::WORDS),
        "kind" if noun == "package" => words(PackageKind::WORDS),
        "priority" => words(Priority::WORDS),
        "phase" => words(Phase::WORDS),
        "confidence" => words(Confidence::WORDS),
        "testing_mode" => words(TestingMode::WORDS),
        "status" if noun == "session" => words(SessionStatus::WORDS),
        "status" if noun == "group" => words(GroupStatus::WORDS),
        "state" if noun == "note" => words(NoteState::WORDS),
        "state" => words(RecordState::WORDS),
        "model" => words(models::FAMILIES),
        "host" if matches!(noun, "spawn" | "run") => started().collect(),
        "host" => hosts(),
        "of" if noun == "search" => words(TYPES),
        "kind" if noun == "search" => words(&KINDS),
        "sources" if noun == "learn" => words(SourceName::WORDS),
        "key" if noun == "config" => KEYS.iter().map(|key| key.name.to_owned()).collect(),
        // What follows is in the store; a folder without one offers nothing.
        _ => app.existing_store().map(|store| records(app, store, noun, id)).unwrap_or_default(),
    }
}

fn known_roles(app: &App) -> Vec<String> {
    let built_in = roles::BUILT_IN.iter().map(|role| (*role).to_owned());
    let configured = app.config().map(|config| config.assembly.roles.keys().cloned().collect());
    built_in.chain(configured.unwrap_or_else(|_| Vec::new())).collect()
}

/// Programs that `spawn` and `run` can start.
fn started() -> impl Iterator<Item = String> {
    handover_agents::Registry::built_in().hosts().into_iter().map(|host| host.to_string())
}

/// Programs that are started and programs that call us.
fn hosts() -> Vec<String> {
    let mut names: Vec<String> = started().collect();
    names.extend(Registry::built_in().iter().map(|host| host.name().to_string()));
    names.sort();
    names.dedup();
    names
}

fn records(app: &App, store: &dyn Store, noun: &str, id: &str) -> Vec<String> {
    let project = || app.learning().ok().map(|(_, project)| project);
    let found = match (noun, id) {
        (_, "receipt") | ("receipt", "id" | "other") => receipts(store),
        (_, "run") => runs(store),
        (_, "session") | ("session", "id") => sessions(store),
        (_, "group") | ("group", "id") => groups(app),
        ("package", "id" | "by" | "supersedes") => packages(app, store),
        ("note", "id" | "by" | "supersedes") => {
            project().and_then(|project| notes(store, &project))
        }
        ("strategy", "id") => project().and_then(|project| strategies(store, &project)),
        ("error", "hash") => project().and_then(|project| errors(store, &project)),
        _ => None,
    };
    found.unwrap_or_default()
}

fn receipts(store: &dyn Store) -> Option<Vec<String>> {
    let filter = ReceiptFilter { limit: Some(MOST), ..ReceiptFilter::default() };
    let all = store.receipts(&filter).ok()?;
    Some(with_latest(all.iter().map(|receipt| receipt.id.as_str())))
}

fn runs(store: &dyn Store) -> Option<Vec<String>> {
    let all = store.runs(&RunFilter { epic: None, limit: Some(MOST) }).ok()?;
    Some(with_latest(all.iter().map(|run| run.id.as_str())))
}

fn sessions(store: &dyn Store) -> Option<Vec<String>> {
    let all = store.sessions(None).ok()?;
    Some(all.into_iter().map(|session| session.id.into()).collect())
}

fn groups(app: &App) -> Option<Vec<String>> {
    let groups = app.group_ids(&app.session().ok()?).ok()?;
    Some(groups.into_iter().map(String::from).collect())
}

fn packages(app: &App, store: &dyn Store) -> Option<Vec<String>> {
    let filter = PackageFilter { limit: Some(MOST), ..PackageFilter::default() };
    let all = store.packages(&app.session().ok()?, &filter).ok()?;
    Some(all.into_iter().flat_map(|package| [package.id.to_string(), package.path]).collect())
}

fn notes(store: &dyn Store, project: &ProjectId) -> Option<Vec<String>> {
    let filter = NoteFilter { limit: Some(MOST), ..NoteFilter::default() };
    let all = store.notes(project, &filter).ok()?;
    Some(with_latest(all.iter().map(|note| note.id.as_str())))
}

fn strategies(store: &dyn Store, project: &ProjectId) -> Option<Vec<String>> {
    let all = store.strategies(project, &StrategyFilter::default()).ok()?;
    Some(with_latest(all.iter().map(|strategy| strategy.id.as_str())))
}

fn errors(store: &dyn Store, project: &ProjectId) -> Option<Vec<String>> {
    let all = store.errors(project, &ErrorFilter::default()).ok()?;
    Some(with_latest(all.iter().map(|pattern| pattern.hash.as_str())))
}

fn with_latest<'i>(ids: impl Iterator<Item = &'i str>) -> Vec<String> {
    ids.map(short_id).chain(["latest"]).map(str::to_owned).collect()
}
