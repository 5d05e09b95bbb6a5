//! The databases of other programs, for the sources that read them, and for what agents used.

use std::path::Path;

use handover_agents::Databases;
use handover_knowledge::{ForeignTables, ForeignValue};
use handover_sqlite::ForeignDatabase;
use handover_store::archive::Value;
use serde_json::Value as Json;

/// Opens a database for each question, read-only.
#[derive(Debug)]
pub(crate) struct Tables;

impl ForeignTables for Tables {
    fn rows(
        &self,
        database: &Path,
        table: &str,
        columns: &[&str],
        filter: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[ForeignValue]),
    ) -> Result<(), String> {
        let database = ForeignDatabase::peek(database).map_err(|error| error.to_string())?;
        let mut values: Vec<ForeignValue> = Vec::with_capacity(columns.len());
        database
            .each_row(table, columns, filter, &mut |row| {
                values.clear();
                values.extend(row.iter().map(value));
                each(&values);
            })
            .map_err(|error| error.to_string())
    }
}

impl Databases for Tables {
    fn rows(
        &self,
        database: &Path,
        table: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&[Json]),
    ) -> Option<()> {
        let read = ForeignTables::rows(self, database, table, columns, None, &mut |row| {
            each(&row.iter().map(json).collect::<Vec<Json>>());
        });
        read.ok()
    }
}

fn json(value: &ForeignValue) -> Json {
    match value {
        ForeignValue::Null => Json::Null,
        ForeignValue::Integer(number) => (*number).into(),
        ForeignValue::Real(number) => (*number).into(),
        ForeignValue::Text(text) => text.as_str().into(),
    }
}

fn value(value: &Value) -> ForeignValue {
    match value {
        Value::Null | Value::Bytes(_) => ForeignValue::Null,
        Value::Int(number) => ForeignValue::Integer(*number),
        Value::Real(number) => ForeignValue::Real(*number),
        Value::Text(text) => ForeignValue::Text(text.clone()),
    }
}
