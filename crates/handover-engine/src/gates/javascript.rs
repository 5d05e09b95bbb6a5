//! The `test` script of a `package.json`, through npm, pnpm or yarn.

use std::path::{Path, PathBuf};

use handover_agents::Environment;

use super::kind::folder_of;
use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput, format};
use crate::bounded;

/// Package managers of JavaScript.
#[derive(Debug)]
pub struct JavaScript;

impl GateKind for JavaScript {
    fn id(&self) -> &'static str {
        "javascript"
    }

    /// The script that `npm init` generates means that there are no tests.
    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        let manifest: serde_json::Value =
            serde_json::from_str(&folder.read("package.json")?).ok()?;
        let script = manifest["scripts"]["test"].as_str()?.trim();
        if script.is_empty() || script.contains("no test specified") {
            return None;
        }
        let wanted = manifest["packageManager"].as_str().unwrap_or_default();
        let has = |name: &str, lock: &str| wanted.starts_with(name) || folder.has(lock);
        let name = if has("pnpm", "pnpm-lock.yaml") {
            "pnpm"
        } else if has("yarn", "yarn.lock") {
            "yarn"
        } else {
            "npm"
        };
        Some(Gate::new(&Self, name, &["test"]))
    }

    /// npm keeps logs of what it runs there.
    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        folder_of(environment, "npm_config_cache", ".npm").into_iter().collect()
    }

    fn is_redirected(&self) -> bool {
        true
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        format::marks(output)
    }

    fn install(&self, gate: &Gate, folder: &Path) -> Option<String> {
        let manifest = bounded::text(&folder.join("package.json"))?;
        let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
        let needs = |key: &str| manifest[key].as_object().is_some_and(|all| !all.is_empty());
        let is_needed = needs("dependencies") || needs("devDependencies");
        // The packages of a workspace are installed above its members.
        let is_done = folder.ancestors().any(|above| above.join("node_modules").exists());
        (is_needed && !is_done).then(|| format!("{} install", gate.program.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::detect_in;
    use super::*;

    #[test]
    fn uses_the_package_manager_of_the_lock_file() {
        let manifest = r#"{"scripts": {"test": "vitest run"}}"#;
        for (lock, manager) in
            [("package-lock.json", "npm"), ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn")]
        {
            let gate = detect_in(&JavaScript, &[("package.json", manifest), (lock, "")]).unwrap();
            assert_eq!((gate.name.as_str(), gate.program.to_str()), (manager, Some(manager)));
        }
        let wanted = r#"{"scripts": {"test": "x"}, "packageManager": "yarn@4.1.0"}"#;
        assert_eq!(detect_in(&JavaScript, &[("package.json", wanted)]).unwrap().name, "yarn");
    }

    #[test]
    fn a_project_without_a_real_test_script_has_no_gate() {
        for manifest in [
            "{",
            "{}",
            r#"{"scripts": {"build": "tsc"}}"#,
            r#"{"scripts": {"test": "  "}}"#,
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        ] {
            assert!(detect_in(&JavaScript, &[("package.json", manifest)]).is_none(), "{manifest}");
        }
    }
}
