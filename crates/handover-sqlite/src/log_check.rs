//! Whether the write-ahead log holds everything that was committed to it.
//!
//! SQLite reads a log up to the first frame that does not match its checksum and takes the rest for
//! transactions that were never finished. So a log that was cut, deleted or damaged loses acknowledged
//! records without a word. Two things tell the difference: frames of the log's own generation behind the
//! last readable one, and the index of the log in shared memory, which is a file and outlives the
//! processes that use it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::file::log_of;

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogDamage {
    /// It is gone, with so many pages that the main file does not have.
    Missing {
        /// How many.
        pages: u64,
    },
    /// Pages at its end cannot be read.
    Unreadable {
        /// How many can be read.
        readable: u64,
        /// How many cannot.
        lost: u64,
    },
}

impl std::fmt::Display for LogDamage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { pages } => {
                write!(f, "the log is missing, and {pages} page(s) that were only there")
            }
            Self::Unreadable { readable, lost } => {
                write!(f, "{lost} of {} page(s) of the log cannot be read", readable + lost)
            }
        }
    }
}

/// The sizes of the headers of the log, of its frames, and of its index.
const HEADER: usize = 32;
const FRAME: usize = 24;
const INDEX: usize = 100;

/// Looks at the log of a store. Call it before the store is opened: opening repairs the index, and the
/// next write overwrites whatever cannot be read. In a process that has the store open it would release
/// the locks of that connection.
pub fn check_log(store: &Path) -> std::io::Result<Option<LogDamage>> {
    let log = read(&log_of(store))?;
    let index = Index::read(&read(&index_of(store))?);
    Ok(damage(&log, index.as_ref()))
}

pub(crate) fn index_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-shm");
    PathBuf::from(name)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    match fs_err::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// What the index knows about the log.
struct Index {
    /// The last committed frame.
    last: u64,
    /// How many frames the main file has.
    folded: u64,
    salts: [u8; 8],
}

impl Index {
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..INDEX)?;
        // Two copies, written one after the other: if they differ, somebody died in between.
        if bytes[..48] != bytes[48..96] || bytes[12] == 0 {
            return None;
        }
        let number = |at: usize| bytes[at..at + 4].try_into().map(u32::from_ne_bytes);
        Some(Self {
            last: number(16).ok()?.into(),
            folded: number(96).ok()?.into(),
            salts: bytes[32..40].try_into().ok()?,
        })
    }
}

fn damage(log: &[u8], index: Option<&Index>) -> Option<LogDamage> {
    let Some(header) = Header::read(log) else {
        let whole = index.filter(|index| index.last > index.folded);
        return match (log.len(), whole) {
            (0, Some(index)) => Some(LogDamage::Missing { pages: index.last - index.folded }),
            (0..=HEADER, _) => None,
            (_, Some(index)) => Some(LogDamage::Unreadable { readable: 0, lost: index.last }),
            // Its first write may have been cut off before anything was committed.
            (_, None) => None,
        };
    };
    let found = header.walk(log);
    let lost = match index.filter(|index| index.salts == header.salts) {
        Some(index) => index.last.saturating_sub(found.committed),
        None => found.behind,
    };
    (lost > 0).then_some(LogDamage::Unreadable { readable: found.committed, lost })
}

/// The header of a log.
struct Header {
    page: usize,
    big_endian: bool,
    salts: [u8; 8],
    sums: [u32; 2],
}

/// What a log holds.
struct Found {
    /// The last frame of the last transaction that can be read.
    committed: u64,
    /// Frames of this generation behind it, if they were committed.
    behind: u64,
}

impl Header {
    fn read(log: &[u8]) -> Option<Self> {
        let bytes = log.get(..HEADER)?;
        let big_endian = match big(bytes, 0) {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let sums = sum([0, 0], &bytes[..24], big_endian);
        let page = big(bytes, 8) as usize;
        let is_ours = sums == [big(bytes, 24), big(bytes, 28)] && (512..=65_536).contains(&page);
        let salts = bytes[16..24].try_into().ok()?;
        is_ours.then_some(Self { page, big_endian, salts, sums })
    }

    fn walk(&self, log: &[u8]) -> Found {
        let frames = log[HEADER..].chunks_exact(FRAME + self.page);
        let (mut sums, mut intact) = (self.sums, true);
        let mut found = Found { committed: 0, behind: 0 };
        for (frame, number) in frames.zip(1..) {
            if frame[8..16] != self.salts {
                break;
            }
            sums = sum(sum(sums, &frame[..8], self.big_endian), &frame[FRAME..], self.big_endian);
            intact &= sums == [big(frame, 16), big(frame, 20)];
            let commits = big(frame, 4) != 0;
            match (intact, commits) {
                (true, true) => found.committed = number,
                (false, true) => found.behind = number - found.committed,
                (_, false) => {}
            }
        }
        found
    }
}

fn big(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].try_into().map_or(0, u32::from_be_bytes)
}

/// The checksum of SQLite's log, continued.
fn sum([mut one, mut two]: [u32; 2], bytes: &[u8], big_endian: bool) -> [u32; 2] {
    let word = |word: &[u8]| match (word.try_into(), big_endian) {
        (Ok(word), true) => u32::from_be_bytes(word),
        (Ok(word), false) => u32::from_le_bytes(word),
        (Err(_), _) => 0,
    };
    for pair in bytes.chunks_exact(8) {
        one = one.wrapping_add(word(&pair[..4])).wrapping_add(two);
        two = two.wrapping_add(word(&pair[4..])).wrapping_add(one);
    }
    [one, two]
}

/// Recomputes the checksums of a log, so that SQLite reads every frame of its generation, whatever is in
/// it. Only for a copy whose records are checked one by one.
pub(crate) fn repair(log: &mut [u8]) {
    let Some(bytes) = log.get(..HEADER + FRAME) else { return };
    let page = big(bytes, 8) as usize;
    let big_endian = big(bytes, 0) & 1 == 1;
    if !page.is_power_of_two() || !(512..=65_536).contains(&page) {
        return;
    }
    if Header::read(log).is_none() {
        // The first frame repeats the salts.
        log.copy_within(HEADER + 8..HEADER + 16, 16);
    }
    let (header, frames) = log.split_at_mut(HEADER);
    let mut sums = sum([0, 0], &header[..24], big_endian);
    put(header, 24, sums);
    for frame in frames.chunks_exact_mut(FRAME + page) {
        if frame[8..16] != header[16..24] {
            break;
        }
        sums = sum(sum(sums, &frame[..8], big_endian), &frame[FRAME..], big_endian);
        put(frame, 16, sums);
    }
}

fn put(bytes: &mut [u8], at: usize, [one, two]: [u32; 2]) {
    bytes[at..at + 4].copy_from_slice(&one.to_be_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&two.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A store whose log has `thoughts` transactions that are not in the main file; nobody has it open.
    fn with_log() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        #[expect(clippy::disallowed_methods, reason = "the test looks at the log only")]
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)",
            )
            .unwrap();
        for n in 0..5 {
            connection.execute("INSERT INTO t VALUES (zeroblob(?1))", [n * 3_000]).unwrap();
        }
        // Copied while it is open, as a process that is killed leaves it.
        let copy = folder.path().join("copy.db");
        for end in ["", "-wal", "-shm"] {
            let from = format!("{}{end}", path.display());
            assert!(
                Command::new("cp")
                    .arg(from)
                    .arg(format!("{}{end}", copy.display()))
                    .status()
                    .unwrap()
                    .success()
            );
        }
        drop(connection);
        (folder, copy)
    }

    fn change(path: &Path, f: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs_err::read(path).unwrap();
        f(&mut bytes);
        fs_err::write(path, bytes).unwrap();
    }

    #[test]
    fn a_complete_log_is_fine() {
        let (_folder, path) = with_log();
        assert_eq!(check_log(&path).unwrap(), None);
        // So it is without its index, and with half a frame of a transaction that was cut off.
        change(&log_of(&path), |log| log.extend([7; 99]));
        assert_eq!(check_log(&path).unwrap(), None);
        fs_err::remove_file(index_of(&path)).unwrap();
        assert_eq!(check_log(&path).unwrap(), None);
    }

    #[test]
    fn a_flipped_bit_is_found_with_and_without_the_index() {
        for index in [true, false] {
            let (_folder, path) = with_log();
            if !index {
                fs_err::remove_file(index_of(&path)).unwrap();
            }
            change(&log_of(&path), |log| {
                let middle = log.len() / 2;
                log[middle] ^= 1;
            });
            let found = check_log(&path).unwrap();
            assert!(
                matches!(found, Some(LogDamage::Unreadable { readable: 1.., lost: 1.. })),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_cut_or_missing_log_is_found() {
        let (_folder, path) = with_log();
        change(&log_of(&path), |log| log.truncate(log.len() / 2));
        let found = check_log(&path).unwrap();
        assert!(matches!(found, Some(LogDamage::Unreadable { lost: 1.., .. })), "{found:?}");
        change(&log_of(&path), |log| log[20] ^= 1);
        let found = check_log(&path).unwrap();
        assert!(matches!(found, Some(LogDamage::Unreadable { readable: 0, .. })), "{found:?}");
        fs_err::remove_file(log_of(&path)).unwrap();
        let found = check_log(&path).unwrap();
        assert!(matches!(found, Some(LogDamage::Missing { .. })), "{found:?}");
    }

    #[test]
    fn a_repaired_log_is_read_to_its_end() {
        let (_folder, path) = with_log();
        let whole = fs_err::read(log_of(&path)).unwrap();
        for at in [20, whole.len() / 2] {
            let mut log = whole.clone();
            log[at] ^= 1;
            repair(&mut log);
            let header = Header::read(&log).unwrap();
            assert_eq!(header.walk(&log).behind, 0);
            assert_eq!(
                header.walk(&log).committed,
                Header::read(&whole).unwrap().walk(&whole).committed
            );
        }
        // One that nothing is wrong with stays the same.
        let mut log = whole.clone();
        repair(&mut log);
        assert_eq!(log, whole);
        repair(&mut [0; 99]);
        repair(&mut [1; 10]);
    }

    /// The end of each frame in a log.
    fn frames(log: &[u8]) -> Vec<usize> {
        let size = FRAME + Header::read(log).unwrap().page;
        (0..=(log.len() - HEADER) / size).map(|number| HEADER + number * size).collect()
    }

    #[test]
    fn whatever_is_cut_off_is_counted() {
        let (_folder, path) = with_log();
        let whole = fs_err::read(log_of(&path)).unwrap();
        let frames = frames(&whole);
        let total = frames.len() as u64 - 1;
        let mut readable_before = 0;
        for (number, end) in frames.iter().enumerate() {
            fs_err::write(log_of(&path), &whole[..*end]).unwrap();
            let Some(found) = check_log(&path).unwrap() else {
                assert_eq!(number as u64, total, "frames are missing and nobody says so");
                continue;
            };
            // The header alone is a log, too.
            let LogDamage::Unreadable { readable, lost } = found else { panic!("{found:?}") };
            assert_eq!(readable + lost, total, "{number} frames");
            assert!(
                readable <= number as u64 && readable >= readable_before,
                "{number}: {readable}"
            );
            readable_before = readable;
        }
        // The transactions of five inserts and a table.
        assert!(readable_before > 5 && readable_before < total, "{readable_before} of {total}");
    }

    #[test]
    fn a_frame_of_an_older_generation_ends_the_log() {
        let (_folder, path) = with_log();
        fs_err::remove_file(index_of(&path)).unwrap();
        let whole = fs_err::read(log_of(&path)).unwrap();
        let frames = frames(&whole);
        // SQLite starts again at the beginning of the file and leaves what is behind.
        for end in &frames[1..] {
            change(&log_of(&path), |log| {
                log.clone_from(&whole);
                if let Some(salt) = log.get_mut(end + 8) {
                    *salt ^= 1;
                }
            });
            assert_eq!(check_log(&path).unwrap(), None, "from byte {end}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// Logs and indexes come from the disk: nothing in them may be trusted.
        #[test]
        fn nothing_in_a_log_breaks_the_reader(
            mut log in proptest::collection::vec(0u8.., 0..3_000),
            index in proptest::collection::vec(0u8.., 0..200),
            page in 0u32..70_000,
            known in 0u8..4,
        ) {
            // Sometimes with a header that is right.
            if known > 0 && log.len() >= HEADER {
                log[..4].copy_from_slice(&(0x377f_0682 + u32::from(known % 2)).to_be_bytes());
                log[8..12].copy_from_slice(&page.to_be_bytes());
                if known > 1 {
                    let sums = sum([0, 0], &log[..24], known % 2 == 1);
                    put(&mut log, 24, sums);
                }
            }
            let found = damage(&log, Index::read(&index).as_ref());
            if let Some(LogDamage::Unreadable { readable, .. }) = found {
                proptest::prop_assert!(readable <= log.len() as u64 / 512);
            }
            let mut repaired = log.clone();
            repair(&mut repaired);
            proptest::prop_assert_eq!(repaired.len(), log.len());
            if let Some(header) = Header::read(&repaired) {
                proptest::prop_assert_eq!(header.walk(&repaired).behind, 0);
            }
        }
    }

    #[test]
    fn no_log_is_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check_log(&folder.path().join("store.db")).unwrap(), None);
    }
}
