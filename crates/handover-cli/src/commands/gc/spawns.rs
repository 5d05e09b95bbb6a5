//! The output of agents that `handover spawn` started: a log and a last message for each receipt.

use handover_engine::garbage::{Findings, Garbage, Kept};
use handover_files::Kind;
use handover_model::{ReceiptId, SessionStatus, Timestamp};
use handover_store::StoreError;

use crate::app::App;
use crate::error::CommandError;

const FOLDER: &str = "spawns";

/// An agent that is still writing has written within this time.
const WRITING_SECONDS: i64 = 3_600;

/// Adds the output that nothing needs.
pub(super) fn find(
    app: &App,
    before: Timestamp,
    findings: &mut Findings,
) -> Result<(), CommandError> {
    let folder = app.project()?.folder().inside(FOLDER);
    let owner = app.project()?.folder().owner();
    let settled = Timestamp::from_micros(app.now().as_micros() - WRITING_SECONDS * 1_000_000);
    for entry in folder.entries()? {
        let Some(receipt) = receipt_of(&entry.name) else { continue };
        let path = format!("{FOLDER}/{}", entry.name);
        let modified = Timestamp::from_micros(entry.modified.0.saturating_mul(1_000_000));
        if modified >= before.min(settled) {
            continue;
        }
        let verdict = match entry.kind {
            Kind::Folder | Kind::Other => Err("is not a file".to_owned()),
            Kind::File if owner.is_some_and(|owner| owner != entry.owner) => {
                Err("belongs to another user".to_owned())
            }
            Kind::File => verdict(app, &receipt, before)?,
        };
        match verdict {
            Ok(reason) => {
                let bytes = folder.size(&entry.name).unwrap_or_default();
                findings.garbage.push(Garbage { path, bytes, reason: reason.to_owned() });
            }
            Err(reason) => findings.kept.push(Kept { path, reason }),
        }
    }
    Ok(())
}

/// The receipt that a file belongs to.
fn receipt_of(name: &str) -> Option<ReceiptId> {
    let stem = name.strip_suffix(".log").or_else(|| name.strip_suffix(".md"))?;
    let id = stem.strip_suffix("-again").unwrap_or(stem);
    ReceiptId::new(id).ok().filter(|_| id.starts_with("r_"))
}

/// Why the output of an agent goes, or why it stays.
fn verdict(
    app: &App,
    receipt: &ReceiptId,
    before: Timestamp,
) -> Result<Result<&'static str, String>, CommandError> {
    let store = app.store()?;
    let receipt = match store.receipt(receipt) {
        Ok(receipt) => receipt,
        Err(StoreError::NotFound { .. }) if is_spooled(app, receipt)? => {
            return Ok(Err("its receipt waits in the spool".to_owned()));
        }
        Err(StoreError::NotFound { .. }) => return Ok(Ok("the store does not know its receipt")),
        Err(error) => return Err(error.into()),
    };
    if receipt.created_at >= before {
        return Ok(Err("its receipt is not old enough".to_owned()));
    }
    let session = store.session(&receipt.session)?;
    Ok(match session.status {
        SessionStatus::Active => Err(format!("session {} is open", session.id)),
        SessionStatus::Completed | SessionStatus::Failed => {
            Ok("the agent and its session are over")
        }
    })
}

/// A receipt that could not be stored needs the last message for its debrief.
fn is_spooled(app: &App, receipt: &ReceiptId) -> Result<bool, CommandError> {
    Ok(app.spool()?.entries()?.iter().any(|entry| entry.name.contains(receipt.as_str())))
}

pub(super) fn is_one(garbage: &Garbage) -> bool {
    garbage.path.starts_with("spawns/")
}

pub(super) fn delete(app: &App, garbage: &Garbage) -> Result<bool, CommandError> {
    let Some(name) = garbage.path.strip_prefix("spawns/") else { return Ok(false) };
    app.project()?.folder().inside(FOLDER).remove(name)?;
    Ok(true)
}
