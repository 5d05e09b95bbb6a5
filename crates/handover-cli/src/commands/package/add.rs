//! `handover package add`

use std::path::{Path, PathBuf};

use handover_context::package_file::{PackageFileError, Placement, at_path, draft, former};
use handover_model::{GroupId, PackageId};
use handover_store::Supersede;

use super::{FactArgs, register};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input::file_like;

/// Register a Markdown file as a context package
///
/// The file stays where it is. Front matter provides defaults, and the `## Summary` section (else the first
/// paragraph) provides the summary. Registering the same content again changes nothing. New content at the
/// same path becomes the next version: it inherits whatever neither flags nor file specify, and replaces
/// the old version in every search.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AddArgs {
    /// Markdown file inside the project
    file: PathBuf,

    #[command(flatten)]
    facts: FactArgs,

    /// Package that this one replaces, even if it has another path
    #[arg(long, value_name = "ID")]
    supersedes: Option<PackageId>,
}

const EXAMPLES: &str = "\
Examples:
  handover package add docs/oauth.md --kind research --priority high
  handover package add docs/oauth.md --kind research --consumer developer --group P1
  handover package add docs/oauth-v2.md --supersedes 3

A file that needs no flags:
  ---
  type: research
  group_id: P1
  producer: requirements_engineer
  consumers: [developer, senior_software_engineer]
  priority: high
  ---
  # OAuth at the identity provider
  ## Summary
  Endpoints, scopes and the refresh flow. Tokens live ten minutes.";

pub(crate) fn run(app: &App, args: AddArgs) -> Outcome {
    let session = app.session()?;
    let groups = app.group_ids(&session)?;
    let setting = app.package_setting(&session, &groups)?;
    let folder = app.folder()?;
    let located = setting.paths.locate(&folder, &args.file).map_err(|error| {
        let is_missing = matches!(error, PackageFileError::Missing { .. });
        let error = error.into();
        if is_missing { missing(&folder, &args.file, error) } else { error }
    })?;
    let here = at_path(app.store()?, &session, &located)?;
    let mut facts = args.facts.facts(app)?;
    let placement =
        facts.placement.clone().or_else(|| facts.default_group.clone().map(Placement::Group));
    facts.former = match args.supersedes {
        Some(id) => Some(app.store()?.package(id)?),
        None => former(&here, placement.as_ref()),
    };
    let requested = facts.clone();
    let mut draft = draft(&setting, &located, facts)?;
    if let Some(id) = args.supersedes {
        draft.package.supersede = Supersede::Package(id);
    }
    let registered = register(app, &draft)?;
    let package = &registered.package;
    let flags_ignored = requested.priority.is_some_and(|priority| priority != package.priority)
        || requested.producer.is_some_and(|producer| producer != package.producer)
        || requested.summary.is_some() && draft.package.summary.as_str() != package.summary
        || requested
            .consumers
            .is_some_and(|roles| roles.iter().any(|r| !package.consumers.contains(r)));
    if !registered.created && flags_ignored {
        app.ui.warn(format_args!(
            "this content is already registered, so the given flags were ignored; \
             use `handover package update {} {}` to change them",
            package.id,
            args.file.display()
        ));
    }
    let stale = here.iter().find(|other| {
        registered.created && package.supersedes != Some(other.id) && other.id != package.id
    });
    if let Some(other) = stale {
        app.ui.warn(format_args!(
            "`{}` is also registered as package {} ({}, group {}), which keeps the old content; \
             pass `--supersedes {}` to replace it",
            package.path,
            other.id,
            other.kind,
            other.group.as_ref().map_or("–", GroupId::as_str),
            other.id
        ));
    }
    Ok(Exit::Done)
}

/// Adds which file was probably meant.
fn missing(folder: &Path, file: &Path, error: CommandError) -> CommandError {
    let meant = file_like(&folder.join(file)).and_then(|path| path.file_name().map(Into::into));
    match meant {
        Some::<PathBuf>(name) => {
            error.hinted(format!("Did you mean `{}`?", file.with_file_name(name).display()))
        }
        None => error,
    }
}
