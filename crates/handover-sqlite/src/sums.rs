//! Checksums of records: a bit that flipped on the disk is an error, not an answer.
//!
//! A generated column of each table holds the sum over the others (`migrations/0001_initial.sql`), which
//! SQLite computes through the function that is registered here: no statement that writes can forget it.
//! A statement that reads records asks for [`intact`], too.

use handover_store::archive::{KINDS, Kind};
use handover_store::{Result, StoreError};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use crate::error::backend;

/// Makes `record_sum` known to a connection, for anyone who reads a store with their own SQL. It is part
/// of the format: never change what it computes.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("record_sum", -1, flags, |arguments| {
        Ok(sum((0..arguments.len()).map(|at| arguments.get_raw(at))))
    })
}

/// The sum over the columns of a record.
pub(crate) fn sum<'a>(values: impl IntoIterator<Item = ValueRef<'a>>) -> i64 {
    let mut sum = Sum::default();
    values.into_iter().for_each(|value| sum.value(value));
    sum.0.cast_signed()
}

/// The columns of tables that have sums and are not part of the archive: tokens, the text index, and tallies of use.
const OTHERS: [(&str, &[&str]); 7] = [
    (
        "token",
        &[
            "key",
            "id",
            "name",
            "kind",
            "scope",
            "project",
            "hash",
            "created_at",
            "expires_at",
            "ended_at",
        ],
    ),
    ("candidate_sheet", &["session", "sheet", "candidates"]),
    ("package_terms", &["package", "terms"]),
    ("posting_page", &["session", "term", "page", "postings"]),
    ("note_page", &["project", "term", "page", "postings"]),
    ("note_index", &["project", "notes", "changed_at"]),
    ("item_use", &["project", "kind", "item", "used", "judged", "at"]),
];

/// SQL that says whether a row of a table matches its sum.
pub(crate) fn intact(table: &str, alias: &str) -> String {
    let named = |columns: &mut dyn Iterator<Item = &str>| {
        let names: Vec<String> = columns.map(|column| format!("{alias}.{column}")).collect();
        format!("{alias}.sum = record_sum({})", names.join(", "))
    };
    match Kind::named(table) {
        Some(kind) => named(&mut kind.columns.iter().map(|column| column.name)),
        None => {
            let other = OTHERS.iter().find(|(other, _)| *other == table);
            named(&mut other.map_or(&[][..], |(_, columns)| columns).iter().copied())
        }
    }
}

/// Refuses a row whose last column, [`intact`], is not true.
pub(crate) fn check(row: &rusqlite::Row<'_>) -> Result<()> {
    let last = row.as_ref().column_count().saturating_sub(1);
    if row.get_ref(last).map_err(backend)? == ValueRef::Integer(1) {
        return Ok(());
    }
    Err(StoreError::damaged("a record does not match its checksum"))
}

/// How the rows of the text index are named.
const PACKED: [(&str, &str); 6] = [
    ("candidate_sheet", "session || '/' || sheet"),
    ("package_terms", "package"),
    ("posting_page", "session || '/' || term || '/' || page"),
    ("note_page", "project || '/' || term || '/' || page"),
    ("note_index", "project"),
    ("item_use", "project || '/' || kind || '/' || item"),
];

/// The records that do not match their checksums, and the rows of the text index that do not.
pub(crate) fn problems(connection: &Connection) -> Result<(Vec<String>, Vec<String>)> {
    let mut records = Vec::new();
    for kind in KINDS {
        let key: Vec<&str> = kind.columns[..kind.key].iter().map(|column| column.name).collect();
        records.extend(damaged(connection, kind.name, &key.join(" || '/' || "))?);
    }
    records.extend(damaged(connection, "token", "id")?);
    let mut packed = Vec::new();
    for (table, key) in PACKED {
        packed.extend(damaged(connection, table, key)?);
    }
    Ok((records, packed))
}

fn damaged(connection: &Connection, table: &str, key: &str) -> Result<Vec<String>> {
    let intact = intact(table, table);
    let sql =
        format!("SELECT '{table} ' || {key} FROM {table} WHERE ({intact}) IS NOT 1 ORDER BY 1");
    let mut statement = connection.prepare(&sql).map_err(backend)?;
    let found = statement.query_map([], |row| row.get(0)).map_err(backend)?;
    found.collect::<rusqlite::Result<_>>().map_err(backend)
}

/// A sum of 64 bits. Each word goes through a permutation of the state, so that a change within one word
/// is always seen, and any other with a probability of all but one in 2^64.
#[derive(Default)]
struct Sum(u64);

impl Sum {
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    fn bytes(&mut self, kind: u64, bytes: &[u8]) {
        self.word(kind << 56 | bytes.len() as u64);
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.word(1 << 56),
            ValueRef::Integer(number) => {
                self.word(2 << 56);
                self.word(number.cast_unsigned());
            }
            ValueRef::Real(number) => {
                self.word(3 << 56);
                self.word(number.to_bits());
            }
            ValueRef::Text(text) => self.bytes(4, text),
            ValueRef::Blob(bytes) => self.bytes(5, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(sql: &str) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "a database without a file")]
        let connection = Connection::open(":memory:").unwrap();
        register(&connection).unwrap();
        connection.query_row(&format!("SELECT record_sum({sql})"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_sum_is_part_of_the_format() {
        assert_eq!(sum_of("1, 'text', NULL, 0.5, x'00ff', 'more than eight bytes'"), EXPECTED);
    }

    const EXPECTED: i64 = 6_535_210_694_218_501_047;

    #[test]
    fn values_of_other_types_places_and_lengths_differ() {
        let different = [
            "NULL",
            "0",
            "0.0",
            "''",
            "x''",
            "'0'",
            "NULL, NULL",
            "'a', 'b'",
            "'ab', ''",
            "'', 'ab'",
            "'b', 'a'",
        ];
        let sums: std::collections::BTreeSet<i64> =
            different.iter().map(|sql| sum_of(sql)).collect();
        assert_eq!(sums.len(), different.len());
    }

    proptest::proptest! {
        #[test]
        fn every_flipped_bit_is_seen(bytes in proptest::collection::vec(0u8.., 1..200), at in 0usize..1600) {
            let of = |bytes: &[u8]| {
                let mut sum = Sum::default();
                sum.bytes(4, bytes);
                sum.0
            };
            let mut flipped = bytes.clone();
            let at = at % (bytes.len() * 8);
            flipped[at / 8] ^= 1 << (at % 8);
            proptest::prop_assert_ne!(of(&bytes), of(&flipped));
        }
    }
}
