//! Arguments in, exit code out.

use std::borrow::Cow;
use std::error::Error as _;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use handover_hosts::Registry;
use handover_model::{Host, SessionId};
use handover_text::{redact_message, short};

use crate::app::{App, Common};
use crate::commands::{Command, CommandLine, HookArgs};
use crate::error::{CommandError, Exit};
use crate::help;
use crate::input::Stdin;
use crate::logging::{self, Destination};
use crate::overview;
use crate::pager::Pager;
use crate::typos;
use crate::ui::{ColorChoice, Ui};

/// Gives each coding agent what the ones before it learned, and keeps a receipt of it
///
/// Handover keeps what one agent learned and passes it to the next one that needs it: ranked, redacted
/// and within budget. Records live in the project's `.handover/` folder.
#[derive(Debug, Parser)]
#[command(name = "handover", version = VERSION, after_help = EXAMPLES)]
pub(crate) struct CliOf<C: Subcommand> {
    #[command(subcommand)]
    command: C,

    #[command(flatten)]
    global: Global,
}

/// A command line with one of all commands.
pub(crate) type Cli = CliOf<Command>;

/// Stands for all commands where help only lists them: building the tree takes longer than anything else that help does.
#[derive(Debug, Subcommand)]
enum AnyCommand {
    /// Any command
    Command,
}

const VERSION: &str = env!("HANDOVER_VERSION");

const EXAMPLES: &str = "\
Examples:
  handover demo                                     see it at work
  handover init                                     set up a project here
  handover session new login                        open a session
  handover package add docs/oauth.md --kind research
  handover search \"refresh token\"

Exit codes: 0 success, 1 failure, 2 usage error or invalid input, 3 blocked, 4 over budget, 5 environment, 130 interrupted.";

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Session to use [default: $HANDOVER_SESSION, else the only active session]
    #[arg(long, global = true, value_name = "ID")]
    session: Option<SessionId>,

    /// Task group to use [default: $HANDOVER_GROUP]
    #[arg(long, global = true, value_name = "ID")]
    group: Option<String>,

    /// Project folder [default: the nearest project at or above the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Print JSON instead of human-readable text
    #[arg(long, global = true)]
    json: bool,

    /// Suppress notes and warnings
    #[arg(long, short, global = true)]
    quiet: bool,

    /// When to use color
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Print absolute times instead of relative ones
    #[arg(long, global = true)]
    absolute_times: bool,

    /// Do not page long output on a terminal (HANDOVER_PAGER, else PAGER, else less)
    #[arg(long, global = true)]
    no_pager: bool,

    /// Override a configuration value for this command; repeatable
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    config: Vec<String>,

    /// Trust the files of this project for this command (see `handover trust`)
    #[arg(long, global = true)]
    trust_project: bool,
}

/// Runs one command line.
pub(crate) fn run(args: Vec<OsString>, stdin: Stdin) -> Exit {
    let wants_json = args.iter().any(|arg| arg == "--json");
    let cli = match hook(&args) {
        Some(cli) => cli,
        None => match parse(&args) {
            Ok(cli) => cli,
            Err(error) => return parse_error(&error, wants_json),
        },
    };
    let Cli { command, global } = cli;
    let command = command.itself();
    let no_pager = global.no_pager;
    let ui =
        Ui::new(global.json, global.quiet, global.color).with_absolute_times(global.absolute_times);
    let common = Common {
        project: global.project,
        session: global.session,
        // Scripts pass an empty one if there is none.
        group: global.group.filter(|group| !group.is_empty()),
        config: global.config,
        trust_project: global.trust_project,
    };
    let app = App::new(ui, stdin, common);
    logging::init(&app, log_destination(&command));
    let is_paged = command.is_paged() && !app.ui.is_json() && !no_pager;
    let pager = is_paged.then(Pager::start).flatten();
    let outcome = app
        .check_trust_flag()
        .and_then(|()| command.run(&app, CommandLine { run, describe: Cli::command }));
    if let Some(pager) = pager {
        pager.finish();
    }
    let exit = match outcome {
        Ok(exit) => {
            app.ui.close();
            exit
        }
        Err(error) => {
            let exit = error.exit;
            if exit != Exit::Done {
                app.ui.error(&app.suggest(error));
            }
            exit
        }
    };
    tracing::debug!(?exit, "command ended");
    exit
}

/// Parses a command line. A command builds its arguments only when it is called: the whole tree takes longer than most
/// commands.
fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    if let [_, only] = args
        && ["--version", "-V"].iter().any(|word| only == word)
    {
        CliOf::<AnyCommand>::command().try_get_matches_from(args)?;
    }
    if asks_for_overview(args) {
        let overview = help::unwrapped(overview::with_sections(CliOf::<AnyCommand>::command()));
        overview.try_get_matches_from(args)?;
    }
    let args = &of_a_run(args)[..];
    if !asks_for_help(args) {
        if let Some(cli) = awaited(args) {
            return Ok(cli);
        }
        match Cli::try_parse_from(args) {
            Err(error) if error.kind() != ErrorKind::DisplayVersion => {}
            parsed => return parsed,
        }
    }
    // Help and errors know all that the command accepts, in the order of its help.
    let mut tree = around(args);
    let parsed = match tree.try_get_matches_from_mut(args) {
        Ok(matches) => Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut tree)),
        Err(error) => Err(error),
    };
    parsed.map_err(|error| with_suggestion(error, &tree, args))
}

/// Whether a command line asks for the list of commands, which needs none of them.
fn asks_for_overview(args: &[OsString]) -> bool {
    match args {
        [_] => true,
        [_, only] => ["--help", "-h", "help"].iter().any(|word| only == word),
        _ => false,
    }
}

/// Whether the help of a command is asked for, or may be: it could also be the value of an option.
fn asks_for_help(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
        || args.get(options_before(args)).is_some_and(|word| word == "help")
}

/// The command tree with what a command line is about: that command with all it accepts, or else all commands, each
/// with nothing but its name.
fn around(args: &[OsString]) -> clap::Command {
    let all = Cli::command();
    let mut words = args.iter().skip(options_before(args)).skip_while(|word| *word == "help");
    let named = words.next().and_then(|word| all.find_subcommand(word).cloned());
    match named {
        Some(command) => {
            let mut tree = with_only(command);
            tree.build();
            help::unwrapped(tree)
        }
        None => help::unwrapped(overview::with_sections(all)),
    }
}

/// A command tree with a single command.
fn with_only(command: clap::Command) -> clap::Command {
    Global::augment_args(clap::Command::new("handover"))
        .version(VERSION)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(command)
}

/// The whole command tree, as help and errors show it.
#[cfg(test)]
pub(crate) fn tree() -> clap::Command {
    let mut tree = Cli::command();
    tree.build();
    help::unwrapped(overview::with_sections(tree))
}

/// An error with what was probably meant, if there is something: the parser suggests more than that, or nothing.
fn with_suggestion(mut error: clap::Error, tree: &clap::Command, args: &[OsString]) -> clap::Error {
    if let Some(meant) = error.source().and_then(typos::meant) {
        error.insert(ContextKind::SuggestedValue, ContextValue::String(meant));
    }
    if let Some(ContextValue::String(typed)) = error.remove(ContextKind::InvalidSubcommand) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Suggested);
        if let Some(meant) = typos::nearest(&typed, names_beside(&typed, tree, args)) {
            let meant = ContextValue::String(meant.to_owned());
            error.insert(ContextKind::SuggestedSubcommand, meant);
        }
        error.insert(ContextKind::InvalidSubcommand, ContextValue::String(typed));
    }
    error
}

/// The commands that could have been where this word is.
fn names_beside<'t>(
    typed: &str,
    tree: &'t clap::Command,
    args: &[OsString],
) -> impl Iterator<Item = &'t str> {
    let words = args.iter().skip(options_before(args)).skip_while(|word| *word == "help");
    let words = words.take_while(|word| *word != typed);
    let above = words.fold(tree, |above, word| above.find_subcommand(word).unwrap_or(above));
    above.get_subcommands().map(clap::Command::get_name)
}

/// Parses a command that an agent waits for with a tree of its own: not even the names of the others are built. None
/// if it is another one, or wrong.
fn awaited(args: &[OsString]) -> Option<Cli> {
    let name = args.get(1)?.to_str()?;
    let (name, augment) = Command::AWAITED.into_iter().find(|(awaited, _)| *awaited == name)?;
    let tree = with_only(augment(clap::Command::new(name)));
    Cli::from_arg_matches(&tree.try_get_matches_from(args).ok()?).ok()
}

/// What is asked about a run can also be asked as `run status`, `run journal` and so on.
fn of_a_run(args: &[OsString]) -> Cow<'_, [OsString]> {
    const ASKED: [&str; 5] = ["status", "journal", "answer", "report", "uat"];
    let (before, rest) = args.split_at(options_before(args));
    match rest {
        [run, asked, ..] if run == "run" && ASKED.iter().any(|name| asked == name) => {
            Cow::Owned(before.iter().chain(&rest[1..]).cloned().collect())
        }
        _ => Cow::Borrowed(args),
    }
}

/// Where the command begins: behind the name of the program and the global options.
fn options_before(args: &[OsString]) -> usize {
    const VALUED: [&str; 5] = ["--session", "--group", "--project", "--color", "--config"];
    let mut at = 1;
    while let Some(arg) = args.get(at)
        && arg.as_encoded_bytes().starts_with(b"-")
    {
        at += if VALUED.iter().any(|valued| arg == valued) { 2 } else { 1 };
    }
    at.min(args.len())
}

/// Agent programs show users what hooks and MCP servers write to standard error.
fn log_destination(command: &Command) -> Destination {
    #[cfg(feature = "mcp")]
    let quiet = matches!(command, Command::Hook(_) | Command::Mcp(_));
    #[cfg(not(feature = "mcp"))]
    let quiet = matches!(command, Command::Hook(_));
    if quiet { Destination::File } else { Destination::Stderr }
}

/// Parses `handover hook HOST` without clap. Agent programs call it hundreds of times a day, and building
/// the full command tree would take longer than the hook itself.
fn hook(args: &[OsString]) -> Option<Cli> {
    let (hook, host, plugin) = match args {
        [_, hook, host] => (hook, host, false),
        [_, hook, host, flag] if flag == "--plugin" => (hook, host, true),
        _ => return None,
    };
    let host = Host::new(host.to_str()?).ok().filter(|_| hook == "hook")?;
    Registry::built_in().find(host).ok()?;
    let command = Command::Hook(HookArgs { host, plugin });
    Some(Cli { command, global: Global::default() })
}

/// Prints a clap error. Help and version count as success; everything else is a usage error.
fn parse_error(error: &clap::Error, json: bool) -> Exit {
    if !error.use_stderr() {
        let _ = write!(anstream::stdout(), "{}", help::restored(error));
        return Exit::Done;
    }
    if !json && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = write!(anstream::stderr(), "{}", help::restored(error));
        return Exit::Usage;
    }
    let text = help::plain(&error.render().to_string());
    if !json {
        let clean = redact_message(&text);
        let lines: Vec<_> = clean.lines().map(short).collect();
        let is_short = lines.iter().all(|line| matches!(line, Cow::Borrowed(_)));
        if clean == text && is_short {
            let _ = write!(anstream::stderr(), "{}", help::restored(error));
        } else {
            // Without colors.
            let _ = writeln!(std::io::stderr().lock(), "{}", lines.join("\n"));
        }
        return Exit::Usage;
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let rest: Vec<&str> = lines.take_while(|line| !line.starts_with("Usage:")).collect();
    let message = if rest.is_empty() { message } else { format!("{message} {}", rest.join(" ")) };
    let error = CommandError::new(Exit::Usage, "usage", message)
        .hinted("Add `--help` to the command for its usage and examples.");
    Ui::new(true, false, ColorChoice::Auto).error(&error);
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parses_alike(line: &str) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let alone = awaited(&args).unwrap_or_else(|| panic!("{line} is not awaited"));
        let whole = Cli::try_parse_from(&args).unwrap();
        assert_eq!(format!("{alone:?}"), format!("{whole:?}"));
    }

    #[test]
    fn a_command_that_is_awaited_is_parsed_like_all_others() {
        parses_alike("handover assemble --session s --role developer --task t --json --explain");
        parses_alike("handover brief --role developer --task t --project . --config a.b=c");
        parses_alike("handover spawn --host claude --role developer --task t --quiet");
    }

    #[test]
    fn what_is_asked_about_a_run_is_recognized_behind_global_options() {
        let asked = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let args = of_a_run(&args).into_owned();
            args.join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(asked("handover run status r_1"), "handover status r_1");
        assert_eq!(
            asked("handover --json --session s run uat 1"),
            "handover --json --session s uat 1"
        );
        for line in
            ["handover run 1", "handover", "handover --session", "handover search run status"]
        {
            assert_eq!(asked(line), line);
        }
    }

    #[test]
    fn what_is_wrong_is_left_to_the_whole_tree() {
        for line in
            ["handover assemble --nonsense", "handover brief --help", "handover session list"]
        {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(awaited(&args).is_none(), "{line}");
        }
    }
}
