//! How much is tested, and what is long: figures for reading, not a check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::Delimiter;

use super::rules::LONG_FILE;
use super::sources::{Crate, Module};
use super::tokens::{Token, walk};

/// The longest function that needs no second look.
const LONG_FUNCTION: usize = 80;

/// Crates that serve development alone: neither code nor tests of the product.
const TOOLS: [&str; 2] = ["handover-testkit", "xtask"];

/// Lines with code: neither blank nor comments.
#[derive(Default, Clone, Copy)]
struct Lines {
    code: usize,
    tests: usize,
}

/// Prints the tables. Recordings, snapshots and other fixtures are not Rust files and do not count.
pub fn print(crates: &[Crate]) {
    println!("| crate | code lines | test lines | tests : code |\n|---|---|---|---|");
    let mut total = Lines::default();
    for one in crates {
        let lines = lines(one);
        row(&one.name, lines);
        if !TOOLS.contains(&one.name.as_str()) {
            total.code += lines.code;
            total.tests += lines.tests;
        }
    }
    row(&format!("all, without {}", TOOLS.join(" and ")), total);
    let modules = || crates.iter().flat_map(|one| &one.modules);
    println!("\nfunctions over {LONG_FUNCTION} lines:");
    for module in modules() {
        for (name, line, length) in long_functions(module) {
            println!("  {}:{line} {name}: {length}", module.name);
        }
    }
    println!("\nfiles over {LONG_FILE} lines, without tests:");
    for module in modules().filter(|module| shipped_lines(module) > LONG_FILE) {
        println!("  {}: {}", module.name, shipped_lines(module));
    }
}

fn row(name: &str, Lines { code, tests }: Lines) {
    println!("| {name} | {code} | {tests} | {:.2} |", tests as f64 / code.max(1) as f64);
}

/// All lines of a file but those of test items.
pub fn shipped_lines(module: &Module) -> usize {
    let tests: usize = module.source.tests.iter().map(|(first, last)| last + 1 - first).sum();
    module.text.lines().count() - tests
}

fn lines(one: &Crate) -> Lines {
    let mut lines = Lines::default();
    let mut shipped = BTreeSet::new();
    for module in &one.modules {
        shipped.insert(module.file.as_path());
        for (number, line) in (1..).zip(module.text.lines()) {
            let is_test =
                module.source.tests.iter().any(|(first, last)| (*first..=*last).contains(&number));
            match (says_something(line), is_test) {
                (true, true) => lines.tests += 1,
                (true, false) => lines.code += 1,
                (false, _) => {}
            }
        }
    }
    let mut files = Vec::new();
    for folder in ["src", "tests", "benches"] {
        rust_files(&one.folder.join(folder), &mut files);
    }
    // Whatever the root does not reach without `cfg(test)` is a test, or another program of the crate.
    for file in files.iter().filter(|file| !shipped.contains(file.as_path())) {
        let count = fs_err::read_to_string(file)
            .map_or(0, |text| text.lines().filter(|line| says_something(line)).count());
        let program = file.starts_with(one.folder.join("src/bin"));
        *(if program { &mut lines.code } else { &mut lines.tests }) += count;
    }
    lines
}

fn says_something(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Name, line and length of each long function.
fn long_functions(module: &Module) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    walk(&module.source.tokens, &mut |tokens| {
        for (at, pair) in tokens.windows(2).enumerate() {
            if pair[0].ident() != Some("fn") {
                continue;
            }
            let Some(name) = pair[1].ident() else { continue };
            let end = |token: &&Token| token.is(';') || token.group(Delimiter::Brace).is_some();
            let Some(body) = tokens[at..].iter().find(end) else { continue };
            let first = pair[0].first_line();
            let length = body.last_line() + 1 - first;
            if length > LONG_FUNCTION {
                found.push((name.to_owned(), first, length));
            }
        }
    });
    found
}
