//! The official MCP programs that `scripts/mcp-clients` installs. A missing one fails the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folder that `scripts/mcp-clients` fills.
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

/// A script of one of their packages, run by the Node beside it, with an environment of its own.
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

/// What became of one scenario of the conformance suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// How many checks were fine.
    pub passed: usize,
    /// The checks that were not, warnings included, with what was said about them.
    pub failed: BTreeMap<String, String>,
}

impl Scenario {
    /// Whether there was something to check, and nothing was found wanting.
    pub fn is_fine(&self) -> bool {
        self.passed > 0 && self.failed.is_empty()
    }
}

/// Runs every scenario that the official conformance suite has for servers of a version of the
/// protocol, against the server at `url`. `folder` is for what it writes.
pub fn conformance(url: &str, version: &str, folder: &Path) -> BTreeMap<String, Scenario> {
    let results = folder.join(version);
    let output = mcp_client("conformance/dist/index.js", folder)
        .args(["server", "--url", url, "--suite", "all", "--spec-version", version, "--output-dir"])
        .arg(&results)
        .output()
        .unwrap();
    // Its exit code only says whether all passed; that is for the test to judge.
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
