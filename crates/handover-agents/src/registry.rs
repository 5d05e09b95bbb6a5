//! Which agent programs there are.

use std::borrow::Cow;
use std::ffi::OsString;

use handover_model::Host;

use crate::adapters::{claude, codex, command, gemini};
use crate::capture::Capture;
use crate::outcome::judge;
use crate::{
    AgentError, AgentEvent, AgentProgram, CancelToken, Captured, Ended, Environment, Failure,
    Invocation, Outcome, Report, Tee, supervise,
};

/// Every built-in program, in the order in which help texts list them.
const PROGRAMS: &[&dyn AgentProgram] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &command::Command];

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

    /// The program of that name.
    pub fn find(&self, host: Host) -> Result<&'static dyn AgentProgram, AgentError> {
        let found = self.programs.iter().find(|program| program.host() == host);
        found.copied().ok_or_else(|| self.unknown(host.as_str()))
    }

    /// Reads the name of a program, for command lines and configuration.
    pub fn parse(&self, text: &str) -> Result<Host, AgentError> {
        let known = self.hosts().into_iter().find(|host| host.as_str() == text);
        known.ok_or_else(|| self.unknown(text))
    }

    fn unknown(&self, host: &str) -> AgentError {
        AgentError::UnknownHost { host: host.to_owned(), known: self.hosts() }
    }

    /// Of `vars`, what every program needs, what `host` needs, and what `allow` adds (a trailing `*`
    /// matches any rest).
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
        supervise::run(program, invocation, prompt.text(), tee, on_event, cancel)
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

impl Environment {
    /// Of `vars`, what a built-in host needs and what `allow` adds; see [`Registry::environment`].
    pub fn scrubbed(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        host: Host,
        allow: &[String],
    ) -> Self {
        Registry::built_in().environment(vars, host, allow)
    }
}
