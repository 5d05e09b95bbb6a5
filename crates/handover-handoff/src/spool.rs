//! Receipts that the store could not take: each waits in a file until it can.

use std::path::PathBuf;

use handover_files::{FileError, Folder, Sync};
use handover_model::{ItemKind, NoteId, Receipt, ReceiptId, ReceiptItem, ReceiptState};
use handover_store::{NewReceipt, ReceiptStep, Store, StoreError, erased_text};
use handover_text::{Clean, Redactor};

/// The folder below `.handover/`.
pub const FOLDER: &str = "spool";

/// How the names of its files end.
const SUFFIX: &str = ".json";

/// The most that is read of a receipt: one brief and what is known about it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The outcome of an import.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// How many receipts the store took.
    pub kept: usize,
    /// Files that the store did not take, with the reason.
    pub waiting: Vec<(PathBuf, String)>,
}

/// Writes a receipt atomically: afterwards the file is complete or not there, and a power failure does not
/// change that.
pub(crate) fn write(folder: &Folder, record: &Receipt) -> std::io::Result<()> {
    folder.replace(&file_name(&record.id), &serde_json::to_vec(record)?, Sync::Yes)?;
    Ok(())
}

fn file_name(receipt: &ReceiptId) -> String {
    format!("{receipt}{SUFFIX}")
}

/// Removes a receipt whose agent never started.
pub(crate) fn forget(folder: &Folder, receipt: &ReceiptId) {
    // Best effort: a file that stays is imported as a delivery.
    let _ = folder.remove(&file_name(receipt));
}

/// Moves waiting receipts into the store, oldest first.
pub fn import(folder: &Folder, store: &dyn Store, redactor: &Redactor) -> Imported {
    let mut imported = Imported::default();
    let entries = match folder.entries() {
        Ok(entries) => entries,
        Err(error) => {
            imported.waiting.push((folder.path(), error.to_string()));
            return imported;
        }
    };
    for entry in entries.into_iter().filter(|entry| entry.name.ends_with(SUFFIX)) {
        let path = folder.path().join(&entry.name);
        let record = match read(folder, &entry.name) {
            Ok(Some(record)) => record,
            // Another process was faster.
            Ok(None) => continue,
            Err(reason) => {
                imported.waiting.push((path, reason));
                continue;
            }
        };
        match keep(store, redactor, record) {
            Ok(()) => {
                imported.kept += 1;
                let _ = folder.remove(&entry.name);
            }
            Err(error) => {
                let is_down = matches!(error, StoreError::Backend { .. });
                imported.waiting.push((path, error.to_string()));
                if is_down {
                    // Waiting for it once is enough.
                    break;
                }
            }
        }
    }
    imported
}

/// Erases the texts of waiting receipts that show one of these notes, and the names in them; how many there were.
pub fn erase(folder: &Folder, notes: &[NoteId]) -> Result<usize, FileError> {
    let mut erased = 0;
    for entry in folder.entries()?.into_iter().filter(|entry| entry.name.ends_with(SUFFIX)) {
        // What cannot be read as a receipt never gets into the store.
        let Ok(Some(mut record)) = read(folder, &entry.name) else { continue };
        let shown = notes.iter().find(|note| {
            let shows =
                |item: &ReceiptItem| item.kind == ItemKind::Note && item.id == note.as_str();
            record.items.iter().any(shows)
        });
        if let (Some(note), Some(text)) = (shown, &mut record.text) {
            *text = erased_text(note);
            record.items.iter_mut().for_each(|item| item.stale.clear());
            let bytes = serde_json::to_vec(&record).unwrap_or_default();
            folder.replace(&entry.name, &bytes, Sync::Yes)?;
            erased += 1;
        }
    }
    Ok(erased)
}

fn read(folder: &Folder, name: &str) -> Result<Option<Receipt>, String> {
    let bytes = folder.read(name, MAX_BYTES).map_err(|error| error.to_string())?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string())).transpose()
}

fn keep(store: &dyn Store, redactor: &Redactor, record: Receipt) -> handover_store::Result<()> {
    let delivered = (record.state == ReceiptState::Delivered).then(|| ReceiptStep::Delivered {
        host: record.host.as_ref().map(|host| redactor.clean(host)),
    });
    let at = record.delivered_at.unwrap_or(record.created_at);
    if let Ok(there) = store.receipt(&record.id) {
        // Only its delivery had to wait.
        if let Some(step) = delivered.filter(|_| there.state == ReceiptState::Assembled) {
            store.advance_receipt(&record.id, &step, at)?;
        }
        return Ok(());
    }
    let clean = |text: Option<&String>| text.map(|text| redactor.clean(text));
    store.writing(|store| {
        store.put_receipt(&NewReceipt {
            id: record.id.clone(),
            session: record.session.clone(),
            group: record.group.clone(),
            role: record.role.clone(),
            iteration: record.iteration,
            model: clean(record.model.as_ref()),
            tokenizer: record.tokenizer.clone(),
            zone: record.zone,
            tokens: record.tokens,
            prompt_hash: record.prompt_hash.clone(),
            sections: record.sections.clone(),
            items: record.items.clone(),
            left_out: record.left_out.clone(),
            left_out_counts: record.left_out_counts.clone(),
            redactions: record.redactions.clone(),
            trimmed: record.trimmed.clone(),
            provided: record.provided.clone(),
            task: clean(record.task.as_ref()),
            text: clean(record.text.as_ref()),
            claim: false,
            now: record.created_at,
        })?;
        if let Some(step) = &delivered {
            store.advance_receipt(&record.id, step, at)?;
        }
        Ok(())
    })
}

/// A new receipt as a record in this state.
pub(crate) fn record(new: &NewReceipt, state: ReceiptState) -> Receipt {
    let text = |clean: Option<&Clean>| clean.map(|clean| clean.as_str().to_owned());
    Receipt {
        id: new.id.clone(),
        session: new.session.clone(),
        group: new.group.clone(),
        role: new.role.clone(),
        iteration: new.iteration,
        model: text(new.model.as_ref()),
        tokenizer: new.tokenizer.clone(),
        zone: new.zone,
        state,
        host: None,
        tokens: new.tokens,
        prompt_hash: new.prompt_hash.clone(),
        sections: new.sections.clone(),
        items: new.items.clone(),
        left_out: new.left_out.clone(),
        left_out_counts: new.left_out_counts.clone(),
        redactions: new.redactions.clone(),
        trimmed: new.trimmed.clone(),
        provided: new.provided.clone(),
        task: text(new.task.as_ref()),
        text: text(new.text.as_ref()),
        failure: None,
        created_at: new.now,
        delivered_at: (state == ReceiptState::Delivered).then_some(new.now),
        confirmed_at: None,
    }
}
