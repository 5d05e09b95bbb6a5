//! `handover package update`

use std::path::PathBuf;

use handover_context::package_file::draft;
use handover_store::Supersede;

use super::{FactArgs, register};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Register a new version of a package
///
/// Whatever is not given is inherited from the previous version.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package update 3 docs/oauth.md\n  handover package update 3 docs/oauth.md --priority critical"
)]
pub(crate) struct UpdateArgs {
    /// Package: its number, the path of its file, or `latest`
    id: String,

    /// File with the new content
    file: PathBuf,

    #[command(flatten)]
    facts: FactArgs,
}

pub(crate) fn run(app: &App, args: UpdateArgs) -> Outcome {
    let id = app.find_package(&args.id)?;
    let former = app.package(id)?;
    let groups = app.group_ids(&former.session)?;
    let setting = app.package_setting(&former.session, &groups)?;
    let located = setting.paths.locate(&app.folder()?, &args.file)?;
    let mut facts = args.facts.facts(app)?;
    facts.former = Some(former.clone());
    let mut draft = draft(&setting, &located, facts)?;
    draft.package.supersede = Supersede::Package(id);
    register(app, &draft)?;
    Ok(Exit::Done)
}
