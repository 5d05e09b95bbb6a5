//! Sums over many records, computed by the database: nothing of the records themselves is read, so damage to one of
//! them is found where it is read.

use crate::{DayCost, ItemSums, ReceiptSums, Result};

use super::{Columns, Row};

/// The receipts of a period, in groups. The period is a condition on `s` (session) and `r` (receipt).
pub fn receipt_sums(period: &str) -> String {
    format!(
        "SELECT r.state, r.redactions, count(*), CAST(coalesce(sum(r.tokens), 0) AS bigint)
         FROM receipt r JOIN session s ON s.key = r.session
         WHERE {period} GROUP BY r.state, r.redactions"
    )
}

/// Adds a row of [`receipt_sums`].
pub fn add_receipts(row: &dyn Row, sums: &mut ReceiptSums) -> Result<()> {
    use handover_model::ReceiptState::{Assembled, Confirmed, Delivered, Failed};
    let mut columns = Columns::of(row);
    let state = columns.parsed()?;
    let redactions: std::collections::BTreeMap<String, u64> = columns.json()?;
    let (count, tokens): (u64, u64) = (columns.int()?, columns.int()?);
    *sums.by_state.entry(state).or_default() += count;
    for (rule, of_each) in redactions {
        *sums.redactions.entry(rule).or_default() += of_each * count;
    }
    match state {
        Delivered | Confirmed => sums.tokens += tokens,
        Assembled | Failed => {}
    }
    Ok(())
}

const USED: &str = "IN ('echoed', 'named', 'opened')";
const DELIVERED: &str = "r.state IN ('delivered', 'confirmed')";

/// The items of the delivered receipts of a period.
pub fn item_sums(period: &str) -> String {
    format!(
        "SELECT count(*) FILTER (WHERE i.kind = 'error'),
            count(DISTINCT CASE WHEN i.used IS NOT NULL AND i.tokens > 0 THEN i.receipt END),
            CAST(coalesce(sum(i.tokens) FILTER (WHERE i.used IS NOT NULL), 0) AS bigint),
            CAST(coalesce(sum(i.tokens) FILTER (WHERE i.used {USED}), 0) AS bigint)
         FROM receipt r JOIN session s ON s.key = r.session JOIN receipt_item i ON i.receipt = r.id
         WHERE {period} AND {DELIVERED}"
    )
}

/// Reads [`item_sums`].
pub fn items(row: &dyn Row) -> Result<ItemSums> {
    let mut columns = Columns::of(row);
    Ok(ItemSums {
        errors: columns.int()?,
        judged: columns.int()?,
        tokens: columns.int()?,
        used_tokens: columns.int()?,
    })
}

/// The tokens of unused items that lead notes shown together with them, of which one was used.
pub fn led_tokens(period: &str) -> String {
    format!(
        "SELECT CAST(coalesce(sum(led.tokens), 0) AS bigint) FROM (
            SELECT DISTINCT h.receipt, h.position, h.tokens
            FROM receipt r JOIN session s ON s.key = r.session
            JOIN receipt_item j ON j.receipt = r.id AND j.kind = 'note' AND j.tokens = 0
                AND j.used {USED}
            JOIN receipt_item h ON h.receipt = r.id AND h.used = 'unused' AND h.position = (
                SELECT max(p.position) FROM receipt_item p
                WHERE p.receipt = r.id AND p.position < j.position
                    AND NOT (p.kind = 'note' AND p.tokens = 0))
            WHERE {period} AND {DELIVERED}) led"
    )
}

/// Reads a day, the number of its agents, and their cost.
pub fn day_cost(row: &dyn Row) -> Result<DayCost> {
    let mut columns = Columns::of(row);
    Ok(DayCost { day: columns.int()?, agents: columns.int()?, cost_usd: columns.real()? })
}
