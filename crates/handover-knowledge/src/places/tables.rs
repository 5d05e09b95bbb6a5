//! The rows of an index that are not text: documents, paths, commits, and what the index was made from.

use super::codec::{Reader, put, put_bytes};
use super::files::FileKind;

/// No document, no other name.
pub(super) const NONE: u32 = u32::MAX;

/// In place of another name: the path was deleted.
pub(super) const DELETED: u32 = u32::MAX - 1;

/// A row of fixed size.
pub(super) trait Row: Sized {
    const SIZE: usize;
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(reader: &mut Reader<'_>) -> Option<Self>;
}

pub(super) fn encode<R: Row>(rows: &[R]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * R::SIZE);
    for row in rows {
        row.encode(&mut out);
    }
    out
}

pub(super) fn decode<R: Row>(bytes: &[u8]) -> Option<Vec<R>> {
    let mut reader = Reader::new(bytes);
    let mut rows = Vec::with_capacity(bytes.len() / R::SIZE);
    while !reader.is_empty() {
        rows.push(R::decode(&mut reader)?);
    }
    Some(rows)
}

/// A version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Document {
    /// How many terms it has; 0 if there is nothing to find in it, or another version has taken its place.
    pub(super) length: u32,
    pub(super) path: u32,
    /// Where its symbols end; they start where those of the document before end.
    pub(super) symbols_end: u32,
    pub(super) kind: FileKind,
}

impl Row for Document {
    const SIZE: usize = 13;

    fn encode(&self, out: &mut Vec<u8>) {
        put_all(out, [self.length, self.path, self.symbols_end]);
        out.push(self.kind as u8);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let (length, path, symbols_end) = (reader.u32()?, reader.u32()?, reader.u32()?);
        Some(Self { length, path, symbols_end, kind: FileKind::from_byte(reader.byte()?)? })
    }
}

/// What a file looked like when it was read. A file with another stamp is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stamp {
    /// The id of its content in git's index; zeros if it is not tracked.
    pub(super) blob: [u8; 20],
    pub(super) size: u64,
    /// When it was changed, in nanoseconds.
    pub(super) modified: u64,
}

impl Row for Stamp {
    const SIZE: usize = 36;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.blob);
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.modified.to_le_bytes());
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let blob = reader.take(20)?.try_into().ok()?;
        Some(Self { blob, size: reader.u64()?, modified: reader.u64()? })
    }
}

/// A path that exists or is named in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathRow {
    /// Where its text ends.
    pub(super) text_end: u32,
    /// Its current version, or [`NONE`].
    pub(super) document: u32,
    /// The path that it was renamed to last, [`DELETED`] if it was deleted since, or [`NONE`].
    pub(super) renamed: u32,
}

impl Row for PathRow {
    const SIZE: usize = 12;

    fn encode(&self, out: &mut Vec<u8>) {
        put_all(out, [self.text_end, self.document, self.renamed]);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { text_end: reader.u32()?, document: reader.u32()?, renamed: reader.u32()? })
    }
}

/// A path by the hash of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathHash {
    pub(super) hash: u32,
    pub(super) path: u32,
}

impl Row for PathHash {
    const SIZE: usize = 8;

    fn encode(&self, out: &mut Vec<u8>) {
        put_all(out, [self.hash, self.path]);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { hash: reader.u32()?, path: reader.u32()? })
    }
}

/// A hash that is the same on every machine.
pub(super) fn path_hash(path: &str) -> u32 {
    // FNV-1a; the text distinguishes collisions.
    path.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A commit that was taken back, by its id; rows are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RevertedRow {
    pub(super) commit: [u8; 20],
    pub(super) by: [u8; 20],
}

impl Row for RevertedRow {
    const SIZE: usize = 40;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.commit);
        out.extend_from_slice(&self.by);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let mut id = || reader.take(20)?.try_into().ok();
        Some(Self { commit: id()?, by: id()? })
    }
}

/// A commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommitRow {
    /// Seconds since 1970.
    pub(super) time: u32,
    /// How many terms its message has, plus one; 0 if it is not part of the history any more.
    pub(super) length: u32,
    /// Where its subject and its changes end.
    pub(super) subject_end: u32,
    pub(super) changes_end: u32,
}

impl Row for CommitRow {
    const SIZE: usize = 16;

    fn encode(&self, out: &mut Vec<u8>) {
        put_all(out, [self.time, self.length, self.subject_end, self.changes_end]);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            time: reader.u32()?,
            length: reader.u32()?,
            subject_end: reader.u32()?,
            changes_end: reader.u32()?,
        })
    }
}

fn put_all<const N: usize>(out: &mut Vec<u8>, numbers: [u32; N]) {
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// What an index was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Origin {
    /// The checkout: its path and the number of its folder, which nobody who ships an index can know.
    pub(super) root: String,
    pub(super) inode: u64,
    /// The commit up to which the history is known.
    pub(super) head: String,
    /// The commit from which the walk back through the history started, how many commits it has seen, and
    /// whether it is done.
    pub(super) base: String,
    pub(super) walked: u64,
    pub(super) complete: bool,
    /// How many files were listed but not read yet.
    pub(super) unread: u64,
}

impl Origin {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for text in [&self.root, &self.head, &self.base] {
            put_bytes(&mut out, text.as_bytes());
        }
        for number in [self.inode, self.walked, u64::from(self.complete), self.unread] {
            put(&mut out, number);
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut text = || reader.text().map(str::to_owned);
        let (root, head, base) = (text()?, text()?, text()?);
        Some(Self {
            root,
            head,
            base,
            inode: reader.number()?,
            walked: reader.number()?,
            complete: reader.number()? == 1,
            unread: reader.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_have_the_size_that_they_state() {
        fn check<R: Row + PartialEq + std::fmt::Debug>(row: R) {
            let bytes = encode(std::slice::from_ref(&row));
            assert_eq!(bytes.len(), R::SIZE);
            assert_eq!(decode::<R>(&bytes), Some(vec![row]));
            assert_eq!(decode::<R>(&bytes[1..]), None);
        }
        check(Document { length: 1, path: 2, symbols_end: 3, kind: FileKind::Prose });
        check(Stamp { blob: [9; 20], size: 1 << 40, modified: u64::MAX });
        check(PathRow { text_end: 1, document: NONE, renamed: 2 });
        check(PathHash { hash: path_hash("a/b"), path: 7 });
        check(RevertedRow { commit: [1; 20], by: [2; 20] });
        check(CommitRow { time: 1, length: 2, subject_end: 3, changes_end: 4 });
    }

    proptest! {
        #[test]
        fn origins_are_read_as_written(root in "\\PC{0,20}", head in "[0-9a-f]{40}", walked: u64, complete: bool) {
            let origin = Origin { root, head, walked, complete, inode: 7, unread: 3, ..Origin::default() };
            let bytes = origin.encode();
            prop_assert_eq!(Origin::decode(&bytes), Some(origin));
            prop_assert_eq!(Origin::decode(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn any_bytes_can_be_decoded(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Origin::decode(&bytes), decode::<Stamp>(&bytes), decode::<CommitRow>(&bytes));
        }
    }
}
