//! What failed before: kept by the tree that was checked and the gates that checked it.

use std::path::PathBuf;

use super::{Gate, GateResult};

/// Results of gates on trees that no story has touched.
#[derive(Debug, Clone)]
pub struct Baselines {
    folder: PathBuf,
}

impl Baselines {
    /// Kept in a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The results for a tree, if these very gates were run on it.
    pub fn get(&self, tree: &str, gates: &[Gate]) -> Option<Vec<GateResult>> {
        let text = fs_err::read_to_string(self.file(tree, gates)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps results. They can always be made again, so a failure to keep them is no failure.
    pub fn put(&self, tree: &str, gates: &[Gate], results: &[GateResult]) {
        let write = || -> std::io::Result<()> {
            fs_err::create_dir_all(&self.folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer(&mut file, results)?;
            file.persist(self.file(tree, gates)).map(drop).map_err(|error| error.error)
        };
        let _ = write();
    }

    fn file(&self, tree: &str, gates: &[Gate]) -> PathBuf {
        let mut hash = blake3::Hasher::new();
        for gate in gates {
            let place = gate.folder.display();
            let mut call =
                format!("{place} {:?} {:?} {:?}\n", gate.program, gate.args, gate.format);
            // Where a report goes makes no difference to what it says.
            if let Some(report) = gate.report.as_ref().and_then(|report| report.to_str()) {
                call = call.replace(report, "");
            }
            hash.update(call.as_bytes());
        }
        self.folder.join(format!("{tree}-{}.json", &hash.finalize().to_hex()[..16]))
    }
}
