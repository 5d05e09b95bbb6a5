//! The list of commands in `handover --help`: the few that people start with, then the rest by what they are for.
//!
//! Built only when help is printed or a command line is wrong.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Command;

/// Commands by what they are for, the first ones first.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "Commands",
        &[
            "init", "demo", "open", "watch", "search", "brief", "spawn", "run", "status",
            "receipt", "doctor",
        ],
    ),
    ("Knowledge", &["learn", "note", "package", "where", "why", "error", "strategy", "reasoning"]),
    ("Agents", &["host", "coverage", "assemble", "debrief", "mcp", "prove"]),
    ("Records", &["session", "group", "stats", "report", "undo", "data"]),
    ("Project", &["config", "trust", "untrust", "project", "serve"]),
    ("Text", &["redact", "tokens"]),
];

/// Commands that programs call; they are named without a description.
const PLUMBING: &[&str] = &["hook", "event", "skill-output", "token", "completions", "man"];

const TITLE: Style = Style::new().bold().underline();
const NAME: Style = Style::new().bold();

/// The command tree, with help that lists the commands in sections.
pub(crate) fn with_sections(tree: Command) -> Command {
    let (globals, rest) = ("{options}", "{after-help}");
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\
         {TITLE}Options:{TITLE:#}\n{globals}{rest}",
        sections(&tree)
    );
    tree.help_template(template)
}

fn sections(tree: &Command) -> String {
    let visible = |name: &&str| tree.find_subcommand(name).is_some_and(|c| !c.is_hide_set());
    let all = SECTIONS.iter().flat_map(|(_, names)| *names).copied();
    let width = all.filter(visible).map(str::len).max().unwrap_or_default();
    let mut text = String::new();
    for (title, names) in SECTIONS {
        let _ = writeln!(text, "{TITLE}{title}:{TITLE:#}");
        for name in names.iter().filter(|name| visible(name)) {
            let about = tree.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {NAME}{name:<width$}{NAME:#}  {about}");
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "Used by programs: {}.\n`handover COMMAND --help` explains a command.\n",
        more(tree).join(", ")
    );
    text
}

/// What programs call, and whatever no section has.
fn more(tree: &Command) -> Vec<&str> {
    let listed = |name: &str| SECTIONS.iter().any(|(_, names)| names.contains(&name));
    let others = tree.get_subcommands().filter(|command| !command.is_hide_set());
    let others = others.map(Command::get_name).filter(|name| *name != "help" && !listed(name));
    let mut names: Vec<&str> = others.collect();
    names.sort_by_key(|name| PLUMBING.iter().position(|one| one == name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tree;

    #[test]
    fn every_command_has_a_section_or_is_called_by_programs() {
        let tree = tree();
        let mut plumbing = more(&tree);
        let mut expected = PLUMBING.to_vec();
        plumbing.sort_unstable();
        expected.sort_unstable();
        assert_eq!(plumbing, expected);
    }

    #[test]
    fn about_ten_commands_are_up_front() {
        let (title, names) = SECTIONS[0];
        let there = names.iter().filter(|name| tree().find_subcommand(name).is_some()).count();
        assert!(title == "Commands" && (10..=11).contains(&there), "{there}");
    }
}
