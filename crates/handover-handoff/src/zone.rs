//! The event that says how full the window of a role is.

use handover_model::{KnownEvent, Zone};
use handover_store::{EventKey, NewEvent, NewReceipt, ReceiptFilter, Store};
use handover_text::Redactor;
use serde_json::json;

/// Logs that the window of a role entered another zone than at its last receipt.
pub(crate) fn log_zone_change(
    store: &dyn Store,
    redactor: &Redactor,
    receipt: &NewReceipt,
) -> handover_store::Result<()> {
    let filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        group: receipt.group.clone(),
        role: Some(receipt.role.clone()),
        limit: Some(1),
        ..ReceiptFilter::default()
    };
    let before = store.receipts(&filter)?.pop().map_or(Zone::Normal, |last| last.zone);
    if before == receipt.zone {
        return Ok(());
    }
    let payload = json!({
        "receipt": receipt.id, "role": receipt.role, "from": before, "to": receipt.zone,
    });
    store.log_event(&NewEvent {
        session: receipt.session.clone(),
        group: receipt.group.clone(),
        kind: KnownEvent::Zone.into(),
        payload: redactor.clean_json(payload),
        key: Some(EventKey::new(receipt.id.as_str(), redactor)),
        now: receipt.now,
    })?;
    Ok(())
}
