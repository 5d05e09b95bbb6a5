//! The official MCP programs installed by `scripts/mcp-clients`. If one is missing the test fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folder that `scripts/mcp-clients` installs into.
fn modules() -> PathBuf {
    let folder = std::env::var_os("HANDOVER_TEST_MCP").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            Path::new(&home).join(".cache/handover/test-mcp")
        },
        PathBuf::from,
    );
    assert!(
        folder.join("installed").exists(),
        "the MCP clients are not in {}: run scripts/mcp-clients, or set HANDOVER_TEST_MCP to where it put them",
        folder.display()
    );
    folder.join("node_modules")
}

/// A script of one of these packages, run by the bundled Node in a clean environment.
pub fn mcp_client(script: &str, home: &Path) -> Command {
    let modules = modules();
    let mut command = Command::new(modules.join("node/bin/node"));
    command
        .arg(modules.join("@modelcontextprotocol").join(script))
        .env_clear()
        .env("PATH", modules.join("node/bin"))
        .env("HOME", home)
        .current_dir(home);
    command
}

/// The result of one scenario of the conformance suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// The number of checks that passed.
    pub passed: usize,
    /// The checks that failed, including warnings, with their messages.
    pub failed: BTreeMap<String, String>,
}

impl Scenario {
    /// Whether there were checks and all of them passed.
    pub fn is_fine(&self) -> bool {
        self.passed > 0 && self.failed.is_empty()
    }
}

/// Runs every server scenario of the official conformance suite for a protocol version against the server
/// at `url`. `folder` receives its output.
pub fn conformance(url: &str, version: &str, folder: &Path) -> BTreeMap<String, Scenario> {
    let results = folder.join(version);
    let output = mcp_client("conformance/dist/index.js", folder)
        .args(["server", "--url", url, "--suite", "all", "--spec-version", version, "--output-dir"])
        .arg(&results)
        .output()
        .unwrap();
    // Its exit code only reports whether all passed, which the test decides itself.
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("=== SUMMARY ==="), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let folders = fs_err::read_dir(&results).unwrap().map(|entry| entry.unwrap());
    folders.map(|entry| scenario(&entry.path())).collect()
}

/// A folder of results: `server-<scenario>-2026-07-28T12-00-00-000Z/checks.json`.
fn scenario(folder: &Path) -> (String, Scenario) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let name = name.strip_prefix("server-").unwrap();
    let name = &name[..name.len() - "-2026-07-28T12-00-00-000Z".len()];
    let checks = fs_err::read(folder.join("checks.json")).unwrap();
    let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
    let mut scenario = Scenario::default();
    for check in checks {
        let text = |field: &str| check[field].as_str().unwrap_or_default().to_owned();
        match text("status").as_str() {
            "SUCCESS" => scenario.passed += 1,
            "INFO" | "SKIPPED" => {}
            _ => _ = scenario.failed.insert(text("id"), text("errorMessage")),
        }
    }
    (name.to_owned(), scenario)
}
