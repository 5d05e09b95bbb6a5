//! Imports error patterns and strategies, with the trust they have earned.

use std::collections::BTreeSet;

use handover_model::learn::{self, Signature, strategy_id};
use handover_model::{RecordState, Timestamp, Topic, Trust};
use handover_store::archive::{CleanRecord, Kind, Record, Value};
use handover_store::{CleanSignature, Result, Store, StoreError};
use serde_json::Value as Json;

use super::row::{Problem, Row, each};
use super::{Report, Source};

/// The length limit of insights.
const INSIGHT_CHARS: usize = 500;

/// A record of a kind, given by its columns; all others are null.
fn record(kind: &str, values: &[(&str, Value)]) -> Result<Record> {
    let kind = Kind::named(kind)
        .ok_or_else(|| StoreError::damaged("a kind of record that the archive does not list"))?;
    let find = |name: &str| values.iter().find(|(column, _)| *column == name);
    let values = kind.columns.iter().map(|c| find(c.name).map_or(Value::Null, |(_, v)| v.clone()));
    Ok(Record { kind, values: values.collect() })
}

fn put(store: &dyn Store, source: &Source<'_>, records: &[Record]) -> Result<()> {
    store.put_records(&mut |sink| {
        records.iter().try_for_each(|r| sink(CleanRecord::redacted(r.clone(), source.redactor)))
    })?;
    Ok(())
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Nobody here vouches for it.
fn imported() -> Value {
    text(Trust::Outside.as_str())
}

fn optional(value: Option<&str>) -> Value {
    value.map_or(Value::Null, text)
}

struct Pattern {
    signature: Signature,
    solution: String,
    trust: i64,
    occurrences: i64,
    language: Option<String>,
    first_seen: Timestamp,
    last_seen: Timestamp,
    ttl_days: i64,
}

fn pattern(source: &Source<'_>, row: &Row) -> Result<Pattern, Problem> {
    let clean = |text: &str| source.redactor.clean(text).as_str().to_owned();
    let signature: Json = serde_json::from_str(row.needed("signature_json")?)
        .map_err(|_| "`signature_json` is not JSON".to_owned())?;
    let part = |name: &str| signature[name].as_str().map(clean);
    let message = part("message_pattern").ok_or("`signature_json` has no `message_pattern`")?;
    let hints = signature["context_hints"].as_array().cloned().unwrap_or_default();
    let hints: Vec<String> = hints.iter().filter_map(Json::as_str).map(clean).collect();
    let kind = part("error_type").filter(|kind| kind != "Unknown");
    let confidence = row.fraction("confidence")?.unwrap_or(0.5).clamp(0.0, 1.0);
    let last_seen = row.time(&["last_seen", "created_at"]).unwrap_or(source.now);
    Ok(Pattern {
        signature: CleanSignature::new(kind.as_deref(), &message, &hints, source.redactor)
            .signature(),
        solution: clean(row.needed("solution")?),
        trust: (confidence * 1_000.0).round() as i64,
        occurrences: row.number("occurrences")?.unwrap_or(1).max(1),
        language: row.text("lang")?.map(clean),
        first_seen: row.time(&["created_at"]).unwrap_or(last_seen),
        last_seen,
        ttl_days: row.number("ttl_days")?.unwrap_or(90).clamp(1, 36_500),
    })
}

pub(super) fn errors(store: &dyn Store, source: &Source<'_>, report: &mut Report) -> Result<()> {
    let there = store.errors(source.project, &Default::default())?;
    let mut known: BTreeSet<String> = there.into_iter().map(|pattern| pattern.hash).collect();
    each(source, report, "error_patterns", |row, report| {
        let found = match pattern(source, row) {
            Ok(found) => found,
            Err(problem) => return Ok(Err(problem)),
        };
        let hash = found.signature.hash();
        let new = known.insert(hash.clone());
        report.errors.take(new);
        if new {
            let project = || text(source.project.as_str());
            let hints = serde_json::to_string(&found.signature.hints).unwrap_or_default();
            let trust = learn::Trust::from_thousandths(found.trust).thousandths();
            let pattern = record(
                "error_pattern",
                &[
                    ("project", project()),
                    ("hash", text(&hash)),
                    ("kind", text(&found.signature.kind)),
                    ("message", text(&found.signature.message)),
                    ("hints", text(hints)),
                    ("solved", Value::Int(1)),
                    ("confidence", Value::Int(trust)),
                    ("occurrences", Value::Int(found.occurrences)),
                    ("language", optional(found.language.as_deref())),
                    ("first_seen", Value::Int(found.first_seen.as_micros())),
                    ("last_seen", Value::Int(found.last_seen.as_micros())),
                    ("ttl_days", Value::Int(found.ttl_days)),
                    ("example", Value::Null),
                    ("trust", imported()),
                    ("state", text(RecordState::Live.as_str())),
                    ("reason", Value::Null),
                ],
            )?;
            let solution = record(
                "error_solution",
                &[
                    ("project", project()),
                    ("hash", text(&hash)),
                    ("solution", text(&found.solution)),
                    ("uses", Value::Int(1)),
                    ("last_used", Value::Int(found.last_seen.as_micros())),
                ],
            )?;
            put(store, source, &[pattern, solution])?;
        }
        Ok::<_, StoreError>(Ok(()))
    })
}

pub(super) fn strategies(
    store: &dyn Store,
    source: &Source<'_>,
    report: &mut Report,
) -> Result<()> {
    let there = store.strategies(source.project, &Default::default())?;
    let mut known: BTreeSet<String> = there.into_iter().map(|strategy| strategy.id).collect();
    each(source, report, "strategies", |row, report| {
        let read = || -> Result<_, Problem> {
            let insight = source.redactor.clean(row.needed("insight")?).cut(INSIGHT_CHARS);
            // Their fourth topic, `general`, is about how to work.
            let topic = row.parsed::<Topic>("topic").unwrap_or(None).unwrap_or(Topic::Methodology);
            let helpfulness = row.number("helpfulness")?.unwrap_or(0).max(0);
            Ok((insight, topic, helpfulness, row.text("lang")?, row.text("framework")?))
        };
        let (insight, topic, helpfulness, language, framework) = match read() {
            Ok(read) => read,
            Err(problem) => return Ok(Err(problem)),
        };
        let id = strategy_id(source.project, topic, insight.as_str());
        let new = known.insert(id.clone());
        report.strategies.take(new);
        if new {
            let last_seen = row.time(&["last_seen", "created_at"]).unwrap_or(source.now);
            let created_at = row.time(&["created_at"]).unwrap_or(last_seen);
            let strategy = record(
                "strategy",
                &[
                    ("id", text(id)),
                    ("project", text(source.project.as_str())),
                    ("topic", text(topic.as_str())),
                    ("insight", text(insight.as_str())),
                    ("helpfulness", Value::Int(helpfulness)),
                    ("language", optional(language)),
                    ("framework", optional(framework)),
                    ("created_at", Value::Int(created_at.as_micros())),
                    ("last_seen", Value::Int(last_seen.as_micros())),
                    ("trust", imported()),
                    ("state", text(RecordState::Live.as_str())),
                    ("reason", Value::Null),
                ],
            )?;
            put(store, source, &[strategy])?;
        }
        Ok::<_, StoreError>(Ok(()))
    })
}
