//! `handover note list`

use handover_model::{NoteKind, NoteState};
use handover_store::NoteFilter;
use handover_text::cut;

use crate::app::{App, short_id};
use crate::commands::Outcome;
use crate::error::Exit;

/// List notes, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover note list --kind commit --limit 20\n  handover note list --state retired"
)]
pub(crate) struct ListArgs {
    /// Only notes of this kind: doc, commit, conversation, memory or manual
    #[arg(long)]
    kind: Option<NoteKind>,

    /// Only notes in this state: live, stale, amended or retired
    #[arg(long)]
    state: Option<NoteState>,

    /// Maximum number of notes
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let (_, project) = app.learning()?;
    let filter = NoteFilter {
        kind: args.kind,
        state: args.state,
        limit: args.limit,
        ..NoteFilter::default()
    };
    let notes = app.store()?.notes(&project, &filter)?;
    app.ui.answer("notes", &notes, |ui| {
        let rows = notes
            .iter()
            .map(|note| {
                let id = note.id.as_str();
                let shown = if note.title.is_empty() { &note.text } else { &note.title };
                vec![
                    short_id(id).to_owned(),
                    note.kind.to_string(),
                    note.state.to_string(),
                    ui.time(note.created_at),
                    cut::cut(shown, 60),
                    cut::cut(&note.origin, 50),
                ]
            })
            .collect();
        let none = "No notes. `handover learn` finds what the project already knows.";
        ui.table(&["id", "kind", "state", "time", "title", "from"], rows, none)
    })?;
    Ok(Exit::Done)
}
