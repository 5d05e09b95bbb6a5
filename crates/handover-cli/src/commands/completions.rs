//! `handover completions`
//!
//! The scripts for bash, zsh and fish ask the program what can come next, so that roles, sessions and ids are
//! those of the project. Other shells get the names of commands and options.

mod values;

use clap::Command;
use clap_complete::Shell;

use super::run::ASKED;
use super::{CommandLine, Outcome};
use crate::app::App;
use crate::error::Exit;

/// Print a shell completion script
///
/// It completes commands and options, and in bash, zsh and fish also roles, kinds, hosts, models, sessions, configuration
/// keys and the ids of records.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover completions bash > ~/.local/share/bash-completion/completions/handover\n  handover completions zsh > ~/.zfunc/_handover\n  handover completions fish > ~/.config/fish/completions/handover.fish"
)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for
    #[arg(required_unless_present = "at")]
    shell: Option<Shell>,

    /// Print what the word at this position can be
    #[arg(long, hide = true, requires = "words")]
    at: Option<usize>,

    #[arg(hide = true, last = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

const BASH: &str = r#"_handover() {
    local IFS=$'\n'
    COMPREPLY=($(handover completions --at "$COMP_CWORD" -- "${COMP_WORDS[@]}" 2>/dev/null))
}
complete -o default -F _handover handover
"#;

const ZSH: &str = r#"#compdef handover
_handover() {
    local -a found
    found=("${(@f)$(handover completions --at $((CURRENT - 1)) -- "${words[@]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
if [[ "${funcstack[1]}" == _handover ]]; then _handover "$@"; else compdef _handover handover; fi
"#;

const FISH: &str = "complete -c handover -a '(handover completions --at (count (commandline -opc)) -- \
                    (commandline -opc) (commandline -ct) 2>/dev/null)'\n";

pub(crate) fn run(app: &App, line: CommandLine, args: CompletionsArgs) -> Outcome {
    let mut tree = (line.describe)();
    if let Some(at) = args.at {
        tree.build();
        let found = candidates(app, &tree, &args.words, at);
        app.ui.bytes(found.iter().map(|one| format!("{one}\n")).collect::<String>().as_bytes())?;
        return Ok(Exit::Done);
    }
    let script = match args.shell {
        Some(Shell::Bash) | None => BASH.as_bytes().to_vec(),
        Some(Shell::Zsh) => ZSH.as_bytes().to_vec(),
        Some(Shell::Fish) => FISH.as_bytes().to_vec(),
        Some(shell) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut tree, "handover", &mut script);
            script
        }
    };
    app.ui.bytes(&script)?;
    Ok(Exit::Done)
}

/// What the word at a position can be; nothing if the shell should complete files.
fn candidates(app: &App, tree: &Command, words: &[String], at: usize) -> Vec<String> {
    let current = words.get(at).map(String::as_str).unwrap_or_default();
    let (mut command, mut path, mut positional) = (tree, Vec::new(), 0);
    let mut option = None;
    for word in words.iter().take(at).skip(1) {
        if option.take().is_some() {
            continue;
        }
        if let Some(name) = word.strip_prefix("--") {
            option = command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(name) && arg.get_action().takes_values());
        } else if path == ["run"] && asked_of_a_run(tree, word).is_some() {
            // `run status` is `status`, which help does not list.
            if let Some(sub) = asked_of_a_run(tree, word) {
                (command, positional) = (sub, 0);
                path.push(sub.get_name());
            }
        } else if let Some(sub) = command.find_subcommand(word) {
            (command, positional) = (sub, 0);
            path.push(sub.get_name());
        } else if !word.starts_with('-') {
            positional += 1;
        }
    }
    let mut found = match option {
        Some(option) => values::of(app, &path, option),
        None if current.starts_with('-') => options(command),
        None => {
            let subcommands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
            let mut names: Vec<String> = subcommands.map(|sub| sub.get_name().to_owned()).collect();
            if path == ["run"] && positional == 0 {
                names.extend(ASKED.map(str::to_owned));
            }
            let argument =
                command.get_positionals().filter(|arg| !arg.is_hide_set()).nth(positional);
            names.extend(
                argument.map(|argument| values::of(app, &path, argument)).unwrap_or_default(),
            );
            names
        }
    };
    found.retain(|one| one.starts_with(current));
    found
}

/// The command that `run WORD` stands for.
fn asked_of_a_run<'t>(tree: &'t Command, word: &str) -> Option<&'t Command> {
    ASKED.iter().find(|asked| **asked == word).and_then(|asked| tree.find_subcommand(asked))
}

fn options(command: &Command) -> Vec<String> {
    let visible = command.get_arguments().filter(|arg| !arg.is_hide_set());
    visible.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
}
