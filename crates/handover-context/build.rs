//! Writes the index of the built-in templates, so that no header is parsed when the program runs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

#[path = "src/specialize/header.rs"]
#[expect(unreachable_pub, reason = "the crate shows it to others")]
mod header;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/specialize/header.rs");
    println!("cargo::rerun-if-changed=templates");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest")?);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut files = Vec::new();
    find(&root.join("templates"), &mut files)?;
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        entry(file, &mut code)?;
    }
    code.push_str("]\n");
    fs_err::write(out.join("templates.rs"), code)?;
    Ok(())
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Ok(()) };
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

fn entry(file: &Path, code: &mut String) -> Result<()> {
    println!("cargo::rerun-if-changed={}", file.display());
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if stem == "README" {
        return Ok(());
    }
    let text = fs_err::read_to_string(file)?;
    let header = match header::parse(stem, &text) {
        Ok((header, _, _)) => header,
        // A test names the file as well; a build must not fail while somebody writes.
        Err(error) => {
            println!("cargo::warning={}:{}: {}", file.display(), error.line, error.message);
            return Ok(());
        }
    };
    let header::Header { name, category, priority, detect, compatible_with, requires } = header;
    writeln!(
        code,
        "    Embedded {{ name: {name:?}, category: Category::{category:?}, priority: {priority}, \
         detect: &{detect:?}, compatible_with: &{compatible_with:?}, requires: &{requires:?}, \
         text: include_str!({:?}) }},",
        file.display().to_string()
    )?;
    Ok(())
}
