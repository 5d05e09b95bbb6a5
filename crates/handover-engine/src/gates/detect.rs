//! Which tools a project has.

use std::path::{Path, PathBuf};

use handover_model::GateFormat;
use handover_model::config::GatesConfig;

use super::Gate;

/// What a tool has to say about a folder.
type Tool<'a> = &'a dyn Fn(&Path) -> Option<Gate>;

/// The gates of a project's folder, in order: configured ones first. `checkout` is the user's own
/// folder, where tools may be installed; `scratch` a place for reports.
pub fn detect(folder: &Path, checkout: &Path, scratch: &Path, config: &GatesConfig) -> Vec<Gate> {
    let mut gates: Vec<Gate> = config
        .commands
        .iter()
        .filter_map(|command| {
            let (program, args) = command.argv.split_first()?;
            Some(Gate {
                name: command.name.clone(),
                folder: PathBuf::new(),
                program: program.into(),
                args: args.iter().map(Into::into).collect(),
                format: command.format,
                report: command.report.as_ref().map(PathBuf::from),
                fine: Vec::new(),
            })
        })
        .collect();
    if config.detect {
        let python = |folder: &Path| python(folder, checkout, scratch);
        let tools: [Tool<'_>; 4] = [&cargo, &javascript, &python, &go];
        // Where the root has nothing to say about a language, its components do.
        let components = std::cell::LazyCell::new(|| components(folder));
        for tool in tools {
            match tool(folder) {
                Some(gate) => gates.push(gate),
                None => gates.extend(in_components(tool, folder, &components)),
            }
        }
    }
    gates
}

/// How deep components are looked for, and how many there can be.
const DEPTH: usize = 3;
const COMPONENTS: usize = 500;
/// Folders that hold what others wrote, what was built, or examples of projects.
const NOT_OURS: &[&str] = &[
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

/// The folders of a project in which a component may be, by path; links are not followed.
fn components(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = fs_err::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || name.starts_with('.') || NOT_OURS.contains(&name.as_ref()) {
                continue;
            }
            let below = folder.join(name.as_ref());
            if depth + 1 < DEPTH {
                open.push((below.clone(), depth + 1));
            }
            found.push(below);
        }
        if found.len() > COMPONENTS {
            break;
        }
    }
    found.sort();
    found
}

/// What a tool has to say about components; one inside another belongs to it.
fn in_components(tool: Tool<'_>, root: &Path, components: &[PathBuf]) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    for component in components {
        if gates.iter().any(|gate| component.starts_with(&gate.folder)) {
            continue;
        }
        if let Some(mut gate) = tool(&root.join(component)) {
            gate.name = format!("{} in {}", gate.name, component.display());
            gate.folder.clone_from(component);
            gates.push(gate);
        }
    }
    gates
}

fn gate(name: &str, program: impl Into<PathBuf>, args: &[&str], format: GateFormat) -> Gate {
    Gate {
        name: name.to_owned(),
        folder: PathBuf::new(),
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        format,
        report: None,
        fine: Vec::new(),
    }
}

fn cargo(folder: &Path) -> Option<Gate> {
    let manifest = fs_err::read_to_string(folder.join("Cargo.toml")).ok()?;
    let mut args = vec!["test", "--no-fail-fast", "--color", "never"];
    if manifest.lines().any(|line| line.trim() == "[workspace]") {
        args.push("--workspace");
    }
    Some(gate("cargo", "cargo", &args, GateFormat::Libtest))
}

/// A script that npm itself put there says that there are no tests.
fn javascript(folder: &Path) -> Option<Gate> {
    let manifest = fs_err::read_to_string(folder.join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
    let script = manifest["scripts"]["test"].as_str()?.trim();
    if script.is_empty() || script.contains("no test specified") {
        return None;
    }
    let asked = manifest["packageManager"].as_str().unwrap_or_default();
    let has = |name: &str, lock: &str| asked.starts_with(name) || folder.join(lock).exists();
    let name = if has("pnpm", "pnpm-lock.yaml") {
        "pnpm"
    } else if has("yarn", "yarn.lock") {
        "yarn"
    } else {
        "npm"
    };
    Some(gate(name, name, &["test"], GateFormat::Marks))
}

fn python(folder: &Path, checkout: &Path, scratch: &Path) -> Option<Gate> {
    let holds = |file: &str, text: &str| {
        fs_err::read_to_string(folder.join(file)).is_ok_and(|content| content.contains(text))
    };
    let configured = folder.join("pytest.ini").exists()
        || folder.join("conftest.py").exists()
        || holds("pyproject.toml", "[tool.pytest")
        || holds("setup.cfg", "[tool:pytest]");
    if !configured && !["", "tests", "test"].iter().any(|below| has_tests(&folder.join(below))) {
        return None;
    }
    let own = [".venv/bin/python", "venv/bin/python"].map(|python| checkout.join(python));
    let program =
        own.into_iter().find(|python| python.exists()).unwrap_or_else(|| "python3".into());
    // Two components must not write the same report.
    let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    let report = scratch.join(format!("pytest-{}.xml", &hash[..8]));
    let option = format!("--junitxml={}", report.display());
    let args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", &option];
    let mut gate = gate("pytest", program, &args, GateFormat::Junit);
    gate.report = Some(report);
    gate.fine = vec![5];
    Some(gate)
}

fn has_tests(folder: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
    })
}

fn go(folder: &Path) -> Option<Gate> {
    folder
        .join("go.mod")
        .exists()
        .then(|| gate("go", "go", &["test", "-json", "./..."], GateFormat::GoJson))
}
