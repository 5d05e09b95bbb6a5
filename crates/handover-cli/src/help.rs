//! Examples in help texts that can be pasted: their lines are never wrapped.
//!
//! Clap wraps whatever follows the options at spaces. The spaces of examples are replaced before it does, and put
//! back when the text is printed.

use clap::Command;

/// What stands for a space that must not be broken.
pub(crate) const SPACE: char = '\u{a0}';

/// The tree, with examples that survive wrapping.
pub(crate) fn unwrapped(command: Command) -> Command {
    let text = command.get_after_help().map(|text| text.ansi().to_string());
    let command = match text {
        Some(text) => command.after_help(protected(&text)),
        None => command,
    };
    command.mut_subcommands(unwrapped)
}

/// Only examples are indented.
fn protected(text: &str) -> String {
    let line = |line: &str| match line.starts_with("  ") {
        true => line.replace(' ', &SPACE.to_string()),
        false => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A help text or an error as it is printed.
pub(crate) fn restored(error: &clap::Error) -> String {
    plain(&error.render().ansi().to_string())
}

/// How clap and the standard library say something, and how we do.
const WORDS: [(&str, &str); 5] = [
    ("  tip: ", "  hint: "),
    ("tip:\u{1b}[", "hint:\u{1b}["),
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("number too large to fit in target type", "the number is too large"),
];

/// A rendered text with its spaces, and in our words.
pub(crate) fn plain(text: &str) -> String {
    WORDS.iter().fold(text.replace(SPACE, " "), |text, (theirs, ours)| text.replace(theirs, ours))
}
