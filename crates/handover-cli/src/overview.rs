//! The list of commands in `handover --help`: the few that people start with, then the rest by what they are for.
//!
//! Built only when help is printed or a command line is wrong, and without any command: the list is text.

use std::fmt::Write as _;

use anstyle::Style;
use clap::Command;

/// Commands by what they are for, the first ones first, with what each does. Building the arguments of all of them to
/// get at these lines would take longer than anything else that help does; a test compares.
const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    (
        "Commands",
        &[
            ("init", "Set up a Handover project"),
            ("demo", "See Handover at work in a throwaway project"),
            ("open", "Open the dashboard in the browser"),
            ("watch", "Watch agents at work: runs, sessions, what each agent got and said"),
            ("search", "Search everything the project knows, in all sessions"),
            ("brief", "Write an agent's whole prompt: context, specialization, role, task"),
            ("spawn", "Start an agent with its brief, and store its debrief"),
            ("run", "Run the stories of an epic: develop, test, review, commit"),
            ("status", "Show the state of a run: stories, phases and cost"),
            ("receipt", "Show, compare and verify what agents received"),
            ("doctor", "Check the project for problems"),
        ],
    ),
    (
        "Knowledge",
        &[
            ("learn", "Learn from documents, git history, conversations and memories"),
            ("note", "List, write and retire notes: what the project already knows"),
            ("package", "Register, import, list, update, check and retire context packages"),
            ("where", "Show the files that a task will most likely touch"),
            ("why", "Explain why an agent did or did not get something"),
            ("error", "Record errors and their solutions, look them up and retire them"),
            ("strategy", "Extract strategies from reasoning, list and retire them"),
            ("reasoning", "Record and read the reasoning of agents"),
        ],
    ),
    (
        "Agents",
        &[
            ("host", "Connect agent programs, so that their subagents get briefs"),
            ("coverage", "Compare the subagents of agent programs with their receipts"),
            ("assemble", "Assemble one agent's context, with a receipt"),
            ("debrief", "Store an agent's report: verdict, reasoning, packages, errors"),
            ("mcp", "Serve this project to agents over MCP, on standard input and output"),
            ("prove", "Find out with your own tasks whether briefs help"),
        ],
    ),
    (
        "Records",
        &[
            ("session", "Open, list, close and purge sessions"),
            ("group", "Create, update and list the task groups of a session"),
            ("stats", "Show totals across all sessions and runs"),
            ("report", "Export a run, session or receipt as one HTML file"),
            ("undo", "Undo what was changed by hand"),
            ("data", "Move, back up and clean up the project's records"),
        ],
    ),
    (
        "Project",
        &[
            ("config", "Show and change the configuration"),
            ("trust", "Trust the files of this checkout"),
            ("untrust", "Stop trusting the files of this checkout"),
            ("project", "Show the project's technology stack, templates and personas"),
            ("serve", "Serve this project over HTTP: dashboard, JSON API, live events, MCP"),
        ],
    ),
    (
        "Text",
        &[
            ("redact", "Redact secrets from a file or standard input"),
            ("tokens", "Count the tokens of a text"),
        ],
    ),
];

/// Commands that programs call; they are named without a description.
const PLUMBING: &[&str] = &["hook", "event", "skill-output", "token", "completions", "man"];

const TITLE: Style = Style::new().bold().underline();
const NAME: Style = Style::new().bold();

/// Commands that a build can leave out, and whether this one has them.
const OPTIONAL: [(&str, bool); 5] = [
    ("open", cfg!(feature = "service")),
    ("serve", cfg!(feature = "service")),
    ("token", cfg!(feature = "service")),
    ("report", cfg!(feature = "dashboard")),
    ("mcp", cfg!(feature = "mcp")),
];

/// Whether this build has a command.
fn there(name: &str) -> bool {
    !OPTIONAL.contains(&(name, false))
}

/// A command tree, with help that lists all commands in sections, whichever of them it has.
pub(crate) fn with_sections(tree: Command) -> Command {
    let (globals, rest) = ("{options}", "{after-help}");
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\
         {TITLE}Options:{TITLE:#}\n{globals}{rest}",
        sections()
    );
    tree.help_template(template)
}

fn sections() -> String {
    let all = SECTIONS.iter().flat_map(|(_, commands)| *commands);
    let width = all.map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, commands) in SECTIONS {
        let _ = writeln!(text, "{TITLE}{title}:{TITLE:#}");
        for (name, about) in commands.iter().filter(|(name, _)| there(name)) {
            let _ = writeln!(text, "  {NAME}{name:<width$}{NAME:#}  {about}");
        }
        text.push('\n');
    }
    let plumbing: Vec<&str> = PLUMBING.iter().copied().filter(|name| there(name)).collect();
    let _ = writeln!(
        text,
        "Used by programs: {}.\n`handover COMMAND --help` explains a command.\n",
        plumbing.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tree;

    #[test]
    fn every_command_has_a_section_or_is_called_by_programs() {
        let tree = tree();
        let visible = tree.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<&str> =
            visible.map(Command::get_name).filter(|name| *name != "help").collect();
        let listed = SECTIONS.iter().flat_map(|(_, commands)| *commands).map(|(name, _)| *name);
        let mut listed: Vec<&str> = listed.chain(PLUMBING.iter().copied()).collect();
        listed.retain(|name| there(name));
        visible.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, visible);
    }

    #[test]
    fn what_a_command_does_is_what_its_own_help_says() {
        let tree = tree();
        for (name, about) in SECTIONS.iter().flat_map(|(_, commands)| *commands) {
            let Some(command) = tree.find_subcommand(name) else { continue };
            assert_eq!(command.get_about().unwrap().to_string(), *about, "{name}");
        }
    }

    #[test]
    fn about_ten_commands_are_up_front() {
        let (title, commands) = SECTIONS[0];
        let there = commands.iter().filter(|(name, _)| there(name));
        assert!(title == "Commands" && (10..=11).contains(&there.count()));
    }

    #[test]
    fn the_list_fits_a_terminal() {
        let list = anstream::adapter::strip_str(&sections()).to_string();
        for line in list.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
