//! The agent has its prompt, or never will.

use std::collections::BTreeMap;

use handover_model::{
    Host, ItemKind, KnownEvent, Phase, Receipt, ReceiptId, ReceiptItem, ReceiptState, Role,
    Timestamp,
};
use handover_store::{EventKey, NewEvent, ReasoningFilter, ReceiptStep, Store, StoreError};
use handover_text::Redactor;
use serde_json::{Value, json};

use crate::prepare::is_unwritable;
use crate::spool::Spooled;
use crate::{Handoff, Handoffs, Recorded, Result, spool};

impl Handoffs<'_> {
    /// Marks a receipt delivered, and logs who got what from whom. Repeating it changes nothing. If the
    /// store cannot be written now, the delivery waits in the spool.
    pub fn started(&self, receipt: &ReceiptId, host: Option<Host>, now: Timestamp) -> Result<()> {
        let store = self.store()?;
        let written = store.writing(|store| {
            match self.deliver(store, receipt, host, now) {
                Ok(()) => Ok(()),
                // The agent was seen with it before its start was noted.
                Err(StoreError::WrongState { .. })
                    if store.receipt(receipt)?.state == ReceiptState::Confirmed =>
                {
                    Ok(())
                }
                Err(error) => Err(error),
            }
        });
        match (written, self.spool) {
            (Err(error), Some(folder)) if is_unwritable(&error) => {
                let receipt = Receipt {
                    state: ReceiptState::Delivered,
                    delivered_at: Some(now),
                    host: host.map(|host| host.as_str().to_owned()),
                    ..store.receipt(receipt)?
                };
                let delivered = Spooled { receipt, ticket: None };
                spool::write(folder, &delivered).map_err(|_| error)?;
                Ok(())
            }
            (written, _) => Ok(written?),
        }
    }

    /// Marks a receipt confirmed: the agent was seen to have it. What no event marked as delivered
    /// before is delivered by that.
    pub fn confirmed(&self, receipt: &ReceiptId, host: Option<Host>, now: Timestamp) -> Result<()> {
        self.store()?.writing(|store| {
            let receipt = store.receipt(receipt)?;
            match receipt.state {
                ReceiptState::Assembled => self.deliver(store, &receipt.id, host, now)?,
                ReceiptState::Delivered => {}
                ReceiptState::Confirmed | ReceiptState::Failed => return Ok(()),
            }
            store.advance_receipt(&receipt.id, &ReceiptStep::Confirmed, now)?;
            Ok(())
        })?;
        Ok(())
    }

    /// Gives a prompt back whose agent never started: its receipt failed, its packages are free
    /// again. Best effort: the failure itself is what the caller reports.
    pub fn not_started(&self, handoff: &Handoff, reason: &str, now: Timestamp) {
        self.not_written(handoff.prompt.receipt(), &handoff.recorded, reason, now);
    }

    /// The same for a text that could not be shown.
    pub fn not_written(
        &self,
        receipt: &ReceiptId,
        recorded: &Recorded,
        reason: &str,
        now: Timestamp,
    ) {
        match recorded {
            Recorded::Spool { folder, .. } => spool::forget(folder, receipt),
            Recorded::Store => {
                let _ = self.failed(receipt, reason, now);
            }
            Recorded::Nowhere { .. } => {}
        }
    }

    /// Marks a receipt failed: its agent did not get it.
    pub fn failed(&self, receipt: &ReceiptId, reason: &str, now: Timestamp) -> Result<()> {
        let step = ReceiptStep::Failed { reason: self.redactor.clean(reason) };
        self.store()?.advance_receipt(receipt, &step, now)?;
        Ok(())
    }

    pub(crate) fn deliver(
        &self,
        store: &dyn Store,
        receipt: &ReceiptId,
        host: Option<Host>,
        now: Timestamp,
    ) -> handover_store::Result<()> {
        let host = host.map(|host| self.redactor.clean(host.as_str()));
        let receipt = store.advance_receipt(receipt, &ReceiptStep::Delivered { host }, now)?;
        log_delivery(store, self.redactor, &receipt, now)
    }
}

fn log_delivery(
    store: &dyn Store,
    redactor: &Redactor,
    receipt: &Receipt,
    now: Timestamp,
) -> handover_store::Result<()> {
    let items_of = |kind: ItemKind| -> Vec<&str> {
        let items = receipt.items.iter().filter(|item| item.kind == kind);
        items.map(|item| item.id.as_str()).collect()
    };
    let log = |kind: KnownEvent, payload: Value, part: &str| -> handover_store::Result<()> {
        store.log_event(&NewEvent {
            session: receipt.session.clone(),
            group: receipt.group.clone(),
            kind: kind.into(),
            payload: redactor.clean_json(payload),
            // Once per receipt, kind and part.
            key: Some(EventKey::new(&format!("{}{part}", receipt.id), redactor)),
            now,
        })?;
        Ok(())
    };
    let payload = json!({
        "receipt": receipt.id,
        "role": receipt.role,
        "iteration": receipt.iteration,
        "packages": items_of(ItemKind::Package),
        "tokens": receipt.tokens,
    });
    log(KnownEvent::Delivery, payload, "")?;
    let handed = receipt.items.iter().filter(|item| item.kind == ItemKind::Reasoning);
    let handed: BTreeMap<&str, &ReceiptItem> =
        handed.map(|item| (item.id.as_str(), item)).collect();
    if handed.is_empty() {
        return Ok(());
    }
    let filter = ReasoningFilter { group: receipt.group.clone(), ..ReasoningFilter::default() };
    let mut sources: BTreeMap<Role, Vec<(Phase, usize)>> = BTreeMap::new();
    for entry in store.reasoning(&receipt.session, &filter)? {
        if let Some(item) = handed.get(entry.id.to_string().as_str()) {
            let length = item.characters().unwrap_or_else(|| entry.content.chars().count());
            sources.entry(entry.role).or_default().push((entry.phase, length));
        }
    }
    for (from, entries) in sources {
        let payload = json!({
            "receipt": receipt.id,
            "from": from,
            "to": receipt.role,
            "phases": entries.iter().map(|(phase, _)| phase).collect::<Vec<_>>(),
            "length": entries.iter().map(|(_, length)| length).sum::<usize>(),
        });
        log(KnownEvent::ReasoningHandoff, payload, from.as_str())?;
    }
    Ok(())
}
