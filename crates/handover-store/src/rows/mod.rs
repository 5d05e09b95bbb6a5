//! Reads rows of query results into records. The column lists and their readers are the same for every SQL
//! backend, so they are here; a backend only defines how it reads a column.
//!
//! A column list and its reader are next to each other and have the same order. Columns are read by
//! position: looking up a name costs as much as reading a short value, and listings have thousands of rows.
//! Whatever a backend must write in its own dialect, such as an aggregate, it appends to the list.

mod learning;
mod runs;
mod sessions;
mod sums;

use std::borrow::Cow;
use std::str::FromStr;

use handover_model::Timestamp;
use serde::de::DeserializeOwned;

pub use learning::*;
pub use runs::*;
pub use sessions::*;
pub use sums::*;

use crate::{Fault, Result, StoreError};

/// A row whose columns are read by position. A value of another type is reported as damage.
pub trait Row {
    /// A text, if the column is not null.
    fn text(&self, column: usize) -> Result<Option<Cow<'_, str>>>;
    /// A whole number, if the column is not null.
    fn int(&self, column: usize) -> Result<Option<i64>>;
    /// A floating-point number, if the column is not null.
    fn real(&self, column: usize) -> Result<Option<f64>>;
    /// Bytes, if the column is not null.
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>>;
}

/// Reads the columns of a row one after the other.
pub struct Columns<'r> {
    row: &'r dyn Row,
    next: usize,
}

impl std::fmt::Debug for Columns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns").field("next", &self.next).finish_non_exhaustive()
    }
}

/// A value that no store of ours can have written.
fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { fault: Fault::Corrupt, source: error.into() }
}

impl<'r> Columns<'r> {
    /// Starts with the first column.
    pub fn of(row: &'r dyn Row) -> Self {
        Self { row, next: 0 }
    }

    fn position(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn not_null<T>(&self, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| damaged(format!("column {} is null", self.next)))
    }

    /// A text that may be null, borrowed where the backend can.
    fn str_opt(&mut self) -> Result<Option<Cow<'r, str>>> {
        let column = self.position();
        self.row.text(column)
    }

    fn str(&mut self) -> Result<Cow<'r, str>> {
        let text = self.str_opt()?;
        self.not_null(text)
    }

    /// A text.
    pub fn text(&mut self) -> Result<String> {
        Ok(self.str()?.into_owned())
    }

    /// A text that may be null.
    pub fn text_opt(&mut self) -> Result<Option<String>> {
        Ok(self.str_opt()?.map(Cow::into_owned))
    }

    /// The text form of an id or an enum.
    pub fn parsed<T>(&mut self) -> Result<T>
    where
        T: FromStr,
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        self.str()?.parse().map_err(|error: T::Err| damaged(error))
    }

    /// The text form of an id or an enum that may be null.
    pub fn parsed_opt<T>(&mut self) -> Result<Option<T>>
    where
        T: FromStr,
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let text = self.str_opt()?;
        text.map(|text| text.parse().map_err(|error: T::Err| damaged(error))).transpose()
    }

    /// JSON.
    pub fn json<T: DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_str(&self.str()?).map_err(damaged)
    }

    /// JSON that may be null.
    pub fn json_opt<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let text = self.str_opt()?;
        text.map(|text| serde_json::from_str(&text).map_err(damaged)).transpose()
    }

    /// A JSON list; most are empty and need no parser.
    pub fn list<T: DeserializeOwned>(&mut self) -> Result<Vec<T>> {
        match self.str()?.as_ref() {
            "[]" => Ok(Vec::new()),
            list => serde_json::from_str(list).map_err(damaged),
        }
    }

    /// A whole number of any type; one that does not fit is damage.
    pub fn int<T: TryFrom<i64>>(&mut self) -> Result<T>
    where
        T::Error: std::error::Error + Send + Sync + 'static,
    {
        let number = self.int_opt()?;
        self.not_null(number)
    }

    /// A whole number that may be null.
    pub fn int_opt<T: TryFrom<i64>>(&mut self) -> Result<Option<T>>
    where
        T::Error: std::error::Error + Send + Sync + 'static,
    {
        let column = self.position();
        self.row.int(column)?.map(|number| T::try_from(number).map_err(damaged)).transpose()
    }

    /// 0 or 1.
    pub fn flag(&mut self) -> Result<bool> {
        Ok(self.int::<i64>()? != 0)
    }

    /// A floating-point number.
    pub fn real(&mut self) -> Result<f64> {
        let column = self.position();
        let number = self.row.real(column)?;
        self.not_null(number)
    }

    /// A time in microseconds.
    pub fn time(&mut self) -> Result<Timestamp> {
        self.int().map(Timestamp::from_micros)
    }

    /// A time that may be null.
    pub fn time_opt(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.int_opt()?.map(Timestamp::from_micros))
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<&'r [u8]> {
        let column = self.position();
        let bytes = self.row.bytes(column)?;
        self.not_null(bytes)
    }
}

/// A list or map as the text of a JSON column.
pub fn to_json(value: &impl serde::Serialize) -> String {
    // Plain data with string keys always serializes.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Value;

    /// The value of a column, if it is not null and of the right type.
    fn value<'a, T>(
        value: &'a Value,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        if *value == Value::Null {
            return Ok(None);
        }
        read(value).map(Some).ok_or_else(|| damaged(format!("{value:?}")))
    }

    impl Row for Vec<Value> {
        fn text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
            value(&self[column], |value| {
                if let Value::Text(text) = value { Some(text.into()) } else { None }
            })
        }

        fn int(&self, column: usize) -> Result<Option<i64>> {
            value(
                &self[column],
                |value| {
                    if let Value::Int(number) = value { Some(*number) } else { None }
                },
            )
        }

        fn real(&self, column: usize) -> Result<Option<f64>> {
            value(
                &self[column],
                |value| {
                    if let Value::Real(number) = value { Some(*number) } else { None }
                },
            )
        }

        fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
            value(&self[column], |value| {
                if let Value::Bytes(bytes) = value { Some(bytes.as_slice()) } else { None }
            })
        }
    }

    fn is_damage<T: std::fmt::Debug>(result: Result<T>) -> bool {
        matches!(result.unwrap_err(), StoreError::Backend { fault: Fault::Corrupt, .. })
    }

    #[test]
    fn columns_are_read_in_order() {
        let row = vec![
            Value::Text("high".to_owned()),
            Value::Null,
            Value::Int(7),
            Value::Real(0.5),
            Value::Text("[1,2]".to_owned()),
            Value::Text("[]".to_owned()),
            Value::Bytes(vec![1]),
            Value::Int(1),
            Value::Null,
            Value::Int(9),
        ];
        let mut columns = Columns::of(&row);
        assert_eq!(columns.parsed::<handover_model::Priority>().unwrap().as_str(), "high");
        assert_eq!(columns.text_opt().unwrap(), None);
        assert_eq!(columns.int::<u32>().unwrap(), 7);
        assert_eq!(columns.real().unwrap(), 0.5);
        assert_eq!(columns.json::<Vec<u8>>().unwrap(), [1, 2]);
        assert_eq!(columns.list::<u8>().unwrap(), [0; 0]);
        assert_eq!(columns.bytes().unwrap(), [1]);
        assert!(columns.flag().unwrap());
        assert_eq!(columns.time_opt().unwrap(), None);
        assert_eq!(columns.time().unwrap(), Timestamp::from_micros(9));
    }

    #[test]
    fn impossible_values_are_damage() {
        let read = |value: Value| vec![value];
        let null = read(Value::Null);
        assert!(is_damage(Columns::of(&null).text()));
        assert!(is_damage(Columns::of(&null).int::<i64>()));
        assert!(is_damage(Columns::of(&null).real()));
        assert!(is_damage(Columns::of(&null).bytes()));
        assert!(is_damage(Columns::of(&null).json::<u8>()));
        assert_eq!(Columns::of(&null).json_opt::<u8>().unwrap(), None);
        let number = read(Value::Int(-1));
        assert!(is_damage(Columns::of(&number).int::<u32>()));
        assert!(is_damage(Columns::of(&number).int_opt::<u64>()));
        assert!(is_damage(Columns::of(&number).text()));
        let text = read(Value::Text("urgent".to_owned()));
        assert!(is_damage(Columns::of(&text).parsed::<handover_model::Priority>()));
        assert!(is_damage(Columns::of(&text).parsed_opt::<handover_model::Priority>()));
        assert!(is_damage(Columns::of(&text).list::<u8>()));
    }
}
