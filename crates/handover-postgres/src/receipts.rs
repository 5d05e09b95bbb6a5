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

use crate::link::Statement;
use crate::value::{PgRow, columns, params, row};
use crate::{OF_SESSION, PostgresStore};

/// Whether a subagent of a hook host may still get receipt `r`: its claim lives as long as its ticket.
const OF_OPEN_TICKET: &str =
    "EXISTS (SELECT 1 FROM ticket WHERE receipt = r.id AND closed_at IS NULL)";

/// The earliest start of a claim that is still valid.
fn live(now: Timestamp) -> i64 {
    now.as_micros() - CLAIM_SECONDS * 1_000_000
}

impl Receipts for PostgresStore {
    fn put_receipt(&self, new: &NewReceipt) -> Result<()> {
        self.write(|| {
            let session = self.session_key(&new.session)?;
            if let Some(group) = &new.group {
                self.ensure_group(session, group, new.now)?;
            }
            let params = params![
                new.id.as_str(),
                session,
                new.group.as_ref().map(GroupId::as_str),
                new.role.as_str(),
                new.iteration,
                new.model.as_ref().map(Clean::as_str),
                &new.tokenizer,
                new.zone.as_str(),
                new.tokens,
                &new.prompt_hash,
                to_json(&new.sections),
                to_json(&new.left_out),
                to_json(&new.left_out_counts),
                to_json(&new.redactions),
                new.now,
                new.claim.then(|| new.now.as_micros()),
                to_json(&new.trimmed),
                to_json(&new.provided),
                new.text.as_ref().map(Clean::as_str),
                new.task.as_ref().map(Clean::as_str),
            ];
            let receipt = "INSERT INTO receipt (id, session, group_id, role, iteration, model,
                    tokenizer, zone, state, tokens, prompt_hash, sections, left_out,
                    left_out_counts, redactions, created_at, claimed_at, trimmed, provided, text, task)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'assembled', $9, $10, $11, $12, $13, $14,
                    $15, $16, $17, $18, $19, $20)";
            let items = columns(new.items.iter().enumerate().map(|(position, item)| {
                row![
                    new.id.as_str(),
                    position as i64,
                    item.kind.as_str(),
                    &item.id,
                    item.version,
                    item.form.as_str(),
                    item.score,
                    to_json(&item.terms),
                    item.tokens,
                    item.trust.as_str(),
                    to_json(&item.flags),
                    to_json(&item.stale),
                    item.outdated.as_ref().map(to_json),
                ]
            }));
            let mut statements = vec![Statement { sql: receipt, params }];
            if !items.is_empty() {
                let sql = "INSERT INTO receipt_item
                        (receipt, position, kind, item, version, form, score, terms, tokens, trust,
                         flags, stale, outdated)
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
                statements.push(Statement { sql, params: &items });
            }
            self.change_all(&statements)
        })
    }

    fn advance_receipt(
        &self,
        id: &ReceiptId,
        step: &ReceiptStep,
        now: Timestamp,
    ) -> Result<Receipt> {
        let to = step.target();
        self.write(|| {
            let receipt = self.receipt(id)?;
            if !step.allowed_from(receipt.state) {
                let id = id.to_string();
                return Err(StoreError::WrongState { id, from: receipt.state, to });
            }
            if receipt.state == to {
                return Ok(receipt);
            }
            match step {
                ReceiptStep::Delivered { host } => self.change(
                    "UPDATE receipt SET state = $2, delivered_at = $3, host = coalesce($4, host)
                     WHERE id = $1",
                    params![id.as_str(), to.as_str(), now, host.as_ref().map(Clean::as_str)],
                ),
                ReceiptStep::Confirmed => self.change(
                    "UPDATE receipt SET state = $2, confirmed_at = $3 WHERE id = $1",
                    params![id.as_str(), to.as_str(), now],
                ),
                ReceiptStep::Failed { reason } => self.change(
                    "UPDATE receipt SET state = $2, failure = $3 WHERE id = $1",
                    params![id.as_str(), to.as_str(), reason.as_str()],
                ),
            }?;
            self.receipt(id)
        })
    }

    fn claim_receipt(&self, id: &ReceiptId, now: Timestamp) -> Result<()> {
        self.write(|| {
            let receipt = self.receipt(id)?;
            if receipt.state != ReceiptState::Assembled {
                let (id, to) = (id.to_string(), ReceiptState::Delivered);
                return Err(StoreError::WrongState { id, from: receipt.state, to });
            }
            let claimed = self.change(
                "UPDATE receipt SET claimed_at = $2
                 WHERE id = $1 AND (claimed_at IS NULL OR claimed_at <= $3)",
                params![id.as_str(), now, live(now)],
            )?;
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
        let count = self.all_of(
            session,
            &format!(
                "SELECT (SELECT count(*) FROM receipt
                    WHERE {OF_SESSION} AND role = $2 AND coalesce(group_id, '') = $3
                        AND state IN ('delivered', 'confirmed'))
                 + (SELECT count(*) FROM receipt r
                    WHERE {OF_SESSION} AND role = $2 AND coalesce(group_id, '') = $3
                        AND state = 'assembled' AND claimed_at IS NOT NULL
                        AND (claimed_at > $4 OR {OF_OPEN_TICKET})) AS count"
            ),
            params![session.as_str(), role.as_str(), group.map_or("", GroupId::as_str), live(now)],
            |row| Columns::of(row).int(),
        )?;
        Ok(count.first().copied().unwrap_or_default())
    }

    fn mark_read(&self, id: &ReceiptId, package: PackageId, now: Timestamp) -> Result<Receipt> {
        self.write(|| {
            let changed = self.change(
                "UPDATE receipt_item SET read_at = coalesce(read_at, $4)
                 WHERE receipt = $1 AND kind = $2 AND item = $3",
                params![id.as_str(), ItemKind::Package.as_str(), package.to_string(), now],
            )?;
            let receipt = self.receipt(id)?;
            if changed == 0 {
                return Err(StoreError::not_found(RecordKind::ReceiptPackage, package));
            }
            Ok(receipt)
        })
    }

    fn mark_used(&self, id: &ReceiptId, uses: &[ItemUse]) -> Result<()> {
        self.write(|| {
            let made = self.first(
                "SELECT s.project, r.created_at FROM receipt r JOIN session s ON s.key = r.session
                 WHERE r.id = $1",
                params![id.as_str()],
                |row| {
                    let mut columns = Columns::of(row);
                    Ok((columns.text()?, columns.time()?))
                },
            )?;
            let (project, made_at) =
                made.ok_or_else(|| StoreError::not_found(RecordKind::Receipt, id))?;
            let mut judged = Vec::new();
            for ItemUse { kind, item, used } in uses {
                let before = self.first(
                    "SELECT used FROM receipt_item WHERE receipt = $1 AND kind = $2 AND item = $3",
                    params![id.as_str(), kind.as_str(), item],
                    |row| Columns::of(row).parsed_opt::<Use>(),
                )?;
                let Some(before) = before else { continue };
                self.change(
                    "UPDATE receipt_item SET used = $4 WHERE receipt = $1 AND kind = $2 AND item = $3",
                    params![id.as_str(), kind.as_str(), item, used.as_str()],
                )?;
                let (project, kind, item) = (project.clone(), *kind, item.clone());
                judged.push(JudgedItem { project, kind, item, before, used: *used, at: made_at });
            }
            self.tally(&judged)
        })
    }

    fn use_tallies(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        items: &[String],
    ) -> Result<UseTallies> {
        self.tallies_of(project, kind, items)
    }

    fn receipt(&self, id: &ReceiptId) -> Result<Receipt> {
        let params = params![id.as_str()];
        let one = format!(
            "SELECT {RECEIPT}, {RECEIPT_TEXTS} FROM receipt r JOIN session s ON s.key = r.session
             WHERE r.id = $1"
        );
        let items =
            format!("SELECT {RECEIPT_ITEM} FROM receipt_item WHERE receipt = $1 ORDER BY position");
        let asked = [Statement { sql: &one, params }, Statement { sql: &items, params }];
        let mut answers = self.ask(|link| link.queries(&asked))?.into_iter();
        let receipt = answers.next().unwrap_or_default();
        let receipt = receipt
            .first()
            .ok_or_else(|| StoreError::not_found(RecordKind::Receipt, id))
            .and_then(|row| rows::whole_receipt(&PgRow(row)))?;
        let items = answers.next().unwrap_or_default();
        let items = items.iter().map(|row| rows::receipt_item(&PgRow(row)));
        Ok(Receipt { items: items.collect::<Result<_>>()?, ..receipt })
    }

    fn receipts(&self, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
        let sql = format!(
            "SELECT {RECEIPT} FROM receipt r JOIN session s ON s.key = r.session
             WHERE ($1 IS NULL OR r.{OF_SESSION})
                AND ($2 IS NULL OR r.group_id = $2) AND ($3 IS NULL OR r.role = $3)
                AND ($4 IS NULL OR r.state = $4) AND r.created_at BETWEEN $7 AND $8
             ORDER BY r.created_at DESC, r.id DESC LIMIT $5 OFFSET $6"
        );
        let params = params![
            filter.session.as_ref().map(SessionId::as_str),
            filter.group.as_ref().map(GroupId::as_str),
            filter.role.as_ref().map(Role::as_str),
            filter.state.map(ReceiptState::as_str),
            filter.limit,
            filter.skip,
            filter.since.map_or(i64::MIN, Timestamp::as_micros),
            filter.until.map_or(i64::MAX, Timestamp::as_micros),
        ];
        match &filter.session {
            Some(session) => self.all_of(session, &sql, params, rows::receipt),
            None => self.all(&sql, params, rows::receipt),
        }
    }

    fn receipt_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ReceiptSums> {
        let sql = rows::receipt_sums("s.project = $1 AND r.created_at >= $2");
        let params = params![project.as_str(), since.as_micros()];
        let mut sums = ReceiptSums::default();
        self.all(&sql, params, |row| rows::add_receipts(row, &mut sums))?;
        Ok(sums)
    }

    fn item_sums(&self, project: &ProjectId, since: Timestamp) -> Result<ItemSums> {
        let period = "s.project = $1 AND r.created_at >= $2";
        let params = params![project.as_str(), since.as_micros()];
        let sums = self.first(&rows::item_sums(period), params, rows::items)?.unwrap_or_default();
        let led =
            self.first(&rows::led_tokens(period), params, |row| Columns::of(row).int::<u64>())?;
        Ok(ItemSums { used_tokens: sums.used_tokens + led.unwrap_or_default(), ..sums })
    }

    fn handed(&self, session: &SessionId) -> Result<Vec<Handed>> {
        self.all_of(
            session,
            &format!(
                "SELECT {HANDED} FROM receipt r JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.{OF_SESSION} ORDER BY i.receipt, i.position"
            ),
            params![session.as_str()],
            rows::handed,
        )
    }

    fn handed_by(&self, session: &SessionId, receipts: &[ReceiptId]) -> Result<Vec<Handed>> {
        let ids: Vec<String> = receipts.iter().map(ToString::to_string).collect();
        self.all_of(
            session,
            &format!(
                "SELECT {HANDED} FROM receipt r JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.{OF_SESSION} AND r.id = ANY($2) ORDER BY i.receipt, i.position"
            ),
            params![session.as_str(), ids],
            rows::handed,
        )
    }

    fn given(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        item: &str,
        limit: u32,
    ) -> Result<Vec<Given>> {
        let sql = format!(
            "SELECT {DELIVERY}, {GIVEN}
             FROM receipt_item i JOIN receipt r ON r.id = i.receipt JOIN session s ON s.key = r.session
             WHERE i.kind = $2 AND i.item = $3 AND s.project = $1 AND r.delivered_at IS NOT NULL
                AND r.state IN ('delivered', 'confirmed')
             ORDER BY r.delivered_at DESC, i.receipt DESC LIMIT $4"
        );
        let params = params![project.as_str(), kind.as_str(), item, limit];
        self.all(&sql, params, rows::given)
    }

    fn consumed(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: &Role,
        iteration: u32,
        now: Timestamp,
    ) -> Result<Vec<(PackageId, u32)>> {
        self.all_of(
            session,
            &format!(
                "SELECT i.item::bigint AS package, i.version
                 FROM receipt r JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.{OF_SESSION} AND r.role = $3 AND coalesce(r.group_id, '') = $2
                    AND r.iteration = $4 AND r.state IN ('delivered', 'confirmed')
                    AND i.kind = 'package'
                 UNION
                 SELECT i.item::bigint, i.version
                 FROM receipt r JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.{OF_SESSION} AND r.role = $3 AND coalesce(r.group_id, '') = $2
                    AND r.iteration = $4 AND r.state = 'assembled' AND r.claimed_at IS NOT NULL
                    AND (r.claimed_at > $5 OR {OF_OPEN_TICKET})
                    AND i.kind = 'package'
                 ORDER BY 1, 2"
            ),
            params![
                session.as_str(),
                group.map_or("", GroupId::as_str),
                role.as_str(),
                iteration,
                live(now)
            ],
            |row| {
                let mut columns = Columns::of(row);
                Ok((PackageId(columns.int()?), columns.int()?))
            },
        )
    }
}
