//! What the session remembers of an assembly besides its receipt.

use std::collections::BTreeMap;

use handover_model::{
    GroupId, ItemKind, KnownEvent, Phase, ReceiptId, Role, SessionId, Timestamp, Zone,
};
use handover_store::{
    EventKey, NewEvent, NewReceipt, ReasoningFilter, ReceiptFilter, ReceiptStep, Result, Store,
};
use handover_text::{Clean, Redactor};
use serde_json::{Value, json};

use super::Setting;

/// Counts a receipt as delivered, and says who got what from whom.
pub fn deliver(
    store: &dyn Store,
    redactor: &Redactor,
    id: &ReceiptId,
    host: Option<&Clean>,
    now: Timestamp,
) -> Result<()> {
    store.writing(|store| {
        let step = ReceiptStep::Delivered { host: host.cloned() };
        let receipt = store.advance_receipt(id, &step, now)?;
        let of = |kind: ItemKind| -> Vec<&str> {
            let items = receipt.items.iter().filter(|item| item.kind == kind);
            items.map(|item| item.id.as_str()).collect()
        };
        let place = Place {
            store,
            redactor,
            session: &receipt.session,
            group: receipt.group.as_ref(),
            receipt: id,
        };
        let payload = json!({
            "receipt": id,
            "role": receipt.role,
            "iteration": receipt.iteration,
            "packages": of(ItemKind::Package),
            "tokens": receipt.tokens,
        });
        place.log(KnownEvent::Delivery, payload, "", now)?;
        let handed = of(ItemKind::Reasoning);
        if handed.is_empty() {
            return Ok(());
        }
        let filter = ReasoningFilter { group: receipt.group.clone(), ..ReasoningFilter::default() };
        let mut sources: BTreeMap<Role, Vec<(Phase, usize)>> = BTreeMap::new();
        for entry in store.reasoning(&receipt.session, &filter)? {
            if handed.contains(&entry.id.to_string().as_str()) {
                let length = entry.content.chars().count();
                sources.entry(entry.role).or_default().push((entry.phase, length));
            }
        }
        for (from, entries) in sources {
            let payload = json!({
                "receipt": id,
                "from": from,
                "to": receipt.role,
                "phases": entries.iter().map(|(phase, _)| phase).collect::<Vec<_>>(),
                "length": entries.iter().map(|(_, length)| length).sum::<usize>(),
            });
            place.log(KnownEvent::ReasoningHandoff, payload, from.as_str(), now)?;
        }
        Ok(())
    })
}

/// Notes that the window of a role entered another zone than the last time.
pub(super) fn zone_change(setting: Setting<'_>, receipt: &NewReceipt) -> Result<()> {
    let filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        group: receipt.group.clone(),
        role: Some(receipt.role.clone()),
        limit: Some(1),
    };
    let before = setting.store.receipts(&filter)?.pop().map_or(Zone::Normal, |last| last.zone);
    if before == receipt.zone {
        return Ok(());
    }
    let payload = json!({
        "receipt": receipt.id, "role": receipt.role, "from": before, "to": receipt.zone,
    });
    let place = Place {
        store: setting.store,
        redactor: setting.redactor,
        session: &receipt.session,
        group: receipt.group.as_ref(),
        receipt: &receipt.id,
    };
    place.log(KnownEvent::Zone, payload, "", receipt.now)
}

/// Where an event belongs.
struct Place<'a> {
    store: &'a dyn Store,
    redactor: &'a Redactor,
    session: &'a SessionId,
    group: Option<&'a GroupId>,
    receipt: &'a ReceiptId,
}

impl Place<'_> {
    /// Logs an event once per receipt, kind and part.
    fn log(&self, kind: KnownEvent, payload: Value, part: &str, now: Timestamp) -> Result<()> {
        let key = format!("{}{part}", self.receipt);
        self.store.log_event(&NewEvent {
            session: self.session.clone(),
            group: self.group.cloned(),
            kind: kind.into(),
            payload: self.redactor.clean_json(payload),
            key: Some(EventKey::new(&key, self.redactor)),
            now,
        })?;
        Ok(())
    }
}
