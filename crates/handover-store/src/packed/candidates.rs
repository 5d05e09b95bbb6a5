//! What ranking needs to know of each package, without its text: one packed record each, on sheets.
//!
//! A record is told in short, as it differs from the one before: neighbours were mostly made one soon
//! after the other and for the same readers. The first of a sheet, and whatever does not fit, is told in
//! full. Numbers have a fixed length either way, since every assembly reads all of them.

use handover_model::{GroupId, PackageId, Priority, Role, Scope, Timestamp};

use super::terms::Terms;
use super::{Entry, SHEET, on_sheet};
use crate::{COLUMNS, Candidate, Result, StoreError};

/// The bits of the first byte that are the place.
const PLACE: u8 = SHEET as u8 - 1;
/// The others: every group gets it; names follow; it is told in full.
const GLOBAL: u8 = 1 << 5;
const NAMED: u8 = 1 << 6;
const FULL: u8 = 1 << 7;

#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) local: u8,
    pub(super) priority: Priority,
    pub(super) global: bool,
    pub(super) version: u32,
    /// In microseconds.
    pub(super) created_at: i64,
    pub(super) terms: [u16; COLUMNS],
    pub(super) names: Names<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Names<'a> {
    /// Empty for none.
    pub(super) group: &'a [u8],
    /// Separated by commas.
    pub(super) consumers: &'a [u8],
}

/// What is told in short: version and priority in one byte, the time since the record before, and how
/// long the columns are.
struct Short {
    version: u8,
    since: u64,
    terms: [u16; COLUMNS],
}

/// How many bytes of a time are told in short: nine years.
const SINCE: usize = 6;
const SHORT: usize = 1 + SINCE + 2 * COLUMNS;

impl Short {
    /// None if the record has to be told in full.
    fn of(record: &Record<'_>, before: &Record<'_>) -> Option<Self> {
        let since = u64::try_from(record.created_at.checked_sub(before.created_at)?).ok()?;
        let fits = record.version < 1 << 6 && since < 1 << (8 * SINCE);
        let version = (record.version as u8) << 2 | record.priority as u8;
        fits.then_some(Self { version, since, terms: record.terms })
    }

    fn write(&self, sheet: &mut Vec<u8>) {
        sheet.push(self.version);
        sheet.extend(&self.since.to_le_bytes()[..SINCE]);
        sheet.extend(self.terms.iter().flat_map(|count| count.to_le_bytes()));
    }

    #[inline]
    fn read(bytes: &[u8; SHORT]) -> Self {
        let [version, a, b, c, d, e, f, terms @ ..] = *bytes;
        let since = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
        Self { version, since, terms: lengths(terms) }
    }
}

impl<'a> Record<'a> {
    const BLANK: Self = Self {
        local: 0,
        priority: Priority::Low,
        global: false,
        version: 0,
        created_at: 0,
        terms: [0; COLUMNS],
        names: Names { group: &[], consumers: &[] },
    };

    pub(super) fn write(&self, before: Option<&Record<'_>>, sheet: &mut Vec<u8>) {
        let short = before.and_then(|before| Short::of(self, before));
        let named = short.is_none() || before.is_none_or(|before| before.names != self.names);
        let marks = [(GLOBAL, self.global), (NAMED, named), (FULL, short.is_none())];
        sheet.push(marks.iter().filter(|mark| mark.1).fold(self.local, |all, mark| all | mark.0));
        match short {
            Some(short) => short.write(sheet),
            None => {
                sheet.push(self.priority as u8);
                sheet.extend(self.version.to_le_bytes());
                sheet.extend(self.created_at.to_le_bytes());
                sheet.extend(self.terms.iter().flat_map(|count| count.to_le_bytes()));
            }
        }
        if named {
            for name in [self.names.group, self.names.consumers] {
                sheet.extend((name.len() as u32).to_le_bytes());
                sheet.extend(name);
            }
        }
    }

    /// Becomes the next record off the front; none if the bytes are not one.
    #[inline]
    fn advance(&mut self, sheet: &mut &'a [u8]) -> Option<()> {
        let [marks] = take(sheet)?;
        let (local, global) = (marks & PLACE, marks & GLOBAL != 0);
        if marks & FULL != 0 {
            let [priority] = take(sheet)?;
            *self = Self::read_full(local, priority, global, sheet)?;
            return Some(());
        }
        let short = Short::read(&take(sheet)?);
        (self.local, self.global) = (local, global);
        self.priority = *Priority::ALL.get(usize::from(short.version & 3))?;
        self.version = u32::from(short.version >> 2);
        self.created_at = self.created_at.wrapping_add_unsigned(short.since);
        self.terms = short.terms;
        if marks & NAMED != 0 {
            self.names = Names::read(sheet)?;
        }
        Some(())
    }

    /// Reads the rest of a record that is told in full.
    pub(super) fn read_full(
        local: u8,
        priority: u8,
        global: bool,
        sheet: &mut &'a [u8],
    ) -> Option<Self> {
        let version = u32::from_le_bytes(take(sheet)?);
        let created_at = i64::from_le_bytes(take(sheet)?);
        let terms = lengths(take(sheet)?);
        let (priority, names) = (*Priority::ALL.get(usize::from(priority))?, Names::read(sheet)?);
        Some(Self { local, priority, global, version, created_at, terms, names })
    }
}

impl<'a> Names<'a> {
    fn read(sheet: &mut &'a [u8]) -> Option<Self> {
        Some(Self { group: name(sheet)?, consumers: name(sheet)? })
    }
}

fn name<'a>(sheet: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(sheet)?) as usize;
    let (name, rest) = sheet.split_at_checked(length)?;
    *sheet = rest;
    Some(name)
}

/// Moved in one piece, not number by number.
#[inline]
fn lengths(bytes: [u8; 2 * COLUMNS]) -> [u16; COLUMNS] {
    let (pairs, _) = bytes.as_chunks();
    std::array::from_fn(|column| u16::from_le_bytes(pairs[column]))
}

#[inline]
pub(super) fn take<const N: usize>(sheet: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = sheet.split_first_chunk()?;
    *sheet = rest;
    Some(*front)
}

/// Shows the records of a sheet in their order.
#[inline]
fn each<'a>(mut sheet: &'a [u8], mut visit: impl FnMut(&Record<'a>)) -> Result<()> {
    let damaged = || StoreError::damaged("a sheet of candidates ends early");
    if sheet.first().is_some_and(|marks| marks & FULL == 0) {
        return Err(damaged());
    }
    let mut record = Record::BLANK;
    while !sheet.is_empty() {
        record.advance(&mut sheet).ok_or_else(damaged)?;
        visit(&record);
    }
    Ok(())
}

/// Puts a package behind the others of its sheet.
pub fn add_candidate(sheet: &mut Vec<u8>, entry: &Entry<'_>, terms: &Terms) -> Result<()> {
    let consumers = entry.consumers.iter().map(Role::as_str).collect::<Vec<_>>().join(",");
    let record = Record {
        local: on_sheet(entry.id).1,
        priority: entry.priority,
        global: entry.scope == Scope::Global,
        version: entry.version,
        created_at: entry.created_at.as_micros(),
        terms: terms.lengths.map(|count| count.try_into().unwrap_or(u16::MAX)),
        names: Names {
            group: entry.group.map_or("", GroupId::as_str).as_bytes(),
            consumers: consumers.as_bytes(),
        },
    };
    let (mut last, mut added) = (None, Vec::new());
    each(sheet, |record| last = Some(*record))?;
    record.write(last.as_ref(), &mut added);
    sheet.extend(added);
    Ok(())
}

/// A sheet without one of its packages.
pub fn without_candidate(sheet: &[u8], id: PackageId) -> Result<Vec<u8>> {
    let (_, gone) = on_sheet(id);
    let (mut kept, mut last) = (Vec::new(), None);
    each(sheet, |record| {
        if record.local != gone {
            record.write(last.as_ref(), &mut kept);
            last = Some(*record);
        }
    })?;
    Ok(kept)
}

/// Adds the packages of a sheet, as a role of a group sees them.
pub fn read_candidates(
    sheet: i64,
    packed: &[u8],
    group: Option<&GroupId>,
    role: Option<&Role>,
    found: &mut Vec<Candidate>,
) -> Result<()> {
    let group = group.map(|group| group.as_str().as_bytes());
    let role = role.map(|role| role.as_str().as_bytes());
    let (mut readers, mut same_group, mut addressed): (&[u8], _, _) = (&[], false, false);
    each(packed, |record| {
        // Names that were taken from the record before are those very bytes: they are looked through once.
        if !std::ptr::eq(readers, record.names.consumers) {
            readers = record.names.consumers;
            same_group = group == Some(record.names.group);
            let mut each = readers.split(|byte| *byte == b',');
            addressed = role.is_some_and(|role| each.any(|reader| reader == role));
        }
        found.push(Candidate {
            id: PackageId(sheet.wrapping_mul(SHEET) + i64::from(record.local)),
            version: record.version,
            priority: record.priority,
            same_group,
            global: record.global,
            addressed,
            restricted: !readers.is_empty(),
            created_at: Timestamp::from_micros(record.created_at),
            terms: record.terms,
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [Names<'static>; 3] = [
        Names { group: b"P1", consumers: b"developer,qa_expert" },
        Names { group: b"", consumers: b"" },
        Names { group: b"P2", consumers: b"developer,qa_expert" },
    ];

    fn record(local: u8, created_at: i64, names: Names<'static>) -> Record<'static> {
        Record {
            local,
            priority: Priority::ALL[usize::from(local) % Priority::ALL.len()],
            global: local.is_multiple_of(3),
            version: if local == 7 { u32::MAX } else { 1 },
            created_at,
            terms: [0, 1, 127, 128, if local == 7 { u16::MAX } else { 300 }],
            names,
        }
    }

    fn told(record: &Record<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
        let Names { group, consumers } = record.names;
        (
            (record.local, record.priority, record.global, record.version, record.created_at),
            (record.terms, group.to_vec(), consumers.to_vec()),
        )
    }

    #[test]
    fn records_come_back() {
        let times = [1_700_000_000_000_000, 1_700_000_000_000_000, 3, i64::MAX, i64::MIN, -1, 0, 5];
        let records: Vec<Record<'_>> =
            (0_u8..).zip(times).map(|(n, at)| record(n, at, NAMES[n as usize / 3])).collect();
        let (mut sheet, mut before) = (Vec::new(), None);
        for record in &records {
            // As a store that adds without reading does.
            record.write(before.filter(|_| record.local != 4), &mut sheet);
            before = Some(record);
        }
        let mut read = Vec::new();
        each(&sheet, |record| read.push(told(record))).unwrap();
        assert_eq!(read, records.iter().map(told).collect::<Vec<_>>());

        let kept = without_candidate(&sheet, PackageId(SHEET * 9)).unwrap();
        let mut read = Vec::new();
        each(&kept, |record| read.push(told(record))).unwrap();
        assert_eq!(read, records[1..].iter().map(told).collect::<Vec<_>>());
        assert!(kept.len() < sheet.len());
    }

    #[test]
    fn damage_is_told() {
        let mut sheet = Vec::new();
        record(7, 12, NAMES[0]).write(None, &mut sheet);
        for length in 1..sheet.len() {
            assert!(each(&sheet[..length], |_| ()).is_err(), "{length}");
        }
        // It takes from a record before, and there is none.
        let mut second = Vec::new();
        record(8, 12, NAMES[0]).write(Some(&record(7, 12, NAMES[0])), &mut second);
        assert!(each(&second, |_| ()).is_err());
        assert!(each(&[sheet, second].concat(), |_| ()).is_ok());
    }
}
