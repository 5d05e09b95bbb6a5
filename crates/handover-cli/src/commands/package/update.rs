//! `handover package update`

use std::path::PathBuf;

use handover_context::package_file::{Placement, draft, front_matter_of};
use handover_model::{PackageId, Scope};
use handover_store::Supersede;

use super::{FactArgs, answer};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Register a new version of a package; what is not given is inherited
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package update 3 docs/oauth.md\n  handover package update 3 docs/oauth.md --priority critical"
)]
pub(crate) struct UpdateArgs {
    /// The package
    id: PackageId,

    /// The file with the new content
    file: PathBuf,

    #[command(flatten)]
    facts: FactArgs,
}

pub(crate) fn run(app: &App, args: UpdateArgs) -> Outcome {
    let former = app.store()?.package(args.id)?;
    let groups = app.group_ids(&former.session)?;
    let setting = app.package_setting(&former.session, &groups)?;
    let located = setting.places.locate(&app.folder()?, &args.file)?;

    let mut facts = args.facts.facts(app)?;
    let inherited = match &former.group {
        Some(group) => Placement::Group(group.clone()),
        None => Placement::Global,
    };
    let moved = facts.placement.is_some();
    facts.placement = facts.placement.or(Some(inherited));
    facts.kind = facts.kind.or(Some(former.kind));
    // The rest is inherited only where the file is silent too.
    let mut package = draft(&setting, &located, facts.clone())?.package;
    let said = front_matter_of(&setting, &located)?;
    if facts.producer.is_none() && said.producer.is_none() {
        package.producer = former.producer;
    }
    if facts.consumers.is_none() && said.consumers.is_none() {
        package.consumers = former.consumers;
    }
    if facts.priority.is_none() && said.priority.is_none() {
        package.priority = former.priority;
    }
    if said.files.is_empty() {
        package.files = former.files.iter().map(|file| setting.redactor.clean(file)).collect();
    }
    if !moved && former.scope == Scope::Global {
        package.scope = Scope::Global;
    }
    package.iteration = package.iteration.or(former.iteration);
    package.supersede = Supersede::Package(args.id);
    let registered = app.store()?.register_packages(&[package])?.remove(0);
    answer(app, &registered)?;
    Ok(Exit::Done)
}
