//! The help of every command, as a snapshot per top-level command.

use std::fmt::Write as _;

use handover_testkit::TestEnv;

use crate::empty;
use crate::transcript::snapshot;

/// A command and its help text.
struct Help {
    path: Vec<String>,
    text: String,
    subcommands: Vec<String>,
}

impl Help {
    fn of(env: &TestEnv, path: &[String]) -> Self {
        let args = path.iter().map(String::as_str).chain(["--help"]);
        let text = env.run(args).ok().stdout;
        let rest = text.split("\nCommands:\n").nth(1);
        // The sections of the first list are separated by blank lines.
        let end = if path.is_empty() { "\nOptions:\n" } else { "\n\n" };
        let list = rest.and_then(|rest| rest.split(end).next());
        let names = list.into_iter().flat_map(str::lines).flat_map(|line| {
            if let Some(names) = line.strip_prefix("Used by programs: ") {
                return names.trim_end_matches('.').split(", ").map(str::to_owned).collect();
            }
            // Names are indented by two; deeper lines continue a description.
            let line = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
            line.and_then(|line| line.split_whitespace().next())
                .map(str::to_owned)
                .into_iter()
                .collect::<Vec<_>>()
        });
        let subcommands = names.filter(|name| name != "help").collect();
        Self { path: path.to_vec(), text, subcommands }
    }

    /// The help of a command and of everything below it, depth first.
    fn tree(env: &TestEnv, path: &[String]) -> Vec<Self> {
        let help = Self::of(env, path);
        let below: Vec<Self> = help
            .subcommands
            .iter()
            .flat_map(|name| Self::tree(env, &[path, std::slice::from_ref(name)].concat()))
            .collect();
        std::iter::once(help).chain(below).collect()
    }
}

/// Every command without subcommands, such as `package add`.
pub(crate) fn leaf_commands(env: &TestEnv) -> Vec<String> {
    let all = Help::tree(env, &[]);
    all.iter().filter(|help| help.subcommands.is_empty()).map(|help| help.path.join(" ")).collect()
}

/// Every command lists the global options; one snapshot of them is enough.
fn without_globals(text: &str) -> String {
    let Some((before, globals)) = text.split_once("Global options:\n") else {
        return text.to_owned();
    };
    let after = globals.lines().skip_while(|line| line.is_empty() || line.starts_with(' '));
    let after: Vec<&str> = after.collect();
    format!("{before}Global options: …\n\n{}\n", after.join("\n"))
}

#[test]
fn help_of_every_command_matches_its_snapshot() {
    let env = empty();
    let root = Help::of(&env, &[]);
    snapshot("help", &root.text);
    // What is asked about a run is listed by `run`.
    let about_runs = ["answer", "journal", "uat"].map(str::to_owned);
    for name in root.subcommands.iter().chain(&about_runs) {
        let mut text = String::new();
        for help in Help::tree(&env, std::slice::from_ref(name)) {
            let path = help.path.join(" ");
            let _ = writeln!(text, "$ handover {path} --help\n{}", without_globals(&help.text));
        }
        snapshot(&format!("help-{name}"), text.trim_end());
    }
}

#[test]
fn help_of_every_command_has_examples() {
    let env = empty();
    let all = Help::tree(&env, &[]);
    assert!(all.len() > 40, "{}", all.len());
    for help in all.iter().filter(|help| help.subcommands.is_empty()) {
        assert!(help.text.contains("Examples:"), "{:?} has no examples", help.path);
    }
}

/// Commands that are members of a group now, by the names that scripts call them by.
const MOVED: &[(&str, &str)] = &[
    ("answer", "run answer"),
    ("export", "data export"),
    ("gc", "data gc"),
    ("import", "data import"),
    ("journal", "run journal"),
    ("persona list", "project persona list"),
    ("stack", "project stack"),
    ("status", "run status"),
    ("store backup", "data backup"),
    ("store copy", "data copy"),
    ("store redact", "data redact"),
    ("store reindex", "data reindex"),
    ("store upgrade", "data upgrade"),
    ("template show", "project template show"),
    ("uat", "run uat"),
];

#[test]
fn a_command_in_a_group_keeps_its_earlier_name() {
    let env = empty();
    for (earlier, now) in MOVED {
        let help = |name: &str| {
            let text = env.run(name.split(' ').chain(["--help"])).ok().stdout;
            let is_usage =
                |line: &&str| line.starts_with("Usage:") || line.starts_with("       handover ");
            text.lines().filter(|line| !is_usage(line)).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(help(earlier), help(now), "{earlier}");
    }
    for whole in ["chain", "specialize"] {
        env.run([whole, "--help"]).ok();
    }
}
