//! Rules about single files.

use proc_macro2::Delimiter;

use super::sources::{Crate, Module};
use super::stats::shipped_lines;
use super::tokens::{Token, walk};

/// The most lines of a file, without its tests.
pub const LONG_FILE: usize = 600;

/// Makes a prompt that no guard has seen; the compiler cannot keep other crates from calling it.
const CONSTRUCTOR: &str = "admit_unchecked";
const ITS_CALLER: &str = "handover-handoff";

/// The only crate that makes paths below this folder, so that nothing is opened there through a link.
const DOOR: &str = "handover-files";
const FOLDER: &str = "\".handover";

/// Crates that do not ship.
const FOR_DEVELOPMENT: [&str; 2] = ["handover-testkit", "xtask"];

/// Everything that breaks a rule.
pub fn check(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in crates {
        for module in &one.modules {
            let file = &module.name;
            let lines = shipped_lines(module);
            if lines > LONG_FILE {
                problems.push(format!("{file} has {lines} lines; split it at {LONG_FILE}"));
            }
            if one.name != DOOR && !FOR_DEVELOPMENT.contains(&one.name.as_str()) {
                problems.extend(joins(module).into_iter().map(|line| {
                    format!(
                        "{file}:{line}: only {DOOR} makes paths below `.handover`; use its Folder"
                    )
                }));
            }
            if one.name != ITS_CALLER {
                problems.extend(calls(module).into_iter().map(|line| {
                    format!("{file}:{line}: only {ITS_CALLER} may call {CONSTRUCTOR}")
                }));
            }
        }
    }
    problems
}

/// Lines that name the constructor, other than to define it.
fn calls(module: &Module) -> Vec<usize> {
    let mut lines = Vec::new();
    walk(&module.source.tokens, &mut |tokens| {
        for (at, token) in tokens.iter().enumerate() {
            let defined = at > 0 && tokens[at - 1].ident() == Some("fn");
            if token.ident() == Some(CONSTRUCTOR) && !defined {
                lines.push(token.first_line());
            }
        }
    });
    lines
}

/// Lines that join a path with the name of the folder.
fn joins(module: &Module) -> Vec<usize> {
    let mut lines = Vec::new();
    walk(&module.source.tokens, &mut |tokens| {
        for pair in tokens.windows(2) {
            let argument = pair[1].group(Delimiter::Parenthesis).and_then(<[Token]>::first);
            let is_folder = match argument {
                Some(Token::Literal { text, .. }) => text.starts_with(FOLDER),
                Some(token) => token.ident() == Some("NAME"),
                None => false,
            };
            if pair[0].ident() == Some("join") && is_folder {
                lines.push(pair[0].first_line());
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tokens::Source;
    use super::*;

    fn problems(name: &str, text: &str) -> Vec<String> {
        let module = Module {
            file: PathBuf::new(),
            name: "x.rs".to_owned(),
            path: vec!["x".to_owned()],
            text: text.to_owned(),
            source: Source::parse(text).unwrap(),
        };
        let one = Crate { name: name.to_owned(), folder: PathBuf::new(), modules: vec![module] };
        check(&[one])
    }

    #[test]
    fn only_the_handoff_layer_admits_prompts() {
        let call = "fn f() { let p = AdmittedPrompt::admit_unchecked(text); }";
        assert_eq!(problems("handover-handoff", call), Vec::<String>::new());
        assert_eq!(
            problems("handover-engine", call),
            ["x.rs:1: only handover-handoff may call admit_unchecked"]
        );
        let definition = "impl AdmittedPrompt { pub fn admit_unchecked(text: String) -> Self {} }";
        assert_eq!(problems("handover-model", definition), Vec::<String>::new());
        let test = format!("#[cfg(test)] mod tests {{ {call} }}");
        assert_eq!(problems("handover-agents", &test), Vec::<String>::new());
    }

    #[test]
    fn only_the_door_makes_paths_below_the_folder() {
        for call in ["root.join(\".handover\")", "root.join(\".handover/x\")", "root.join(NAME)"] {
            let text = format!("fn f() {{ let p = {call}; }}");
            assert_eq!(problems("handover-files", &text), Vec::<String>::new());
            assert_eq!(problems("handover-cli", &text).len(), 1, "{call}");
            let test = format!("#[cfg(test)] mod tests {{ {text} }}");
            assert_eq!(problems("handover-cli", &test), Vec::<String>::new());
        }
        let message = "fn f() { say(\".handover/x\"); root.join(\"handover\"); }";
        assert_eq!(problems("handover-cli", message), Vec::<String>::new());
    }

    #[test]
    fn long_files_are_counted_without_their_tests() {
        let long = "const X: u8 = 1;\n".repeat(LONG_FILE);
        let tests = format!("{long}#[cfg(test)]\nmod tests {{\n    fn t() {{}}\n}}\n");
        assert_eq!(problems("c", &tests), Vec::<String>::new());
        assert_eq!(problems("c", &format!("{long}fn f() {{}}\n")).len(), 1);
    }
}
