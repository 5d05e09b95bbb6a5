//! `save_package`: knowledge for other roles, out of a text or an existing file.

use std::path::PathBuf;

use handover_context::package_file::{
    Draft, DraftContext, Facts, NewText, Placement, WrittenText, at_path, draft, former, write_text,
};
use handover_model::{GroupId, PackageId, PackageKind, Priority, Role, SessionId};
use handover_store::{Registered, Supersede};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::limits::MAX_LINE_BYTES;
use crate::{Seat, ToolError, limits, schema};

pub(crate) struct SavePackage;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, as Markdown with a `# Title`; it is written to a file of the session. Either this or `path`
    text: Option<String>,
    /// An existing Markdown file, relative to the project or the worktree. Either this or `text`
    path: Option<PathBuf>,
    /// What it carries; required with `text`
    #[serde(default)]
    #[schemars(schema_with = "schema::kind")]
    kind: Option<PackageKind>,
    /// One or two lines that other agents see, at most 400 characters; default: the text's `## Summary`
    summary: Option<String>,
    /// Your role
    #[schemars(with = "Option<String>")]
    producer: Option<Role>,
    /// The roles that it is for; default: everyone
    #[schemars(with = "Option<Vec<String>>")]
    consumers: Option<Vec<Role>>,
    /// How much it matters; default medium
    #[serde(default)]
    #[schemars(schema_with = "schema::priority")]
    priority: Option<Priority>,
    /// The task group that it belongs to, or `global` for all of them
    group: Option<String>,
    /// Which attempt it came from
    iteration: Option<u32>,
    /// The id of the package that it replaces
    supersedes: Option<u32>,
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The package
    id: i64,
    /// Its file, relative to the project
    path: String,
    /// 1, 2, 3 … along a chain of replacements
    version: u32,
    /// Whether this call made it; the same content again changes nothing
    created: bool,
    /// How many secrets were taken out
    redactions: u32,
    /// What is odd but allowed
    warnings: Vec<String>,
}

impl Tool for SavePackage {
    const NAME: &'static str = "save_package";
    const TITLE: &'static str = "Save a package";
    const DESCRIPTION: &'static str = "Saves knowledge that other roles will need (findings, failures, decisions, a handoff, an \
        investigation) so that it reaches them when they start. Give the text itself, or the path of a file that exists. Secrets \
        are taken out of the text. Saving the same again changes nothing.";
    const EFFECT: Effect = Effect::AddsOnce;
    type Input = Input;
    type Output = Output;

    fn call(seat: &Seat<'_>, input: Input) -> Result<Output, ToolError> {
        let saved = save(seat, input)?;
        let package = saved.registered.package;
        Ok(Output {
            id: package.id.0,
            path: package.path,
            version: package.version,
            created: saved.registered.created,
            redactions: saved.redactions,
            warnings: saved.warnings,
        })
    }
}

/// A package that was saved.
pub struct Saved {
    /// The record.
    pub registered: Registered,
    /// How many secrets were taken out.
    pub redactions: u32,
    /// What is odd but allowed.
    pub warnings: Vec<String>,
}

/// Saves a package; if that fails, no file is left behind.
pub(crate) fn save(seat: &Seat<'_>, input: Input) -> Result<Saved, ToolError> {
    let session = seat.session(input.session.as_ref())?;
    let placement = input.group.as_deref().map(Placement::parse).transpose()?;
    let said = Said {
        source: Source::of(input.text, input.path)?,
        kind: input.kind,
        summary: input.summary,
        producer: input.producer,
        consumers: input.consumers,
        priority: input.priority,
        placement,
        iteration: input.iteration,
        supersedes: input.supersedes.map(|id| PackageId(i64::from(id))),
    };
    all_or_nothing(|written| {
        let draft = prepare(seat, &session, said, written)?;
        let new = std::slice::from_ref(&draft.package);
        let registered = seat
            .store
            .register_packages(new)?
            .pop()
            .ok_or_else(|| ToolError::invalid("nothing was registered", "Try again."))?;
        let in_file: u32 = written.iter().map(|file| file.redactions).sum();
        let redactions = in_file + draft.package.body.redactions();
        Ok(Saved { registered, redactions, warnings: draft.warnings })
    })
}

/// Where the text is.
#[derive(Debug)]
pub(super) enum Source {
    /// Here.
    Text(String),
    /// In a file of the project.
    Path(PathBuf),
}

impl Source {
    /// Exactly one of the two.
    pub(super) fn of(text: Option<String>, path: Option<PathBuf>) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(path)) => Ok(Self::Path(path)),
            (Some(_), Some(_)) | (None, None) => Err(ToolError::invalid(
                "a package needs either `text` or `path`",
                "Give the text itself, or the path of an existing file inside the project.",
            )),
        }
    }
}

/// What an agent says about a package.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) source: Source,
    pub(super) kind: Option<PackageKind>,
    pub(super) summary: Option<String>,
    pub(super) producer: Option<Role>,
    pub(super) consumers: Option<Vec<Role>>,
    pub(super) priority: Option<Priority>,
    pub(super) placement: Option<Placement>,
    pub(super) iteration: Option<u32>,
    pub(super) supersedes: Option<PackageId>,
}

/// Does work that may write files; if it fails, they are taken back.
pub(super) fn all_or_nothing<T>(
    work: impl FnOnce(&mut Vec<WrittenText>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let mut written = Vec::new();
    let outcome = work(&mut written);
    if outcome.is_err() {
        written.iter().for_each(WrittenText::take_back);
    }
    outcome
}

/// Makes a package of what was said; a text is a file afterwards.
pub(super) fn prepare(
    seat: &Seat<'_>,
    session: &SessionId,
    mut said: Said,
    written: &mut Vec<WrittenText>,
) -> Result<Draft, ToolError> {
    limits::optional("summary", said.summary.as_ref(), MAX_LINE_BYTES)?;
    limits::items("consumers", said.consumers.as_deref().unwrap_or_default())?;
    for role in said.producer.iter().chain(said.consumers.iter().flatten()) {
        seat.no_secret("role", role)?;
    }
    if let Some(Placement::Group(group)) = &said.placement {
        seat.no_secret("group", group)?;
    }
    let groups: Vec<GroupId> =
        seat.store.groups(session)?.into_iter().map(|group| group.id).collect();
    let setting = DraftContext {
        paths: seat.places,
        redactor: seat.redactor,
        session,
        groups: &groups,
        warn_bytes: seat.config.packages.warn_bytes,
        max_bytes: seat.config.packages.max_bytes,
        now: seat.now,
    };
    let replaced = said.supersedes.map(|id| seat.store.package(id)).transpose()?;
    let (located, before) = match &said.source {
        Source::Text(text) => {
            let group = || seat.group.clone().map_or(Placement::Global, Placement::Group);
            let (kind, placement) = match &replaced {
                Some(former) => (
                    said.kind.or(Some(former.kind)),
                    said.placement.clone().unwrap_or_else(|| Placement::of(former)),
                ),
                None => (said.kind, said.placement.clone().unwrap_or_else(group)),
            };
            let kind = kind.ok_or_else(|| {
                ToolError::invalid(
                    "`kind` is missing",
                    format!("With `text` it is one of {}.", PackageKind::WORDS.join(", ")),
                )
            })?;
            // The file says it all, also what is inherited.
            let inherited = replaced.as_ref();
            said.producer = said.producer.or_else(|| inherited.map(|p| p.producer.clone()));
            said.consumers = said.consumers.or_else(|| inherited.map(|p| p.consumers.clone()));
            said.priority = said.priority.or_else(|| inherited.map(|p| p.priority));
            let new = NewText {
                kind,
                placement: placement.clone(),
                producer: said.producer.clone().map_or_else(|| Role::new("orchestrator"), Ok)?,
                consumers: said.consumers.as_deref().unwrap_or_default(),
                priority: said.priority.unwrap_or(Priority::Medium),
                iteration: said.iteration,
                topic: said.summary.as_deref(),
                body: text,
            };
            let file = write_text(&setting, &new)?;
            let located = file.located.clone();
            written.push(file);
            (said.kind, said.placement) = (Some(kind), Some(placement));
            (located, None)
        }
        Source::Path(path) => {
            let located = seat.places.locate_untrusted_in(&seat.checkout, path)?;
            let here = at_path(seat.store, session, &located)?;
            let meant = said.placement.clone().or_else(|| seat.group.clone().map(Placement::Group));
            let before = former(&here, meant.as_ref());
            (located, before)
        }
    };
    let facts = Facts {
        kind: said.kind,
        producer: said.producer,
        consumers: said.consumers,
        priority: said.priority,
        summary: said.summary,
        placement: said.placement,
        default_group: seat.group.clone(),
        files: None,
        iteration: said.iteration,
        former: replaced.or(before),
    };
    let mut draft = draft(&setting, &located, facts)?;
    if let Some(id) = said.supersedes {
        draft.package.supersede = Supersede::Package(id);
    }
    Ok(draft)
}
