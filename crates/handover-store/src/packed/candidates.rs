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
    fn read(page: &mut &'a [u8]) -> Option<Self> {
        let [local, priority, global] = take(page)?;
        let priority = *Priority::ALL.get(usize::from(priority))?;
        let version = u32::from_le_bytes(take(page)?);
        let created_at = Timestamp::from_micros(i64::from_le_bytes(take(page)?));
        let mut terms = [0; COLUMNS];
        for count in &mut terms {
            *count = u16::from_le_bytes(take(page)?);
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

fn records(mut page: &[u8]) -> impl Iterator<Item = Result<Record<'_>>> {
    std::iter::from_fn(move || {
        if page.is_empty() {
            return None;
        }
        let record = Record::read(&mut page);
        if record.is_none() {
            page = &[];
        }
        Some(record.ok_or_else(|| StoreError::damaged("a page of candidates ends early")))
    })
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
    for record in records(page) {
        let record = record?;
        if record.local != gone {
            record.write(&mut kept);
        }
    }
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
    for record in records(packed) {
        let record = record?;
        let restricted = !record.consumers.is_empty();
        found.push(Candidate {
            id: at(page, record.local),
            version: record.version,
            priority: record.priority,
            same_group: group == Some(record.group),
            global: record.global,
            addressed: restricted
                && role
                    .is_some_and(|role| record.consumers.split(|b| *b == b',').any(|c| c == role)),
            restricted,
            created_at: record.created_at,
            terms: record.terms,
        });
    }
    Ok(())
}
