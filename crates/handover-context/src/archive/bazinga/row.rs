//! A row of another program's table, with conversions of its values.

use std::collections::BTreeMap;
use std::str::FromStr;

use handover_model::{GLOBAL_GROUP, GroupId, Timestamp};
use handover_store::archive::Value;
use serde_json::{Value as Json, json};

use super::{Damage, Report, Source};

pub(super) struct Row {
    table: &'static str,
    values: BTreeMap<String, Value>,
}

/// Why a row is invalid.
pub(super) type Problem = String;

/// Calls `take` for every row of a table and reports invalid rows.
pub(super) fn each<E>(
    source: &Source<'_>,
    report: &mut Report,
    table: &'static str,
    mut take: impl FnMut(&Row, &mut Report) -> Result<Result<(), Problem>, E>,
) -> Result<(), E> {
    let found = (source.table)(table);
    for values in found.rows {
        let row = Row { table, values };
        if let Err(problem) = take(&row, report)? {
            report.damaged.push(Damage { table, row: row.name(), problem });
        }
    }
    if let Some(problem) = found.broken {
        let row = "the rest of the table".to_owned();
        report.damaged.push(Damage { table, row, problem });
    }
    Ok(())
}

impl Row {
    /// The row's id, name or position, for reports.
    fn name(&self) -> String {
        let key = match self.table {
            "sessions" => "session_id",
            "error_patterns" => "pattern_hash",
            "strategies" => "strategy_id",
            _ => "id",
        };
        match self.values.get(key) {
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Text(text)) => text.chars().take(64).collect(),
            Some(Value::Null | Value::Real(_) | Value::Bytes(_)) | None => "?".to_owned(),
        }
    }

    /// A text, if the column exists and is not empty.
    pub(super) fn text(&self, column: &str) -> Result<Option<&str>, Problem> {
        match self.values.get(column) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) if text.is_empty() => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Int(_) | Value::Real(_) | Value::Bytes(_)) => {
                Err(format!("`{column}` is not text"))
            }
        }
    }

    /// A required text.
    pub(super) fn needed(&self, column: &str) -> Result<&str, Problem> {
        self.text(column)?.ok_or_else(|| format!("`{column}` is missing"))
    }

    /// An integer.
    pub(super) fn number(&self, column: &str) -> Result<Option<i64>, Problem> {
        match self.values.get(column) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Text(text)) => text
                .trim()
                .parse()
                .map(Some)
                .map_err(|_| format!("`{column}` is not a whole number")),
            Some(Value::Real(_) | Value::Bytes(_)) => {
                Err(format!("`{column}` is not a whole number"))
            }
        }
    }

    /// A floating-point number.
    pub(super) fn fraction(&self, column: &str) -> Result<Option<f64>, Problem> {
        match self.values.get(column) {
            Some(Value::Real(number)) if number.is_finite() => Ok(Some(*number)),
            Some(Value::Int(number)) => Ok(Some(*number as f64)),
            None | Some(Value::Null) => Ok(None),
            Some(Value::Real(_) | Value::Text(_) | Value::Bytes(_)) => {
                Err(format!("`{column}` is not a number"))
            }
        }
    }

    /// An id, or a word of an enum.
    pub(super) fn parsed<T: FromStr>(&self, column: &str) -> Result<Option<T>, Problem>
    where
        T::Err: std::fmt::Display,
    {
        let parse = |text: &str| text.parse().map_err(|e: T::Err| format!("`{column}`: {e}"));
        self.text(column)?.map(parse).transpose()
    }

    /// A required id or word.
    pub(super) fn parsed_needed<T: FromStr>(&self, column: &str) -> Result<T, Problem>
    where
        T::Err: std::fmt::Display,
    {
        self.parsed(column)?.ok_or_else(|| format!("`{column}` is missing"))
    }

    /// A role, in any case.
    pub(super) fn role(&self, column: &str) -> Result<Option<handover_model::Role>, Problem> {
        self.text(column)?.map(role).transpose()
    }

    /// A group; `global` means none.
    pub(super) fn group(&self, column: &str) -> Result<Option<GroupId>, Problem> {
        match self.text(column)? {
            Some(text) if text.eq_ignore_ascii_case(GLOBAL_GROUP) => Ok(None),
            Some(text) => GroupId::new(text).map(Some).map_err(|e| format!("`{column}`: {e}")),
            None => Ok(None),
        }
    }

    /// The first of these columns that contains a time. Times are UTC, whether or not they say so.
    pub(super) fn time(&self, columns: &[&str]) -> Option<Timestamp> {
        columns.iter().find_map(|column| {
            let text = self.text(column).ok()??.trim().replacen(' ', "T", 1);
            text.parse().or_else(|_| format!("{text}Z").parse()).ok()
        })
    }

    /// JSON, or a JSON string if the text is not JSON.
    pub(super) fn json(&self, column: &str) -> Result<Option<Json>, Problem> {
        let parse = |text| serde_json::from_str(text).unwrap_or_else(|_| json!({"text": text}));
        Ok(self.text(column)?.map(parse))
    }

    /// The strings of a JSON list; anything else is an empty list.
    pub(super) fn list(&self, column: &str) -> Result<Vec<String>, Problem> {
        let Some(Json::Array(items)) = self.json(column)? else { return Ok(Vec::new()) };
        let text = |item: &Json| item.as_str().map_or_else(|| item.to_string(), ToOwned::to_owned);
        Ok(items.iter().map(text).collect())
    }
}

/// A role in any spelling.
pub(super) fn role(text: &str) -> Result<handover_model::Role, Problem> {
    let text = text.trim().to_lowercase().replace([' ', '.'], "_");
    handover_model::Role::new(text).map_err(|e| e.to_string())
}
