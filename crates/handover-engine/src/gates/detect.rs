//! Which tools a project has.

use std::path::{Path, PathBuf};

use handover_model::GateFormat;
use handover_model::config::GatesConfig;

use super::Gate;

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
                program: program.into(),
                args: args.iter().map(Into::into).collect(),
                format: command.format,
                report: command.report.as_ref().map(PathBuf::from),
                fine: Vec::new(),
            })
        })
        .collect();
    if config.detect {
        let found =
            [cargo(folder), javascript(folder), python(folder, checkout, scratch), go(folder)];
        gates.extend(found.into_iter().flatten());
    }
    gates
}

fn gate(name: &str, program: impl Into<PathBuf>, args: &[&str], format: GateFormat) -> Gate {
    Gate {
        name: name.to_owned(),
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
    let report = scratch.join("pytest.xml");
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
