//! The environment, the clock and the current folder: read here and nowhere else.

use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use handover_engine::Death;
use handover_hosts::{HookHost, Registry as HookRegistry};
use handover_knowledge::Homes;
use handover_model::Timestamp;

/// Whether the user's environment and configuration are ignored.
static ISOLATED: AtomicBool = AtomicBool::new(false);

/// Ignores the user's environment and configuration from now on: the demo must neither read nor change them.
pub(crate) fn isolate() {
    ISOLATED.store(true, Ordering::Relaxed);
}

/// A variable, unless it is unset or empty.
pub(crate) fn var(name: &str) -> Option<String> {
    if ISOLATED.load(Ordering::Relaxed) {
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where the agent programs keep their files.
pub(crate) fn agent_homes() -> Homes {
    Homes::usual(|name| var(name).map(Into::into))
}

/// The session of a command, unless a flag names one.
pub(crate) const SESSION: &str = "HANDOVER_SESSION";
/// The group of a command, unless a flag names one.
pub(crate) const GROUP: &str = "HANDOVER_GROUP";
/// Disables hooks.
pub(crate) const OFF: &str = "HANDOVER_OFF";
/// The receipt of the agent that runs us, if `handover spawn` started it.
pub(crate) const SPAWN: &str = handover_agents::SpawnId::VARIABLE;
/// Where the store is: a file path, a `postgres://` URL, or the `https://` URL of a service.
pub(crate) const STORE: &str = "HANDOVER_STORE";
/// Which events of the libraries are logged.
pub(crate) const LOG: &str = "HANDOVER_LOG";
/// The token for a service, if the store is behind one.
pub(crate) const TOKEN: &str = "HANDOVER_TOKEN";
/// Trusts the checkout for this call: `1`, or the path of the only one that is trusted.
pub(crate) const TRUST: &str = "HANDOVER_TRUST";

/// Whether the files of a checkout are trusted by a variable. Those of the demo are our own.
pub(crate) fn trusts(root: &Path) -> bool {
    if ISOLATED.load(Ordering::Relaxed) {
        return true;
    }
    var(TRUST).is_some_and(|value| is_trusting(&value, root))
}

/// Whether a value of the variable trusts a checkout.
pub(crate) fn is_trusting(value: &str, root: &Path) -> bool {
    match value {
        "1" | "true" | "yes" => true,
        path if path.starts_with('/') => {
            let same = |one: &Path, other: &Path| {
                fs_err::canonicalize(one).ok() == fs_err::canonicalize(other).ok()
            };
            root.exists() && same(Path::new(path), root)
        }
        _ => false,
    }
}

/// Agent programs that we neither start nor get events from, by the name of their process.
const OTHER_AGENTS: [&str; 1] = ["cursor-agent"];

/// Variables that agent programs set for what they start.
pub(crate) fn agent_variables() -> impl Iterator<Item = &'static str> {
    let hosts = HookRegistry::built_in().iter();
    hosts.flat_map(|host| host.marks().iter().copied()).chain([SPAWN])
}

/// Programs that run agents, by the name of their process.
fn agent_programs() -> Vec<&'static str> {
    let mut names = OTHER_AGENTS.to_vec();
    names.extend(HookRegistry::built_in().iter().flat_map(HookHost::processes));
    let started = handover_agents::Registry::built_in().hosts();
    names.extend(started.into_iter().map(handover_agents::default_program));
    names.retain(|name| !name.is_empty());
    names
}

/// Whether an agent program says that it started this command. One that hides it is not recognized.
pub(crate) fn is_agent() -> bool {
    agent_variables().any(|name| var(name).is_some())
}

/// Whether a person typed this command: at a terminal, with no agent program among its ancestors.
pub(crate) fn is_person() -> bool {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !at_terminal || is_agent() {
        return false;
    }
    let agents = agent_programs();
    !ancestors().iter().any(|name| agents.contains(&name.as_str()))
}

/// Programs that run the scripts of others, and are called like themselves in the list of processes.
const INTERPRETERS: [&str; 4] = ["node", "bun", "deno", "python3"];

/// The script that an interpreter runs, without folder and extension.
fn script_of(command_line: &str) -> Option<String> {
    let mut words = command_line.split('\0');
    let program = Path::new(words.next()?).file_name()?.to_str()?;
    let script = words.find(|word| !word.starts_with('-'))?;
    let name = Path::new(script).file_stem()?.to_str()?;
    INTERPRETERS.contains(&program).then(|| name.to_owned())
}

/// The names of the processes above this one and of the scripts that they run, as far as the system tells.
fn ancestors() -> Vec<String> {
    let mut names = Vec::new();
    let mut process = std::os::unix::process::parent_id();
    while process > 1 && names.len() < 128 {
        let Ok(status) = fs_err::read_to_string(format!("/proc/{process}/status")) else { break };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().to_owned()).unwrap_or_default()
        };
        names.push(field("Name:"));
        let command = fs_err::read_to_string(format!("/proc/{process}/cmdline"));
        names.extend(command.ok().and_then(|command| script_of(&command)));
        process = field("PPid:").parse().unwrap_or(0);
    }
    names
}

/// The user who called `sudo`.
pub(crate) fn sudo_user() -> Option<u32> {
    var("SUDO_UID")?.parse().ok()
}

/// The maximum number of memory arenas of the C library's allocator.
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// Re-executes this process with fewer memory arenas. By default the C library uses one per thread and
/// rarely returns memory: a busy service would grow for minutes, to twice of what it needs. The limit can
/// only be set in the environment, before the process starts. If that fails, the process continues as it is.
#[cfg_attr(not(feature = "service"), expect(dead_code, reason = "only a service runs for long"))]
pub(crate) fn share_memory() {
    if cfg!(target_env = "gnu") && var(ARENAS).is_none() {
        let Ok(program) = std::env::current_exe() else { return };
        let _ = Command::new(program).args(std::env::args_os().skip(1)).env(ARENAS, "2").exec();
    }
}

/// The user's configuration file.
pub(crate) fn user_config_file() -> Option<PathBuf> {
    Some(user_config_folder()?.join("config.toml"))
}

/// The folder of the user's configuration and templates.
pub(crate) fn user_config_folder() -> Option<PathBuf> {
    let folder = match var("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => home()?.join(".config"),
    };
    Some(folder.join("handover"))
}

/// The folder of what is remembered for the user.
pub(crate) fn user_state_folder() -> Option<PathBuf> {
    let folder = match var("XDG_STATE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => home()?.join(".local/state"),
    };
    Some(folder.join("handover"))
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    var("HOME").map(PathBuf::from)
}

/// The path of the program that a shell would find by this name.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The current time.
pub(crate) fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// An id that sorts by time. The clock may be wrong, even before 1970.
pub(crate) fn unique() -> String {
    let micros = u64::try_from(now().as_micros()).unwrap_or_default();
    let nanos = u32::try_from(micros % 1_000_000 * 1_000).unwrap_or_default();
    let time = uuid::Timestamp::from_unix(uuid::NoContext, micros / 1_000_000, nanos);
    uuid::Uuid::new_v7(time).simple().to_string()
}

/// The whole environment, for starting programs with a part of it.
pub(crate) fn all() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// The name of this machine among those that work on one run. Containers often share a host name
/// and would mistake each other's processes for their own.
pub(crate) fn machine() -> String {
    var("HANDOVER_MACHINE").unwrap_or_else(handover_agents::machine)
}

/// After this long without a line, a run says what is still at work; tests wait for fewer seconds.
pub(crate) fn quiet() -> Duration {
    let seconds = var("HANDOVER_TEST_QUIET").filter(|_| cfg!(debug_assertions));
    Duration::from_secs(seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(60))
}

/// Where in a run's journal the program dies as if by `kill -9`, such as `before:3` or `after:3`; for
/// tests of crashes, and therefore only in programs built for development.
pub(crate) fn death() -> Option<Death> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let text = var("HANDOVER_TEST_DIE")?;
    let (side, entry) = text.split_once(':')?;
    let entry = entry.parse().ok()?;
    Some(if side == "before" { Death::Before(entry) } else { Death::After(entry) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_program_is_recognized_by_its_process_and_its_variables() {
        let programs = agent_programs();
        for host in HookRegistry::built_in().iter() {
            let name = host.name();
            assert!(!host.marks().is_empty(), "{name} sets no variable");
            assert!(programs.contains(&name.as_str()), "{name} is no program");
            for mark in host.marks() {
                assert!(agent_variables().any(|variable| variable == *mark), "{name}: {mark}");
            }
        }
        for host in handover_agents::Registry::built_in().hosts() {
            let program = handover_agents::default_program(host);
            // `command` is any program: those that we start are known by their receipt.
            assert!(program.is_empty() || programs.contains(&program), "{host}");
        }
        assert!(agent_variables().any(|variable| variable == SPAWN));
        assert!(!programs.contains(&""));
    }

    #[test]
    fn a_script_is_known_by_its_own_name() {
        for (line, script) in [
            ("node\0--no-warnings\0/usr/bin/gemini\0--yolo\0", Some("gemini")),
            ("/opt/node/bin/node\0/opt/qwen.js\0", Some("qwen")),
            ("vim\0claude\0", None),
            ("bash\0-c\0claude\0", None),
            ("node\0", None),
            ("", None),
        ] {
            assert_eq!(script_of(line).as_deref(), script, "{line:?}");
        }
    }
}
