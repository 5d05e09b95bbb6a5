//! Which crate may use which: the table of ARCHITECTURE.md, compared with the manifests.
//!
//! A cell of its column "may use" lists crates of the workspace without their prefix, third-party
//! crates in backticks, `every crate` for the whole workspace, or `anything`. A third-party crate that
//! some cell names is restricted: only the crates whose cells name it may use it. All others are free.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

const COLUMN: &str = "may use";

/// One cell of the column.
enum MayUse {
    Anything,
    Only { every_crate: bool, crates: BTreeSet<String> },
}

/// Every dependency that the table does not allow, and every crate missing on one side.
pub fn check(architecture: &str, packages: &[Value]) -> Result<Vec<String>> {
    let table = parse(architecture)?;
    let restricted: BTreeSet<&String> = table
        .values()
        .filter_map(|cell| match cell {
            MayUse::Only { crates, .. } => Some(crates),
            MayUse::Anything => None,
        })
        .flatten()
        .collect();
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        known.insert(name);
        let Some(cell) = table.get(name) else {
            problems.push(format!("{name} is not in the table of ARCHITECTURE.md"));
            continue;
        };
        let MayUse::Only { every_crate, crates } = cell else { continue };
        for dependency in package["dependencies"].as_array().context("no dependencies")? {
            let used = dependency["name"].as_str().unwrap_or_default();
            let ours = used.starts_with("handover-");
            let allowed = crates.contains(used)
                || (ours && *every_crate)
                || (!ours && !restricted.contains(&used.to_owned()));
            // Development dependencies and build scripts do not ship.
            if dependency["kind"].is_null() && !allowed {
                problems.push(format!("ARCHITECTURE.md: {name} may not use {used}"));
            }
        }
    }
    for name in table.keys().filter(|name| !known.contains(name.as_str())) {
        problems.push(format!("ARCHITECTURE.md: there is no crate {name}"));
    }
    Ok(problems)
}

/// The rows of the first table that has the column.
fn parse(architecture: &str) -> Result<BTreeMap<String, MayUse>> {
    let mut lines = architecture.lines().skip_while(|line| !cells(line).contains(&COLUMN));
    let header = cells(lines.next().context("ARCHITECTURE.md has no table of crates")?);
    let column = header.iter().position(|cell| *cell == COLUMN).context("no such column")?;
    let mut table = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells = cells(line);
        let cell = cells.get(column).with_context(|| format!("a row is too short: {line}"))?;
        table.insert(cells[0].to_owned(), may_use(cell));
    }
    Ok(table)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn may_use(cell: &str) -> MayUse {
    if cell == "anything" {
        return MayUse::Anything;
    }
    let (mut every_crate, mut crates) = (false, BTreeSet::new());
    for word in cell.split(',').map(str::trim).filter(|word| !matches!(*word, "" | "–")) {
        match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
            Some(outside) => drop(crates.insert(outside.to_owned())),
            None if word == "every crate" => every_crate = true,
            None => drop(crates.insert(format!("handover-{word}"))),
        }
    }
    MayUse::Only { every_crate, crates }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &str = "\
| crate | holds | may use |
|---|---|---|
| handover-model | records | – |
| handover-sqlite | rows | model, `rusqlite` |
| handover-cli | commands | every crate, `clap` |
| xtask | chores | anything |
";

    fn package(name: &str, dependencies: &[&str]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|name| json!({"name": name, "kind": null})).collect();
        json!({"name": name, "dependencies": dependencies})
    }

    fn all(model: &[&str], cli: &[&str]) -> Vec<Value> {
        vec![
            package("handover-model", model),
            package("handover-sqlite", &["handover-model", "rusqlite"]),
            package("handover-cli", cli),
            package("xtask", &["handover-cli", "rusqlite"]),
        ]
    }

    #[test]
    fn accepts_what_the_table_allows() {
        let packages = all(&["serde"], &["handover-sqlite", "clap", "serde"]);
        assert_eq!(check(TABLE, &packages).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn rejects_a_dependency_that_the_table_does_not_name() {
        let packages = all(&["handover-sqlite", "clap"], &["rusqlite"]);
        assert_eq!(
            check(TABLE, &packages).unwrap(),
            [
                "ARCHITECTURE.md: handover-model may not use handover-sqlite",
                "ARCHITECTURE.md: handover-model may not use clap",
                "ARCHITECTURE.md: handover-cli may not use rusqlite",
            ]
        );
    }

    #[test]
    fn rejects_a_crate_without_a_row_and_a_row_without_a_crate() {
        let mut packages = all(&[], &[]);
        packages[0] = package("handover-new", &[]);
        assert_eq!(
            check(TABLE, &packages).unwrap(),
            [
                "handover-new is not in the table of ARCHITECTURE.md",
                "ARCHITECTURE.md: there is no crate handover-model",
            ]
        );
    }
}
