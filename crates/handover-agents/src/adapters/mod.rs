//! The built-in agent programs, one folder each, and their shared helpers.
//!
//! A folder holds `argv` (the arguments), `stream` (the format of its output lines), `reader` (lines into
//! events) and `outcome` (the result of a run).

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod command;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod opencode;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handover_model::FailureClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::{AgentError, AgentEvent, Captured, Ended, Failure, classify};

/// Splits `"PROGRAM ARGS"` like a shell, but without running one: nothing is expanded or executed.
pub fn split_command(command: &str) -> Result<(PathBuf, Vec<OsString>), AgentError> {
    let words = shell_words::split(command)
        .map_err(|_| AgentError::Split { command: command.to_owned() })?;
    let mut words = words.into_iter();
    let program =
        words.next().filter(|program| !program.is_empty()).ok_or(AgentError::NoProgram)?;
    Ok((program.into(), words.map(OsString::from).collect()))
}

/// Joins a program and its arguments so that [`split_command`] returns them; invalid UTF-8 is replaced.
pub fn join_command(program: &Path, args: &[OsString]) -> String {
    let words = std::iter::once(program.as_os_str()).chain(args.iter().map(OsString::as_os_str));
    shell_words::join(words.map(|word| word.to_string_lossy().into_owned()))
}

/// Parses a line of JSON; a blank line is skipped, anything else is kept raw.
fn parse<T: DeserializeOwned>(line: &str, on_event: &mut dyn FnMut(AgentEvent)) -> Parsed<T> {
    if line.trim().is_empty() {
        return Parsed::Blank;
    }
    match serde_json::from_str(line) {
        Ok(value) => Parsed::Line(value),
        Err(_) => {
            on_event(AgentEvent::Raw(line.to_owned()));
            Parsed::Unknown
        }
    }
}

enum Parsed<T> {
    Line(T),
    Unknown,
    Blank,
}

/// The failure described by exit code and standard error, which is all there is if a program fails before
/// its first line.
fn failed_exit(ended: Ended, stderr: &Captured) -> Option<Failure> {
    let Ended::Exited(code @ ..=-1 | code @ 1..) = ended else { return None };
    let words = end_of_stderr(stderr);
    let class = Some(classify::message(&words).class).filter(|&class| class != FailureClass::Other);
    let message = if words.is_empty() {
        format!("ended with exit code {code}")
    } else {
        format!("ended with exit code {code}: {words}")
    };
    Some(Failure { class: class.unwrap_or(FailureClass::ExitCode), message })
}

fn end_of_stderr(stderr: &Captured) -> String {
    let text = stderr.tail.as_ref().unwrap_or(&stderr.head);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(5)..];
    last.join("\n").chars().take(2_000).collect()
}

/// Treats a field of an unexpected type as missing.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

#[cfg(test)]
mod tests {
    use handover_model::{Host, Profile};

    use super::*;
    use crate::{Invocation, Registry, SpawnId};

    fn args(host: Host, change: impl FnOnce(&mut Invocation)) -> String {
        let mut invocation = Invocation::new(host, SpawnId::new("s").unwrap(), "/");
        change(&mut invocation);
        let args = Registry::built_in().find(host).unwrap().args(&invocation);
        let args: Vec<_> = args.iter().map(|arg| arg.display().to_string()).collect();
        args.join(" ")
    }

    #[test]
    fn passes_every_option_that_the_program_has() {
        let all = |host, profile| {
            args(host, |invocation| {
                invocation.profile = profile;
                invocation.model = Some("m".to_owned());
                invocation.resume = Some("r".to_owned());
                invocation.limits.turns = Some(9);
                invocation.limits.cost_usd = Some(0.5);
                invocation.args = vec!["--extra".into()];
            })
        };
        assert_eq!(
            all(Host::CLAUDE, Profile::ReadOnly),
            "-p --output-format stream-json --verbose --tools=Read,Glob,Grep \
             --permission-mode=dontAsk --model=m --resume=r --max-turns=9 --max-budget-usd=0.5 --extra",
        );
        assert_eq!(
            all(Host::CODEX, Profile::Edit),
            "exec --json --skip-git-repo-check --sandbox workspace-write --model m --extra resume r -",
        );
        assert_eq!(
            all(Host::GEMINI, Profile::Full),
            "--output-format stream-json --approval-mode yolo --skip-trust --model m --resume r --extra",
        );
        assert_eq!(
            all(Host::from_static("copilot"), Profile::ReadOnly),
            "--output-format json --no-color --deny-tool=shell --deny-tool=write --model=m --resume=r --extra",
        );
        assert_eq!(
            all(Host::from_static("opencode"), Profile::Full),
            "run --format json --auto --model m --session r --extra",
        );
        assert_eq!(all(Host::COMMAND, Profile::ReadOnly), "--extra");
        let new = args(Host::from_static("opencode"), |_| {});
        assert_eq!(new, "run --format json --title handover s", "no model is asked for a title");
    }

    #[test]
    fn a_profile_restricts_every_program_that_can_be_restricted() {
        for (host, profile, expected) in [
            (Host::CLAUDE, Profile::Edit, "--permission-mode=acceptEdits"),
            (Host::CLAUDE, Profile::Full, "--permission-mode=bypassPermissions"),
            (Host::CODEX, Profile::ReadOnly, "--sandbox read-only -"),
            (Host::CODEX, Profile::Full, "--sandbox danger-full-access -"),
            (Host::from_static("copilot"), Profile::Edit, "--allow-tool=write"),
            (Host::from_static("copilot"), Profile::Full, "--allow-all"),
            (Host::GEMINI, Profile::ReadOnly, "--approval-mode default --skip-trust"),
            (Host::GEMINI, Profile::Edit, "--approval-mode auto_edit --skip-trust"),
        ] {
            let args = args(host, |invocation| invocation.profile = profile);
            assert!(args.ends_with(expected), "{host} {profile}: {args}");
        }
    }

    #[test]
    fn a_program_without_arguments_for_permissions_gets_them_as_a_variable() {
        let opencode = Registry::built_in().find(Host::from_static("opencode")).unwrap();
        let set = |profile| {
            let mut invocation = Invocation::new(opencode.host(), SpawnId::new("s").unwrap(), "/");
            invocation.profile = profile;
            opencode.set_variables(&invocation)
        };
        let denied = r#"{"edit": "deny", "bash": "deny"}"#;
        assert_eq!(set(Profile::ReadOnly), [("OPENCODE_PERMISSION", denied)]);
        assert!(set(Profile::Edit)[0].1.contains(r#""bash": "deny""#));
        assert_eq!(set(Profile::Full), []);
    }

    #[test]
    fn commands_and_folders_are_allowed_to_those_who_may_edit() {
        let with = |host, profile| {
            args(host, |invocation| {
                invocation.profile = profile;
                invocation.commands = vec!["npm test".to_owned(), "cargo test".to_owned()];
                invocation.writable = vec!["/a \"b\"".into()];
            })
        };
        let claude = with(Host::CLAUDE, Profile::Edit);
        assert!(claude.ends_with("--allowedTools=Bash(npm test:*),Bash(cargo test:*)"), "{claude}");
        let gemini = with(Host::GEMINI, Profile::Edit);
        let rules = "--allowed-tools=run_shell_command(npm test),run_shell_command(cargo test)";
        assert!(gemini.ends_with(rules), "{gemini}");
        let codex = with(Host::CODEX, Profile::Edit);
        let roots = r#"-c sandbox_workspace_write.writable_roots=["/a \"b\""] -"#;
        assert!(codex.ends_with(roots), "{codex}");
        for host in [Host::CLAUDE, Host::GEMINI, Host::CODEX] {
            let reader = with(host, Profile::ReadOnly);
            assert!(!reader.contains("npm test") && !reader.contains("writable"), "{reader}");
        }
    }

    #[test]
    fn a_prompt_is_never_an_argument() {
        for host in Registry::built_in().hosts() {
            let args = args(host, |_| {});
            assert!(!args.contains("prompt"), "{host}: {args}");
        }
    }

    #[test]
    fn commands_are_split_and_joined_like_a_shell_would() {
        let (program, args) = split_command("./my\\ agent --model 'big one' \"$HOME\" ''").unwrap();
        assert_eq!(program, Path::new("./my agent"));
        assert_eq!(args, ["--model", "big one", "$HOME", ""]);
        assert_eq!(split_command(&join_command(&program, &args)).unwrap(), (program, args));
        for (text, expected) in [
            ("", "needs a program"),
            ("   ", "needs a program"),
            ("''", "needs a program"),
            ("agent 'half", "a quote is not closed"),
        ] {
            let error = split_command(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    fn stderr(text: &str) -> Captured {
        Captured { head: text.to_owned(), tail: None, total: text.len() as u64 }
    }

    #[test]
    fn a_failed_exit_quotes_the_end_of_standard_error() {
        assert_eq!(failed_exit(Ended::Exited(0), &stderr("noise")), None);
        assert_eq!(failed_exit(Ended::Cancelled, &stderr("noise")), None);
        let failure = |text: &str| failed_exit(Ended::Exited(7), &stderr(text)).unwrap();
        assert_eq!(failure("").message, "ended with exit code 7");
        let many = failure("1\n\n2\n3\n4\n5\n6\n");
        assert_eq!(many.message, "ended with exit code 7: 2\n3\n4\n5\n6");
        assert_eq!(many.class, FailureClass::ExitCode);
        assert_eq!(failure("Not logged in").class, FailureClass::Auth);
        assert!(failure(&"x".repeat(9_000)).message.len() < 2_100);
        let cut = Captured { tail: Some("the end".to_owned()), ..stderr("the beginning") };
        let failure = failed_exit(Ended::Exited(-1), &cut).unwrap();
        assert_eq!(failure.message, "ended with exit code -1: the end");
    }
}
