//! Whole projects: every table of the archive, many rows to a statement.

use handover_store::archive::{
    Added, Archive, CleanRecord, Column, Fill, Holds, KINDS, Kind, Record, SEQUENCE, Sink, Value,
};
use handover_store::rows::{Columns, Row};
use handover_store::{Result, StoreError};

use crate::PostgresStore;
use crate::transaction::Lock;
use crate::value::{self, Param, PgRow, params};

/// Rows per statement.
const BATCH: usize = 500;

fn columns(kind: &Kind) -> String {
    kind.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

/// Reads the columns of a kind.
fn read(kind: &'static Kind, row: &dyn Row) -> Result<Record> {
    let mut values = Vec::with_capacity(kind.columns.len());
    for (at, column) in kind.columns.iter().enumerate() {
        let value = match column.holds {
            Holds::Int => row.int(at)?.map(Value::Int),
            Holds::Real => row.real(at)?.map(Value::Real),
            Holds::Name | Holds::Words | Holds::Json | Holds::Facts => {
                row.text(at)?.map(|text| Value::Text(text.into_owned()))
            }
        };
        values.push(value.unwrap_or(Value::Null));
    }
    Ok(Record { kind, values })
}

/// A record that this store has just read.
fn clean(record: Record) -> CleanRecord {
    #[expect(clippy::disallowed_methods, reason = "this is a backend")]
    CleanRecord::read_from_store(record)
}

/// A value as a parameter of the type that its column has.
fn param(value: &Value, holds: Holds) -> Param<'_> {
    match (holds, value) {
        (Holds::Int, Value::Int(number)) => (*number).into(),
        (Holds::Int, _) => Param::Int(None),
        (Holds::Real, Value::Real(number)) => (*number).into(),
        (Holds::Real, _) => Param::Real(None),
        (_, Value::Text(text)) => text.as_str().into(),
        (Holds::Name | Holds::Words | Holds::Json | Holds::Facts, _) => Param::Text(None),
    }
}

/// The first columns of a record as parameters.
fn params_of<'a>(kind: &Kind, values: &'a [Value]) -> Vec<Param<'a>> {
    let with_columns = values.iter().zip(kind.columns);
    with_columns.map(|(value, column)| param(value, column.holds)).collect()
}

impl PostgresStore {
    /// Inserts records of one kind; returns how many are new.
    fn put_batch(&self, kind: &'static Kind, records: &[CleanRecord]) -> Result<u64> {
        let params = value::columns(records.iter().map(|kept| {
            let values = kept.record().values.iter();
            values.zip(kind.columns).map(|(value, column)| param(value, column.holds))
        }));
        let places: Vec<String> = (1..=params.len()).map(|n| format!("${n}")).collect();
        let inserted = self.change(
            &format!(
                "INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING",
                kind.name,
                columns(kind),
                places.join(", ")
            ),
            &params,
        )?;
        if inserted < records.len() as u64 {
            self.compare(kind, records)?;
        }
        Ok(inserted)
    }

    /// Rejects records that differ from the stored ones.
    fn compare(&self, kind: &'static Kind, records: &[CleanRecord]) -> Result<()> {
        let keys = value::columns(records.iter().map(|kept| {
            let values = kept.record().key().iter();
            values.zip(kind.columns).map(|(value, column)| param(value, column.holds))
        }));
        let key = &kind.columns[..kind.key];
        let list = |each: &dyn Fn(usize, &Column) -> String, between: &str| {
            let parts: Vec<String> = key.iter().enumerate().map(|(at, is)| each(at, is)).collect();
            parts.join(between)
        };
        let same = |_: usize, column: &Column| match column.holds {
            Holds::Int | Holds::Real => format!("t.{0} = q.{0}", column.name),
            Holds::Name | Holds::Words | Holds::Json | Holds::Facts => {
                format!("t.{0} = q.{0} COLLATE \"C\"", column.name)
            }
        };
        let all: Vec<String> = kind.columns.iter().map(|c| format!("t.{}", c.name)).collect();
        let sql = format!(
            "SELECT {} FROM unnest({}) WITH ORDINALITY AS q ({}, asked_for)
                JOIN {} t ON {} ORDER BY q.asked_for",
            all.join(", "),
            list(&|at, _| format!("${}", at + 1), ", "),
            list(&|_, column| column.name.to_owned(), ", "),
            kind.name,
            list(&same, " AND "),
        );
        let there = self.all(&sql, &keys, |row| read(kind, row))?;
        let mut there = there.iter();
        let differs = |kept: &&CleanRecord| {
            !there.next().is_some_and(|there| kept.record().is_stored_as(there))
        };
        match records.iter().find(differs) {
            Some(kept) => Err(StoreError::differs(kept.record())),
            None => Ok(()),
        }
    }

    /// Advances a sequence, so that the ids of imported records are not generated again.
    fn put_sequence(&self, record: &Record) -> Result<()> {
        let [Value::Text(of), Value::Int(last)] = record.values.as_slice() else {
            return Err(StoreError::damaged("a sequence has no name or number"));
        };
        let kind = KINDS.iter().find(|kind| kind.numbered && kind.name == of);
        let Some(kind) = kind else {
            return Err(StoreError::damaged("a sequence of an unknown kind"));
        };
        if *last > self.last_number(kind)? {
            self.rows(
                "SELECT setval(pg_get_serial_sequence($1, $2), $3)",
                params![kind.name, kind.columns[0].name, *last],
            )?;
        }
        Ok(())
    }

    /// The last id that was generated.
    fn last_number(&self, kind: &Kind) -> Result<i64> {
        let name = format!("{}_{}_seq", kind.name, kind.columns[0].name);
        let sql =
            format!("SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM {name}");
        Ok(self.first(&sql, &[], |row| Columns::of(row).int())?.unwrap_or(0))
    }

    fn put_all(&self, fill: &mut Fill<'_>) -> Result<Added> {
        let (mut added, mut seen, mut packages) = (0, 0, false);
        let mut batch: Vec<CleanRecord> = Vec::new();
        fill(&mut |kept| {
            if kept.record().kind == SEQUENCE {
                return self.put_sequence(kept.record());
            }
            seen += 1;
            packages |= kept.record().kind.is_indexed();
            if let Some(first) = batch.first()
                && (first.record().kind != kept.record().kind || batch.len() == BATCH)
            {
                added += self.put_batch(first.record().kind, &batch)?;
                batch.clear();
            }
            batch.push(kept);
            Ok(())
        })?;
        if let Some(first) = batch.first() {
            added += self.put_batch(first.record().kind, &batch)?;
        }
        if packages && added > 0 {
            let sessions =
                self.all("SELECT key FROM session", &[], |row| Columns::of(row).int())?;
            self.rebuild(&sessions)?;
            self.rebuild_notes()?;
        }
        if added > 0 {
            self.rebuild_tallies()?;
        }
        Ok(Added { added, present: seen - added })
    }
}

impl Archive for PostgresStore {
    fn replace_record(&self, old: &Record, new: &CleanRecord) -> Result<()> {
        let (kind, new) = (old.kind, new.record());
        let clause = |columns: &[Column], first: usize, between: &str| {
            let parts: Vec<String> = columns
                .iter()
                .enumerate()
                .map(|(at, column)| format!("{} = ${}", column.name, first + at))
                .collect();
            parts.join(between)
        };
        let key = &kind.columns[..kind.key];
        self.once(Lock::Project, || {
            if old.key() != new.key() {
                // Two texts may have become identical.
                let sql = format!("DELETE FROM {} WHERE {}", kind.name, clause(key, 1, " AND "));
                self.change(&sql, &params_of(kind, new.key()))?;
            }
            let sql = format!(
                "UPDATE {} SET {} WHERE {}",
                kind.name,
                clause(kind.columns, 1, ", "),
                clause(key, kind.columns.len() + 1, " AND ")
            );
            let mut values = params_of(kind, &new.values);
            values.extend(params_of(kind, old.key()));
            self.change(&sql, &values)?;
            Ok(())
        })
    }

    fn each_record(&self, visit: &mut Sink<'_>) -> Result<()> {
        self.snapshot(|| {
            for kind in KINDS {
                let order = (1..=kind.key).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
                // A few hundred at a time: bodies are long.
                self.change(
                    &format!(
                        "DECLARE every NO SCROLL CURSOR FOR SELECT {} FROM {} ORDER BY {order}",
                        columns(kind),
                        kind.name
                    ),
                    &[],
                )?;
                loop {
                    let rows = self.rows(&format!("FETCH {BATCH} FROM every"), &[])?;
                    for row in &rows {
                        visit(clean(read(kind, &PgRow(row))?))?;
                    }
                    if rows.len() < BATCH {
                        break;
                    }
                }
                self.change("CLOSE every", &[])?;
            }
            for kind in KINDS.iter().filter(|kind| kind.numbered) {
                let last = self.last_number(kind)?;
                if last > 0 {
                    let values = vec![Value::Text(kind.name.to_owned()), Value::Int(last)];
                    visit(clean(Record { kind: SEQUENCE, values }))?;
                }
            }
            Ok(())
        })
    }

    fn put_records(&self, fill: &mut Fill<'_>) -> Result<Added> {
        // `fill` can only be called once.
        self.once(Lock::Project, || self.put_all(fill))
    }
}
