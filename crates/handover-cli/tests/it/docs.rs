//! The commands in README.md and docs/: every block is run in a scratch project. One that needs something to be there
//! names the commands that make it in a comment above it (`<!-- before: commands -->`). One that cannot be run says why
//! (`<!-- no-run: reason -->`), and its commands and options must at least exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_testkit::TestEnv;

use crate::empty;

/// A fenced block of commands.
struct Block {
    page: String,
    line: usize,
    /// Why it is not run.
    no_run: Option<String>,
    /// What is run first, unseen by readers.
    before: Option<String>,
    text: String,
}

impl Block {
    fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and every page of docs/, by name.
fn pages() -> Vec<(String, String)> {
    let mut files = vec![repository().join("README.md")];
    let docs = fs_err::read_dir(repository().join("docs")).unwrap();
    files.extend(docs.map(|entry| entry.unwrap().path()));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs_err::read_to_string(file).unwrap())
    };
    files.into_iter().map(read).collect()
}

/// The blocks of commands on a page.
fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut above = "";
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            let code = line.strip_prefix("    ").map(|rest| rest.trim_start_matches("$ "));
            let escapes = code.is_some_and(|code| {
                ["handover ", "cargo "].iter().any(|start| code.starts_with(start))
            });
            assert!(!escapes, "{page}:{} has commands: start the block with ```sh", at + 1);
            above = line;
            continue;
        }
        let (fence, language) = line.split_at(ticks);
        let inside: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != fence).collect();
        let place = format!("{page}:{}", at + 1);
        let commands =
            inside.iter().any(|line| line.trim_start_matches("$ ").starts_with("handover "));
        match language {
            "sh" | "console" => {
                let comment = |kind: &str| {
                    let rest = above.strip_prefix("<!-- ")?.strip_prefix(kind)?;
                    let said = rest.strip_suffix(" -->").expect("the comment ends on its line");
                    Some(said.to_owned())
                };
                let no_run = comment("no-run: ");
                let reason = no_run.as_ref().is_none_or(|reason| reason.len() > 10);
                assert!(reason, "{place}: that is no reason");
                let (before, text) = (comment("before: "), inside.join("\n"));
                found.push(Block { page: page.to_owned(), line: at + 1, no_run, before, text });
            }
            "" => assert!(!commands, "{place} has commands: start the block with ```sh"),
            _ => {}
        }
        above = "";
    }
    found
}

fn all_blocks() -> Vec<Block> {
    pages().iter().flat_map(|(page, text)| blocks(page, text)).collect()
}

/// A shell in which `handover` is the program under test.
fn shell(env: &TestEnv, script: &str) -> handover_testkit::Output {
    let bin = env.folder().join("bin");
    fs_err::create_dir_all(&bin).unwrap();
    let link = bin.join("handover");
    if !link.exists() {
        std::os::unix::fs::symlink(env.binary(), &link).unwrap();
    }
    let mut shell = env.tool("timeout");
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    shell.env("PATH", path);
    shell.args(["120", "sh", "-euc", script]).current_dir(env.path(""));
    shell.stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    env.output(shell.spawn().unwrap())
}

#[test]
fn commands_in_the_documentation_run() {
    let mut ran = 0;
    for (page, text) in pages() {
        let blocks: Vec<Block> =
            blocks(&page, &text).into_iter().filter(|block| block.no_run.is_none()).collect();
        if blocks.is_empty() {
            continue;
        }
        let env = empty();
        env.git("", &["init", "--quiet"]);
        if !blocks.iter().any(|block| block.text.contains("handover init")) {
            env.run(["init"]).ok();
            env.run(["session", "new", "s1"]).ok();
        }
        for block in blocks {
            let before = block.before.as_deref().unwrap_or_default();
            let output = shell(&env, &format!("{before}\n{}", block.text));
            assert_eq!(output.code, Some(0), "{}: {output}", block.place());
            ran += 1;
        }
    }
    assert!(ran >= 24, "only {ran} blocks were found");
}

#[test]
fn commands_in_the_documentation_exist() {
    let env = empty();
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut checked = 0;
    for block in all_blocks() {
        let found = commands(&block.text)
            .unwrap_or_else(|line| panic!("{}: quotes that do not end: {line}", block.place()));
        for words in found {
            let place = format!("{}: handover {}", block.place(), words.join(" "));
            let is_option = |word: &&String| word.starts_with('-');
            let names: Vec<String> =
                words.iter().take_while(|word| !is_option(word)).take(2).cloned().collect();
            let help = helps.entry(names.clone()).or_insert_with(|| {
                let output = env.run(names.iter().map(String::as_str).chain(["--help"]));
                assert_eq!(output.code, Some(0), "{place}: {output}");
                output.stdout
            });
            for option in words.iter().filter(is_option).filter(|word| word.len() > 2) {
                let option = option.split('=').next().unwrap();
                let known = help.split([' ', ',', '[', '\n']).any(|word| word == option);
                assert!(known, "{place}: there is no {option}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 60, "only {checked} commands were found");
}

/// The arguments of every call of Handover in a script, or the line whose quotes do not end.
fn commands(script: &str) -> Result<Vec<Vec<String>>, String> {
    let mut found = Vec::new();
    let mut until: Option<&str> = None;
    let mut open = String::new();
    for line in script.lines() {
        // Here-documents are not commands.
        if let Some(end) = until {
            until = (line != end).then_some(end);
            continue;
        }
        until =
            line.split_once("<<'").and_then(|(_, rest)| rest.split_once('\'')).map(|(end, _)| end);
        let line = line.strip_prefix("$ ").unwrap_or(line);
        open.push_str(line.split(" #").next().unwrap());
        // A quoted text may have several lines.
        let Ok(words) = shell_words::split(&open) else {
            open.push('\n');
            continue;
        };
        open.clear();
        let ends = |word: &String| ["|", "&&", ";"].contains(&word.as_str());
        for words in words.split(ends) {
            let after = |start: &[&str]| {
                let at = words.windows(start.len()).position(|window| window == start)?;
                Some(words.get(at + start.len()..)?.to_vec())
            };
            let calls = words.iter().find(|word| !word.contains('='));
            let found_here = match calls.map(String::as_str) {
                Some("handover") => after(&["handover"]),
                Some("cargo") => after(&["cargo", "run", "--release", "--"]),
                _ => after(&["--", "handover"]),
            };
            let Some(mut words) = found_here else { continue };
            if let Some(end) = words.iter().position(|word| word == "<") {
                words.truncate(end);
            }
            found.push(words);
        }
    }
    match open.is_empty() {
        true => Ok(found),
        false => Err(open),
    }
}

/// The scripts of this repository that a block starts.
fn scripts(block: &str) -> impl Iterator<Item = &str> {
    let words = block.lines().filter_map(|line| line.trim_start_matches("$ ").split(' ').next());
    words.map(|word| word.trim_start_matches("./")).filter(|word| word.starts_with("scripts/"))
}

#[test]
fn scripts_in_the_documentation_exist() {
    let blocks = all_blocks();
    let named: Vec<&str> = blocks.iter().flat_map(|block| scripts(&block.text)).collect();
    assert!(named.len() >= 2, "{named:?}");
    for script in named {
        assert!(repository().join(script).is_file(), "there is no {script}");
    }
}

#[test]
fn finds_blocks_and_commands() {
    let text = "a\n\n```sh\nhandover init  # x\ncat <<'E' > f\nhandover no\nE\n```\n<!-- no-run: it asks a question -->\n```console\n$ A=1 handover learn docs | handover redact\n```\n";
    let found = blocks("p.md", text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].line, found[0].no_run.as_deref()), (3, None));
    assert_eq!(found[1].no_run.as_deref(), Some("it asks a question"));
    let prepared = blocks("p.md", "<!-- before: handover init -->\n```sh\nhandover doctor\n```\n");
    assert_eq!(prepared[0].before.as_deref(), Some("handover init"));
    assert_eq!(commands(&found[0].text).unwrap(), [["init"]]);
    assert_eq!(commands(&found[1].text).unwrap(), [vec!["learn", "docs"], vec!["redact"]]);
    let quoted = "handover brief --task 'one | two\nthree'";
    assert_eq!(commands(quoted).unwrap(), [["brief", "--task", "one | two\nthree"]]);
    commands("handover init\nhandover brief --task 'it is").unwrap_err();
}
