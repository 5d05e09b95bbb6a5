//! Our values as the server takes and gives them. A value that we cannot have written is reported as
//! damage.
//!
//! PostgreSQL cannot hold the character NUL in a text, the embedded store can: it is written as
//! [`MARK`] and a digit, and so is the mark itself.

use std::borrow::Cow;
use std::error::Error;
use std::str::FromStr;

use handover_model::Timestamp;
use handover_store::{Fault, Result, StoreError};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The last character for private use: no text that anybody writes has it.
const MARK: char = '\u{10FFFD}';

fn to_server(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(['\0', MARK]) {
        text.replace(MARK, "\u{10FFFD}1").replace('\0', "\u{10FFFD}0").into()
    } else {
        text
    }
}

fn from_server(text: String) -> String {
    if text.contains(MARK) {
        text.replace("\u{10FFFD}0", "\0").replace("\u{10FFFD}1", "\u{10FFFD}")
    } else {
        text
    }
}

/// A parameter of a statement.
#[derive(Debug)]
pub(crate) enum Param<'a> {
    Text(Option<Cow<'a, str>>),
    Int(Option<i64>),
    Real(Option<f64>),
    Bytes(Option<&'a [u8]>),
    Texts(Vec<Option<Cow<'a, str>>>),
    Ints(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Blobs(Vec<Option<&'a [u8]>>),
}

impl<'a> Param<'a> {
    /// A list for values like this one.
    fn list(&self) -> Self {
        match self {
            Self::Text(_) | Self::Texts(_) => Self::Texts(Vec::new()),
            Self::Int(_) | Self::Ints(_) => Self::Ints(Vec::new()),
            Self::Real(_) | Self::Reals(_) => Self::Reals(Vec::new()),
            Self::Bytes(_) | Self::Blobs(_) => Self::Blobs(Vec::new()),
        }
    }

    /// Puts a value behind those of a list; one of another type is none.
    fn push(&mut self, value: Self) {
        match (self, value) {
            (Self::Texts(list), Self::Text(text)) => list.push(text),
            (Self::Ints(list), Self::Int(number)) => list.push(number),
            (Self::Reals(list), Self::Real(number)) => list.push(number),
            (Self::Blobs(list), Self::Bytes(bytes)) => list.push(bytes),
            (Self::Texts(list), _) => list.push(None),
            (Self::Ints(list), _) => list.push(None),
            (Self::Reals(list), _) => list.push(None),
            (Self::Blobs(list), _) => list.push(None),
            (Self::Text(_) | Self::Int(_) | Self::Real(_) | Self::Bytes(_), _) => {}
        }
    }

    pub(crate) fn of(&self) -> Type {
        match self {
            Self::Text(_) => Type::TEXT,
            Self::Int(_) => Type::INT8,
            Self::Real(_) => Type::FLOAT8,
            Self::Bytes(_) => Type::BYTEA,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Reals(_) => Type::FLOAT8_ARRAY,
            Self::Blobs(_) => Type::BYTEA_ARRAY,
        }
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(text) => text.as_deref().to_sql(ty, out),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Real(number) => number.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
            Self::Texts(texts) => texts.to_sql(ty, out),
            Self::Ints(numbers) => numbers.to_sql(ty, out),
            Self::Reals(numbers) => numbers.to_sql(ty, out),
            Self::Blobs(blobs) => blobs.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(to_server(text.into())))
    }
}

impl From<String> for Param<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(to_server(text.into())))
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl<'a> From<Option<&'a str>> for Param<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text.map(|text| to_server(text.into())))
    }
}

impl<'a> From<&'a Option<String>> for Param<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_deref().into()
    }
}

impl From<Option<String>> for Param<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(|text| to_server(text.into())))
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Param<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Param<'_> {
    fn from(number: u32) -> Self {
        Self::Int(Some(number.into()))
    }
}

impl From<Option<u32>> for Param<'_> {
    fn from(number: Option<u32>) -> Self {
        Self::Int(number.map(i64::from))
    }
}

/// A count; more than a column can hold is the most that it can.
impl From<u64> for Param<'_> {
    fn from(number: u64) -> Self {
        Self::Int(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<Timestamp> for Param<'_> {
    fn from(time: Timestamp) -> Self {
        Self::Int(Some(time.as_micros()))
    }
}

impl From<f64> for Param<'_> {
    fn from(number: f64) -> Self {
        Self::Real(Some(number))
    }
}

impl From<bool> for Param<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(Some(flag.into()))
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Some(bytes))
    }
}

impl<'a> From<Vec<i64>> for Param<'a> {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Ints(numbers.into_iter().map(Some).collect())
    }
}

/// The parameters of a statement, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::value::Param::from($value)),*]
    };
}
pub(crate) use params;

/// One of many rows that go to the server together.
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        [$($crate::value::Param::from($value)),*]
    };
}
pub(crate) use row;

/// Rows as their columns, each one parameter: what `unnest` makes rows of again. Without rows there are
/// no columns, because nothing says their types.
pub(crate) fn columns<'a, R>(rows: impl IntoIterator<Item = R>) -> Vec<Param<'a>>
where
    R: IntoIterator<Item = Param<'a>>,
{
    let mut columns: Vec<Param<'a>> = Vec::new();
    for row in rows {
        for (at, value) in row.into_iter().enumerate() {
            if columns.len() == at {
                columns.push(value.list());
            }
            columns[at].push(value);
        }
    }
    columns
}

fn damaged(error: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { fault: Fault::Corrupt, source: error.into() }
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(damaged)
}

/// A text.
pub(crate) fn text(row: &Row, column: &str) -> Result<String> {
    get(row, column).map(from_server)
}

/// A text that may be missing.
pub(crate) fn text_opt(row: &Row, column: &str) -> Result<Option<String>> {
    Ok(get::<Option<String>>(row, column)?.map(from_server))
}

/// The text form of an id or an enum.
pub(crate) fn parsed<T>(row: &Row, column: &str) -> Result<T>
where
    T: FromStr,
    T::Err: Error + Send + Sync + 'static,
{
    get::<&str>(row, column)?.parse().map_err(|e: T::Err| damaged(e))
}

/// The same for a column that may be empty.
pub(crate) fn parsed_opt<T>(row: &Row, column: &str) -> Result<Option<T>>
where
    T: FromStr,
    T::Err: Error + Send + Sync + 'static,
{
    get::<Option<&str>>(row, column)?
        .map(|text| text.parse().map_err(|e: T::Err| damaged(e)))
        .transpose()
}

/// JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    // NUL is escaped in JSON anyway, so only the mark itself can be doubled here.
    serde_json::from_str(&text(row, column)?).map_err(damaged)
}

/// A number of any type of ours.
pub(crate) fn int<T: TryFrom<i64>>(row: &Row, column: &str) -> Result<T>
where
    T::Error: Error + Send + Sync + 'static,
{
    T::try_from(get(row, column)?).map_err(damaged)
}

/// The same for a column that may be empty.
pub(crate) fn int_opt<T: TryFrom<i64>>(row: &Row, column: &str) -> Result<Option<T>>
where
    T::Error: Error + Send + Sync + 'static,
{
    get::<Option<i64>>(row, column)?.map(|n| T::try_from(n).map_err(damaged)).transpose()
}

/// 0 or 1.
pub(crate) fn flag(row: &Row, column: &str) -> Result<bool> {
    Ok(get::<i64>(row, column)? != 0)
}

/// A fraction that may be missing.
pub(crate) fn real_opt(row: &Row, column: &str) -> Result<Option<f64>> {
    get(row, column)
}

/// Bytes that may be missing.
pub(crate) fn bytes_opt(row: &Row, column: &str) -> Result<Option<Vec<u8>>> {
    get(row, column)
}

/// A fraction.
pub(crate) fn real(row: &Row, column: &str) -> Result<f64> {
    get(row, column)
}

/// Bytes.
pub(crate) fn bytes<'a>(row: &'a Row, column: &str) -> Result<&'a [u8]> {
    get(row, column)
}

/// A time.
pub(crate) fn time(row: &Row, column: &str) -> Result<Timestamp> {
    Ok(Timestamp::from_micros(get(row, column)?))
}

/// The same for a column that may be empty.
pub(crate) fn time_opt(row: &Row, column: &str) -> Result<Option<Timestamp>> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp::from_micros))
}

/// A list or map as the text of a JSON column.
pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    // Our own plain data always serialises.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in ["", "plain", "a\0b\0", "\u{10FFFD}", "\u{10FFFD}0\0\u{10FFFD}1", "0\u{10FFFD}"]
        {
            let there = to_server(text.into()).into_owned();
            assert!(!there.contains('\0'));
            assert_eq!(from_server(there), text);
        }
    }
}
