//! Records that belong to a project: error patterns, strategies and notes.

use std::fmt::Write as _;

use handover_model::learn::{self, Signature};
use handover_model::{
    Amendment, ErrorIncident, ErrorPattern, ItemRef, Note, Operation, Strategy, Trust,
};

use super::{Columns, Row};
use crate::{KnownUnit, Result, TrustAt};

/// The lower of two trust classes, in SQL.
pub fn lower_trust(one: &str, other: &str) -> String {
    let mut cases = String::new();
    for class in Trust::WORDS {
        let _ = write!(cases, " WHEN '{class}' IN ({one}, {other}) THEN '{class}'");
    }
    format!("CASE{cases} END")
}

/// Of `error_pattern e`; with the solution that was used most often, then the latest.
pub const ERROR_PATTERN: &str = "e.project, e.hash, e.kind, e.message, e.hints, e.confidence, \
    e.occurrences, e.language, e.first_seen, e.last_seen, e.ttl_days, e.example, e.trust, e.state, e.reason, \
    (SELECT solution FROM error_solution s WHERE s.project = e.project AND s.hash = e.hash \
        ORDER BY uses DESC, last_used DESC, solution LIMIT 1)";

/// Reads [`ERROR_PATTERN`].
pub fn error_pattern(row: &dyn Row) -> Result<ErrorPattern> {
    let mut c = Columns::of(row);
    Ok(ErrorPattern {
        project: c.parsed()?,
        hash: c.text()?,
        signature: Signature { kind: c.text()?, message: c.text()?, hints: c.list()? },
        confidence: learn::Trust::from_thousandths(c.int()?),
        occurrences: c.int()?,
        language: c.text_opt()?,
        first_seen: c.time()?,
        last_seen: c.time()?,
        ttl_days: c.int()?,
        example: c.text_opt()?,
        trust: c.parsed()?,
        state: c.parsed()?,
        reason: c.text_opt()?,
        solution: c.text_opt()?,
    })
}

/// Of `error_incident i LEFT JOIN session s`.
pub const ERROR_INCIDENT: &str = "i.hash, s.id, i.group_id, i.role, i.command, i.created_at";

/// Reads [`ERROR_INCIDENT`].
pub fn error_incident(row: &dyn Row) -> Result<ErrorIncident> {
    let mut c = Columns::of(row);
    Ok(ErrorIncident {
        hash: c.text()?,
        session: c.parsed_opt()?,
        group: c.parsed_opt()?,
        role: c.parsed_opt()?,
        command: c.text_opt()?,
        created_at: c.time()?,
    })
}

/// Of `error_trust`.
pub const TRUST_AT: &str = "changed_at, confidence";

/// Reads [`TRUST_AT`].
pub fn trust_at(row: &dyn Row) -> Result<TrustAt> {
    let mut c = Columns::of(row);
    Ok(TrustAt { at: c.time()?, confidence: learn::Trust::from_thousandths(c.int()?) })
}

/// Of `strategy`.
pub const STRATEGY: &str = "id, project, topic, insight, helpfulness, language, framework, created_at, last_seen, \
    trust, state, reason";

/// Reads [`STRATEGY`].
pub fn strategy(row: &dyn Row) -> Result<Strategy> {
    let mut c = Columns::of(row);
    Ok(Strategy {
        id: c.text()?,
        project: c.parsed()?,
        topic: c.parsed()?,
        insight: c.text()?,
        helpfulness: c.int()?,
        language: c.text_opt()?,
        framework: c.text_opt()?,
        created_at: c.time()?,
        last_seen: c.time()?,
        trust: c.parsed()?,
        state: c.parsed()?,
        reason: c.text_opt()?,
    })
}

/// Of `note`, with its number.
pub const NOTE: &str = "key, id, project, kind, origin, source, title, text, trust, paths, symbols, state, reason, \
    hash, created_at";

/// Reads [`NOTE`].
pub fn note(row: &dyn Row) -> Result<(i64, Note)> {
    let mut c = Columns::of(row);
    let number = c.int()?;
    let note = Note {
        id: c.parsed()?,
        project: c.parsed()?,
        kind: c.parsed()?,
        origin: c.text()?,
        source: c.text()?,
        title: c.text()?,
        text: c.text()?,
        trust: c.parsed()?,
        paths: c.list()?,
        symbols: c.list()?,
        state: c.parsed()?,
        reason: c.text_opt()?,
        hash: c.text()?,
        created_at: c.time()?,
    };
    Ok((number, note))
}

/// Of `amendment`.
pub const AMENDMENT: &str =
    "project, earlier_kind, earlier, later_kind, later, decision, decided_at";

/// Reads [`AMENDMENT`].
pub fn amendment(row: &dyn Row) -> Result<Amendment> {
    let mut c = Columns::of(row);
    Ok(Amendment {
        project: c.parsed()?,
        earlier: ItemRef { kind: c.parsed()?, id: c.text()? },
        later: ItemRef { kind: c.parsed()?, id: c.text()? },
        decision: c.parsed()?,
        decided_at: c.time()?,
    })
}

/// Of `note_unit`.
pub const KNOWN_UNIT: &str = "source, fingerprint, learned_at";

/// Reads [`KNOWN_UNIT`].
pub fn known_unit(row: &dyn Row) -> Result<KnownUnit> {
    let mut c = Columns::of(row);
    Ok(KnownUnit { source: c.text()?, fingerprint: c.text()?, learned_at: c.time()? })
}

/// Of `operation o LEFT JOIN session s`.
pub const OPERATION: &str =
    "o.id, o.project, s.id, o.action, o.changes, o.undoes, o.trust, o.author, o.created_at";

/// Reads [`OPERATION`].
pub fn operation(row: &dyn Row) -> Result<Operation> {
    let mut c = Columns::of(row);
    Ok(Operation {
        id: c.parsed()?,
        project: c.parsed()?,
        session: c.parsed_opt()?,
        action: c.parsed()?,
        changes: c.list()?,
        undoes: c.parsed_opt()?,
        trust: c.parsed()?,
        author: c.text_opt()?,
        created_at: c.time()?,
    })
}
