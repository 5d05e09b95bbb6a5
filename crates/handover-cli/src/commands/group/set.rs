//! `handover group set`

use handover_model::{CounterName, GroupId, GroupStatus, PackageId};
use handover_store::GroupUpdate;

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Create a group, or change what is given and nothing else
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover group set P1 --title \"Login form\" --status in_progress\n  handover group set P1 --ref 3 --ref 7\n  handover group set P1 --count qa_attempts"
)]
pub(crate) struct SetArgs {
    /// The group
    id: GroupId,

    /// What it is about
    #[arg(long, allow_hyphen_values = true, value_parser = crate::input::argument)]
    title: Option<String>,

    /// pending, in_progress, completed, failed, approved_pending_merge or merging
    #[arg(long)]
    status: Option<GroupStatus>,

    /// A package chosen for it; repeat for more, in order. Replaces the former list
    #[arg(long = "ref", value_name = "PACKAGE")]
    references: Vec<PackageId>,

    /// A specialization template chosen for it; repeat for more. Replaces the former list
    #[arg(long, value_name = "NAME")]
    specialization: Vec<String>,

    /// The part of the repository that it works in
    #[arg(long, value_name = "PATH")]
    component: Option<String>,

    /// A counter to raise by one, such as qa_attempts
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
