//! What ranking needs to know about each package, without its text: one record each, many to a sheet.
//!
//! A record is delta-encoded against its predecessor on the sheet: neighbors were mostly created shortly
//! after each other and for the same consumers. The first record of a sheet, and any that does not fit the
//! delta form, is written in full. Numbers have a fixed length in both forms, because every assembly reads
//! all of them.

use handover_model::{GroupId, PackageId, Priority, Role, Scope, Timestamp};

use super::entry::Entry;
use super::terms::Terms;
use super::{Blocks, VERSION, unversioned};
use crate::{COLUMNS, Candidate, IndexError, IndexPart, Result, StoreError};

const DAMAGED: IndexError = IndexError::Damaged { part: IndexPart::Candidates };
const ORDER: IndexError = IndexError::Order { part: IndexPart::Candidates };

/// The bits of the first byte that are the offset of the package in its block.
const OFFSET: u8 = Blocks::MAX_SHEET as u8 - 1;
/// The other bits of the first byte: global scope; names follow; the full form follows.
const GLOBAL: u8 = 1 << 5;
const NAMED: u8 = 1 << 6;
const FULL: u8 = 1 << 7;

/// A record of a sheet, borrowing its names from the packed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    offset: u8,
    priority: Priority,
    global: bool,
    version: u32,
    /// In microseconds.
    created_at: i64,
    /// How many terms each column has.
    lengths: [u16; COLUMNS],
    names: Names<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Names<'a> {
    /// Empty for none.
    group: &'a [u8],
    /// Separated by commas.
    consumers: &'a [u8],
}

/// The delta form: version and priority in one byte, the time since the previous record, and the lengths.
struct Delta {
    version: u8,
    since: u64,
    lengths: [u16; COLUMNS],
}

/// The number of bytes of a time difference: enough for nine years.
const SINCE: usize = 6;
const DELTA: usize = 1 + SINCE + 2 * COLUMNS;

impl Delta {
    /// None if the record has to be written in full.
    fn of(record: &Record<'_>, before: &Record<'_>) -> Option<Self> {
        let since = u64::try_from(record.created_at.checked_sub(before.created_at)?).ok()?;
        let fits = record.version < 1 << 6 && since < 1 << (8 * SINCE);
        let version = (record.version as u8) << 2 | record.priority as u8;
        fits.then_some(Self { version, since, lengths: record.lengths })
    }

    fn write(&self, sheet: &mut Vec<u8>) {
        sheet.push(self.version);
        sheet.extend(&self.since.to_le_bytes()[..SINCE]);
        sheet.extend(self.lengths.iter().flat_map(|count| count.to_le_bytes()));
    }

    #[inline]
    fn read(bytes: &[u8; DELTA]) -> Self {
        let [version, a, b, c, d, e, f, bytes @ ..] = *bytes;
        let since = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
        Self { version, since, lengths: lengths(bytes) }
    }
}

impl<'a> Record<'a> {
    const BLANK: Self = Self {
        offset: 0,
        priority: Priority::Low,
        global: false,
        version: 0,
        created_at: 0,
        lengths: [0; COLUMNS],
        names: Names { group: &[], consumers: &[] },
    };

    /// The record of a package; `consumers` are its [`consumer_list`].
    pub(super) fn of(entry: &Entry<'a>, terms: &Terms, consumers: &'a str, sheets: Blocks) -> Self {
        Self {
            offset: sheets.offset(entry.id),
            priority: entry.priority,
            global: entry.scope == Scope::Global,
            version: entry.version,
            created_at: entry.created_at.as_micros(),
            lengths: terms.lengths.map(|count| count.try_into().unwrap_or(u16::MAX)),
            names: Names {
                group: entry.group.map_or("", GroupId::as_str).as_bytes(),
                consumers: consumers.as_bytes(),
            },
        }
    }

    /// The position of the package in its block.
    pub(super) fn offset(&self) -> u8 {
        self.offset
    }

    /// Its bytes in full form, which do not depend on its neighbors.
    pub(super) fn in_full(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(None, &mut bytes);
        bytes
    }

    fn write(&self, before: Option<&Record<'_>>, sheet: &mut Vec<u8>) {
        let delta = before.and_then(|before| Delta::of(self, before));
        let named = delta.is_none() || before.is_none_or(|before| before.names != self.names);
        let marks = [(GLOBAL, self.global), (NAMED, named), (FULL, delta.is_none())];
        sheet.push(marks.iter().filter(|mark| mark.1).fold(self.offset, |all, mark| all | mark.0));
        match delta {
            Some(delta) => delta.write(sheet),
            None => {
                sheet.push(self.priority as u8);
                sheet.extend(self.version.to_le_bytes());
                sheet.extend(self.created_at.to_le_bytes());
                sheet.extend(self.lengths.iter().flat_map(|count| count.to_le_bytes()));
            }
        }
        if named {
            for name in [self.names.group, self.names.consumers] {
                sheet.extend((name.len() as u32).to_le_bytes());
                sheet.extend(name);
            }
        }
    }

    /// Reads the next record from the front; returns whether the names may have changed. None if the bytes
    /// are damaged.
    #[inline]
    fn advance(&mut self, sheet: &mut &'a [u8]) -> Option<bool> {
        let [marks] = take(sheet)?;
        let named = marks & NAMED != 0;
        (self.offset, self.global) = (marks & OFFSET, marks & GLOBAL != 0);
        if marks & FULL != 0 {
            let [priority] = take(sheet)?;
            self.priority = *Priority::ALL.get(usize::from(priority))?;
            self.version = u32::from_le_bytes(take(sheet)?);
            self.created_at = i64::from_le_bytes(take(sheet)?);
            self.lengths = lengths(take(sheet)?);
        } else {
            let delta = Delta::read(&take(sheet)?);
            self.priority = *Priority::ALL.get(usize::from(delta.version & 3))?;
            self.version = u32::from(delta.version >> 2);
            self.created_at = self.created_at.wrapping_add_unsigned(delta.since);
            self.lengths = delta.lengths;
        }
        if named {
            self.names = Names { group: name(sheet)?, consumers: name(sheet)? };
        }
        Some(named)
    }
}

fn name<'a>(sheet: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(sheet)?) as usize;
    let (name, rest) = sheet.split_at_checked(length)?;
    *sheet = rest;
    Some(name)
}

/// Converted as a block, which is faster than one by one.
#[inline]
fn lengths(bytes: [u8; 2 * COLUMNS]) -> [u16; COLUMNS] {
    let (pairs, _) = bytes.as_chunks();
    std::array::from_fn(|column| u16::from_le_bytes(pairs[column]))
}

#[inline]
fn take<const N: usize>(sheet: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = sheet.split_first_chunk()?;
    *sheet = rest;
    Some(*front)
}

#[cold]
fn damaged() -> StoreError {
    StoreError::Index(DAMAGED)
}

/// Visits the records of a sheet, whose offsets must ascend. The flag is set if the names may differ from
/// those of the previous record.
#[inline]
pub(super) fn each<'a>(packed: &'a [u8], mut visit: impl FnMut(&Record<'a>, bool)) -> Result<()> {
    let mut sheet = unversioned(packed, IndexPart::Candidates)?;
    // The first record has no predecessor.
    if sheet.first().is_some_and(|marks| marks & (FULL | NAMED) != FULL | NAMED) {
        return Err(damaged());
    }
    let (mut record, mut last) = (Record::BLANK, None);
    while !sheet.is_empty() {
        let named = record.advance(&mut sheet).ok_or_else(damaged)?;
        if last.is_some_and(|last| last >= record.offset) {
            return Err(StoreError::Index(ORDER));
        }
        last = Some(record.offset);
        visit(&record, named);
    }
    Ok(())
}

/// The consumers of a package as the index stores them: sorted, so that their original order does not matter.
pub(super) fn consumer_list(consumers: &[Role]) -> String {
    let mut roles: Vec<&str> = consumers.iter().map(Role::as_str).collect();
    roles.sort_unstable();
    roles.dedup();
    roles.join(",")
}

/// Appends a package to its sheet, which may be empty. Its id must be the highest.
pub fn add_candidate(
    sheet: &mut Vec<u8>,
    entry: &Entry<'_>,
    terms: &Terms,
    sheets: Blocks,
) -> Result<()> {
    let consumers = consumer_list(entry.consumers);
    let record = Record::of(entry, terms, &consumers, sheets);
    append(sheet, &record)
}

fn append(sheet: &mut Vec<u8>, record: &Record<'_>) -> Result<()> {
    if sheet.is_empty() {
        sheet.push(VERSION);
    }
    let (mut last, mut added) = (None, Vec::new());
    each(sheet, |record, _| last = Some(*record))?;
    if last.is_some_and(|last| last.offset >= record.offset) {
        return Err(StoreError::Index(ORDER));
    }
    record.write(last.as_ref(), &mut added);
    sheet.extend(added);
    Ok(())
}

/// A sheet without one of its packages; empty if no other package is left on it.
pub fn without_candidate(packed: &[u8], id: PackageId, sheets: Blocks) -> Result<Vec<u8>> {
    let removed = sheets.offset(id);
    let (mut kept, mut last) = (vec![VERSION], None);
    each(packed, |record, _| {
        if record.offset != removed {
            record.write(last.as_ref(), &mut kept);
            last = Some(*record);
        }
    })?;
    Ok(if last.is_some() { kept } else { Vec::new() })
}

/// Adds the packages of a sheet, as a role of a group sees them; `first` is the first id of the block.
pub fn read_candidates(
    first: PackageId,
    packed: &[u8],
    group: Option<&GroupId>,
    role: Option<&Role>,
    found: &mut Vec<Candidate>,
) -> Result<()> {
    let group = group.map(|group| group.as_str().as_bytes());
    let role = role.map(|role| role.as_str().as_bytes());
    let (mut same_group, mut addressed, mut restricted) = (false, false, false);
    each(packed, |record, named| {
        // Most records have the same names as the previous one, so those are compared once.
        if named {
            same_group = group == Some(record.names.group);
            restricted = !record.names.consumers.is_empty();
            let mut consumers = record.names.consumers.split(|byte| *byte == b',');
            addressed = role.is_some_and(|role| consumers.any(|consumer| consumer == role));
        }
        found.push(Candidate {
            id: PackageId(first.0.saturating_add(i64::from(record.offset))),
            version: record.version,
            priority: record.priority,
            same_group,
            global: record.global,
            addressed,
            restricted,
            created_at: Timestamp::from_micros(record.created_at),
            terms: record.lengths,
        });
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHEETS: Blocks = Blocks::sheets(32);

    /// A record that owns its names.
    #[derive(Debug, Clone)]
    struct Owned {
        record: Record<'static>,
        group: String,
        consumers: String,
    }

    impl Owned {
        fn record(&self) -> Record<'_> {
            let names =
                Names { group: self.group.as_bytes(), consumers: self.consumers.as_bytes() };
            Record { names, ..self.record }
        }
    }

    fn time() -> impl Strategy<Value = i64> {
        // Mostly shortly after each other, as in a real store.
        prop_oneof![4 => 1_700_000_000_000_000..1_700_000_010_000_000_i64, 1 => any::<i64>()]
    }

    fn owned() -> impl Strategy<Value = Owned> {
        (
            (0..4_usize, any::<bool>(), prop_oneof![4 => 1..70_u32, 1 => any::<u32>()], time()),
            any::<[u16; COLUMNS]>(),
            prop_oneof![Just(String::new()), "P[0-9]"],
            prop_oneof![Just(String::new()), "[a-z]{1,9}(,[a-z]{1,9}){0,2}"],
        )
            .prop_map(
                |((priority, global, version, created_at), lengths, group, consumers)| {
                    let priority = Priority::ALL[priority];
                    let record =
                        Record { priority, global, version, created_at, lengths, ..Record::BLANK };
                    Owned { record, group, consumers }
                },
            )
    }

    /// Records with ascending offsets.
    fn sheet() -> impl Strategy<Value = Vec<Owned>> {
        proptest::collection::btree_map(0..32_u8, owned(), 1..20).prop_map(|all| {
            let place = |(offset, mut owned): (u8, Owned)| {
                owned.record.offset = offset;
                owned
            };
            all.into_iter().map(place).collect()
        })
    }

    fn packed(records: &[Owned]) -> Vec<u8> {
        let mut sheet = Vec::new();
        for owned in records {
            append(&mut sheet, &owned.record()).unwrap();
        }
        sheet
    }

    proptest! {
        #[test]
        fn records_survive_packing(records in sheet(), gone in 0..32_u8) {
            let sheet = packed(&records);
            let mut read = Vec::new();
            each(&sheet, |record, _| read.push(*record)).unwrap();
            let expected: Vec<Record<'_>> = records.iter().map(Owned::record).collect();
            prop_assert_eq!(&read, &expected);

            let kept = without_candidate(&sheet, PackageId(64 + i64::from(gone)), SHEETS).unwrap();
            let left: Vec<Owned> =
                records.iter().filter(|owned| owned.record.offset != gone).cloned().collect();
            prop_assert_eq!(kept, packed(&left));
        }

        /// Two concatenated sheets, as created by a backend that appends without reading.
        #[test]
        fn sheets_can_be_concatenated(records in sheet(), at in 0_usize..20) {
            let (front, back) = records.split_at(at.clamp(1, records.len()));
            let mut sheet = packed(front);
            sheet.extend(packed(back).get(1..).unwrap_or_default());
            let mut read = Vec::new();
            each(&sheet, |record, _| read.push(*record)).unwrap();
            prop_assert_eq!(read, records.iter().map(Owned::record).collect::<Vec<_>>());
        }

        /// Visibility is decided by the names of each record, not by those of a neighbor.
        #[test]
        fn names_are_compared_for_each_record(records in sheet()) {
            let (group, role) = (GroupId::new("P1").unwrap(), Role::new("a").unwrap());
            let mut found = Vec::new();
            read_candidates(PackageId(320), &packed(&records), Some(&group), Some(&role), &mut found)
                .unwrap();
            for (candidate, owned) in found.iter().zip(&records) {
                prop_assert_eq!(candidate.id.0, 320 + i64::from(owned.record.offset));
                prop_assert_eq!(candidate.same_group, owned.group == "P1");
                prop_assert_eq!(candidate.restricted, !owned.consumers.is_empty());
                prop_assert_eq!(candidate.addressed, owned.consumers.split(',').any(|c| c == "a"));
                prop_assert_eq!(candidate.global, owned.record.global);
                prop_assert_eq!(candidate.terms, owned.record.lengths);
            }
            prop_assert_eq!(found.len(), records.len());
        }

        #[test]
        fn arbitrary_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut versioned = vec![VERSION];
            versioned.extend(&bytes);
            for bytes in [bytes, versioned] {
                let mut found = Vec::new();
                let _ = read_candidates(PackageId(i64::MAX), &bytes, None, None, &mut found);
                prop_assert!(found.len() <= 32);
                let _ = without_candidate(&bytes, PackageId(1), SHEETS);
            }
        }

        /// A changed byte never causes anything worse than another value or an error.
        #[test]
        fn damaged_sheets_are_read_or_refused(records in sheet(), at in any::<usize>(), byte in any::<u8>()) {
            let mut sheet = packed(&records);
            let at = at % sheet.len();
            sheet[at] = byte;
            let mut found = Vec::new();
            let _ = read_candidates(PackageId(0), &sheet, None, None, &mut found);
            prop_assert!(found.len() <= 32);
        }
    }

    fn plain(offset: u8) -> Record<'static> {
        let names = Names { group: b"P1", consumers: b"developer,qa_expert" };
        Record { offset, version: 1, created_at: 12, names, ..Record::BLANK }
    }

    fn refusal<T: std::fmt::Debug>(result: Result<T>) -> IndexError {
        let error = result.unwrap_err();
        let StoreError::Index(error) = error else { panic!("{error}") };
        error
    }

    #[test]
    fn neighbors_are_delta_encoded() {
        let mut sheet = Vec::new();
        append(&mut sheet, &plain(0)).unwrap();
        let full = sheet.len();
        append(&mut sheet, &plain(1)).unwrap();
        assert_eq!(sheet.len() - full, 1 + DELTA);
    }

    #[test]
    fn truncated_sheets_are_refused() {
        let mut sheet = Vec::new();
        append(&mut sheet, &plain(7)).unwrap();
        for length in 2..sheet.len() {
            assert_eq!(refusal(each(&sheet[..length], |_, _| ())), DAMAGED, "{length}");
        }
        assert_eq!(refusal(each(&[], |_, _| ())), DAMAGED);
        // A delta without a predecessor.
        let mut delta = vec![VERSION];
        plain(8).write(Some(&plain(7)), &mut delta);
        assert_eq!(refusal(each(&delta, |_, _| ())), DAMAGED);
    }

    #[test]
    fn ids_must_ascend() {
        let mut sheet = Vec::new();
        append(&mut sheet, &plain(7)).unwrap();
        assert_eq!(refusal(append(&mut sheet, &plain(7))), ORDER);
        assert_eq!(refusal(append(&mut sheet, &plain(3))), ORDER);
        let mut twice = sheet.clone();
        twice.extend(&sheet[1..]);
        assert_eq!(refusal(each(&twice, |_, _| ())), ORDER);
    }

    #[test]
    fn other_versions_are_refused() {
        let mut sheet = Vec::new();
        append(&mut sheet, &plain(7)).unwrap();
        sheet[0] = 2;
        let expected = IndexError::Version { part: IndexPart::Candidates, found: 2 };
        assert_eq!(refusal(each(&sheet, |_, _| ())), expected);
        assert_eq!(refusal(append(&mut sheet, &plain(8))), expected);
    }

    #[test]
    fn consumers_are_kept_in_one_order() {
        let roles = ["qa_expert", "developer", "qa_expert"].map(|role| Role::new(role).unwrap());
        assert_eq!(consumer_list(&roles), "developer,qa_expert");
        assert_eq!(consumer_list(&[]), "");
    }
}
