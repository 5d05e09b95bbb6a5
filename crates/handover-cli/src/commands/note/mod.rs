//! `handover note …`

mod add;
mod list;
mod purge;
mod show;
mod state;

use clap::Subcommand;
use handover_model::{Note, ProjectId};
use handover_text::cut;

use super::Outcome;
use crate::app::{App, short_id};
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

/// List, write and retire notes: what the project already knows
///
/// Notes belong to the project and are shared by all sessions. `handover learn` finds them in documents, the
/// git history, conversations and memories; `note add` writes one by hand.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum NoteCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Add(add::AddArgs),
    Retire(state::RetireArgs),
    Restore(state::RestoreArgs),
    Confirm(state::ConfirmArgs),
    Reject(state::RejectArgs),
    Purge(purge::PurgeArgs),
}

impl NoteCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Add(args) => add::run(app, args),
            Self::Retire(args) => state::retire(app, args),
            Self::Restore(args) => state::restore(app, args),
            Self::Confirm(args) => state::confirm(app, args),
            Self::Reject(args) => state::reject(app, args),
            Self::Purge(args) => purge::run(app, args),
        }
    }
}

/// The note of this id, or the only one that a part of it stands for.
fn named(app: &App, project: &ProjectId, name: &str) -> Result<Note, CommandError> {
    app.find_note(project, name)
}

/// Prints one note.
fn answer(app: &App, note: &Note) -> Outcome {
    app.ui.answer("note", note, |ui| print(ui, note))?;
    Ok(Exit::Done)
}

fn print(ui: &Ui, note: &Note) -> Result<(), CommandError> {
    ui.wrapped(11, format_args!("Note       {}", short_id(note.id.as_str())))?;
    ui.wrapped(11, format_args!("From       {} ({})", note.origin, note.kind))?;
    ui.wrapped(11, format_args!("Time       {}", ui.time(note.created_at)))?;
    ui.wrapped(11, format_args!("Trust      {}", note.trust))?;
    let reason = note.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    ui.wrapped(11, format_args!("State      {}{reason}", note.state))?;
    // A note without a heading is titled by its beginning, which follows below.
    if !note.title.is_empty() && !note.text.starts_with(note.title.trim_end_matches('…')) {
        ui.wrapped(11, format_args!("Title      {}", note.title))?;
    }
    for (name, list) in [("Paths", &note.paths), ("Symbols", &note.symbols)] {
        if !list.is_empty() {
            ui.wrapped(11, format_args!("{name:<10} {}", cut::cut(&list.join(", "), 200)))?;
        }
    }
    if note.text.is_empty() {
        return ui.line(format_args!("\n(erased; the hash of the text is {})", note.hash));
    }
    ui.line(format_args!("\n{}", note.text))
}
