//! `handover group set`

use handover_model::{CounterName, GroupId, GroupStatus, PackageId};
use handover_store::GroupUpdate;

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Create or update a group
///
/// Only the given fields change.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover group set P1 --title \"Login form\" --status in_progress\n  handover group set P1 --ref 3 --ref 7\n  handover group set P1 --count qa_attempts"
)]
pub(crate) struct SetArgs {
    /// Group id
    id: GroupId,

    /// Title
    #[arg(long, allow_hyphen_values = true, value_parser = crate::input::argument)]
    title: Option<String>,

    /// Status: pending, in_progress, completed, failed, approved_pending_merge or merging
    #[arg(long)]
    status: Option<GroupStatus>,

    /// Package to reference; repeatable, in order. Replaces the previous list
    #[arg(long = "ref", value_name = "PACKAGE")]
    references: Vec<PackageId>,

    /// Specialization template to use; repeatable. Replaces the previous list
    #[arg(long, value_name = "NAME")]
    specialization: Vec<String>,

    /// Component of the repository that the group works in
    #[arg(long, value_name = "PATH")]
    component: Option<String>,

    /// Counter to increment, such as qa_attempts; repeatable
    #[arg(long, value_name = "NAME")]
    count: Vec<CounterName>,
}

pub(crate) fn run(app: &App, args: SetArgs) -> Outcome {
    let mut references = args.references;
    let mut seen = std::collections::HashSet::new();
    references.retain(|id| seen.insert(*id));
    let redactor = app.redactor()?;
    let clean = |text: &String| redactor.clean(text);
    let clean_all = |texts: &[String]| texts.iter().map(clean).collect::<Vec<_>>();
    let update = GroupUpdate {
        title: args.title.as_ref().map(clean),
        status: args.status,
        references: (!references.is_empty()).then_some(references),
        specializations: (!args.specialization.is_empty()).then(|| clean_all(&args.specialization)),
        component: args.component.as_ref().map(clean),
        count: args.count,
        ..GroupUpdate::new(app.session()?, app.no_secret("group id", args.id)?, app.now())
    };
    let group = app.store()?.set_group(&update)?;
    app.ui.answer("group", &group, |ui| print(ui, &group))?;
    Ok(Exit::Done)
}
