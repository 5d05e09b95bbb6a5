//! `handover reasoning list`

use handover_model::{Phase, Role};
use handover_store::{ReasoningFilter, TimeOrder};

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List reasoning, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover reasoning list --role developer --phase completion --limit 5"
)]
pub(crate) struct ListArgs {
    /// Only reasoning by this role
    #[arg(long)]
    role: Option<Role>,

    /// Only reasoning from this phase
    #[arg(long)]
    phase: Option<Phase>,

    /// Maximum number of entries
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    app.check_roles(&args.role)?;
    let filter = ReasoningFilter {
        group: app.group()?,
        role: args.role,
        phase: args.phase,
        limit: args.limit,
        order: TimeOrder::NewestFirst,
        ..ReasoningFilter::default()
    };
    let entries = app.store()?.reasoning(&app.session()?, &filter)?;
    app.ui.answer("reasoning", &entries, |ui| print(ui, &entries))?;
    Ok(Exit::Done)
}
