//! The modules of each crate, found as the compiler finds them: from the root through `mod`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::Delimiter;
use serde_json::Value;

use super::tokens::{Source, Token};
use crate::cargo::ROOT;

/// A crate of the workspace.
#[derive(Debug)]
pub struct Crate {
    pub name: String,
    pub folder: PathBuf,
    /// Files that ship, the root first.
    pub modules: Vec<Module>,
}

/// A file that ships.
#[derive(Debug)]
pub struct Module {
    pub file: PathBuf,
    /// The file as shown in messages: relative to the root of the workspace.
    pub name: String,
    /// Empty for the root.
    pub path: Vec<String>,
    pub text: String,
    pub source: Source,
}

/// Reads the crates that `cargo metadata` describes.
pub fn read(packages: &[Value]) -> Result<Vec<Crate>> {
    let root = fs_err::canonicalize(ROOT)?;
    packages
        .iter()
        .map(|package| {
            let name = package["name"].as_str().context("no name")?.to_owned();
            let manifest = Path::new(package["manifest_path"].as_str().context("no manifest")?);
            let folder = manifest.parent().context("no folder")?;
            let mut modules = Vec::new();
            let files = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
            let file = files.into_iter().find(|file| file.exists()).context("no root module")?;
            read_module(file, &folder.join("src"), Vec::new(), &mut modules)
                .with_context(|| format!("reading {name}"))?;
            for module in &mut modules {
                module.name = module.file.strip_prefix(&root)?.display().to_string();
            }
            Ok(Crate { name, folder: folder.to_owned(), modules })
        })
        .collect()
}

/// Reads a file and those it declares; `below` is where its submodules are.
fn read_module(
    file: PathBuf,
    below: &Path,
    path: Vec<String>,
    modules: &mut Vec<Module>,
) -> Result<()> {
    let text = fs_err::read_to_string(&file)?;
    let source = Source::parse(&text).with_context(|| file.display().to_string())?;
    let declared = declared(&source.tokens);
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let name = file.display().to_string();
    modules.push(Module { file, name, path: path.clone(), text, source });
    for (name, elsewhere) in declared {
        let inside = below.join(&name);
        let file = match elsewhere {
            Some(file) => folder.join(file),
            None if inside.join("mod.rs").exists() => inside.join("mod.rs"),
            None => inside.with_extension("rs"),
        };
        let path = [path.as_slice(), &[name]].concat();
        read_module(file, &inside, path, modules)?;
    }
    Ok(())
}

/// Names of `mod name;`, each with the file of a `#[path]`.
fn declared(tokens: &[Token]) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut elsewhere = None;
    for (at, token) in tokens.iter().enumerate() {
        if let Some([name, _, Token::Literal { text, .. }]) = token.group(Delimiter::Bracket)
            && name.ident() == Some("path")
        {
            elsewhere = Some(text.trim_matches('"').to_owned());
        }
        if token.is(';') {
            if let Some([keyword, name]) = at.checked_sub(2).map(|from| &tokens[from..at])
                && keyword.ident() == Some("mod")
                && let Some(name) = name.ident()
            {
                found.push((name.to_owned(), elsewhere.take()));
            }
            elsewhere = None;
        }
    }
    found
}
