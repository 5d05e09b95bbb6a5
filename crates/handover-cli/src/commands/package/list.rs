//! `handover package list`

use handover_model::RecordState;
use handover_store::{PackageFilter, Versions};

use super::{HEADER, row};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List the packages of a session, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package list\n  handover package list --group P1 --all-versions --json"
)]
pub(crate) struct ListArgs {
    /// Include superseded versions
    #[arg(long)]
    all_versions: bool,

    /// Only packages in this state: live or retired
    #[arg(long)]
    state: Option<RecordState>,

    /// Maximum number of packages
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let filter = PackageFilter {
        group: app.group()?,
        versions: if args.all_versions { Versions::All } else { Versions::Latest },
        state: args.state,
        limit: args.limit,
        ..PackageFilter::default()
    };
    let (store, session) = (app.store()?, app.session()?);
    if app.ui.is_json() {
        app.ui.answer_each("packages", |item| Ok(store.each_package(&session, &filter, item)?))?;
    } else {
        let mut rows = Vec::new();
        store.each_package(&session, &filter, &mut |package| rows.push(row(&package)))?;
        let empty = if filter.group.is_some() || filter.limit.is_some() || filter.state.is_some() {
            "No matching packages."
        } else {
            "No packages yet. Register one with `handover package add FILE`."
        };
        app.ui.table(&HEADER, rows, empty)?;
    }
    Ok(Exit::Done)
}
