//! Records of a session: groups, packages, reasoning, verdicts, skill outputs, events and receipts.

use handover_model::{
    Delivery, Event, EventId, Group, Package, PackageId, Reasoning, ReasoningId, Receipt,
    ReceiptItem, RecordState, Session, SessionCounts, SessionId, SkillOutput, SkillOutputId,
    VerdictId, VerdictRecord,
};

use super::{Columns, Row};
use crate::packed::Registration;
use crate::{Given, Handed, Outline, Result};

/// Of `session`.
pub const SESSION: &str = "id, project, status, metadata, created_at, ended_at";

/// Reads [`SESSION`].
pub fn session(row: &dyn Row) -> Result<Session> {
    let mut c = Columns::of(row);
    Ok(Session {
        id: c.parsed()?,
        project: c.parsed()?,
        status: c.parsed()?,
        metadata: c.json()?,
        created_at: c.time()?,
        ended_at: c.time_opt()?,
    })
}

/// Reads the counts of groups, latest packages, package versions, reasoning, skill outputs, events and
/// receipts.
pub fn session_counts(row: &dyn Row) -> Result<SessionCounts> {
    let mut c = Columns::of(row);
    Ok(SessionCounts {
        groups: c.int()?,
        packages: c.int()?,
        package_versions: c.int()?,
        reasoning: c.int()?,
        skill_outputs: c.int()?,
        events: c.int()?,
        receipts: c.int()?,
    })
}

/// Of `task_group`; the lists of references and counters follow as JSON.
pub const GROUP: &str = "id, title, status, specializations, component, created_at";

/// Reads [`GROUP`], references and counters.
pub fn group(session: &SessionId, row: &dyn Row) -> Result<Group> {
    let mut c = Columns::of(row);
    Ok(Group {
        session: session.clone(),
        id: c.parsed()?,
        title: c.text_opt()?,
        status: c.parsed()?,
        specializations: c.json()?,
        component: c.text_opt()?,
        created_at: c.time()?,
        references: c.json()?,
        counters: c.json()?,
    })
}

/// Of `package p JOIN session s`; the list of consumers follows as JSON.
pub const PACKAGE: &str = "p.id, s.id, p.group_id, p.scope, p.kind, p.path, p.title, p.summary, p.files, \
    p.producer, p.priority, p.iteration, p.version, p.supersedes, p.superseded_by, p.size_bytes, \
    p.tokens, p.content_hash, p.created_at, p.trust, p.state, p.reason";

/// Reads [`PACKAGE`] and consumers.
pub fn package(row: &dyn Row) -> Result<Package> {
    let mut c = Columns::of(row);
    Ok(Package {
        id: PackageId(c.int()?),
        session: c.parsed()?,
        group: c.parsed_opt()?,
        scope: c.parsed()?,
        kind: c.parsed()?,
        path: c.text()?,
        title: c.text_opt()?,
        summary: c.text()?,
        files: c.list()?,
        producer: c.parsed()?,
        priority: c.parsed()?,
        iteration: c.int_opt()?,
        version: c.int()?,
        supersedes: c.int_opt()?.map(PackageId),
        superseded_by: c.int_opt()?.map(PackageId),
        size_bytes: c.int()?,
        tokens: c.int()?,
        content_hash: c.text()?,
        created_at: c.time()?,
        trust: c.parsed()?,
        state: c.parsed()?,
        reason: c.text_opt()?,
        consumers: c.list()?,
    })
}

/// Of `package`.
pub const OUTLINE: &str = "id, coalesce(title, path), producer, version, superseded_by, created_at";

/// Reads [`OUTLINE`].
pub fn outline(row: &dyn Row) -> Result<Outline> {
    let mut c = Columns::of(row);
    Ok(Outline {
        id: PackageId(c.int()?),
        name: c.text()?,
        producer: c.parsed()?,
        version: c.int()?,
        is_latest: c.int_opt::<i64>()?.is_none(),
        created_at: c.time()?,
    })
}

/// Of `package`, every version, in the order of ids: what rebuilding an index replays.
pub const REGISTRATION: &str =
    "id, group_id, created_at, summary, supersedes, superseded_by, state";

/// Reads [`REGISTRATION`]; also whether it is in the index: the latest version, and not retired.
pub fn registration(row: &dyn Row) -> Result<(Registration, bool)> {
    let mut c = Columns::of(row);
    let registration = Registration {
        id: PackageId(c.int()?),
        group: c.parsed_opt()?,
        created_at: c.time()?,
        summary: c.text()?,
        supersedes: c.int_opt()?.map(PackageId),
    };
    let is_latest = c.int_opt::<i64>()?.is_none();
    Ok((registration, is_latest && c.parsed::<RecordState>()? == RecordState::Live))
}

/// Of `receipt_item i JOIN receipt r`.
pub const DELIVERY: &str =
    "i.receipt, r.group_id, r.role, r.iteration, i.version, r.state, i.read_at, r.delivered_at";

/// Reads [`DELIVERY`].
pub fn delivery(row: &dyn Row) -> Result<Delivery> {
    read_delivery(&mut Columns::of(row))
}

fn read_delivery(c: &mut Columns<'_>) -> Result<Delivery> {
    Ok(Delivery {
        receipt: c.parsed()?,
        group: c.parsed_opt()?,
        role: c.parsed()?,
        iteration: c.int()?,
        version: c.int()?,
        state: c.parsed()?,
        read_at: c.time_opt()?,
        delivered_at: c.time()?,
    })
}

/// Of `reasoning`.
pub const REASONING: &str =
    "id, group_id, role, agent_id, iteration, phase, confidence, content, refs, created_at, trust";

/// Reads [`REASONING`].
pub fn reasoning(session: &SessionId, row: &dyn Row) -> Result<Reasoning> {
    let mut c = Columns::of(row);
    Ok(Reasoning {
        id: ReasoningId(c.int()?),
        session: session.clone(),
        group: c.parsed_opt()?,
        role: c.parsed()?,
        agent_id: c.parsed_opt()?,
        iteration: c.int()?,
        phase: c.parsed()?,
        confidence: c.parsed_opt()?,
        content: c.text()?,
        references: c.json()?,
        created_at: c.time()?,
        trust: c.parsed()?,
    })
}

/// Of `verdict`.
pub const VERDICT: &str = "id, group_id, role, agent_id, iteration, receipt, verdict, summary, findings, created_at, trust";

/// Reads [`VERDICT`].
pub fn verdict(session: &SessionId, row: &dyn Row) -> Result<VerdictRecord> {
    let mut c = Columns::of(row);
    Ok(VerdictRecord {
        id: VerdictId(c.int()?),
        session: session.clone(),
        group: c.parsed_opt()?,
        role: c.parsed()?,
        agent_id: c.parsed_opt()?,
        iteration: c.int()?,
        receipt: c.parsed_opt()?,
        verdict: c.parsed()?,
        summary: c.text_opt()?,
        findings: c.list()?,
        created_at: c.time()?,
        trust: c.parsed()?,
    })
}

/// Of `skill_output`.
pub const SKILL_OUTPUT: &str = "id, skill, role, group_id, iteration, output, created_at";

/// Reads [`SKILL_OUTPUT`].
pub fn skill_output(session: &SessionId, row: &dyn Row) -> Result<SkillOutput> {
    let mut c = Columns::of(row);
    Ok(SkillOutput {
        id: SkillOutputId(c.int()?),
        session: session.clone(),
        skill: c.parsed()?,
        role: c.parsed_opt()?,
        group: c.parsed_opt()?,
        iteration: c.int()?,
        output: c.json()?,
        created_at: c.time()?,
    })
}

/// Of `event`.
pub const EVENT: &str = "id, group_id, type, payload, key, created_at";

/// Reads [`EVENT`].
pub fn event(session: &SessionId, row: &dyn Row) -> Result<Event> {
    let mut c = Columns::of(row);
    Ok(Event {
        id: EventId(c.int()?),
        session: session.clone(),
        group: c.parsed_opt()?,
        kind: c.parsed()?,
        payload: c.json()?,
        key: c.text_opt()?,
        created_at: c.time()?,
    })
}

/// Of `receipt r JOIN session s`. The long columns come last, so that listings can leave them out.
pub const RECEIPT: &str = "r.id, s.id, r.group_id, r.role, r.iteration, r.model, r.tokenizer, r.zone, \
    r.state, r.host, r.tokens, r.prompt_hash, r.sections, r.left_out_counts, r.redactions, r.trimmed, \
    r.provided, r.failure, r.created_at, r.delivered_at, r.confirmed_at, substr(r.task, 1, 200)";

/// What [`whole_receipt`] reads behind [`RECEIPT`].
pub const RECEIPT_TEXTS: &str = "r.left_out, r.text, r.task";

/// Reads [`RECEIPT`]: a receipt as listings show it, without items, what was left out, and text.
pub fn receipt(row: &dyn Row) -> Result<Receipt> {
    receipt_head(&mut Columns::of(row))
}

/// Reads [`RECEIPT`] and [`RECEIPT_TEXTS`]; the items are rows of their own.
pub fn whole_receipt(row: &dyn Row) -> Result<Receipt> {
    let mut c = Columns::of(row);
    let receipt = receipt_head(&mut c)?;
    Ok(Receipt { left_out: c.json()?, text: c.text_opt()?, task: c.text_opt()?, ..receipt })
}

fn receipt_head(c: &mut Columns<'_>) -> Result<Receipt> {
    Ok(Receipt {
        id: c.parsed()?,
        session: c.parsed()?,
        group: c.parsed_opt()?,
        role: c.parsed()?,
        iteration: c.int()?,
        model: c.text_opt()?,
        tokenizer: c.text()?,
        zone: c.parsed()?,
        state: c.parsed()?,
        host: c.text_opt()?,
        tokens: c.int()?,
        prompt_hash: c.text()?,
        sections: c.json()?,
        left_out_counts: c.json()?,
        redactions: c.json()?,
        trimmed: c.list()?,
        provided: c.json()?,
        failure: c.text_opt()?,
        created_at: c.time()?,
        delivered_at: c.time_opt()?,
        confirmed_at: c.time_opt()?,
        task: c.text_opt()?,
        items: Vec::new(),
        left_out: Vec::new(),
        text: None,
    })
}

/// Of `receipt_item`.
pub const RECEIPT_ITEM: &str =
    "kind, item, version, form, score, terms, tokens, read_at, trust, flags, stale, outdated, used";

/// Reads [`RECEIPT_ITEM`].
pub fn receipt_item(row: &dyn Row) -> Result<ReceiptItem> {
    let mut c = Columns::of(row);
    Ok(ReceiptItem {
        kind: c.parsed()?,
        id: c.text()?,
        version: c.int()?,
        form: c.parsed()?,
        score: c.real()?,
        terms: c.json()?,
        tokens: c.int()?,
        read_at: c.time_opt()?,
        trust: c.parsed()?,
        flags: c.list()?,
        stale: c.list()?,
        outdated: c.json_opt()?,
        used: c.parsed_opt()?,
    })
}

/// Of `receipt_item i`, `receipt r` and `session s`, after [`DELIVERY`].
pub const GIVEN: &str = "s.id, i.used";

/// Reads [`DELIVERY`] and [`GIVEN`].
pub fn given(row: &dyn Row) -> Result<Given> {
    let mut c = Columns::of(row);
    let delivery = read_delivery(&mut c)?;
    Ok(Given { delivery, session: c.parsed()?, used: c.parsed_opt()? })
}

/// Of `receipt_item i`.
pub const HANDED: &str = "i.receipt, i.kind, i.item, i.read_at";

/// Reads [`HANDED`].
pub fn handed(row: &dyn Row) -> Result<Handed> {
    let mut c = Columns::of(row);
    Ok(Handed { receipt: c.parsed()?, kind: c.parsed()?, item: c.text()?, read_at: c.time_opt()? })
}
