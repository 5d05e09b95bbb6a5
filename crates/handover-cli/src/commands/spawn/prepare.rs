//! The handoff of a spawn: a new brief, or a prompt that was briefed earlier.

use std::path::Path;

use handover_handoff::{Handoff, HandoffRequest, Prepared};

use super::SpawnArgs;
use crate::app::App;
use crate::commands::brief::{warn_about, warn_of_guard, warn_unless_stored};
use crate::error::CommandError;
use crate::input;

/// Prepares a new brief.
pub(super) fn new_brief(
    app: &App,
    args: &SpawnArgs,
    task: Option<String>,
) -> Result<Handoff, CommandError> {
    let request = args.parts.with(args.request.request(app, app.session()?, task)?);
    let request = HandoffRequest { host: Some(args.host), beside: true, ..request };
    let Prepared { brief, handoff, still_spooled } = app.handoffs()?.prepare(&request)?;
    for (path, reason) in still_spooled {
        app.ui.warn(format_args!("{} is still not in the store: {reason}", path.display()));
    }
    warn_about(app, &brief);
    warn_unless_stored(app, &brief.receipt.id, &handoff.recorded);
    warn_of_guard(app, &handoff);
    Ok(handoff)
}

/// Adopts a prompt that `handover brief` wrote.
pub(super) fn from_file(app: &App, args: &SpawnArgs, file: &Path) -> Result<Handoff, CommandError> {
    let prompt = input::file(file, &app.stdin, "the prompt")?;
    app.store()?;
    let session = app.named_session()?;
    let handoffs = app.handoffs()?;
    let handoff = handoffs.adopt(prompt, &args.request.role, session.as_ref(), app.now())?;
    warn_of_guard(app, &handoff);
    Ok(handoff)
}
