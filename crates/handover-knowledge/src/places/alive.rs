//! What became of the paths, symbols and commits that a text names.
//!
//! Only what the index knows is judged: a name that never was part of the project is nobody's concern. A file is
//! looked up in the tree, then in the history of names; a symbol among those that the code has lost, a commit
//! among those that were taken back. Nothing here starts git.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

use handover_model::{NameCheck, StaleName};

use super::container::Section;
use super::files::{self, FileKind};
use super::former;
use super::index::{Index, MAX_RENAMES};
use super::reverted::hex;
use super::tables::{self, DELETED, NONE, RevertedRow};
use crate::mentions::{Mentions, mentions};

/// At most so many names are looked up for one brief.
const MOST: usize = 256;
/// A last part that more paths have in common says nothing about any of them.
const MOST_ALIKE: usize = 48;
/// A path with so many folders means itself, even if too many others end alike to look at them.
const CERTAIN_FOLDERS: usize = 2;
/// The longest name that is shown beside another.
const MAX_SHOWN: usize = 200;
/// How much of the id of a commit is shown.
const SHOWN: usize = 12;

/// Checks names against the tree and an index, each once.
#[derive(Debug)]
pub struct Names {
    index: Index,
    seen: RefCell<HashMap<String, Option<StaleName>>>,
    left: Cell<usize>,
    former: OnceCell<String>,
    reverted: OnceCell<Vec<RevertedRow>>,
}

impl Names {
    /// Checks names against this index and the tree that it was made from.
    pub fn new(index: Index) -> Self {
        Self {
            index,
            seen: RefCell::default(),
            left: Cell::new(MOST),
            former: OnceCell::new(),
            reverted: OnceCell::new(),
        }
    }

    /// The names in a text, and which of them are not what they were.
    pub fn check(&self, text: &str) -> NameCheck {
        let Mentions { paths, symbols, commits, possible_paths } =
            mentions(text, std::slice::from_ref(&self.index.root));
        let named = paths.len() + symbols.len() + commits.len();
        let mut stale = Vec::new();
        for path in paths {
            stale.extend(self.once(path, |path| self.path(path)));
        }
        for symbol in symbols {
            stale.extend(self.once(symbol, |symbol| self.symbol(symbol)));
        }
        for path in possible_paths {
            stale.extend(self.once(path, |path| self.known_path(path)));
        }
        for commit in commits {
            stale.extend(self.once(commit, |commit| self.commit(commit)));
        }
        NameCheck { named: named.max(stale.len()), stale }
    }

    fn once(
        &self,
        name: String,
        check: impl FnOnce(&str) -> Option<StaleName>,
    ) -> Option<StaleName> {
        if let Some(known) = self.seen.borrow().get(&name) {
            return known.clone();
        }
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        let stale = check(&name);
        self.seen.borrow_mut().insert(name, stale.clone());
        stale
    }

    /// A word that is a path only if the index knows it as one.
    fn known_path(&self, name: &str) -> Option<StaleName> {
        self.index.path_number(name)?;
        self.path(name)
    }

    fn path(&self, name: &str) -> Option<StaleName> {
        // What was in a folder is known, the folder itself is not.
        if name.ends_with('/') || self.index.exists(name) {
            return None;
        }
        let fate = match self.index.path_number(name) {
            Some(number) => self.fate(number)?,
            None => self.fate_of_part(name)?,
        };
        let name = name.to_owned();
        match fate {
            Fate::Renamed(to) if is_plain(&to) => Some(StaleName::Renamed { name, to }),
            Fate::Renamed(_) => Some(StaleName::Gone { name }),
            Fate::Gone => (!self.is_elsewhere(&name)).then_some(StaleName::Gone { name }),
        }
    }

    /// Whether a text may mean a file of that name in another folder. The more folders it names, the less.
    fn is_elsewhere(&self, name: &str) -> bool {
        match self.alike(name) {
            Some(alike) => alike.iter().any(|alike| alike.live),
            None => name.matches('/').count() < CERTAIN_FOLDERS,
        }
    }

    /// What became of a path that does not exist; none if the history does not say.
    fn fate(&self, path: u32) -> Option<Fate> {
        let mut row = self.index.path_row(path)?;
        for _ in 0..MAX_RENAMES {
            match row.renamed {
                // It was there when the index was made.
                NONE if row.document != NONE => return Some(Fate::Gone),
                NONE => return None,
                DELETED => return Some(Fate::Gone),
                to => {
                    let name = self.index.path_text(to)?;
                    if self.index.exists(&name) {
                        return Some(Fate::Renamed(name));
                    }
                    row = self.index.path_row(to)?;
                }
            }
        }
        None
    }

    /// The same for the end of a path, if it can only be one.
    fn fate_of_part(&self, part: &str) -> Option<Fate> {
        // Anybody has a `config.json`.
        let telling =
            part.contains('/') || matches!(files::kind(part), FileKind::Code | FileKind::Test);
        let alike = self.alike(part).filter(|_| telling)?;
        match alike.as_slice() {
            [Alike { number, live: false }] => self.fate(*number),
            _ => None,
        }
    }

    /// The paths that end with this one; none if they are too many to look at.
    fn alike(&self, part: &str) -> Option<Vec<Alike>> {
        let end = format!("/{part}");
        let mut alike = Vec::new();
        for number in self.index.paths_by_name(files::name(part), MOST_ALIKE)? {
            let Some(text) = self.index.path_text(number).filter(|text| text.ends_with(&end))
            else {
                continue;
            };
            alike.push(Alike { number, live: self.index.exists(&text) });
        }
        Some(alike)
    }

    fn symbol(&self, name: &str) -> Option<StaleName> {
        let former = self.former.get_or_init(|| {
            let names =
                || String::from_utf8(self.index.pieces.section(Section::FormerSymbols)?).ok();
            // A file that was not read yet may have them.
            if self.index.is_read() { names().unwrap_or_default() } else { String::new() }
        });
        let parts = name.split("::").flat_map(|part| part.split(['.', '#']));
        let mut telling = parts.filter(|part| part.len() >= former::LEAST);
        let gone = telling.any(|part| has_line(former, part));
        gone.then(|| StaleName::Gone { name: name.to_owned() })
    }

    fn commit(&self, name: &str) -> Option<StaleName> {
        let rows = self.reverted.get_or_init(|| {
            let section = self.index.pieces.section(Section::Reverted);
            section.and_then(|bytes| tables::decode(&bytes)).unwrap_or_default()
        });
        let id = name.to_ascii_lowercase();
        let at = rows.partition_point(|row| hex(&row.commit) < id);
        let row = rows.get(at).filter(|row| hex(&row.commit).starts_with(&id))?;
        let by = hex(&row.by).chars().take(SHOWN).collect();
        Some(StaleName::Reverted { name: name.to_owned(), by })
    }
}

/// What became of a path.
enum Fate {
    Renamed(String),
    Gone,
}

/// A path that ends with another.
struct Alike {
    number: u32,
    live: bool,
}

/// A name of the history is text of the checkout: only one that says nothing else stands in a brief.
fn is_plain(path: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-+@/".contains(c);
    path.len() <= MAX_SHOWN && path.chars().all(plain)
}

/// Whether a line is among sorted ones.
fn has_line(text: &str, line: &str) -> bool {
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle =
            text.as_bytes()[low..usize::midpoint(low, high)].iter().rposition(|b| *b == b'\n');
        let start = middle.map_or(low, |at| low + at + 1);
        let end = text.as_bytes()[start..].iter().position(|b| *b == b'\n');
        let end = end.map_or(text.len(), |at| start + at);
        match text[start..end].cmp(line) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = (end + 1).min(high),
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_found(names in prop::collection::btree_set("[a-c]{1,3}", 0..30), asked in "[a-c]{1,3}") {
            let text = String::from_utf8(former::encode(&names)).unwrap();
            let all: BTreeSet<String> = names;
            prop_assert_eq!(has_line(&text, &asked), all.contains(&asked));
            for name in &all {
                prop_assert!(has_line(&text, name));
            }
        }
    }
}
