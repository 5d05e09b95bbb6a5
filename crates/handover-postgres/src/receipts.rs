//! Receipts.

use handover_model::{
    GroupId, ItemKind, PackageId, Receipt, ReceiptId, ReceiptItem, ReceiptState, Role, SessionId,
    Timestamp,
};
use handover_store::{
    CLAIM_SECONDS, Handed, NewReceipt, ReceiptFilter, ReceiptStep, Receipts, Result, StoreError,
};
use handover_text::Clean;
use tokio_postgres::Row;

use crate::link::Statement;
use crate::value::{self, columns, params, row};
use crate::{OF_SESSION, PostgresStore};

const SELECT: &str =
    "SELECT s.id AS session_id, r.* FROM receipt r JOIN session s ON s.key = r.session";

/// A receipt without its items.
fn read(r: &Row) -> Result<Receipt> {
    Ok(Receipt {
        id: value::parsed(r, "id")?,
        session: value::parsed(r, "session_id")?,
        group: value::parsed_opt(r, "group_id")?,
        role: value::parsed(r, "role")?,
        iteration: value::int(r, "iteration")?,
        model: value::text_opt(r, "model")?,
        tokenizer: value::text(r, "tokenizer")?,
        zone: value::parsed(r, "zone")?,
        state: value::parsed(r, "state")?,
        host: value::text_opt(r, "host")?,
        tokens: value::int(r, "tokens")?,
        prompt_hash: value::text(r, "prompt_hash")?,
        sections: value::json(r, "sections")?,
        items: Vec::new(),
        left_out: Vec::new(),
        left_out_counts: value::json(r, "left_out_counts")?,
        redactions: value::json(r, "redactions")?,
        trimmed: value::json(r, "trimmed")?,
        provided: value::json(r, "provided")?,
        text: None,
        failure: value::text_opt(r, "failure")?,
        created_at: value::time(r, "created_at")?,
        delivered_at: value::time_opt(r, "delivered_at")?,
        confirmed_at: value::time_opt(r, "confirmed_at")?,
    })
}

fn read_item(r: &Row) -> Result<ReceiptItem> {
    Ok(ReceiptItem {
        kind: value::parsed(r, "kind")?,
        id: value::text(r, "item")?,
        version: value::int(r, "version")?,
        form: value::parsed(r, "form")?,
        score: value::real(r, "score")?,
        terms: value::json(r, "terms")?,
        tokens: value::int(r, "tokens")?,
        read_at: value::time_opt(r, "read_at")?,
    })
}

/// Since when a claim is still alive at a moment.
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
                value::to_json(&new.sections),
                value::to_json(&new.left_out),
                value::to_json(&new.left_out_counts),
                value::to_json(&new.redactions),
                new.now,
                new.claim.then(|| new.now.as_micros()),
                value::to_json(&new.trimmed),
                value::to_json(&new.provided),
                new.text.as_ref().map(Clean::as_str),
            ];
            let receipt = "INSERT INTO receipt (id, session, group_id, role, iteration, model,
                    tokenizer, zone, state, tokens, prompt_hash, sections, left_out,
                    left_out_counts, redactions, created_at, claimed_at, trimmed, provided, text)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'assembled', $9, $10, $11, $12, $13, $14,
                    $15, $16, $17, $18, $19)";
            let items = columns(new.items.iter().enumerate().map(|(position, item)| {
                row![
                    new.id.as_str(),
                    position as i64,
                    item.kind.as_str(),
                    &item.id,
                    item.version,
                    item.form.as_str(),
                    item.score,
                    value::to_json(&item.terms),
                    item.tokens,
                ]
            }));
            let mut statements = vec![Statement { sql: receipt, params }];
            if !items.is_empty() {
                let sql = "INSERT INTO receipt_item
                        (receipt, position, kind, item, version, form, score, terms, tokens)
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)";
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
                 + (SELECT count(*) FROM receipt
                    WHERE {OF_SESSION} AND role = $2 AND coalesce(group_id, '') = $3
                        AND state = 'assembled' AND claimed_at > $4) AS count"
            ),
            params![session.as_str(), role.as_str(), group.map_or("", GroupId::as_str), live(now)],
            |r| value::int(r, "count"),
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
                return Err(StoreError::not_found("package of this receipt", package));
            }
            Ok(receipt)
        })
    }

    fn receipt(&self, id: &ReceiptId) -> Result<Receipt> {
        let whole = |r: &Row| {
            Ok(Receipt {
                left_out: value::json(r, "left_out")?,
                text: value::text_opt(r, "text")?,
                ..read(r)?
            })
        };
        let (one, params) = (format!("{SELECT} WHERE r.id = $1"), params![id.as_str()]);
        let items = "SELECT kind, item, version, form, score, terms, tokens, read_at
             FROM receipt_item WHERE receipt = $1 ORDER BY position";
        let asked = [Statement { sql: &one, params }, Statement { sql: items, params }];
        let mut answers = self.ask(|link| link.queries(&asked))?.into_iter();
        let receipt = answers.next().unwrap_or_default().first().map(whole).transpose()?;
        let items = answers.next().unwrap_or_default().iter().map(read_item).collect::<Result<_>>();
        let receipt = receipt.ok_or_else(|| StoreError::not_found("receipt", id))?;
        Ok(Receipt { items: items?, ..receipt })
    }

    fn receipts(&self, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
        let sql = format!(
            "{SELECT} WHERE ($1 IS NULL OR r.{OF_SESSION})
                AND ($2 IS NULL OR r.group_id = $2) AND ($3 IS NULL OR r.role = $3)
             ORDER BY r.created_at DESC, r.id DESC LIMIT $4"
        );
        let params = params![
            filter.session.as_ref().map(SessionId::as_str),
            filter.group.as_ref().map(GroupId::as_str),
            filter.role.as_ref().map(Role::as_str),
            filter.limit,
        ];
        match &filter.session {
            Some(session) => self.all_of(session, &sql, params, read),
            None => self.all(&sql, params, read),
        }
    }

    fn handed(&self, session: &SessionId) -> Result<Vec<Handed>> {
        self.all_of(
            session,
            &format!(
                "SELECT i.receipt, i.kind, i.item, i.read_at
                 FROM receipt r JOIN receipt_item i ON i.receipt = r.id
                 WHERE r.{OF_SESSION} ORDER BY i.receipt, i.position"
            ),
            params![session.as_str()],
            |r| {
                Ok(Handed {
                    receipt: value::parsed(r, "receipt")?,
                    kind: value::parsed(r, "kind")?,
                    item: value::text(r, "item")?,
                    read_at: value::time_opt(r, "read_at")?,
                })
            },
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
                    AND r.iteration = $4 AND r.state = 'assembled' AND r.claimed_at > $5
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
            |r| Ok((PackageId(value::int(r, "package")?), value::int(r, "version")?)),
        )
    }
}
