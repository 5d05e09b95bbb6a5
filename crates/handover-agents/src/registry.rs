//! Which agent programs there are.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handover_model::Host;

use crate::adapters::{claude, codex, command, copilot, gemini, opencode};
use crate::capture::Capture;
use crate::outcome::judge;
use crate::supervise::{self, Pipes};
use crate::{
    AgentError, AgentEvent, AgentProgram, CancelToken, Captured, Ended, Environment, Failure,
    Invocation, Outcome, Report, Tee,
};

/// Every built-in program, in the order used by help texts.
const PROGRAMS: &[&dyn AgentProgram] = &[
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &gemini::Gemini,
    &opencode::Opencode,
    &command::Command,
];

static BUILT_IN: Registry = Registry { programs: Cow::Borrowed(PROGRAMS) };

/// A set of agent programs.
#[derive(Clone)]
pub struct Registry {
    programs: Cow<'static, [&'static dyn AgentProgram]>,
}

impl Registry {
    /// The programs that come with Handover.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The same set with one more program; it replaces one of the same name.
    #[must_use]
    pub fn with(mut self, program: &'static dyn AgentProgram) -> Self {
        let programs = self.programs.to_mut();
        programs.retain(|other| other.host() != program.host());
        programs.push(program);
        self
    }

    /// The names of all programs.
    pub fn hosts(&self) -> Vec<Host> {
        self.programs.iter().map(|program| program.host()).collect()
    }

    /// Finds a program by name.
    pub fn find(&self, host: Host) -> Result<&'static dyn AgentProgram, AgentError> {
        let found = self.programs.iter().find(|program| program.host() == host);
        found.copied().ok_or_else(|| self.unknown(host.as_str()))
    }

    /// Parses the name of a program, for command lines and configuration.
    pub fn parse(&self, text: &str) -> Result<Host, AgentError> {
        let known = self.hosts().into_iter().find(|host| host.as_str() == text);
        known.ok_or_else(|| self.unknown(text))
    }

    fn unknown(&self, host: &str) -> AgentError {
        AgentError::UnknownHost { host: host.to_owned(), known: self.hosts() }
    }

    /// Finds the program of a host without starting it: the one that was named, else its usual one.
    pub fn locate(
        &self,
        host: Host,
        program: &Path,
        environment: &Environment,
    ) -> Result<PathBuf, AgentError> {
        let program = supervise::program_of(self.find(host)?, program)?;
        let missing = || AgentError::ProgramNotFound { host, program: program.to_owned() };
        if program.components().count() > 1 {
            return if is_program(program) { Ok(program.to_owned()) } else { Err(missing()) };
        }
        // What the operating system searches if there is no PATH.
        let usual = OsStr::new("/bin:/usr/bin");
        let folders = std::env::split_paths(environment.get("PATH").unwrap_or(usual));
        let mut found = folders.map(|folder| folder.join(program));
        found.find(|path| is_program(path)).ok_or_else(missing)
    }

    /// Selects from `vars` what every program needs, what `host` needs, and what `allow` adds (a trailing
    /// `*` matches any suffix).
    pub fn environment(
        &self,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        host: Host,
        allow: &[String],
    ) -> Environment {
        let own = self.find(host).map(AgentProgram::variables).unwrap_or_default();
        Environment::allowed(vars, own, allow)
    }

    /// Runs an agent of this set; see [`run`](crate::run).
    pub fn run(
        &self,
        invocation: &Invocation,
        tee: Option<&mut Tee<'_>>,
        on_event: &mut dyn FnMut(AgentEvent),
        cancel: &CancelToken,
    ) -> Result<Outcome, AgentError> {
        let program = self.find(invocation.host)?;
        let Some(prompt) = &invocation.prompt else {
            return Err(AgentError::NoPrompt { host: invocation.host });
        };
        let pipes = Pipes { input: prompt.text().as_bytes(), tee, ..Pipes::default() };
        supervise::run(program, invocation, pipes, on_event, cancel)
    }

    /// Reads recorded standard output as if the program had just printed it.
    pub fn replay(
        &self,
        host: Host,
        stdout: &str,
        ended: Ended,
        on_event: &mut dyn FnMut(AgentEvent),
    ) -> Result<(Report, Option<Failure>), AgentError> {
        let program = self.find(host)?;
        let mut reader = program.reader();
        for line in stdout.lines() {
            reader.line(line, on_event);
        }
        let mut capture = Capture::new(usize::MAX);
        capture.push(stdout.as_bytes());
        let report = reader.report(ended, &capture.finish(), &Captured::default());
        let failure = judge(ended, &report, program.capabilities());
        Ok((report, failure))
    }
}

/// Whether a file may be run by somebody.
#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(path)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether a file may be run: its name says so there, not its permissions.
#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

impl Environment {
    /// Selects from `vars` what a built-in host needs and what `allow` adds; see [`Registry::environment`].
    pub fn scrubbed(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        host: Host,
        allow: &[String],
    ) -> Self {
        Registry::built_in().environment(vars, host, allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_program_is_found_by_its_name() {
        let registry = Registry::built_in();
        let names: Vec<String> = registry.hosts().iter().map(Host::to_string).collect();
        assert_eq!(names, ["claude", "codex", "copilot", "gemini", "opencode", "command"]);
        for host in registry.hosts() {
            assert_eq!(registry.parse(host.as_str()).unwrap(), host);
            assert_eq!(registry.find(host).unwrap().host(), host);
        }
    }

    #[test]
    fn capabilities_are_what_the_programs_were_seen_to_do() {
        let can = |host| Registry::built_in().find(host).unwrap().capabilities();
        for host in [Host::CLAUDE, Host::CODEX] {
            assert!(can(host).resumable && can(host).reports_result, "{host}");
        }
        assert!(!can(Host::GEMINI).resumable && can(Host::GEMINI).reports_result);
        assert_eq!(can(Host::COMMAND), crate::Capabilities::default());
        let known = Registry::built_in();
        for (name, is_priced) in [
            ("claude", true),
            ("opencode", true),
            ("codex", false),
            ("copilot", false),
            ("gemini", false),
        ] {
            let host = known.parse(name).unwrap();
            assert_eq!(can(host).reports_no_cost, !is_priced, "{host}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_where_it_would_be_started() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        let path = [("PATH".into(), folder.path().as_os_str().to_owned())];
        let environment = Environment::scrubbed(path, Host::CLAUDE, &[]);
        let locate = |host, named: &Path| Registry::built_in().locate(host, named, &environment);
        let usual = Path::new("");
        assert!(locate(Host::CLAUDE, usual).is_err(), "it is not installed");
        fs_err::write(&program, "").unwrap();
        assert!(locate(Host::CLAUDE, usual).is_err(), "it cannot be run");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate(Host::CLAUDE, usual).unwrap(), program);
        assert_eq!(locate(Host::CODEX, &program).unwrap(), program);
        assert!(matches!(locate(Host::COMMAND, usual), Err(AgentError::NoProgram)));
        let error = locate(Host::COMMAND, Path::new("nothing")).unwrap_err().to_string();
        assert_eq!(error, "the program `nothing` of host `command` was not found");
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        for text in ["", "Claude", "claude ", "qwen"] {
            let error = Registry::built_in().parse(text).unwrap_err().to_string();
            let expected = format!(
                "unknown host `{text}`; use claude, codex, copilot, gemini, opencode or command"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn an_unknown_host_gets_the_common_variables_only() {
        let vars = ["PATH", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"];
        let vars = vars.map(|name| (name.into(), "x".into()));
        let environment = Environment::scrubbed(vars, Host::from_static("other"), &[]);
        let names: Vec<_> = environment.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["PATH"]);
    }
}
