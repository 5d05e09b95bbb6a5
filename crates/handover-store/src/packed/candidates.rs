//! What ranking needs to know of each package, without its text: one packed record each.

use handover_model::{GroupId, PackageId, Priority, Role, Scope, Timestamp};

use super::terms::Terms;
use super::{Entry, at, place};
use crate::{COLUMNS, Candidate, Result, StoreError};

/// One package of a page. Behind the fixed part follow the group and the consumers, by name: a
/// session has few of them, but they belong to it alone.
struct Record<'a> {
    local: u8,
    priority: Priority,
    global: bool,
    version: u32,
    created_at: Timestamp,
    terms: [u16; COLUMNS],
    /// Empty for none.
    group: &'a [u8],
    /// Separated by commas.
    consumers: &'a [u8],
}

/// How many bytes the fixed part of a record has.
const FIXED: usize = 3 + 4 + 8 + 2 * COLUMNS;

impl<'a> Record<'a> {
    fn write(&self, page: &mut Vec<u8>) {
        page.extend([self.local, self.priority as u8, u8::from(self.global)]);
        page.extend(self.version.to_le_bytes());
        page.extend(self.created_at.as_micros().to_le_bytes());
        page.extend(self.terms.iter().flat_map(|count| count.to_le_bytes()));
        for name in [self.group, self.consumers] {
            page.extend((name.len() as u32).to_le_bytes());
            page.extend(name);
        }
    }

    /// Reads one off the front; none if the bytes are not a record.
    #[inline]
    fn read(page: &mut &'a [u8]) -> Option<Self> {
        // Taken in one piece, so that its end is looked for once.
        let fixed = &mut &take::<FIXED>(page)?[..];
        let [local, priority, global] = take(fixed)?;
        let priority = *Priority::ALL.get(usize::from(priority))?;
        let version = u32::from_le_bytes(take(fixed)?);
        let created_at = Timestamp::from_micros(i64::from_le_bytes(take(fixed)?));
        let mut terms = [0; COLUMNS];
        for count in &mut terms {
            *count = u16::from_le_bytes(take(fixed)?);
        }
        let (group, consumers) = (name(page)?, name(page)?);
        let global = global != 0;
        Some(Self { local, priority, global, version, created_at, terms, group, consumers })
    }
}

#[inline]
fn take<const N: usize>(page: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = page.split_first_chunk()?;
    *page = rest;
    Some(*front)
}

#[inline]
fn name<'a>(page: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(page)?) as usize;
    let (name, rest) = page.split_at_checked(length)?;
    *page = rest;
    Some(name)
}

/// Shows the records of a page in their order.
#[inline]
fn each<'a>(mut page: &'a [u8], mut visit: impl FnMut(Record<'a>)) -> Result<()> {
    while !page.is_empty() {
        let early = || StoreError::damaged("a page of candidates ends early");
        visit(Record::read(&mut page).ok_or_else(early)?);
    }
    Ok(())
}

/// Puts a package behind the others of its page.
pub fn add_candidate(page: &mut Vec<u8>, entry: &Entry<'_>, terms: &Terms) {
    let (_, local) = place(entry.id);
    let consumers = entry.consumers.iter().map(Role::as_str).collect::<Vec<_>>().join(",");
    let record = Record {
        local,
        priority: entry.priority,
        global: entry.scope == Scope::Global,
        version: entry.version,
        created_at: entry.created_at,
        terms: terms.lengths.map(|count| count.try_into().unwrap_or(u16::MAX)),
        group: entry.group.map_or("", GroupId::as_str).as_bytes(),
        consumers: consumers.as_bytes(),
    };
    record.write(page);
}

/// A page without one of its packages.
pub fn without_candidate(page: &[u8], id: PackageId) -> Result<Vec<u8>> {
    let (_, gone) = place(id);
    let mut kept = Vec::new();
    each(page, |record| {
        if record.local != gone {
            record.write(&mut kept);
        }
    })?;
    Ok(kept)
}

/// Adds the packages of a page, as a role of a group sees them.
pub fn read_candidates(
    page: i64,
    packed: &[u8],
    group: Option<&GroupId>,
    role: Option<&Role>,
    found: &mut Vec<Candidate>,
) -> Result<()> {
    let group = group.map(|group| group.as_str().as_bytes());
    let role = role.map(|role| role.as_str().as_bytes());
    // Neighbours are mostly for the same readers, whose names are looked through once.
    let (mut readers, mut addressed): (&[u8], bool) = (&[], false);
    each(packed, |record| {
        if record.consumers != readers {
            readers = record.consumers;
            addressed =
                role.is_some_and(|role| readers.split(|byte| *byte == b',').any(|c| c == role));
        }
        found.push(Candidate {
            id: at(page, record.local),
            version: record.version,
            priority: record.priority,
            same_group: group == Some(record.group),
            global: record.global,
            addressed,
            restricted: !readers.is_empty(),
            created_at: record.created_at,
            terms: record.terms,
        });
    })
}
