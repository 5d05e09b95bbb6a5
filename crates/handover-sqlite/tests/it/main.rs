//! Tests of the embedded store: the conformance suite, and the faults of files.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod archive;
mod crash;
mod damage;
mod durability;
mod feed;
mod file;
mod index;
mod locks;
mod salvage;
mod sums;

mod conformance {
    use std::path::PathBuf;

    use handover_sqlite::SqliteStore;
    use handover_store::Store;
    use handover_store::conformance::Backend;

    struct File {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl File {
        fn fresh() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.db");
            Self { _folder: folder, path }
        }
    }

    impl Backend for File {
        fn open(&self) -> Box<dyn Store + Send> {
            Box::new(SqliteStore::open(&self.path).unwrap())
        }
    }

    handover_store::conformance_tests!(File::fresh());
}
