//! `handover package confirm` and `reject`

use handover_model::AmendmentDecision;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Confirm that a later package replaces one: it stays out of briefs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package confirm 3\n  handover package confirm 3 --by 8"
)]
pub(crate) struct ConfirmArgs {
    /// Package that was replaced: its number, the path of its file, or `latest`
    id: String,

    /// Package that replaces it [default: the one that was found]
    #[arg(long, value_name = "ID")]
    by: Option<String>,
}

/// Reject a replacement that was found: both packages count
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package reject 3\n  handover package reject 3 --by 8"
)]
pub(crate) struct RejectArgs {
    /// Package that was not replaced: its number, the path of its file, or `latest`
    id: String,

    /// Package that does not replace it [default: the one that was found]
    #[arg(long, value_name = "ID")]
    by: Option<String>,
}

pub(crate) fn confirm(app: &App, args: ConfirmArgs) -> Outcome {
    decide(app, &args.id, args.by.as_deref(), AmendmentDecision::Confirmed)
}

pub(crate) fn reject(app: &App, args: RejectArgs) -> Outcome {
    decide(app, &args.id, args.by.as_deref(), AmendmentDecision::Rejected)
}

fn decide(app: &App, name: &str, by: Option<&str>, decision: AmendmentDecision) -> Outcome {
    let id = app.find_package(name)?;
    let by = by.map(|name| app.find_package(name)).transpose()?;
    let (_, project) = app.learning()?;
    let made = app.by_hand(&project)?.decide_package(id, by, decision)?;
    app.ui.answer("amendment", &made, |ui| {
        let verb = match made.decision {
            AmendmentDecision::Confirmed => "replaces",
            AmendmentDecision::Rejected | AmendmentDecision::Open => "does not replace",
        };
        ui.line(format_args!("{} {verb} {}", made.later, made.earlier))
    })?;
    Ok(Exit::Done)
}
