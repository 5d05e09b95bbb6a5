//! Rules about single files.

use proc_macro2::Delimiter;

use super::sources::{Crate, Module};
use super::stats::shipped_lines;
use super::tokens::{Token, walk};

/// The maximum lines of a file, without its tests.
pub const LONG_FILE: usize = 600;

/// Functions that create a prompt without the guard; the compiler cannot keep other code from calling them.
const CONSTRUCTORS: &[Constructor] = &[
    Constructor { name: "admit_unchecked", callers: &["crates/handover-handoff/"] },
    // A further message in a conversation that an admitted prompt opened.
    Constructor {
        name: "follow_up_prompt",
        callers: &[
            "crates/handover-handoff/",
            "crates/handover-cli/src/commands/spawn/",
            "crates/handover-engine/src/runner/agent_work.rs",
        ],
    },
    // What an arm of an experiment is given.
    Constructor {
        name: "admit_trial",
        callers: &["crates/handover-handoff/", "crates/handover-cli/src/commands/prove/"],
    },
    // A prompt without a handoff, for `doctor --probe`.
    Constructor {
        name: "probe_prompt",
        callers: &["crates/handover-handoff/", "crates/handover-cli/src/commands/probe/"],
    },
];

struct Constructor {
    name: &'static str,
    /// Folders and files that may name it.
    callers: &'static [&'static str],
}

/// The only crate that builds paths below this folder, so that nothing there is opened through a link.
const FILES_CRATE: &str = "handover-files";
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
            if one.name != FILES_CRATE && !FOR_DEVELOPMENT.contains(&one.name.as_str()) {
                problems.extend(joins(module).into_iter().map(|line| {
                    format!(
                        "{file}:{line}: only {FILES_CRATE} builds paths below `.handover`; use its Folder"
                    )
                }));
            }
            problems.extend(forbidden_constructors(module));
        }
    }
    problems
}

/// Constructors of prompts that this file must not name.
fn forbidden_constructors(module: &Module) -> Vec<String> {
    let file = &module.name;
    let mut problems = Vec::new();
    for Constructor { name, callers } in CONSTRUCTORS {
        if callers.iter().any(|caller| file.starts_with(caller)) {
            continue;
        }
        problems.extend(
            lines_that_name(name, module).into_iter().map(|line| {
                format!("{file}:{line}: only {} may call {name}", callers.join(" and "))
            }),
        );
    }
    problems
}

/// Lines that name a function, other than to define it.
fn lines_that_name(name: &str, module: &Module) -> Vec<usize> {
    let mut lines = Vec::new();
    walk(&module.source.tokens, &mut |tokens| {
        for (at, token) in tokens.iter().enumerate() {
            let defined = at > 0 && tokens[at - 1].ident() == Some("fn");
            if token.ident() == Some(name) && !defined {
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

    fn problems(file: &str, text: &str) -> Vec<String> {
        let module = Module {
            file: PathBuf::new(),
            name: file.to_owned(),
            path: vec!["x".to_owned()],
            text: text.to_owned(),
            source: Source::parse(text).unwrap(),
        };
        let name = file.split('/').nth(1).unwrap_or("x").to_owned();
        let one = Crate { name, folder: PathBuf::new(), modules: vec![module] };
        check(&[one])
    }

    #[test]
    fn only_the_handoff_layer_admits_prompts() {
        let call = "fn f() { let p = AdmittedPrompt::admit_unchecked(text); }";
        assert_eq!(problems("crates/handover-handoff/src/x.rs", call), Vec::<String>::new());
        let engine = "crates/handover-engine/src/runner/agent_work.rs";
        assert_eq!(
            problems(engine, call),
            [format!("{engine}:1: only crates/handover-handoff/ may call admit_unchecked")]
        );
        let definition = "impl AdmittedPrompt { pub fn admit_unchecked(text: String) -> Self {} }";
        assert_eq!(problems("crates/handover-model/src/x.rs", definition), Vec::<String>::new());
        let test = format!("#[cfg(test)] mod tests {{ {call} }}");
        assert_eq!(problems("crates/handover-agents/src/x.rs", &test), Vec::<String>::new());
    }

    #[test]
    fn further_prompts_are_created_where_a_conversation_was_opened() {
        let used = "use handover_handoff::{Ending, follow_up_prompt};";
        for (file, text, is_allowed) in [
            ("crates/handover-cli/src/commands/spawn/mod.rs", used, true),
            ("crates/handover-engine/src/runner/agent_work.rs", used, true),
            ("crates/handover-engine/src/runner/agent.rs", used, false),
            ("crates/handover-serve/src/api/spawns.rs", used, false),
            (
                "crates/handover-cli/src/commands/probe/mod.rs",
                "fn f() { probe_prompt(t, r); }",
                true,
            ),
            (
                "crates/handover-cli/src/commands/spawn/mod.rs",
                "fn f() { probe_prompt(t, r); }",
                false,
            ),
        ] {
            assert_eq!(problems(file, text).is_empty(), is_allowed, "{file}: {text}");
        }
        let field = "struct Done { follow_up: Spent }";
        assert_eq!(problems("crates/handover-engine/src/runner/agent.rs", field), [""; 0]);
    }

    #[test]
    fn only_the_files_crate_builds_paths_below_the_folder() {
        for call in ["root.join(\".handover\")", "root.join(\".handover/x\")", "root.join(NAME)"] {
            let text = format!("fn f() {{ let p = {call}; }}");
            assert_eq!(problems("crates/handover-files/src/x.rs", &text), Vec::<String>::new());
            assert_eq!(problems("crates/handover-cli/src/x.rs", &text).len(), 1, "{call}");
            let test = format!("#[cfg(test)] mod tests {{ {text} }}");
            assert_eq!(problems("crates/handover-cli/src/x.rs", &test), Vec::<String>::new());
        }
        let message = "fn f() { say(\".handover/x\"); root.join(\"handover\"); }";
        assert_eq!(problems("crates/handover-cli/src/x.rs", message), Vec::<String>::new());
    }

    #[test]
    fn long_files_are_counted_without_their_tests() {
        let long = "const X: u8 = 1;\n".repeat(LONG_FILE);
        let tests = format!("{long}#[cfg(test)]\nmod tests {{\n    fn t() {{}}\n}}\n");
        assert_eq!(problems("c", &tests), Vec::<String>::new());
        assert_eq!(problems("c", &format!("{long}fn f() {{}}\n")).len(), 1);
    }
}
