//! Results of gates on base trees, kept by the tree and by the gates that checked it.

use std::path::PathBuf;

use super::{Gate, GateResult};

/// Results of gates on trees that no story has changed.
#[derive(Debug, Clone)]
pub struct Baselines {
    folder: PathBuf,
}

impl Baselines {
    /// Baselines that are kept in a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The results for a tree, if exactly these gates ran on it.
    pub fn get(&self, tree: &str, gates: &[Gate]) -> Option<Vec<GateResult>> {
        let text = fs_err::read_to_string(self.file(tree, gates)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps results. They can be determined again, so errors are ignored.
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
            let Gate { kind, folder, program, args, .. } = gate;
            let mut call = format!("{} {kind:?} {program:?} {args:?}\n", folder.display());
            // Where a report is written does not influence the result.
            for report in gate.reports.iter().filter_map(|report| report.to_str()) {
                call = call.replace(report, "");
            }
            hash.update(call.as_bytes());
        }
        self.folder.join(format!("{tree}-{}.json", &hash.finalize().to_hex()[..16]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cargo, Go, Pytest};
    use super::*;

    fn results() -> Vec<GateResult> {
        vec![GateResult {
            name: "go".to_owned(),
            passed: false,
            failed: ["a TestX".to_owned()].into(),
            unknown: false,
            ended: "exit code 1".to_owned(),
            tail: "boom".to_owned(),
        }]
    }

    #[test]
    fn results_belong_to_a_tree_and_its_gates() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(folder.path().join("baselines"));
        let go = Gate::new(&Go, "go", &["test"]);
        assert_eq!(known.get("t1", std::slice::from_ref(&go)), None);
        known.put("t1", std::slice::from_ref(&go), &results());
        assert_eq!(known.get("t1", std::slice::from_ref(&go)), Some(results()));
        assert_eq!(known.get("t2", std::slice::from_ref(&go)), None);
        for other in [
            Gate::new(&Go, "go", &["test", "-v"]),
            Gate { folder: "sub".into(), ..go.clone() },
            Gate { kind: &Cargo, ..go.clone() },
            Gate { program: "go1.22".into(), ..go.clone() },
        ] {
            assert_eq!(known.get("t1", std::slice::from_ref(&other)), None, "{other:?}");
        }
        assert_eq!(known.get("t1", &[go.clone(), go]), None);
    }

    #[test]
    fn the_place_of_a_report_makes_no_difference() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(folder.path().to_owned());
        let gate = |report: &str| Gate {
            reports: vec![report.into()],
            ..Gate::new(&Pytest, "pytest", &[&format!("--junitxml={report}")])
        };
        known.put("t", &[gate("/a/r.xml")], &results());
        assert_eq!(known.get("t", &[gate("/b/r.xml")]), Some(results()));
    }

    #[test]
    fn a_damaged_file_is_no_baseline() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(folder.path().to_owned());
        let gates = [Gate::new(&Go, "go", &["test"])];
        known.put("t", &gates, &results());
        let file = known.file("t", &gates);
        fs_err::write(file, "[{").unwrap();
        assert_eq!(known.get("t", &gates), None);
    }
}
