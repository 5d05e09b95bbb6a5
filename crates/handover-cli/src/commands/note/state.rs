//! `handover note retire`, `restore`, `confirm` and `reject`

use handover_model::{Note, NoteState};
use handover_store::PURGED;

use super::{answer, named};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Take a note out of use; `restore` brings it back
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note retire 4f2a91 --reason \"we moved to Kafka\"")]
pub(crate) struct RetireArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,

    /// Why it no longer counts
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Use a retired, stale or amended note again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note restore 4f2a91")]
pub(crate) struct RestoreArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,
}

/// Confirm that a later statement replaces a note
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note confirm 4f2a91")]
pub(crate) struct ConfirmArgs {
    /// Id of the note that was replaced, or at least four characters of its beginning or end
    id: String,
}

/// Reject a replacement that was found: the note counts again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note reject 4f2a91")]
pub(crate) struct RejectArgs {
    /// Id of the note that was replaced, or at least four characters of its beginning or end
    id: String,
}

pub(crate) fn retire(app: &App, args: RetireArgs) -> Outcome {
    set(app, &args.id, |_| Ok((NoteState::Retired, args.reason.clone())))
}

pub(crate) fn restore(app: &App, args: RestoreArgs) -> Outcome {
    set(app, &args.id, |note| match note.reason.as_deref() {
        Some(PURGED) if note.text.is_empty() => {
            let message = format!("note `{}` was erased", note.id);
            Err(CommandError::new(Exit::Usage, "erased", message)
                .hinted("Write it anew with `handover note add`."))
        }
        _ => Ok((NoteState::Live, None)),
    })
}

pub(crate) fn confirm(app: &App, args: ConfirmArgs) -> Outcome {
    set(app, &args.id, |note| {
        let reason = replaced(note)?;
        let confirmed = reason.strip_suffix(CONFIRMED).unwrap_or(reason);
        Ok((NoteState::Amended, Some(format!("{confirmed}{CONFIRMED}"))))
    })
}

pub(crate) fn reject(app: &App, args: RejectArgs) -> Outcome {
    set(app, &args.id, |note| {
        let reason = replaced(note)?;
        Ok((NoteState::Live, Some(format!("not {reason}"))))
    })
}

const CONFIRMED: &str = " (confirmed)";

/// Why a note counts as replaced.
fn replaced(note: &Note) -> Result<&str, CommandError> {
    if note.state == NoteState::Amended {
        return Ok(note.reason.as_deref().unwrap_or("amended"));
    }
    let message = format!("note `{}` is {}, not amended", note.id, note.state);
    Err(CommandError::new(Exit::Usage, "wrong_state", message)
        .hinted("`handover note list --state amended` shows the notes with a replacement."))
}

fn set(
    app: &App,
    name: &str,
    decide: impl FnOnce(&Note) -> Result<(NoteState, Option<String>), CommandError>,
) -> Outcome {
    let (_, project) = app.learning()?;
    let note = named(app, &project, name)?;
    let (state, reason) = decide(&note)?;
    let redactor = app.redactor()?;
    let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| redactor.clean(reason));
    let store = app.store()?;
    let changed = store.set_note_state(&project, &note.id, state, reason.as_ref(), app.now())?;
    answer(app, &changed)
}
