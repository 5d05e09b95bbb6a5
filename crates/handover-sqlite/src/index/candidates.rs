//! Sheets of candidates in their table.

use handover_model::{GroupId, PackageId, Role};
use handover_store::packed::{self, Entry, Terms};
use handover_store::{Result, Slice};
use rusqlite::{Connection, OptionalExtension};

use crate::error::backend;

pub(super) fn add(tx: &Connection, session: i64, entry: &Entry<'_>, terms: &Terms) -> Result<()> {
    let (sheet, _) = packed::on_sheet(entry.id);
    let mut packed = get(tx, session, sheet)?;
    packed::add_candidate(&mut packed, entry, terms)?;
    put(tx, session, sheet, &packed)
}

pub(super) fn remove(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    let (sheet, _) = packed::on_sheet(id);
    let kept = packed::without_candidate(&get(tx, session, sheet)?, id)?;
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
    let mut statement = connection
        .prepare_cached(
            "SELECT sheet, candidates FROM candidate_sheet WHERE session = ?1 AND sheet >= ?2
             ORDER BY sheet",
        )
        .map_err(backend)?;
    let mut rows = statement.query((session, from)).map_err(backend)?;
    // Room for a slice at once, so that it does not move while it grows.
    let room = enough.min(1 << 14) as usize;
    let mut candidates = Vec::with_capacity(room);
    while let Some(row) = rows.next().map_err(backend)? {
        let sheet: i64 = row.get(0).map_err(backend)?;
        if candidates.len() >= enough.max(1) as usize {
            return Ok(Slice { candidates, next: Some(sheet) });
        }
        let packed = row.get_ref(1).map_err(backend)?;
        let packed = packed.as_blob().map_err(|e| backend(e.into()))?;
        packed::read_candidates(sheet, packed, group, role, &mut candidates)?;
    }
    Ok(Slice { candidates, next: None })
}

/// Moves what is on pages of before to sheets. False if some of it is damaged.
pub(crate) fn move_to_sheets(tx: &Connection) -> Result<bool> {
    let mut statement =
        tx.prepare("SELECT session, page, candidates FROM candidate_page").map_err(backend)?;
    let mut rows = statement.query([]).map_err(backend)?;
    let mut sound = true;
    while let Some(row) = rows.next().map_err(backend)? {
        let (session, page): (i64, i64) =
            (row.get(0).map_err(backend)?, row.get(1).map_err(backend)?);
        let packed: Vec<u8> = row.get(2).map_err(backend)?;
        match packed::sheets_of_page(page, &packed) {
            Ok(sheets) => {
                for (sheet, packed) in sheets {
                    put(tx, session, sheet, &packed)?;
                }
            }
            Err(_) => sound = false,
        }
    }
    drop(rows);
    drop(statement);
    tx.execute_batch("DROP TABLE candidate_page").map_err(backend)?;
    Ok(sound)
}

fn get(tx: &Connection, session: i64, sheet: i64) -> Result<Vec<u8>> {
    let found = tx
        .prepare_cached("SELECT candidates FROM candidate_sheet WHERE session = ?1 AND sheet = ?2")
        .and_then(|mut s| s.query_row((session, sheet), |r| r.get(0)).optional())
        .map_err(backend)?;
    Ok(found.unwrap_or_default())
}

fn put(tx: &Connection, session: i64, sheet: i64, packed: &[u8]) -> Result<()> {
    if packed.is_empty() {
        tx.prepare_cached("DELETE FROM candidate_sheet WHERE session = ?1 AND sheet = ?2")
            .and_then(|mut s| s.execute((session, sheet)))
    } else {
        tx.prepare_cached(
            "INSERT INTO candidate_sheet (session, sheet, candidates) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET candidates = excluded.candidates",
        )
        .and_then(|mut s| s.execute((session, sheet, packed)))
    }
    .map_err(backend)?;
    Ok(())
}
