//! `save_package`: knowledge for other roles, from a text or an existing file.

use std::path::PathBuf;

use handover_context::package_file::{
    Draft, DraftContext, Facts, NewText, Placement, WrittenText, at_path, draft, former, write_text,
};
use handover_model::{GroupId, Package, PackageId, PackageKind, Priority, Role, SessionId, Trust};
use handover_store::{Registered, Supersede};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits::MAX_LINE_BYTES;
use crate::{limits, schema};

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
    /// How many secrets were redacted
    redactions: u32,
    /// Unusual but accepted
    warnings: Vec<String>,
}

impl Tool for SavePackage {
    const NAME: &'static str = "save_package";
    const TITLE: &'static str = "Save a package";
    const DESCRIPTION: &'static str = "Saves knowledge that other roles will need (findings, failures, decisions, a handoff, an \
        investigation) so that they receive it when they start. Pass the text itself, or the path of an \
        existing file. Secrets are redacted. Saving the same content again changes nothing.";
    const EFFECT: Effect = Effect::AddsOnce;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        let saved = save(context, input)?;
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

/// The outcome of `save_package`.
pub struct SavedPackage {
    /// The record, and whether this call created it.
    pub registered: Registered,
    /// How many secrets were redacted.
    pub redactions: u32,
    /// Unusual but accepted.
    pub warnings: Vec<String>,
}

/// Saves a package; on failure no file is left behind.
pub(crate) fn save(context: &RequestContext<'_>, input: Input) -> Result<SavedPackage, ToolError> {
    let session = context.session(input.session.as_ref())?;
    let placement = input.group.as_deref().map(Placement::parse).transpose()?;
    let source = Source::of(input.text, input.path)?;
    let spec = PackageSpec {
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
        let draft = prepare(context, &session, &source, spec, written)?;
        let new = std::slice::from_ref(&draft.package);
        let registered = context
            .store
            .register_packages(new)?
            .pop()
            .ok_or_else(|| ToolError::invalid("nothing was registered", "Try again."))?;
        let in_file: u32 = written.iter().map(|file| file.redactions).sum();
        let redactions = in_file + draft.package.body.redactions();
        Ok(SavedPackage { registered, redactions, warnings: draft.warnings })
    })
}

/// Where the text of a package comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The call itself.
    Text(String),
    /// An existing file of the project.
    Path(PathBuf),
}

impl Source {
    /// Requires exactly one of the two.
    pub(super) fn of(text: Option<String>, path: Option<PathBuf>) -> Result<Self, ToolError> {
        match (text, path) {
            (Some(text), None) => Ok(Self::Text(text)),
            (None, Some(path)) => Ok(Self::Path(path)),
            (Some(_), Some(_)) | (None, None) => Err(ToolError::invalid(
                "a package needs either `text` or `path`",
                "Pass the text itself, or the path of an existing file inside the project.",
            )),
        }
    }
}

/// A package as an agent describes it, without its text.
#[derive(Debug)]
pub(super) struct PackageSpec {
    pub(super) kind: Option<PackageKind>,
    pub(super) summary: Option<String>,
    pub(super) producer: Option<Role>,
    pub(super) consumers: Option<Vec<Role>>,
    pub(super) priority: Option<Priority>,
    pub(super) placement: Option<Placement>,
    pub(super) iteration: Option<u32>,
    pub(super) supersedes: Option<PackageId>,
}

impl PackageSpec {
    /// Rejects what is too long and names that look like secrets.
    fn check(&self, context: &RequestContext<'_>) -> Result<(), ToolError> {
        limits::optional("summary", self.summary.as_ref(), MAX_LINE_BYTES)?;
        limits::items("consumers", self.consumers.as_deref().unwrap_or_default())?;
        for role in self.producer.iter().chain(self.consumers.iter().flatten()) {
            context.no_secret("role", role)?;
        }
        if let Some(Placement::Group(group)) = &self.placement {
            context.no_secret("group", group)?;
        }
        Ok(())
    }

    /// Takes missing values from the package it replaces.
    fn inherit(&mut self, replaced: &Package) {
        self.kind = self.kind.or(Some(replaced.kind));
        self.placement.get_or_insert_with(|| Placement::of(replaced));
        self.producer.get_or_insert_with(|| replaced.producer.clone());
        self.consumers.get_or_insert_with(|| replaced.consumers.clone());
        self.priority = self.priority.or(Some(replaced.priority));
    }

    /// Writes inline text to a file with complete front matter, including inherited values.
    fn write(
        &mut self,
        context: &RequestContext<'_>,
        draft_context: &DraftContext<'_>,
        text: &str,
        replaced: Option<&Package>,
    ) -> Result<WrittenText, ToolError> {
        if let Some(replaced) = replaced {
            self.inherit(replaced);
        }
        let kind = self.kind.ok_or_else(|| {
            ToolError::invalid(
                "`kind` is missing",
                format!("With `text` it is one of {}.", PackageKind::WORDS.join(", ")),
            )
        })?;
        let own_group = || context.group.clone().map_or(Placement::Global, Placement::Group);
        let placement = self.placement.get_or_insert_with(own_group).clone();
        let new = NewText {
            kind,
            placement,
            producer: self.producer.clone().map_or_else(|| Role::new("orchestrator"), Ok)?,
            consumers: self.consumers.as_deref().unwrap_or_default(),
            priority: self.priority.unwrap_or(Priority::Medium),
            iteration: self.iteration,
            topic: self.summary.as_deref(),
            body: text,
        };
        Ok(write_text(draft_context, &new)?)
    }

    fn facts(self, default_group: Option<GroupId>, former: Option<Package>) -> Facts {
        Facts {
            kind: self.kind,
            producer: self.producer,
            consumers: self.consumers,
            priority: self.priority,
            summary: self.summary,
            placement: self.placement,
            default_group,
            files: None,
            iteration: self.iteration,
            former,
        }
    }
}

/// Runs work that may write files and removes them if it fails.
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

/// Turns a description into a package; inline text is written to a file first.
pub(super) fn prepare(
    context: &RequestContext<'_>,
    session: &SessionId,
    source: &Source,
    mut spec: PackageSpec,
    written: &mut Vec<WrittenText>,
) -> Result<Draft, ToolError> {
    spec.check(context)?;
    let groups: Vec<GroupId> =
        context.store.groups(session)?.into_iter().map(|group| group.id).collect();
    let draft_context = DraftContext {
        paths: context.paths,
        redactor: context.redactor,
        session,
        groups: &groups,
        warn_bytes: context.config.packages.warn_bytes,
        max_bytes: context.config.packages.max_bytes,
        now: context.now,
        trust: Trust::Agent,
    };
    let replaced = spec.supersedes.map(|id| context.store.package(id)).transpose()?;
    let (located, before) = match source {
        Source::Text(text) => {
            let file = spec.write(context, &draft_context, text, replaced.as_ref())?;
            let located = file.located.clone();
            written.push(file);
            (located, None)
        }
        Source::Path(path) => {
            let located = context.paths.locate_untrusted_in(&context.checkout, path)?;
            let here = at_path(context.store, session, &located)?;
            let placement =
                spec.placement.clone().or_else(|| context.group.clone().map(Placement::Group));
            let before = former(&here, placement.as_ref());
            (located, before)
        }
    };
    let supersedes = spec.supersedes;
    let facts = spec.facts(context.group.clone(), replaced.or(before));
    let mut draft = draft(&draft_context, &located, facts)?;
    if let Some(id) = supersedes {
        draft.package.supersede = Supersede::Package(id);
    }
    Ok(draft)
}
