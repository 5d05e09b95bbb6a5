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

    /// JSON; a text that is not JSON becomes `{"text": …}`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[(&str, Value)]) -> Row {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Row { table: "packages", values: values.collect() }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn rows_are_named_by_their_key() {
        let named = |table: &'static str, key: &str, value: Value| {
            Row { table, ..row(&[(key, value)]) }.name()
        };
        assert_eq!(named("packages", "id", Value::Int(7)), "7");
        assert_eq!(named("sessions", "session_id", text("s1")), "s1");
        assert_eq!(named("strategies", "strategy_id", text(&"x".repeat(99))).len(), 64);
        assert_eq!(named("error_patterns", "id", Value::Int(7)), "?");
        assert_eq!(named("packages", "id", Value::Null), "?");
    }

    #[test]
    fn texts_may_be_missing_but_not_numbers() {
        let row =
            row(&[("a", text("x")), ("b", text("")), ("c", Value::Null), ("d", Value::Int(1))]);
        assert_eq!(row.text("a"), Ok(Some("x")));
        for column in ["b", "c", "none"] {
            assert_eq!(row.text(column), Ok(None), "{column}");
            assert_eq!(row.needed(column), Err(format!("`{column}` is missing")));
        }
        assert_eq!(row.text("d"), Err("`d` is not text".to_owned()));
    }

    #[test]
    fn numbers_may_be_written_as_text() {
        let row = row(&[
            ("int", Value::Int(3)),
            ("text", text(" 4 ")),
            ("real", Value::Real(1.5)),
            ("word", text("many")),
            ("nan", Value::Real(f64::NAN)),
        ]);
        assert_eq!((row.number("int"), row.number("text")), (Ok(Some(3)), Ok(Some(4))));
        assert_eq!(row.number("none"), Ok(None));
        assert!(row.number("real").is_err() && row.number("word").is_err());
        assert_eq!((row.fraction("real"), row.fraction("int")), (Ok(Some(1.5)), Ok(Some(3.0))));
        assert!(row.fraction("nan").is_err() && row.fraction("text").is_err());
    }

    #[test]
    fn roles_and_groups_are_normalised() {
        let row = row(&[
            ("role", text(" QA Expert ")),
            ("bad", text("1st")),
            ("group", text("P1")),
            ("global", text("Global")),
            ("path", text("a/b")),
        ]);
        assert_eq!(row.role("role").unwrap().unwrap().as_str(), "qa_expert");
        assert!(row.role("bad").is_err());
        assert_eq!(row.group("group").unwrap().unwrap().as_str(), "P1");
        assert_eq!((row.group("global"), row.group("none")), (Ok(None), Ok(None)));
        assert!(row.group("path").unwrap_err().starts_with("`path`: "));
        assert_eq!(row.parsed::<GroupId>("none"), Ok(None));
        assert_eq!(row.parsed_needed::<GroupId>("none"), Err("`none` is missing".to_owned()));
    }

    #[test]
    fn times_are_utc_in_either_notation() {
        let time = |value: &str| row(&[("a", text(value))]).time(&["none", "a"]);
        let expected = "2024-05-06T07:08:09Z".parse().ok();
        assert_eq!(time("2024-05-06T07:08:09Z"), expected);
        assert_eq!(time("2024-05-06 07:08:09"), expected);
        assert_eq!(time(" 2024-05-06T07:08:09 "), expected);
        assert_eq!(time("2024-05-06T08:08:09+01:00"), expected);
        assert_eq!(time("yesterday"), None);
        let row = row(&[("a", text("soon")), ("b", text("2024-05-06 07:08:09"))]);
        assert_eq!(row.time(&["a", "b"]), expected);
    }

    #[test]
    fn json_may_be_plain_text() {
        let row = row(&[
            ("list", text("[\"a\", 1, {\"b\": 2}]")),
            ("object", text("{\"a\": 1}")),
            ("plain", text("words")),
        ]);
        assert_eq!(row.list("list").unwrap(), ["a", "1", "{\"b\":2}"]);
        for other in ["object", "plain", "none"] {
            assert_eq!(row.list(other).unwrap(), [""; 0], "{other}");
        }
        assert_eq!(row.json("plain").unwrap(), Some(json!({"text": "words"})));
        assert_eq!(row.json("object").unwrap(), Some(json!({"a": 1})));
    }
}
