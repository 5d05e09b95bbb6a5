//! The bill of materials: every crate that is part of the program, in CycloneDX's JSON form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::PACKAGE;
use crate::checksums::sha256;
use crate::target::Target;

/// Writes it beside the archive.
pub fn write(target: &'static Target, version: &str, program: &[u8], folder: &Path) -> Result<()> {
    let document = document(&crate::cargo::metadata(target)?, version, &sha256(program))?;
    let name = format!("{}.cdx.json", target.archive(version));
    Ok(fs_err::write(folder.join(name), serde_json::to_string_pretty(&document)? + "\n")?)
}

/// The document for what `cargo metadata` resolved.
fn document(metadata: &Value, version: &str, program: &str) -> Result<Value> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let own = packages.values().find(|package| package["name"] == "handover-cli");
    let root = text(&own.context("handover-cli is not in the workspace")?["id"]);
    let mut open = vec![root];
    let mut shipped: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    while let Some(id) = open.pop() {
        if shipped.contains_key(id) {
            continue;
        }
        let used: BTreeSet<&str> = nodes.get(id).map(|node| shipped_by(node)).unwrap_or_default();
        open.extend(&used);
        shipped.insert(id, used);
    }
    let name = |id: &str| reference(packages[id]);
    let components: Vec<Value> =
        shipped.keys().filter(|id| **id != root).map(|id| component(packages[id])).collect();
    let dependencies: Vec<Value> = shipped
        .iter()
        .map(|(id, used)| json!({"ref": name(id), "dependsOn": used.iter().map(|id| name(id)).collect::<Vec<_>>()}))
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": name(root), "name": PACKAGE, "version": version,
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
            "hashes": [{"alg": "SHA-256", "content": program}],
        }},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// What a crate is linked with: neither build scripts nor tests.
fn shipped_by(node: &Value) -> BTreeSet<&str> {
    let normal =
        |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
    list(&node["deps"]).filter(normal).map(|dependency| text(&dependency["pkg"])).collect()
}

fn component(package: &Value) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
    });
    if !package["source"].is_null() {
        component["purl"] = json!(reference(package));
    }
    if let Some(license) = package["license"].as_str() {
        // The old way to write "or".
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    if let Some(repository) = package["repository"].as_str() {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

fn reference(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_the_program_are_listed_and_those_of_its_tests_are_not() {
        let target = Target::find(Some("x86_64-unknown-linux-gnu")).unwrap();
        let metadata = crate::cargo::metadata(target).unwrap();
        let document = document(&metadata, "1.2.3", "0").unwrap();
        let names: BTreeSet<&str> =
            list(&document["components"]).map(|component| text(&component["name"])).collect();
        for shipped in ["handover-store", "rusqlite", "libsqlite3-sys", "clap"] {
            assert!(names.contains(shipped), "{shipped} is missing");
        }
        for other in ["handover-cli", "handover-testkit", "insta", "fantoccini", "cc"] {
            assert!(!names.contains(other), "{other} is not part of the program");
        }
        let licensed = |component: &&Value| !component["licenses"].is_null();
        assert_eq!(list(&document["components"]).find(|component| !licensed(component)), None);
    }
}
