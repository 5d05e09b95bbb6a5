//! `handover group …`

mod list;
mod set;
mod show;

use clap::Subcommand;
use handover_model::Group;

use super::Outcome;
use crate::app::App;
use crate::error::CommandError;
use crate::ui::Ui;

/// Create, update and list the task groups of a session
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum GroupCommand {
    Set(set::SetArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
}

impl GroupCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Set(args) => set::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
        }
    }
}

/// Prints a group.
fn print(ui: &Ui, group: &Group) -> Result<(), CommandError> {
    ui.line(format_args!("Group       {}", group.id))?;
    if let Some(title) = &group.title {
        ui.line(format_args!("Title       {title}"))?;
    }
    ui.line(format_args!("Status      {}", group.status))?;
    if !group.references.is_empty() {
        let ids: Vec<String> = group.references.iter().map(ToString::to_string).collect();
        ui.line(format_args!("References  packages {}", ids.join(", ")))?;
    }
    if !group.specializations.is_empty() {
        ui.line(format_args!("Templates   {}", group.specializations.join(", ")))?;
    }
    if let Some(component) = &group.component {
        ui.line(format_args!("Component   {component}"))?;
    }
    for (name, value) in &group.counters {
        ui.line(format_args!("{name:<11} {value}"))?;
    }
    Ok(())
}
