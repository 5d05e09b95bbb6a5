//! Candidates as formats before sheets had them: a page at a time, every record in full, with its place and
//! its scope in bytes of their own.

use super::candidates::{Record, take};
use super::{PAGE, SHEET};
use crate::{Result, StoreError};

/// The sheets of what an old page has.
pub fn sheets_of_page(page: i64, mut packed: &[u8]) -> Result<Vec<(i64, Vec<u8>)>> {
    let mut sheets: Vec<(i64, Vec<u8>)> = Vec::new();
    let mut before = None;
    while !packed.is_empty() {
        let damaged = || StoreError::damaged("an old page of candidates is not in order");
        let (local, record) = read(&mut packed).ok_or_else(damaged)?;
        let sheet = page.checked_mul(PAGE / SHEET).ok_or_else(damaged)? + i64::from(local) / SHEET;
        let last = sheets.last().map(|last| last.0);
        if i64::from(local) >= PAGE || last.is_some_and(|last| last > sheet) {
            return Err(damaged());
        }
        if last != Some(sheet) {
            sheets.push((sheet, Vec::new()));
            before = None;
        }
        if let Some((_, sheet)) = sheets.last_mut() {
            record.write(before.as_ref(), sheet);
        }
        before = Some(record);
    }
    Ok(sheets)
}

fn read<'a>(page: &mut &'a [u8]) -> Option<(u8, Record<'a>)> {
    let [local, priority, global] = take(page)?;
    Some((local, Record::read_full(local % SHEET as u8, priority, global != 0, page)?))
}
