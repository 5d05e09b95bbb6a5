//! The file of an index: a header that says where each section is, then the sections.
//!
//! An update reads the whole file and compares every checksum. A query reads the sections it needs as a whole,
//! comparing theirs, and single pieces of the large ones, whose readers accept any bytes. The file is a cache:
//! damaged, of another version or made for another checkout, it counts as missing.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::codec::Reader;

const MAGIC: &[u8; 4] = b"HOPL";
/// Changes whenever the content of a section means something else.
const VERSION: u8 = 4;
/// The largest file that is read.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// The sections, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// What the index was made from.
    Origin,
    /// Length, path and symbols of each document.
    Documents,
    /// What each document looked like when it was read.
    Stamps,
    /// The names that each document defines.
    Symbols,
    /// Text, document and new name of each path.
    Paths,
    PathTexts,
    /// Paths by hash.
    PathHashes,
    /// Time, length, subject and changes of each commit.
    Commits,
    CommitIds,
    Subjects,
    /// The paths that each commit changed.
    Changes,
    /// The terms of documents: every so many a term, the terms, where they occur.
    TermIndex,
    Terms,
    Postings,
    /// The same for the messages of commits.
    WordIndex,
    Words,
    WordPostings,
    /// Paths by the hash of their last part.
    NameHashes,
    /// What each commit says it takes back.
    Reverts,
    /// Commits that were taken back.
    Reverted,
    /// Names that files defined once and nothing has any more.
    FormerSymbols,
}

const SECTIONS: usize = 21;
const HEADER: usize = 8 + SECTIONS * 24 + 8;

/// The sections of an index, complete.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    sections: [Vec<u8>; SECTIONS],
}

impl Contents {
    pub(super) fn get(&self, section: Section) -> &[u8] {
        &self.sections[section as usize]
    }

    pub(super) fn set(&mut self, section: Section, bytes: Vec<u8>) {
        self.sections[section as usize] = bytes;
    }

    /// The bytes of the file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let total = HEADER + self.sections.iter().map(Vec::len).sum::<usize>();
        let mut out = Vec::with_capacity(total);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[VERSION, 0, 0, 0]);
        let mut offset = HEADER as u64;
        for section in &self.sections {
            let length = section.len() as u64;
            for number in [offset, length, checksum(section)] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            offset += length;
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        for section in &self.sections {
            out.extend_from_slice(section);
        }
        out
    }

    /// Reads a whole file; none if a single byte of it is wrong.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let layout = Layout::decode(bytes.get(..HEADER)?, bytes.len() as u64)?;
        let mut contents = Self::default();
        for (section, extent) in contents.sections.iter_mut().zip(&layout.extents) {
            let start = usize::try_from(extent.offset).ok()?;
            let end = start.checked_add(usize::try_from(extent.length).ok()?)?;
            let found = bytes.get(start..end)?;
            if checksum(found) != extent.checksum {
                return None;
            }
            *section = found.to_vec();
        }
        Some(contents)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    offset: u64,
    length: u64,
    checksum: u64,
}

/// Where the sections of a file are.
#[derive(Debug)]
struct Layout {
    extents: Vec<Extent>,
}

impl Layout {
    fn decode(header: &[u8], file: u64) -> Option<Self> {
        let (front, sum) = header.split_at_checked(HEADER - 8)?;
        if checksum(front) != Reader::new(sum).u64()? {
            return None;
        }
        let mut reader = Reader::new(front);
        if reader.take(4)? != MAGIC || reader.take(4)?.first() != Some(&VERSION) {
            return None;
        }
        let mut extents = Vec::with_capacity(SECTIONS);
        for _ in 0..SECTIONS {
            let extent =
                Extent { offset: reader.u64()?, length: reader.u64()?, checksum: reader.u64()? };
            if extent.offset.checked_add(extent.length)? > file {
                return None;
            }
            extents.push(extent);
        }
        Some(Self { extents })
    }
}

/// An open file, of which pieces are read.
#[derive(Debug)]
pub(super) struct Pieces {
    file: File,
    layout: Layout,
}

impl Pieces {
    pub(super) fn open(file: File) -> Option<Self> {
        let size = file.metadata().ok()?.len();
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0).ok()?;
        Some(Self { layout: Layout::decode(&header, size.min(MAX_BYTES))?, file })
    }

    /// A whole section.
    pub(super) fn section(&self, section: Section) -> Option<Vec<u8>> {
        let extent = self.layout.extents[section as usize];
        let bytes = self.read(extent.offset, extent.length)?;
        (checksum(&bytes) == extent.checksum).then_some(bytes)
    }

    /// The number of bytes of a section.
    pub(super) fn length(&self, section: Section) -> u64 {
        self.layout.extents[section as usize].length
    }

    /// A piece of a section.
    pub(super) fn piece(&self, section: Section, start: u64, end: u64) -> Option<Vec<u8>> {
        let extent = self.layout.extents[section as usize];
        if start > end || end > extent.length {
            return None;
        }
        self.read(extent.offset + start, end - start)
    }

    fn read(&self, offset: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn sample() -> Contents {
        let mut contents = Contents::default();
        contents.set(Section::Origin, b"origin".to_vec());
        contents.set(Section::WordPostings, vec![7; 300]);
        contents
    }

    fn pieces(bytes: &[u8]) -> Option<Pieces> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Pieces::open(file)
    }

    #[test]
    fn sections_are_read_whole_and_in_pieces() {
        let bytes = sample().encode();
        assert_eq!(Contents::decode(&bytes), Some(sample()));
        let pieces = pieces(&bytes).unwrap();
        assert_eq!(pieces.section(Section::Origin).unwrap(), b"origin");
        assert_eq!(pieces.piece(Section::Origin, 2, 4).unwrap(), b"ig");
        assert_eq!(pieces.section(Section::Paths).unwrap(), b"");
        assert_eq!(pieces.piece(Section::Origin, 2, 7), None);
        assert_eq!(pieces.piece(Section::Origin, 4, 2), None);
    }

    #[test]
    fn another_version_counts_as_missing() {
        let mut bytes = sample().encode();
        bytes[4] += 1;
        let sum = checksum(&bytes[..HEADER - 8]);
        bytes[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(Contents::decode(&bytes), None);
        assert!(pieces(&bytes).is_none());
    }

    proptest! {
        #[test]
        fn every_damaged_byte_is_noticed(at in 0_usize..100_000, change in 1_u8..) {
            let mut bytes = sample().encode();
            let at = at % bytes.len();
            bytes[at] ^= change;
            prop_assert_eq!(Contents::decode(&bytes), None);
            if let Some(pieces) = pieces(&bytes) {
                let both = (pieces.section(Section::Origin), pieces.section(Section::WordPostings));
                prop_assert!(both.0.is_none() || both.1.is_none());
            }
        }

        #[test]
        fn a_cut_file_is_not_read(cut in 0_usize..100_000) {
            let bytes = sample().encode();
            let cut = &bytes[..cut % bytes.len()];
            prop_assert_eq!(Contents::decode(cut), None);
        }

        #[test]
        fn any_bytes_can_be_opened(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(Contents::decode(&bytes), None);
            prop_assert!(pieces(&bytes).is_none());
        }
    }
}
