//! `handover package add`

use std::path::PathBuf;

use handover_context::package_file::draft;
use handover_model::PackageId;
use handover_store::Supersede;

use super::{FactArgs, answer};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Register a Markdown file as a context package
///
/// The file stays where it is. Its front matter gives the defaults, its `## Summary` section (else its
/// first paragraph) the summary. The same content again changes nothing; new content at the same path
/// becomes the next version, and the old one leaves every search.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AddArgs {
    /// The file, inside the project
    file: PathBuf,

    #[command(flatten)]
    facts: FactArgs,

    /// The package that this one replaces, wherever its file is
    #[arg(long, value_name = "ID")]
    supersedes: Option<PackageId>,
}

const EXAMPLES: &str = "\
Examples:
  handover package add docs/oauth.md --kind research --priority high
  handover package add docs/oauth.md --kind research --consumer developer --group P1
  handover package add docs/oauth-v2.md --supersedes 3

A file that says everything itself:
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
    let located = setting.places.locate(&app.folder()?, &args.file)?;
    let asked = args.facts.clone().facts(app)?;
    let mut draft = draft(&setting, &located, asked.clone())?;
    if let Some(id) = args.supersedes {
        draft.package.supersede = Supersede::Package(id);
    }
    for warning in &draft.warnings {
        app.ui.warn(warning);
    }
    let registered =
        app.store()?.register_packages(std::slice::from_ref(&draft.package))?.remove(0);
    let package = &registered.package;
    let ignored = asked.priority.is_some_and(|p| p != package.priority)
        || asked.producer.is_some_and(|p| p != package.producer)
        || asked.summary.is_some() && draft.package.summary.as_str() != package.summary
        || asked
            .consumers
            .is_some_and(|roles| roles.iter().any(|r| !package.consumers.contains(r)));
    if !registered.created && ignored {
        app.ui.warn(format_args!(
            "this content is registered already, and what you say about it is not; \
             `handover package update {} {}` makes a new version of it",
            package.id,
            args.file.display()
        ));
    }
    answer(app, &registered)?;
    Ok(Exit::Done)
}
