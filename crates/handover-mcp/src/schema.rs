//! JSON Schemas for the enums of handover-model, which has no schema dependency, in a form that every
//! client understands.

use handover_model::{Confidence, PackageKind, Phase, Priority, Verdict};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

fn words(words: &[&str]) -> Schema {
    json_schema!({"type": "string", "enum": words})
}

macro_rules! schemas {
    ($($name:ident: $words:ty),+ $(,)?) => {
        $(pub(crate) fn $name(_: &mut SchemaGenerator) -> Schema {
            words(<$words>::WORDS)
        })+
    };
}

schemas!(kind: PackageKind, priority: Priority, phase: Phase, confidence: Confidence, verdict: Verdict);

/// An object with one optional text per phase.
pub(crate) fn by_phase(_: &mut SchemaGenerator) -> Schema {
    let fields: Map<String, Value> = Phase::WORDS
        .iter()
        .map(|word| ((*word).to_owned(), serde_json::json!({"type": "string"})))
        .collect();
    json_schema!({"type": "object", "properties": fields, "additionalProperties": false})
}

/// Removes `null` types and Rust's numeric formats: clients translate schemas into dialects that support
/// neither.
pub(crate) fn portable(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    let numeric = |format: &Value| {
        let name = format.as_str().unwrap_or_default();
        name.starts_with("uint") || name.starts_with("int") || name == "double"
    };
    schema.retain(|key, value| match key.as_str() {
        "format" => !numeric(value),
        "default" => !value.is_null(),
        _ => true,
    });
    schema.values_mut().for_each(portable_parts);
}

fn portable_parts(part: &mut Value) {
    match part {
        Value::Object(schema) => portable(schema),
        Value::Array(parts) => parts.iter_mut().for_each(portable_parts),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
