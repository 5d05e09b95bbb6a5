//! Sheets of candidates in their table.

use handover_model::{GroupId, PackageId, Role};
use handover_store::packed::{self, Entry, Terms};
use handover_store::rows::{Columns, Row};
use handover_store::{IndexPart, Result, Slice};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{SHEETS, intact};
use crate::query::{self, Visit};

pub(super) fn add(tx: &Connection, session: i64, entry: &Entry<'_>, terms: &Terms) -> Result<()> {
    let sheet = SHEETS.number(entry.id);
    let mut packed = get(tx, session, sheet)?;
    packed::add_candidate(&mut packed, entry, terms, SHEETS)?;
    put(tx, session, sheet, &packed)
}

pub(super) fn remove(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    let sheet = SHEETS.number(id);
    let kept = packed::without_candidate(&get(tx, session, sheet)?, id, SHEETS)?;
    put(tx, session, sheet, &kept)
}

/// The latest versions of a session, as a role of a group sees them, by id.
pub(crate) fn slice(
    connection: &Connection,
    session: i64,
    group: Option<&GroupId>,
    role: Option<&Role>,
    from: i64,
    enough: u32,
) -> Result<Slice> {
    // Allocated at once, so that it is not copied while it grows.
    let room = enough.min(1 << 14) as usize;
    let (mut candidates, mut next) = (Vec::with_capacity(room), None);
    query::each(
        connection,
        "SELECT sheet, candidates, sum FROM candidate_sheet WHERE session = ?1 AND sheet >= ?2
         ORDER BY sheet",
        (session, SHEETS.number(PackageId(from))),
        |row| {
            let mut columns = Columns::of(row);
            let sheet = columns.int()?;
            let first = SHEETS.first(sheet);
            if candidates.len() >= enough.max(1) as usize {
                next = Some(first.0);
                return Ok(Visit::Stop);
            }
            let key = [ValueRef::Integer(session), ValueRef::Integer(sheet)];
            let packed = intact(&mut columns, IndexPart::Candidates, &key)?;
            packed::read_candidates(first, packed, group, role, &mut candidates)?;
            Ok(Visit::Continue)
        },
    )?;
    Ok(Slice { candidates, next })
}

fn get(tx: &Connection, session: i64, sheet: i64) -> Result<Vec<u8>> {
    let key = [ValueRef::Integer(session), ValueRef::Integer(sheet)];
    let sql = "SELECT candidates, sum FROM candidate_sheet WHERE session = ?1 AND sheet = ?2";
    let read =
        |row: &dyn Row| Ok(intact(&mut Columns::of(row), IndexPart::Candidates, &key)?.to_vec());
    Ok(query::first(tx, sql, (session, sheet), read)?.unwrap_or_default())
}

fn put(tx: &Connection, session: i64, sheet: i64, packed: &[u8]) -> Result<()> {
    if packed.is_empty() {
        let sql = "DELETE FROM candidate_sheet WHERE session = ?1 AND sheet = ?2";
        query::execute(tx, sql, (session, sheet))?;
    } else {
        let sql = "INSERT INTO candidate_sheet (session, sheet, candidates) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET candidates = excluded.candidates";
        query::execute(tx, sql, (session, sheet, packed))?;
    }
    Ok(())
}
