//! Receipts.

use handover_model::learn::UseTallies;
use handover_model::{
    GroupId, ItemKind, PackageId, ProjectId, Receipt, ReceiptId, ReceiptState, Role, SessionId,
    Timestamp, Use,
};
use handover_store::rows::{
    self, Columns, DELIVERY, GIVEN, HANDED, RECEIPT, RECEIPT_ITEM, RECEIPT_TEXTS, to_json,
};
use handover_store::{
    CLAIM_SECONDS, Given, Handed, ItemSums, ItemUse, JudgedItem, NewReceipt, ReceiptFilter,
    ReceiptStep, ReceiptSums, Receipts, RecordKind, Result, StoreError,
};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, ensure_group, query, session_key, sums, tallies};

/// Whether a subagent of a hook host may still get receipt `r`: its claim lives as long as its ticket.
const OF_OPEN_TICKET: &str =
    "EXISTS (SELECT 1 FROM ticket WHERE receipt = r.id AND closed_at IS NULL)";

fn get(connection: &Connection, id: &ReceiptId) -> Result<Receipt> {
    let intact = sums::intact("receipt", "r");
    let sql = format!(
        "SELECT {RECEIPT}, {RECEIPT_TEXTS}, {intact} FROM receipt r JOIN session s ON s.key = r.session
         WHERE r.id = ?1"
    );
    let receipt = query::record(connection, &sql, [id.as_str()], rows::whole_receipt)?
        .ok_or_else(|| StoreError::not_found(RecordKind::Receipt, id))?;
    let intact = sums::intact("receipt_item", "receipt_item");
    let sql = format!(
        "SELECT {RECEIPT_ITEM}, {intact} FROM receipt_item WHERE receipt = ?1 ORDER BY position"
    );
    let items = query::records(connection, &sql, [id.as_str()], rows::receipt_item)?;
    Ok(Receipt { items, ..receipt })
}

impl Receipts for SqliteStore {
    fn put_receipt(&self, new: &NewReceipt) -> Result<()> {
        self.write_unsynced(|tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            tx.execute(
                "INSERT INTO receipt (id, session, group_id, role, iteration, model, tokenizer,
                    zone, state, tokens, prompt_hash, sections, left_out, left_out_counts,
                    redactions, created_at, claimed_at, trimmed, provided, text, task)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'assembled', ?9, ?10, ?11, ?12, ?13, ?14,
                    ?15, ?16, ?17, ?18, ?19, ?20)",
                rusqlite::params![
                    new.id.as_str(),
                    session,
                    new.group.as_ref().map(GroupId::as_str),
                    new.role.as_str(),
                    new.iteration,
                    new.model.as_ref().map(Clean::as_str),
                    new.tokenizer,
                    new.zone.as_str(),
                    new.tokens as i64,
                    new.prompt_hash,
                    to_json(&new.sections),
                    to_json(&new.left_out),
                    to_json(&new.left_out_counts),
                    to_json(&new.redactions),
                    new.now.as_micros(),
                    new.claim.then(|| new.now.as_micros()),
                    to_json(&new.trimmed),
                    to_json(&new.provided),
                    new.text.as_ref().map(Clean::as_str),
                    new.task.as_ref().map(Clean::as_str),
                ],
            )
            .map_err(backend)?;
            for (position, item) in new.items.iter().enumerate() {
                tx.prepare_cached(
                    "INSERT INTO receipt_item
                        (receipt, position, kind, item, version, form, score, terms, tokens, trust,
                         flags, stale, outdated)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                )
                .and_then(|mut s| {
                    s.execute((
                        new.id.as_str(),
                        position as i64,
                        item.kind.as_str(),
                        &item.id,
                        item.version,
                        item.form.as_str(),
                        item.score,
                        to_json(&item.terms),
                        item.tokens as i64,
                        item.trust.as_str(),
                        to_json(&item.flags),
                        to_json(&item.stale),
                        item.outdated.as_ref().map(to_json),
                    ))
                })
                .map_err(backend)?;
            }
            Ok(())
        })
    }

    fn advance_receipt(
        &self,
        id: &ReceiptId,
        step: &ReceiptStep,
        now: Timestamp,
    ) -> Result<Receipt> {
        let to = step.target();
        self.write_unsynced(|tx| {
            let receipt = get(tx, id)?;
            if !step.allowed_from(receipt.state) {
                let id = id.to_string();
                return Err(StoreError::WrongState { id, from: receipt.state, to });
            }
            if receipt.state == to {
                return Ok(receipt);
            }
            let (column, text) = match step {
                ReceiptStep::Delivered { host } => {
                    ("delivered_at = ?3, host = ifnull(?4, host)", host.as_ref())
                }
                ReceiptStep::Confirmed => ("confirmed_at = ?3, host = ifnull(?4, host)", None),
                ReceiptStep::Failed { reason } => ("failure = ifnull(?4, ?3)", Some(reason)),
            };
            tx.execute(
                &format!("UPDATE receipt SET state = ?2, {column} WHERE id = ?1"),
                (id.as_str(), to.as_str(), now.as_micros(), text.map(Clean::as_str)),
            )
            .map_err(backend)?;
            get(tx, id)
        })
    }

    fn claim_receipt(&self, id: &ReceiptId, now: Timestamp) -> Result<()> {
        self.write_unsynced(|tx| {
            let receipt = get(tx, id)?;
            if receipt.state != ReceiptState::Assembled {
                let (id, to) = (id.to_string(), ReceiptState::Delivered);
                return Err(StoreError::WrongState { id, from: receipt.state, to });
            }
            let expired = now.as_micros() - CLAIM_SECONDS * 1_000_000;
            let claimed = tx
                .execute(
                    "UPDATE receipt SET claimed_at = ?2
                     WHERE id = ?1 AND (claimed_at IS NULL OR claimed_at <= ?3)",
                    (id.as_str(), now.as_micros(), expired),
                )
                .map_err(backend)?;
            if claimed == 0 { Err(StoreError::Claimed { id: id.to_string() }) } else { Ok(()) }
        })
    }

    fn deliveries(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: &Role,
        now: Timestamp,
    ) -> Result<u32> {
        let key = session_key(&self.connection, session)?;
        let live = now.as_micros() - CLAIM_SECONDS * 1_000_000;
        let count = query::first(
            &self.connection,
            &format!(
                "SELECT (SELECT count(*) FROM receipt
                WHERE session = ?1 AND role = ?2 AND group_id IS ?3
                    AND state IN ('delivered', 'confirmed'))
             + (SELECT count(*) FROM receipt r
                WHERE session = ?1 AND role = ?2 AND group_id IS ?3
                    AND state = 'assembled' AND claimed_at IS NOT NULL
                    AND (claimed_at > ?4 OR {OF_OPEN_TICKET}))"
            ),
            (key, role.as_str(), group.map(GroupId::as_str), live),
            |row| Columns::of(row).int(),
        )?;
        Ok(count.unwrap_or_default())
    }

    fn mark_read(&self, id: &ReceiptId, package: PackageId, now: Timestamp) -> Result<Receipt> {
        self.write_unsynced(|tx| {
            let changed = tx
                .execute(
                    "UPDATE receipt_item SET read_at = ifnull(read_at, ?4)
                     WHERE receipt = ?1 AND kind = ?2 AND item = ?3",
                    (id.as_str(), ItemKind::Package.as_str(), package.to_string(), now.as_micros()),
                )
                .map_err(backend)?;
            let receipt = get(tx, id)?;
            if changed == 0 {
                return Err(StoreError::not_found(RecordKind::ReceiptPackage, package));
            }
            Ok(receipt)
        })
    }

    fn mark_used(&self, id: &ReceiptId, uses: &[ItemUse]) -> Result<()> {
        self.write_unsynced(|tx| {
            let sql = "SELECT s.project, r.created_at FROM receipt r JOIN session s ON s.key = r.session
                WHERE r.id = ?1";
            let (project, made_at) = query::first(tx, sql, [id.as_str()], |row| {
                let mut columns = Columns::of(row);
                Ok((columns.text()?, columns.time()?))
            })?
            .ok_or_else(|| StoreError::not_found(RecordKind::Receipt, id))?;
            let mut judged = Vec::new();
            for ItemUse { kind, item, used } in uses {
                let key = (id.as_str(), kind.as_str(), item.as_str());
                let sql = "SELECT used FROM receipt_item WHERE receipt = ?1 AND kind = ?2 AND item = ?3";
                let before = query::first(tx, sql, key, |row| Columns::of(row).parsed_opt::<Use>())?;
                let Some(before) = before else { continue };
                let sql = "UPDATE receipt_item SET used = ?4 WHERE receipt = ?1 AND kind = ?2 AND item = ?3";
                query::execute(tx, sql, (key.0, key.1, key.2, used.as_str()))?;
                let (project, kind, item) = (project.clone(), *kind, item.clone());
                judged.push(JudgedItem { project, kind, item, before, used: *used, at: made_at });
            }
            tallies::count(tx, &judged)
        })
    }

    fn use_tallies(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        items: &[String],
    ) -> Result<UseTallies> {
        tallies::of(&self.connection, project, kind, items)
    }

    fn receipt(&self, id: &ReceiptId) -> Result<Receipt> {
        get(&self.connection, id)
    }

    fn receipts(&self, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
        let session =
            filter.session.as_ref().map(|id| session_key(&self.connection, id)).transpose()?;
        let intact = sums::intact("receipt", "r");
        query::records(
            &self.connection,
            &format!(
                "SELECT {RECEIPT}, {intact} FROM receipt r JOIN session s ON s.key = r.session
                 WHERE (?1 IS NULL OR r.session = ?1)
                    AND (?2 IS NULL OR r.group_id = ?2) AND (?3 IS NULL OR r.role = ?3)
                    AND (?4 IS NULL OR r.state = ?4) AND r.created_at BETWEEN ?7 AND ?8
                 ORDER BY r.created_at DESC, r.id DESC LIMIT ?5 OFFSET ?6"
            ),
            (
                session,
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.state.map(ReceiptState::as_str),
                filter.limit.map_or(-1, i64::from),
                filter.skip,
                filter.since.map_or(i64::MIN, Timestamp::as_micros),
                filter.until.map_or(i64::MAX, Timestamp::as_micros),
            ),
            rows::receipt,
        )
    }

    fn receipt_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ReceiptSums> {
        let sql = rows::receipt_sums("s.project = ?1 AND r.created_at >= ?2");
        let mut sums = ReceiptSums::default();
        let key = (project.as_str(), since.as_micros());
        query::each(&self.connection, &sql, key, |row| {
            rows::add_receipts(row, &mut sums).map(|()| query::Visit::Continue)
        })?;
        Ok(sums)
    }

    fn item_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ItemSums> {
        let period = "s.project = ?1 AND r.created_at >= ?2";
        let key = (project.as_str(), since.as_micros());
        let sums = query::first(&self.connection, &rows::item_sums(period), key, rows::items)?;
        let led = query::first(&self.connection, &rows::led_tokens(period), key, |row| {
            Columns::of(row).int::<u64>()
        })?;
        let sums = sums.unwrap_or_default();
        Ok(ItemSums { used_tokens: sums.used_tokens + led.unwrap_or_default(), ..sums })
    }

    fn handed(&self, session: &SessionId) -> Result<Vec<Handed>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("receipt_item", "i");
        query::records(
            &self.connection,
            &format!(
                "SELECT {HANDED}, {intact} FROM receipt r CROSS JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.session = ?1 ORDER BY i.receipt, i.position"
            ),
            [key],
            rows::handed,
        )
    }

    fn handed_by(&self, session: &SessionId, receipts: &[ReceiptId]) -> Result<Vec<Handed>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("receipt_item", "i");
        let sql = format!(
            "SELECT {HANDED}, {intact} FROM receipt r CROSS JOIN receipt_item i ON i.receipt = r.id
             WHERE r.id = ?2 AND r.session = ?1 ORDER BY i.position"
        );
        let mut ids: Vec<&ReceiptId> = receipts.iter().collect();
        ids.sort();
        ids.dedup();
        let mut all = Vec::new();
        for id in ids {
            all.extend(query::records(&self.connection, &sql, (key, id.as_str()), rows::handed)?);
        }
        Ok(all)
    }

    fn given(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        item: &str,
        limit: u32,
    ) -> Result<Vec<Given>> {
        let (of_item, receipt) = (sums::intact("receipt_item", "i"), sums::intact("receipt", "r"));
        query::records(
            &self.connection,
            &format!(
                "SELECT {DELIVERY}, {GIVEN}, {of_item} AND {receipt}
                 FROM receipt_item i JOIN receipt r ON r.id = i.receipt JOIN session s ON s.key = r.session
                 WHERE i.kind = ?2 AND i.item = ?3 AND s.project = ?1 AND r.delivered_at IS NOT NULL
                    AND r.state IN ('delivered', 'confirmed')
                 ORDER BY r.delivered_at DESC, i.receipt DESC LIMIT ?4"
            ),
            (project.as_str(), kind.as_str(), item, limit),
            rows::given,
        )
    }

    fn consumed(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: &Role,
        iteration: u32,
        now: Timestamp,
    ) -> Result<Vec<(PackageId, u32)>> {
        let key = session_key(&self.connection, session)?;
        let fresh = now.as_micros() - CLAIM_SECONDS * 1_000_000;
        query::all(
            &self.connection,
            &format!(
                "SELECT CAST(i.item AS INTEGER), i.version
             FROM receipt r CROSS JOIN receipt_item i ON i.receipt = r.id
             WHERE r.session = ?1 AND r.role = ?3 AND r.group_id IS ?2 AND r.iteration = ?4
                AND r.state IN ('delivered', 'confirmed') AND i.kind = 'package'
             UNION
             SELECT CAST(i.item AS INTEGER), i.version
             FROM receipt r CROSS JOIN receipt_item i ON i.receipt = r.id
             WHERE r.session = ?1 AND r.role = ?3 AND r.group_id IS ?2 AND r.iteration = ?4
                AND r.state = 'assembled' AND r.claimed_at IS NOT NULL
                AND (r.claimed_at > ?5 OR {OF_OPEN_TICKET}) AND i.kind = 'package'
             ORDER BY 1, 2"
            ),
            (key, group.map(GroupId::as_str), role.as_str(), iteration, fresh),
            |row| {
                let mut columns = Columns::of(row);
                Ok((PackageId(columns.int()?), columns.int()?))
            },
        )
    }
}
