//! Receipts that the store could not take: each waits in a file until it can, with the ticket of its subagent.

use std::path::PathBuf;

use handover_files::{FileError, Folder, Sync};
use handover_model::{
    AgentId, BriefDelivery, ItemKind, NoteId, Receipt, ReceiptId, ReceiptItem, ReceiptState,
    Ticket, Timestamp,
};
use handover_store::{NewReceipt, NewTicket, ReceiptStep, Store, StoreError, erased_text};
use handover_text::{Clean, Redactor};
use serde::{Deserialize, Serialize};

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

/// What a file holds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Spooled {
    #[serde(flatten)]
    pub(crate) receipt: Receipt,
    /// None if the store has it, or if no host spawned the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<Ticket>,
}

/// Writes a receipt atomically: afterwards the file is complete or not there, and a power failure does not
/// change that.
pub(crate) fn write(folder: &Folder, spooled: &Spooled) -> std::io::Result<()> {
    let name = file_name(&spooled.receipt.id);
    folder.replace(&name, &serde_json::to_vec(spooled)?, Sync::Yes)?;
    Ok(())
}

/// Records which subagent has started with a waiting receipt, and returns that with how its brief is delivered. None if
/// the receipt does not wait any more.
pub fn bind(
    folder: &Folder,
    receipt: &ReceiptId,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Option<(Receipt, BriefDelivery)>, FileError> {
    // What cannot be read as a receipt never gets into the store.
    let Ok(Some(mut spooled)) = read(folder, &file_name(receipt)) else { return Ok(None) };
    let mut way = BriefDelivery::Rewrite;
    if let Some(ticket) = &mut spooled.ticket {
        ticket.agent = Some(agent.clone());
        way = ticket.way;
    }
    deliver(folder, &mut spooled, now)?;
    Ok(Some((spooled.receipt, way)))
}

/// What holding a subagent back means for its waiting receipt.
#[derive(Debug, Clone, PartialEq)]
pub enum HeldBack {
    /// It gets its brief now.
    Now(Box<Receipt>),
    /// It got it when it was held back before.
    Before,
}

/// Records that a subagent gets the brief of a waiting receipt by being held back. None if the receipt does not wait any
/// more.
pub fn hold_back(
    folder: &Folder,
    receipt: &ReceiptId,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Option<HeldBack>, FileError> {
    let Ok(Some(mut spooled)) = read(folder, &file_name(receipt)) else { return Ok(None) };
    if let Some(ticket) = &mut spooled.ticket {
        if ticket.way == BriefDelivery::HoldBack && ticket.agent.is_some() {
            return Ok(Some(HeldBack::Before));
        }
        ticket.agent = Some(agent.clone());
        ticket.way = BriefDelivery::HoldBack;
    }
    deliver(folder, &mut spooled, now)?;
    Ok(Some(HeldBack::Now(Box::new(spooled.receipt))))
}

/// Writes a waiting receipt again whose brief goes out.
fn deliver(folder: &Folder, spooled: &mut Spooled, now: Timestamp) -> Result<(), FileError> {
    let receipt = &mut spooled.receipt;
    if receipt.state == ReceiptState::Assembled {
        (receipt.state, receipt.delivered_at) = (ReceiptState::Delivered, Some(now));
    }
    let bytes = serde_json::to_vec(&spooled).unwrap_or_default();
    folder.replace(&file_name(&spooled.receipt.id), &bytes, Sync::Yes)?;
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
        let spooled = match read(folder, &entry.name) {
            Ok(Some(spooled)) => spooled,
            // Another process was faster.
            Ok(None) => continue,
            Err(reason) => {
                imported.waiting.push((path, reason));
                continue;
            }
        };
        match keep(store, redactor, spooled) {
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
        let Ok(Some(mut spooled)) = read(folder, &entry.name) else { continue };
        let record = &mut spooled.receipt;
        let shown = notes.iter().find(|note| {
            let shows =
                |item: &ReceiptItem| item.kind == ItemKind::Note && item.id == note.as_str();
            record.items.iter().any(shows)
        });
        if let (Some(note), Some(text)) = (shown, &mut record.text) {
            *text = erased_text(note);
            record.items.iter_mut().for_each(|item| item.stale.clear());
            let bytes = serde_json::to_vec(&spooled).unwrap_or_default();
            folder.replace(&entry.name, &bytes, Sync::Yes)?;
            erased += 1;
        }
    }
    Ok(erased)
}

fn read(folder: &Folder, name: &str) -> Result<Option<Spooled>, String> {
    let bytes = folder.read(name, MAX_BYTES).map_err(|error| error.to_string())?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string())).transpose()
}

fn keep(store: &dyn Store, redactor: &Redactor, spooled: Spooled) -> handover_store::Result<()> {
    let Spooled { receipt: record, ticket } = spooled;
    let delivered = (record.state == ReceiptState::Delivered).then(|| ReceiptStep::Delivered {
        host: record.host.as_ref().map(|host| redactor.clean(host)),
    });
    let at = record.delivered_at.unwrap_or(record.created_at);
    if let Ok(there) = store.receipt(&record.id) {
        // Only its delivery had to wait.
        if let Some(step) = delivered.filter(|_| there.state == ReceiptState::Assembled) {
            store.advance_receipt(&record.id, &step, at)?;
        }
        // Its subagent may have started while another process imported it.
        if let Some(agent) = ticket.and_then(|ticket| ticket.agent) {
            store.take_ticket(&record.id, &agent)?;
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
        match &ticket {
            Some(ticket) => open(store, redactor, &record.id, ticket),
            None => Ok(()),
        }
    })
}

/// Opens the ticket of an imported receipt, unless its call was briefed again meanwhile.
fn open(
    store: &dyn Store,
    redactor: &Redactor,
    receipt: &ReceiptId,
    ticket: &Ticket,
) -> handover_store::Result<()> {
    if let Some(call) = &ticket.tool_use
        && store.ticket_of_call(ticket.host, &ticket.host_session, call)?.is_some()
    {
        return Ok(());
    }
    store.open_ticket(&NewTicket {
        receipt: receipt.clone(),
        host: ticket.host,
        host_session: ticket.host_session.clone(),
        agent_type: redactor.clean(&ticket.agent_type),
        name: ticket.name.as_deref().map(|name| redactor.clean(name)),
        tool_use: ticket.tool_use.clone(),
        task_hash: ticket.task_hash.clone(),
        task: ticket.task.as_deref().map(|task| redactor.clean(task)),
        way: ticket.way,
        agent: ticket.agent.clone(),
        now: ticket.created_at,
    })
}

/// A new ticket as a record.
pub(crate) fn ticket(new: NewTicket) -> Ticket {
    Ticket {
        receipt: new.receipt,
        host: new.host,
        host_session: new.host_session,
        agent_type: new.agent_type.to_string(),
        name: new.name.map(|name| name.to_string()),
        tool_use: new.tool_use,
        task_hash: new.task_hash,
        task: new.task.map(|task| task.to_string()),
        way: new.way,
        agent: new.agent,
        asked: false,
        ending: None,
        created_at: new.now,
        closed_at: None,
    }
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
