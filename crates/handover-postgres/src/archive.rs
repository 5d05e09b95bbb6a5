//! Whole projects: every table of the list, many rows to a statement.

use handover_model::PackageId;
use handover_store::archive::{
    Added, Archive, Column, Fill, Holds, Index, KINDS, Kept, Kind, Record, SEQUENCE, Sink, Value,
};
use handover_store::packed::Entry;
use handover_store::{Packages, Result, StoreError};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::transaction::Lock;
use crate::value::{self, Param, params};

/// So many rows go in one statement.
const BATCH: usize = 500;

fn columns(kind: &Kind) -> String {
    kind.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

fn read(kind: &'static Kind, row: &Row) -> Result<Record> {
    let mut values = Vec::with_capacity(kind.columns.len());
    for column in kind.columns {
        let name = column.name;
        let value = match column.holds {
            Holds::Int => value::int_opt(row, name)?.map(Value::Int),
            Holds::Real => value::real_opt(row, name)?.map(Value::Real),
            Holds::Bytes => value::bytes_opt(row, name)?.map(Value::Bytes),
            Holds::Name | Holds::Words | Holds::Json | Holds::Facts => {
                value::text_opt(row, name)?.map(Value::Text)
            }
        };
        values.push(value.unwrap_or(Value::Null));
    }
    Ok(Record { kind, values })
}

/// A value as a parameter of the type that its column has.
fn param(value: &Value, holds: Holds) -> Param<'_> {
    match (holds, value) {
        (Holds::Int, Value::Int(number)) => (*number).into(),
        (Holds::Int, _) => Param::Int(None),
        (Holds::Real, Value::Real(number)) => (*number).into(),
        (Holds::Real, _) => Param::Real(None),
        (Holds::Bytes, Value::Bytes(bytes)) => bytes.as_slice().into(),
        (Holds::Bytes, _) => Param::Bytes(None),
        (_, Value::Text(text)) => text.as_str().into(),
        (Holds::Name | Holds::Words | Holds::Json | Holds::Facts, _) => Param::Text(None),
    }
}

impl PostgresStore {
    /// Puts records of one kind in; how many are new.
    fn put_batch(&self, kind: &'static Kind, records: &[Kept]) -> Result<u64> {
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
        // Pages of the index are not records to be counted.
        Ok(if kind.index { 0 } else { inserted })
    }

    /// Refuses records unless the store has exactly them.
    fn compare(&self, kind: &'static Kind, records: &[Kept]) -> Result<()> {
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
            Holds::Int | Holds::Real | Holds::Bytes => format!("t.{0} = q.{0}", column.name),
            Holds::Name | Holds::Words | Holds::Json | Holds::Facts => {
                format!("t.{0} = q.{0} COLLATE \"C\"", column.name)
            }
        };
        let sql = format!(
            "SELECT t.* FROM unnest({}) WITH ORDINALITY AS q ({}, asked_for)
                JOIN {} t ON {} ORDER BY q.asked_for",
            list(&|at, _| format!("${}", at + 1), ", "),
            list(&|_, column| column.name.to_owned(), ", "),
            kind.name,
            list(&same, " AND "),
        );
        let there = self.all(&sql, &keys, |row| read(kind, row))?;
        let mut there = there.iter();
        match records.iter().find(|kept| there.next() != Some(kept.record())) {
            Some(kept) => Err(StoreError::differs(kept.record())),
            None => Ok(()),
        }
    }

    /// Numbers that were given out elsewhere are not given out here.
    fn put_sequence(&self, record: &Record) -> Result<()> {
        let [Value::Text(of), Value::Int(last)] = record.values.as_slice() else {
            return Err(StoreError::damaged("a sequence has no name or number"));
        };
        let kind = KINDS.iter().find(|kind| kind.numbered && kind.name == of);
        let Some(kind) = kind else {
            return Err(StoreError::damaged("a sequence of nothing that is numbered"));
        };
        if *last > self.last_number(kind)? {
            self.rows(
                "SELECT setval(pg_get_serial_sequence($1, $2), $3)",
                params![kind.name, kind.columns[0].name, *last],
            )?;
        }
        Ok(())
    }

    /// The last number that was given out.
    fn last_number(&self, kind: &Kind) -> Result<i64> {
        let name = format!("{}_{}_seq", kind.name, kind.columns[0].name);
        let sql =
            format!("SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM {name}");
        Ok(self.first(&sql, &[], |row| value::int(row, "last"))?.unwrap_or(0))
    }

    /// Puts every latest package into an index that is empty.
    fn index_anew(&self) -> Result<()> {
        let sessions = self.all("SELECT key FROM session", &[], |r| value::int(r, "key"))?;
        for session in sessions {
            let ids: Vec<PackageId> = self.all(
                "SELECT id FROM package WHERE session = $1 AND superseded_by IS NULL ORDER BY id",
                params![session],
                |r| Ok(PackageId(value::int(r, "id")?)),
            )?;
            for ids in ids.chunks(BATCH) {
                let (packages, bodies) = (self.packages_by_id(ids)?, self.package_bodies(ids)?);
                let entries: Vec<Entry<'_>> =
                    packages.iter().zip(&bodies).map(|(one, body)| Entry::of(one, body)).collect();
                let before = self.before(session, &entries, &vec![None; entries.len()])?;
                let before: Vec<_> =
                    before.into_iter().map(|before| before.map(|it| it.summary)).collect();
                self.index(session, &entries, &before)?;
                // Batch by batch: the postings of a large session are too much for one statement.
                self.settle(session)?;
            }
        }
        Ok(())
    }

    fn clear_index(&self) -> Result<()> {
        for kind in KINDS.iter().filter(|kind| kind.index) {
            self.change(&format!("DELETE FROM {}", kind.name), &[])?;
        }
        Ok(())
    }

    fn put_all(&self, index: Index, fill: &mut Fill<'_>) -> Result<Added> {
        // The index is not added to but taken over or made anew.
        if index == Index::Included {
            self.clear_index()?;
        }
        let (mut added, mut seen, mut packages) = (0, 0, false);
        let mut batch: Vec<Kept> = Vec::new();
        fill(&mut |kept| {
            if kept.record().kind == SEQUENCE {
                return self.put_sequence(kept.record());
            }
            seen += u64::from(!kept.record().kind.index);
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
        if index == Index::MadeAnew && packages && added > 0 {
            self.clear_index()?;
            self.index_anew()?;
        }
        Ok(Added { added, present: seen - added })
    }
}

impl Archive for PostgresStore {
    fn each_record(&self, index: Index, visit: &mut Sink<'_>) -> Result<()> {
        self.snapshot(|| {
            for kind in index.kinds() {
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
                        visit(Kept::of_store(read(kind, row)?))?;
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
                    visit(Kept::of_store(Record { kind: SEQUENCE, values }))?;
                }
            }
            Ok(())
        })
    }

    fn put_records(&self, index: Index, fill: &mut Fill<'_>) -> Result<Added> {
        // What has been given once cannot be asked for again.
        self.once(Lock::Project, || self.put_all(index, fill))
    }
}
