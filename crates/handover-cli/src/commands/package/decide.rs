//! `handover package confirm` and `reject`

use handover_context::amendments;
use handover_model::{AmendmentDecision, PackageId};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Confirm that a later package replaces one: it stays out of briefs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package confirm 3\n  handover package confirm 3 --by 8"
)]
pub(crate) struct ConfirmArgs {
    /// Id of the package that was replaced
    id: PackageId,

    /// Package that replaces it [default: the one that was found]
    #[arg(long, value_name = "ID")]
    by: Option<PackageId>,
}

/// Reject a replacement that was found: both packages count
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package reject 3\n  handover package reject 3 --by 8"
)]
pub(crate) struct RejectArgs {
    /// Id of the package that was not replaced
    id: PackageId,

    /// Package that does not replace it [default: the one that was found]
    #[arg(long, value_name = "ID")]
    by: Option<PackageId>,
}

pub(crate) fn confirm(app: &App, args: ConfirmArgs) -> Outcome {
    decide(app, args.id, args.by, AmendmentDecision::Confirmed)
}

pub(crate) fn reject(app: &App, args: RejectArgs) -> Outcome {
    decide(app, args.id, args.by, AmendmentDecision::Rejected)
}

fn decide(app: &App, id: PackageId, by: Option<PackageId>, decision: AmendmentDecision) -> Outcome {
    let (_, project) = app.learning()?;
    let made = amendments::decide_package(app.store()?, &project, id, by, decision, app.now())?;
    app.ui.answer("amendment", &made, |ui| {
        let verb = match made.decision {
            AmendmentDecision::Confirmed => "replaces",
            AmendmentDecision::Rejected => "does not replace",
        };
        ui.line(format_args!("{} {verb} {}", made.later, made.earlier))
    })?;
    Ok(Exit::Done)
}
