//! Receipts that the store could not take: each waits in a file until it can.

use std::path::{Path, PathBuf};

use handover_model::{Receipt, ReceiptId, ReceiptState};
use handover_store::{NewReceipt, ReceiptStep, Store, StoreError};
use handover_text::{Clean, Redactor};

/// The folder below `.handover/`.
pub const FOLDER: &str = "spool";

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
pub(crate) fn write(folder: &Path, record: &Receipt) -> std::io::Result<()> {
    if !folder.exists() {
        fs_err::create_dir_all(folder)?;
        folder.parent().map_or(Ok(()), sync_folder)?;
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut file, record)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(format!("{}.json", record.id)))?;
    sync_folder(folder)
}

/// Makes the names of new files in a folder survive a power failure.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    fs_err::File::open(folder)?.sync_all()
}

/// Removes a receipt whose agent never started.
pub(crate) fn forget(folder: &Path, receipt: &ReceiptId) {
    // Best effort: a file that stays is imported as a delivery.
    let _ = fs_err::remove_file(folder.join(format!("{receipt}.json")));
}

/// Moves waiting receipts into the store, oldest first.
pub fn import(folder: &Path, store: &dyn Store, redactor: &Redactor) -> Imported {
    let mut imported = Imported::default();
    let Ok(entries) = std::fs::read_dir(folder) else { return imported };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for path in files {
        let record = fs_err::read(&path).map_err(|error| error.to_string()).and_then(|bytes| {
            serde_json::from_slice::<Receipt>(&bytes).map_err(|error| error.to_string())
        });
        let record = match record {
            Ok(record) => record,
            Err(reason) => {
                imported.waiting.push((path, reason));
                continue;
            }
        };
        match keep(store, redactor, record) {
            Ok(()) => {
                imported.kept += 1;
                let _ = fs_err::remove_file(&path);
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
        text: text(new.text.as_ref()),
        failure: None,
        created_at: new.now,
        delivered_at: (state == ReceiptState::Delivered).then_some(new.now),
        confirmed_at: None,
    }
}
