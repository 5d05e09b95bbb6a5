//! Our own program as hooks call it: how settings name it, whether it is there to stay, and which version answers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{CancelToken, run_tool};
use handover_hosts::settings::Scope;
use handover_model::Host;

use super::programs::invocation;
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};

/// Its name, which a shell looks up.
const NAME: &str = "handover";

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long another one may take to say its version.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The command that a host calls: by name if that finds this program, so that a team can share the settings, else by its path.
pub(crate) fn command(host: Host) -> Result<String, CommandError> {
    let program = std::env::current_exe().map_err(|error| io(&error))?;
    if let Some(cache) = RunCache::of(&program) {
        let message = format!(
            "{} keeps this program in a cache, and hooks would fail once it is gone",
            cache.launcher()
        );
        return Err(CommandError::new(Exit::Environment, "not_installed", message).hinted(
            format!(
                "Install it first: `{}`; then `handover host install {host}`.",
                cache.install()
            ),
        ));
    }
    if env::on_path(NAME).is_some_and(|found| stays_on_path(&found) && same(&found, &program)) {
        return Ok(format!("{NAME} hook {host}"));
    }
    let program = program.display().to_string();
    Ok(format!("{} hook {host}", shell_words::quote(&program)))
}

/// Whether a program on the search path is on that of other processes, too: npm adds a project's programs for what it starts, and
/// an environment of Python is active in one shell.
fn stays_on_path(found: &Path) -> bool {
    let in_environment =
        env::var("VIRTUAL_ENV").is_some_and(|environment| found.starts_with(environment));
    !in_environment && !found.parent().is_some_and(|folder| folder.ends_with("node_modules/.bin"))
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// A cache from which a launcher runs programs without installing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunCache {
    Npx,
    Uvx,
    PipxRun,
}

impl RunCache {
    /// The cache that this program runs from.
    pub(crate) fn of_this() -> Option<Self> {
        Self::of(&std::env::current_exe().ok()?)
    }

    fn of(program: &Path) -> Option<Self> {
        let real = fs_err::canonicalize(program).ok();
        Self::by_path(program).or_else(|| Self::by_path(&real?))
    }

    /// Recognizes `~/.npm/_npx/…`, `~/.cache/uv/archive-v0/…` and `~/.cache/pipx/…`, wherever they were moved.
    fn by_path(program: &Path) -> Option<Self> {
        let names: Vec<&str> =
            program.iter().map(|name| name.to_str().unwrap_or_default()).collect();
        let is_bucket = |name: &str, prefix: &str| {
            let number = name.strip_prefix(prefix).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        names.iter().enumerate().find_map(|(at, name)| {
            let before = at.checked_sub(1).map_or("", |before| names[before]);
            let after = names.get(at + 1).copied().unwrap_or_default();
            if *name == "_npx" {
                return Some(Self::Npx);
            }
            if is_bucket(name, "archive-v") || is_bucket(name, "environments-v") {
                return Some(Self::Uvx);
            }
            let cached = [".cache", "Caches"].contains(&before) || after == ".cache";
            (*name == "pipx" && cached).then_some(Self::PipxRun)
        })
    }

    /// What was typed to run it.
    pub(crate) fn launcher(self) -> &'static str {
        match self {
            Self::Npx => "`npx`",
            Self::Uvx => "`uvx`",
            Self::PipxRun => "`pipx run`",
        }
    }

    /// The command that installs it with the same tool.
    pub(crate) fn install(self) -> &'static str {
        match self {
            Self::Npx => "npm install --global handover-cli",
            Self::Uvx => "uv tool install handover-cli",
            Self::PipxRun => "pipx install handover-cli",
        }
    }
}

/// What is known of a program that hooks call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Called {
    /// This one, or one of the same version.
    Current,
    /// It says another version.
    Version(String),
    /// It says none.
    Silent(PathBuf),
    /// Nothing but the project's settings names it, which a checkout may bring: it is not started.
    Unasked(PathBuf),
    /// There is none.
    Missing,
}

/// Asks the programs that hooks call for their versions, each of them once.
pub(super) struct Versions<'a> {
    app: &'a App,
    said: RefCell<BTreeMap<PathBuf, Option<String>>>,
}

impl<'a> Versions<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        Self { app, said: RefCell::default() }
    }

    /// The program of a command in settings of a scope.
    pub(super) fn of_command(&self, command: &str, scope: Scope) -> Called {
        let program = shell_words::split(command).ok().and_then(|words| words.into_iter().next());
        let Some(found) = program.and_then(|program| env::on_path(&program)) else {
            return Called::Missing;
        };
        let is_this = std::env::current_exe().is_ok_and(|this| same(&found, &this));
        if is_this {
            return Called::Current;
        }
        let by_name = env::on_path(NAME).is_some_and(|usual| same(&usual, &found));
        if scope == Scope::Project && !by_name {
            return Called::Unasked(found);
        }
        self.of(found)
    }

    /// The program that a plugin calls.
    pub(super) fn of_plugin(&self) -> Called {
        self.of_command(NAME, Scope::User)
    }

    fn of(&self, program: PathBuf) -> Called {
        let key = fs_err::canonicalize(&program).unwrap_or_else(|_| program.clone());
        let mut said = self.said.borrow_mut();
        match said.entry(key).or_insert_with(|| self.ask(program.clone())) {
            Some(version) if version == VERSION => Called::Current,
            Some(version) => Called::Version(version.clone()),
            None => Called::Silent(program),
        }
    }

    fn ask(&self, program: PathBuf) -> Option<String> {
        let mut invocation = invocation(self.app, Host::COMMAND, program, &["--version"]).ok()?;
        invocation.limits.wall = Some(TIMEOUT);
        let outcome = run_tool(&invocation, &mut |_| {}, &CancelToken::default()).ok()?;
        version_in(&outcome.stdout.text())
    }
}

/// The version in `handover 0.1.0 (…)`.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.lines().next()?.split_whitespace();
    let (name, version) = (words.next()?, words.next()?);
    let is_one = name == NAME
        && version.len() < 64
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c));
    is_one.then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_a_launcher_may_delete() {
        let of = |path: &str| RunCache::by_path(Path::new(path));
        for path in [
            "/home/a/.npm/_npx/5f1/node_modules/handover-cli/bin/handover",
            "/srv/npm-cache/_npx/5f1/node_modules/handover-cli-linux-x64/bin/handover",
        ] {
            assert_eq!(of(path), Some(RunCache::Npx), "{path}");
        }
        for path in [
            "/home/a/.cache/uv/archive-v0/Xk3/bin/handover",
            "/cache/environments-v2/handover-cli-9f/bin/handover",
        ] {
            assert_eq!(of(path), Some(RunCache::Uvx), "{path}");
        }
        for path in [
            "/home/a/.cache/pipx/8a1/bin/handover",
            "/Users/a/Library/Caches/pipx/8a1/bin/handover",
            "/home/a/.local/pipx/.cache/8a1/bin/handover",
        ] {
            assert_eq!(of(path), Some(RunCache::PipxRun), "{path}");
        }
        for path in [
            "/usr/bin/handover",
            "/usr/lib/node_modules/handover-cli/bin/handover",
            "/home/a/.local/share/uv/tools/handover-cli/bin/handover",
            "/home/a/.local/share/pipx/venvs/handover-cli/bin/handover",
            "/home/a/archive-v2-old/handover",
            "/home/a/archive-v/handover",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn reads_the_version_of_a_program() {
        let said = "handover 0.2.0-rc.1 (50676c11a, 2026-11-18, x86_64-unknown-linux-gnu)\n";
        assert_eq!(version_in(said).as_deref(), Some("0.2.0-rc.1"));
        assert_eq!(version_in("handover 0.1.0").as_deref(), Some("0.1.0"));
        for other in
            ["", "handover", "0.1.0", "other 0.1.0", "handover next", "handover 1\u{1b}[2J"]
        {
            assert_eq!(version_in(other), None, "{other:?}");
        }
    }
}
