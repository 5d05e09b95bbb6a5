//! Whole projects: every table of the archive, row by row.

use handover_store::archive::{
    Added, Archive, CleanRecord, Fill, Holds, KINDS, Kind, Record, SEQUENCE, Sink, Value,
};
use handover_store::rows::Columns;
use handover_store::{Result, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use crate::SqliteStore;
use crate::error::backend;
use crate::{index, query, sums, tallies};

pub(crate) fn columns(kind: &Kind) -> String {
    kind.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

fn read(kind: &'static Kind, row: &Row<'_>) -> Result<Record> {
    let mut values = Vec::with_capacity(kind.columns.len());
    for (at, column) in kind.columns.iter().enumerate() {
        values.push(match (row.get_ref(at).map_err(backend)?, column.holds) {
            (ValueRef::Null, _) => Value::Null,
            (ValueRef::Integer(number), Holds::Int) => Value::Int(number),
            (ValueRef::Real(number), Holds::Real) => Value::Real(number),
            (ValueRef::Text(text), Holds::Name | Holds::Words | Holds::Json | Holds::Facts) => {
                let text = String::from_utf8(text.to_vec());
                Value::Text(text.map_err(|_| StoreError::damaged("a text is not UTF-8"))?)
            }
            _ => return Err(StoreError::damaged("a column holds another type")),
        });
    }
    Ok(Record { kind, values })
}

/// A value as a parameter.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Value::Null => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Value::Int(number) => Ok(ToSqlOutput::Borrowed(ValueRef::Integer(*number))),
            Value::Real(number) => Ok(ToSqlOutput::Borrowed(ValueRef::Real(*number))),
            Value::Text(text) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Value::Bytes(bytes) => Ok(ToSqlOutput::Borrowed(ValueRef::Blob(bytes))),
        }
    }
}

fn sequence(of: &str, last: i64) -> Record {
    Record { kind: SEQUENCE, values: vec![Value::Text(of.to_owned()), Value::Int(last)] }
}

/// A record that this store has just read.
fn clean(record: Record) -> CleanRecord {
    #[expect(clippy::disallowed_methods, reason = "this is a backend")]
    CleanRecord::read_from_store(record)
}

/// Inserts a record; false if it exists already.
fn put(tx: &Connection, record: &Record) -> Result<bool> {
    let kind = record.kind;
    let places = vec!["?"; kind.columns.len()].join(", ");
    let insert = format!(
        "INSERT INTO {} ({}) VALUES ({places}) ON CONFLICT DO NOTHING",
        kind.name,
        columns(kind)
    );
    let inserted = tx
        .prepare_cached(&insert)
        .and_then(|mut s| s.execute(rusqlite::params_from_iter(record.values.iter().map(Bound))))
        .map_err(backend)?;
    if inserted == 1 {
        return Ok(true);
    }
    let intact = sums::intact(kind.name, kind.name);
    let key: Vec<String> =
        kind.columns[..kind.key].iter().map(|column| format!("{} IS ?", column.name)).collect();
    let select = format!(
        "SELECT {}, {intact} FROM {} WHERE {}",
        columns(kind),
        kind.name,
        key.join(" AND ")
    );
    let there = tx
        .prepare_cached(&select)
        .and_then(|mut s| {
            s.query_row(rusqlite::params_from_iter(record.key().iter().map(Bound)), |row| {
                Ok(sums::check(row).and_then(|()| read(kind, row)))
            })
            .optional()
        })
        .map_err(backend)?
        .transpose()?;
    match there {
        Some(there) if record.is_stored_as(&there) => Ok(false),
        Some(_) | None => Err(StoreError::differs(record)),
    }
}

/// Takes over the records that a query finds in another database, if they can be read, match their
/// checksums and are new. The query selects the columns of the kind, and whether
/// they match.
pub(crate) fn put_readable(
    tx: &Connection,
    source: &Connection,
    kind: &'static Kind,
    sql: &str,
    taken: &mut u64,
    unreadable: &mut Vec<String>,
) -> Result<()> {
    let places = vec!["?"; kind.columns.len()].join(", ");
    let insert =
        format!("INSERT OR IGNORE INTO {} ({}) VALUES ({places})", kind.name, columns(kind));
    let mut statement = source.prepare(sql).map_err(backend)?;
    let mut rows = statement.query([]).map_err(backend)?;
    while let Some(row) = rows.next().map_err(backend)? {
        let Ok(record) = read(kind, row) else { continue };
        if sums::check(row).is_err() {
            unreadable.push(record.name());
            continue;
        }
        let values = rusqlite::params_from_iter(record.values.iter().map(Bound));
        let inserted = tx.prepare_cached(&insert).and_then(|mut s| s.execute(values));
        *taken += inserted.map_err(backend)? as u64;
    }
    Ok(())
}

/// Advances a sequence, so that ids of imported records are not generated again.
fn put_sequence(tx: &Connection, record: &Record) -> Result<()> {
    let [Value::Text(of), Value::Int(last)] = record.values.as_slice() else {
        return Err(StoreError::damaged("a sequence has no name or number"));
    };
    if !KINDS.iter().any(|kind| kind.numbered && kind.name == of) {
        return Err(StoreError::damaged("a sequence of an unknown kind"));
    }
    tx.execute("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1 AND seq < ?2", (of, last))
        .map_err(backend)?;
    tx.execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2
             WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
        (of, last),
    )
    .map_err(backend)?;
    Ok(())
}

impl Archive for SqliteStore {
    fn each_record(&self, visit: &mut Sink<'_>) -> Result<()> {
        for kind in KINDS {
            let intact = sums::intact(kind.name, kind.name);
            let sql = format!(
                "SELECT {}, {intact} FROM {} ORDER BY {}",
                columns(kind),
                kind.name,
                (1..=kind.key).map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
            );
            let mut statement = self.connection.prepare(&sql).map_err(backend)?;
            let mut rows = statement.query([]).map_err(backend)?;
            while let Some(row) = rows.next().map_err(backend)? {
                sums::check(row)?;
                visit(clean(read(kind, row)?))?;
            }
        }
        for kind in KINDS.iter().filter(|kind| kind.numbered) {
            let last = self
                .connection
                .query_row("SELECT seq FROM sqlite_sequence WHERE name = ?1", [kind.name], |r| {
                    r.get(0)
                })
                .optional()
                .map_err(backend)?;
            if let Some(last) = last.filter(|last| *last > 0) {
                visit(clean(sequence(kind.name, last)))?;
            }
        }
        Ok(())
    }

    fn replace_record(&self, old: &Record, new: &CleanRecord) -> Result<()> {
        let (kind, new) = (old.kind, new.record());
        let set: Vec<String> =
            kind.columns.iter().map(|column| format!("{} = ?", column.name)).collect();
        let key: Vec<String> =
            kind.columns[..kind.key].iter().map(|column| format!("{} IS ?", column.name)).collect();
        // Two texts may have become the same one.
        let sql = format!(
            "UPDATE OR REPLACE {} SET {} WHERE {}",
            kind.name,
            set.join(", "),
            key.join(" AND ")
        );
        let values = new.values.iter().chain(old.key()).map(Bound);
        self.write(|tx| {
            tx.prepare_cached(&sql)
                .and_then(|mut s| s.execute(rusqlite::params_from_iter(values)))
                .map_err(backend)?;
            Ok(())
        })
    }

    fn put_records(&self, fill: &mut Fill<'_>) -> Result<Added> {
        self.write(|tx| {
            let (mut added, mut packages, mut receipts) = (Added::default(), false, false);
            fill(&mut |kept| {
                if kept.record().kind == SEQUENCE {
                    return put_sequence(tx, kept.record());
                }
                let new = put(tx, kept.record())?;
                packages |= new && kept.record().kind.is_indexed();
                receipts |= new && kept.record().kind.name == "receipt_item";
                *(if new { &mut added.added } else { &mut added.present }) += 1;
                Ok(())
            })?;
            if packages {
                let sessions =
                    query::all(tx, "SELECT key FROM session", [], |row| Columns::of(row).int())?;
                index::rebuild(tx, &sessions)?;
                index::notes::rebuild(tx)?;
            }
            if receipts {
                tallies::rebuild(tx)?;
            }
            Ok(added)
        })
    }
}
