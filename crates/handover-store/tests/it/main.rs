//! The conformance suite, on the embedded store, and on two of them of which one has the private notes.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod private;

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
