//! A store's log, and the repair of a store with its log, both changed by the input.

use std::path::Path;
use std::sync::OnceLock;

use handover_model::{ProjectId, SessionId, Timestamp};
use handover_sqlite::{SqliteStore, check_log};
use handover_store::{NewSession, Sessions as _, Store as _};

use super::halves;
use super::knowledge::in_folder;

/// The files of a store whose log has not been merged into it.
struct Files {
    store: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn get() -> &'static Self {
        static FILES: OnceLock<Files> = OnceLock::new();
        FILES.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("store.db");
            let store = SqliteStore::open(&path).expect("a store");
            for n in 0..8 {
                store
                    .open_session(&NewSession {
                        id: SessionId::new(format!("s{n}")).expect("an id"),
                        project: ProjectId::new("p").expect("an id"),
                        metadata: handover_text::CleanJson::default(),
                        now: Timestamp::from_micros(n),
                    })
                    .expect("a session");
            }
            let read = |name: &str| fs_err::read(folder.path().join(name)).unwrap_or_default();
            Self { store: read("store.db"), log: read("store.db-wal") }
        })
    }
}

/// Writes bytes of the input into a file: two of each four say where, one what.
fn changed(file: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for change in data.chunks_exact(4).filter(|_| !file.is_empty()) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) * 8;
        let at = (at + usize::from(change[2] % 8)) % bytes.len();
        bytes[at] = change[3];
    }
    bytes
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    fs_err::write(folder.join(name), bytes).expect("a file");
}

/// Any log, any index of one, and a real log with changes.
pub(super) fn log(data: &[u8]) {
    let (log, index) = halves(data);
    in_folder(|folder| {
        write(folder, "store.db", &Files::get().store);
        for log in [log, &changed(&Files::get().log, log)] {
            write(folder, "store.db-wal", log);
            write(folder, "store.db-shm", index);
            if let Ok(Some(damage)) = check_log(&folder.join("store.db")) {
                assert!(!damage.to_string().is_empty());
            }
        }
    });
}

/// A damaged store and its log. A repair either fails or makes a sound store.
pub(super) fn salvage(data: &[u8]) {
    let (store, log) = halves(data);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let scratch = folder.join("scratch");
    fs_err::create_dir_all(&scratch).expect("a folder");
    write(folder, "store.db", &changed(&Files::get().store, store));
    write(folder, "store.db-wal", &changed(&Files::get().log, log));
    let target = folder.join("repaired.db");
    if handover_sqlite::salvage(&folder.join("store.db"), None, &target, &scratch).is_ok() {
        let repaired = SqliteStore::open(&target).expect("the repaired store");
        let checks = repaired.check().expect("checks");
        assert!(checks.iter().all(|check| check.problems.is_empty()), "{checks:?}");
    }
}
