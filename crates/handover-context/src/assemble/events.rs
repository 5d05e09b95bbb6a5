//! What the session remembers of an assembly besides its receipt.

use std::collections::BTreeMap;

use handover_model::{KnownEvent, Phase, Role, Timestamp, Zone};
use handover_store::{EventKey, NewEvent, NewReceipt, ReceiptFilter, ReceiptStep, Result};
use handover_text::Clean;
use serde_json::{Value, json};

use super::{Assembly, Setting};

/// Counts an assembly as delivered, and says who got what from whom.
pub fn deliver(
    setting: Setting<'_>,
    assembly: &Assembly,
    host: Option<&Clean>,
    now: Timestamp,
) -> Result<()> {
    let receipt = &assembly.receipt;
    setting.store.writing(|store| {
        let setting = Setting { store, ..setting };
        let step = ReceiptStep::Delivered { host: host.cloned() };
        store.advance_receipt(&receipt.id, &step, now)?;
        let payload = json!({
            "receipt": receipt.id,
            "role": receipt.role,
            "iteration": receipt.iteration,
            "packages": assembly.packages.iter().map(|p| p.id).collect::<Vec<_>>(),
            "tokens": receipt.tokens,
        });
        log(setting, receipt, KnownEvent::Delivery, payload, "", now)?;
        let mut sources: BTreeMap<&Role, Vec<(Phase, usize)>> = BTreeMap::new();
        for entry in &assembly.reasoning {
            let length = entry.content.chars().count();
            sources.entry(&entry.role).or_default().push((entry.phase, length));
        }
        for (from, entries) in sources {
            let payload = json!({
                "receipt": receipt.id,
                "from": from,
                "to": receipt.role,
                "phases": entries.iter().map(|(phase, _)| phase).collect::<Vec<_>>(),
                "length": entries.iter().map(|(_, length)| length).sum::<usize>(),
            });
            log(setting, receipt, KnownEvent::ReasoningHandoff, payload, from.as_str(), now)?;
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
    log(setting, receipt, KnownEvent::Zone, payload, "", receipt.now)
}

/// Logs an event once per receipt and kind.
fn log(
    setting: Setting<'_>,
    receipt: &NewReceipt,
    kind: KnownEvent,
    payload: Value,
    part: &str,
    now: Timestamp,
) -> Result<()> {
    let key = format!("{}{part}", receipt.id);
    setting.store.log_event(&NewEvent {
        session: receipt.session.clone(),
        group: receipt.group.clone(),
        kind: kind.into(),
        payload: setting.redactor.clean_json(payload),
        key: Some(EventKey::new(&key, setting.redactor)),
        now,
    })?;
    Ok(())
}
