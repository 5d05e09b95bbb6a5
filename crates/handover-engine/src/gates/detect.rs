//! Which gates a project has: configured commands first, then every known tool in the root of the
//! project or else in its components.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use handover_model::config::GatesConfig;

use super::{Gate, GateFolder, GateKind, command};

/// How deep components are searched.
const DEPTH: usize = 3;
/// How many folders are searched at most.
const FOLDERS: usize = 500;
/// Folders with third-party code, build output or example projects.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "dist",
    "build",
    "out",
    "venv",
    "test",
    "tests",
    "testdata",
    "fixtures",
    "examples",
    "third_party",
];

/// The gates of a project. `root.path` is the folder to check, usually a worktree.
pub fn detect(
    kinds: &[&'static dyn GateKind],
    root: &GateFolder<'_>,
    config: &GatesConfig,
) -> Vec<Gate> {
    let mut gates: Vec<Gate> = config.commands.iter().filter_map(command::configured).collect();
    if config.detect {
        let components = LazyCell::new(|| components(root.path));
        for kind in kinds {
            match kind.detect(root) {
                Some(gate) => gates.push(gate),
                None => gates.extend(in_components(*kind, root, &components)),
            }
        }
    }
    gates
}

/// The folders below a root that may be components, sorted by path. Links are not followed.
fn components(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = fs_err::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || name.starts_with('.') || SKIPPED.contains(&name.as_ref()) {
                continue;
            }
            let below = folder.join(name.as_ref());
            if depth + 1 < DEPTH {
                open.push((below.clone(), depth + 1));
            }
            found.push(below);
        }
        if found.len() > FOLDERS {
            break;
        }
    }
    found.sort();
    found
}

/// The gates of components. A component nested in one of the same kind belongs to the outer one.
fn in_components(kind: &dyn GateKind, root: &GateFolder<'_>, components: &[PathBuf]) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    for component in components {
        if gates.iter().any(|gate| component.starts_with(&gate.folder)) {
            continue;
        }
        let path = root.path.join(component);
        if let Some(mut gate) = kind.detect(&GateFolder { path: &path, below: component, ..*root })
        {
            gate.name = format!("{} in {}", gate.name, component.display());
            gate.folder.clone_from(component);
            gates.push(gate);
        }
    }
    gates
}

#[cfg(test)]
mod tests {
    use handover_model::GateFormat;
    use handover_model::config::GateCommand;

    use super::super::BUILT_IN;
    use super::super::testing::project;
    use super::*;

    fn names(files: &[(&str, &str)], config: &GatesConfig) -> Vec<String> {
        let root = project(files);
        let folder = GateFolder {
            path: root.path(),
            checkout: root.path(),
            below: Path::new(""),
            scratch: root.path(),
        };
        detect(BUILT_IN, &folder, config).into_iter().map(|gate| gate.name).collect()
    }

    #[test]
    fn a_tool_of_the_root_covers_its_components() {
        let files = [("Cargo.toml", "[workspace]"), ("crates/a/Cargo.toml", "[package]")];
        assert_eq!(names(&files, &GatesConfig::default()), ["cargo"]);
    }

    #[test]
    fn components_are_found_where_the_root_has_no_gate_of_that_kind() {
        let files = [
            ("Cargo.toml", "[package]"),
            ("web/package.json", r#"{"scripts": {"test": "x"}}"#),
            ("web/inner/package.json", r#"{"scripts": {"test": "x"}}"#),
            ("svc/a/go.mod", ""),
            ("svc/b/go.mod", ""),
            ("one/two/three/four/go.mod", ""),
            ("node_modules/x/package.json", r#"{"scripts": {"test": "x"}}"#),
            (".hidden/go.mod", ""),
        ];
        assert_eq!(
            names(&files, &GatesConfig::default()),
            ["cargo", "npm in web", "go in svc/a", "go in svc/b"]
        );
    }

    #[test]
    fn configured_commands_come_first_and_detection_can_be_off() {
        let command = GateCommand {
            name: "unit".to_owned(),
            argv: vec!["make".to_owned()],
            format: GateFormat::None,
            report: None,
        };
        let mut config = GatesConfig { commands: vec![command], ..GatesConfig::default() };
        let files = [("go.mod", "")];
        assert_eq!(names(&files, &config), ["unit", "go"]);
        config.detect = false;
        assert_eq!(names(&files, &config), ["unit"]);
    }
}
