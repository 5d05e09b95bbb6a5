//! Which crate may know which: the table of ARCHITECTURE.md, read against the manifests.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What each crate may use, of ours and of the crates that mark a layer.
const MAY_USE: &[(&str, &[&str])] = &[
    ("handover-model", &[]),
    ("handover-text", &["handover-model"]),
    ("handover-store", &["handover-model", "handover-text"]),
    ("handover-sqlite", &["handover-model", "handover-text", "handover-store", "rusqlite"]),
    (
        "handover-postgres",
        &["handover-model", "handover-text", "handover-store", "fs-err", "tokio", "tokio-postgres"],
    ),
    ("handover-remote", &["handover-model", "handover-text", "handover-store", "ureq"]),
    ("handover-context", &["handover-model", "handover-text", "handover-store", "fs-err"]),
    ("handover-agents", &["handover-model", "fs-err", "process-wrap"]),
    ("handover-hosts", &["handover-model", "handover-text", "handover-context"]),
    (
        "handover-mcp",
        &["handover-model", "handover-text", "handover-store", "handover-context", "rmcp", "tokio"],
    ),
    (
        "handover-engine",
        &[
            "handover-model",
            "handover-text",
            "handover-store",
            "handover-context",
            "handover-agents",
            "fs-err",
        ],
    ),
    (
        "handover-web",
        &[
            "handover-model",
            "handover-text",
            "handover-store",
            "handover-context",
            "handover-engine",
            "fs-err",
        ],
    ),
    (
        "handover-serve",
        &[
            "handover-model",
            "handover-text",
            "handover-store",
            "handover-context",
            "handover-engine",
            "handover-mcp",
            "handover-web",
            "tokio",
            "axum",
        ],
    ),
    (
        "handover-cli",
        &[
            "handover-model",
            "handover-text",
            "handover-store",
            "handover-sqlite",
            "handover-postgres",
            "handover-context",
            "handover-agents",
            "handover-mcp",
            "handover-engine",
            "handover-hosts",
            "handover-web",
            "handover-remote",
            "handover-serve",
            "clap",
            "fs-err",
        ],
    ),
];

/// Crates from outside that only some of ours may know.
const MARKERS: &[&str] = &[
    "rusqlite",
    "clap",
    "fs-err",
    "process-wrap",
    "rmcp",
    "tokio",
    "tokio-postgres",
    "axum",
    "ureq",
];

/// Fails with every dependency that the table does not allow.
pub fn run() -> Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--no-deps"])
        .output()
        .context("running cargo metadata")?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().context("no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        if matches!(name, "xtask" | "handover-testkit") {
            continue;
        }
        let Some(may_use) = allowed.get(name) else {
            wrong.push(format!("{name} is not in the table of xtask/src/tidy.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().context("no dependencies")? {
            let used = dependency["name"].as_str().unwrap_or_default();
            let guarded = used.starts_with("handover-") || MARKERS.contains(&used);
            if dependency["kind"].is_null() && guarded && !may_use.contains(&used) {
                wrong.push(format!("{name} must not know {used}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}
