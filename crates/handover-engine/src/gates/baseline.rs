//! Gate results on base trees, stored by tree and by the gates that checked it.

use handover_files::{Folder, Sync};

use super::{Gate, GateResult};

/// The largest file that is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Gate results on trees that no story has changed.
#[derive(Debug, Clone)]
pub struct Baselines {
    folder: Folder,
}

impl Baselines {
    /// Baselines stored in a folder.
    pub fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// The results for a tree, if exactly these gates ran on it.
    pub fn get(&self, tree: &str, gates: &[Gate]) -> Option<Vec<GateResult>> {
        let text = self.folder.read(&self.file(tree, gates), MAX_BYTES).ok()??;
        serde_json::from_slice(&text).ok()
    }

    /// Stores results. They can be recomputed, so errors are ignored.
    pub fn put(&self, tree: &str, gates: &[Gate], results: &[GateResult]) {
        if let Ok(text) = serde_json::to_vec(results) {
            let _ = self.folder.replace(&self.file(tree, gates), &text, Sync::No);
        }
    }

    /// Forgets the results for a tree.
    pub fn forget(&self, tree: &str, gates: &[Gate]) {
        let _ = self.folder.remove(&self.file(tree, gates));
    }

    fn file(&self, tree: &str, gates: &[Gate]) -> String {
        let mut hash = blake3::Hasher::new();
        for gate in gates {
            let Gate { kind, folder, program, args, .. } = gate;
            let mut call = format!("{} {kind:?} {program:?} {args:?}\n", folder.display());
            // The path of a report does not influence the result.
            for report in gate.reports.iter().filter_map(|report| report.to_str()) {
                call = call.replace(report, "");
            }
            hash.update(call.as_bytes());
        }
        format!("{tree}-{}.json", &hash.finalize().to_hex()[..16])
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
            ran: Some(4),
        }]
    }

    #[test]
    fn results_belong_to_a_tree_and_its_gates() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(Folder::at(folder.path()).inside("baselines"));
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
    fn the_path_of_a_report_makes_no_difference() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(Folder::at(folder.path()));
        let gate = |report: &str| Gate {
            reports: vec![report.into()],
            ..Gate::new(&Pytest, "pytest", &[&format!("--junitxml={report}")])
        };
        known.put("t", &[gate("/a/r.xml")], &results());
        assert_eq!(known.get("t", &[gate("/b/r.xml")]), Some(results()));
    }

    #[test]
    fn a_damaged_file_is_not_a_baseline() {
        let folder = tempfile::tempdir().unwrap();
        let known = Baselines::new(Folder::at(folder.path()));
        let gates = [Gate::new(&Go, "go", &["test"])];
        known.put("t", &gates, &results());
        let file = known.file("t", &gates);
        fs_err::write(folder.path().join(file), "[{").unwrap();
        assert_eq!(known.get("t", &gates), None);
    }
}
