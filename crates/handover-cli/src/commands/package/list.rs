//! `handover package list`

use handover_store::{PackageFilter, Versions};

use super::{HEADER, rows};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List the packages of a session, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package list\n  handover package list --group P1 --all-versions --json"
)]
pub(crate) struct ListArgs {
    /// Superseded versions too
    #[arg(long)]
    all_versions: bool,

    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let filter = PackageFilter {
        group: app.group()?,
        versions: if args.all_versions { Versions::All } else { Versions::Latest },
        limit: args.limit,
    };
    let packages = app.store()?.packages(&app.session()?, &filter)?;
    app.ui.answer("packages", &packages, |ui| {
        ui.table(
            &HEADER,
            rows(&packages),
            "No packages yet; register one with `handover package add FILE`.",
        )
    })?;
    Ok(Exit::Done)
}
