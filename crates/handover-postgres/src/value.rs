//! Converts values to and from the server. A value that we cannot have written is reported as damage.
//!
//! Unlike SQLite, PostgreSQL cannot store NUL characters in text: they are escaped as [`MARK`] and a
//! digit, and so is the mark itself.

use std::borrow::Cow;
use std::error::Error;

use handover_model::{PackageId, Timestamp};
use handover_store::{Fault, Result, StoreError, rows};
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The last private-use character, which real text does not contain.
const MARK: char = '\u{10FFFD}';

/// Ids as parameters for the server.
pub(crate) fn numbers(ids: &[PackageId]) -> Vec<i64> {
    ids.iter().map(|id| id.0).collect()
}

fn to_server(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(['\0', MARK]) {
        text.replace(MARK, "\u{10FFFD}1").replace('\0', "\u{10FFFD}0").into()
    } else {
        text
    }
}

fn from_server(text: &str) -> Cow<'_, str> {
    if text.contains(MARK) {
        text.replace("\u{10FFFD}0", "\0").replace("\u{10FFFD}1", "\u{10FFFD}").into()
    } else {
        text.into()
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
    /// An empty list for values of this type.
    fn list(&self) -> Self {
        match self {
            Self::Text(_) | Self::Texts(_) => Self::Texts(Vec::new()),
            Self::Int(_) | Self::Ints(_) => Self::Ints(Vec::new()),
            Self::Real(_) | Self::Reals(_) => Self::Reals(Vec::new()),
            Self::Bytes(_) | Self::Blobs(_) => Self::Blobs(Vec::new()),
        }
    }

    /// Appends a value to a list; one of another type becomes null.
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

/// Saturates at the largest value that a column can hold.
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

impl From<Vec<String>> for Param<'_> {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts.into_iter().map(|text| Some(to_server(text.into()))).collect())
    }
}

/// The parameters of a statement, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::value::Param::from($value)),*]
    };
}
pub(crate) use params;

/// A macro for one of many rows that are sent together.
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        [$($crate::value::Param::from($value)),*]
    };
}
pub(crate) use row;

/// Transposes rows into columns, each of them one array parameter for `unnest`. Without rows there are no
/// columns, because their types are unknown.
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

/// A row of the server, as [`handover_store::rows`] reads it.
pub(crate) struct PgRow<'a>(pub(crate) &'a Row);

impl rows::Row for PgRow<'_> {
    fn text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        let text: Option<&str> = self.0.try_get(column).map_err(damaged)?;
        Ok(text.map(from_server))
    }

    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.0.try_get(column).map_err(damaged)
    }

    fn real(&self, column: usize) -> Result<Option<f64>> {
        self.0.try_get(column).map_err(damaged)
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.0.try_get(column).map_err(damaged)
    }
}

fn damaged(error: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { fault: Fault::Corrupt, source: error.into() }
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(damaged)
}

/// A text.
pub(crate) fn text(row: &Row, column: &str) -> Result<String> {
    Ok(from_server(get(row, column)?).into_owned())
}

/// A text that may be missing.
pub(crate) fn text_opt(row: &Row, column: &str) -> Result<Option<String>> {
    Ok(get::<Option<&str>>(row, column)?.map(|text| from_server(text).into_owned()))
}

/// A whole number of any type.
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

/// Bytes.
pub(crate) fn bytes<'a>(row: &'a Row, column: &str) -> Result<&'a [u8]> {
    get(row, column)
}

/// A time.
pub(crate) fn time(row: &Row, column: &str) -> Result<Timestamp> {
    Ok(Timestamp::from_micros(get(row, column)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_text_reads_back_unchanged() {
        for text in ["", "plain", "a\0b\0", "\u{10FFFD}", "\u{10FFFD}0\0\u{10FFFD}1", "0\u{10FFFD}"]
        {
            let there = to_server(text.into()).into_owned();
            assert!(!there.contains('\0'));
            assert_eq!(from_server(&there), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Marks, digits and NUL in any order, which is where escaping can go wrong.
        #[test]
        fn distinct_texts_stay_distinct(
            one in proptest::collection::vec(prop_oneof![proptest::sample::select(vec!['\0', '0', '1', MARK]), any::<char>()], 0..12),
            two in proptest::collection::vec(proptest::sample::select(vec!['\0', '0', '1', MARK]), 0..12),
        ) {
            let (one, two): (String, String) = (one.into_iter().collect(), two.into_iter().collect());
            let there = |text: &str| to_server(text.to_owned().into()).into_owned();
            prop_assert!(!there(&one).contains('\0'));
            let back = from_server(&there(&one)).into_owned();
            prop_assert_eq!(&back, &one);
            prop_assert_eq!(there(&one) == there(&two), one == two);
        }
    }

    /// The column as text, to compare.
    fn shown(params: &[Param<'_>]) -> Vec<String> {
        params.iter().map(|param| format!("{param:?}")).collect()
    }

    #[test]
    fn rows_become_columns() {
        let rows = [row![1_i64, "a", Some(7_u32)], row![2_i64, "b\0", None::<u32>]];
        let columns = columns(rows);
        assert_eq!(
            shown(&columns),
            [
                "Ints([Some(1), Some(2)])",
                "Texts([Some(\"a\"), Some(\"b\\u{10fffd}0\")])",
                "Ints([Some(7), None])",
            ]
        );
        let types: Vec<Type> = columns.iter().map(Param::of).collect();
        assert_eq!(types, [Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::INT8_ARRAY]);
        assert!(super::columns(Vec::<[Param<'_>; 3]>::new()).is_empty());
    }

    #[test]
    fn a_column_takes_its_type_from_the_first_row() {
        let bytes: &[u8] = &[1, 2];
        let columns = columns([row![None::<String>, bytes, 0.5], row!["x", bytes, 1.0]]);
        assert_eq!(
            shown(&columns),
            [
                "Texts([None, Some(\"x\")])",
                "Blobs([Some([1, 2]), Some([1, 2])])",
                "Reals([Some(0.5), Some(1.0)])"
            ]
        );
    }

    #[test]
    fn numbers_fit_into_their_column() {
        let int = |param: Param<'_>| {
            let Param::Int(number) = param else { panic!("{param:?}") };
            number
        };
        assert_eq!(int(u64::MAX.into()), Some(i64::MAX), "capped, not wrapped");
        assert_eq!(int(u32::MAX.into()), Some(4_294_967_295));
        assert_eq!(int(true.into()), Some(1));
        assert_eq!(int(None::<i64>.into()), None);
        assert_eq!(int(Timestamp::from_micros(-5).into()), Some(-5));
        assert_eq!(numbers(&[PackageId(3), PackageId(1)]), [3, 1]);
    }
}
