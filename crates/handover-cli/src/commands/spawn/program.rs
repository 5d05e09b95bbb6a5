//! The program of a spawn, and how it is called.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use handover_agents::{
    CancelToken, Environment, Invocation, Limits, Registry, SpawnId, default_program, split_command,
};
use handover_handoff::Assignment;
use handover_model::{AdmittedPrompt, Host};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{SpawnArgs, seconds};
use crate::app::App;
use crate::commands::host::untrusted;
use crate::env;
use crate::error::{CommandError, io};
use crate::learn::Tables;

/// The program to run, before the adapter adds its arguments.
pub(crate) struct Program {
    path: PathBuf,
    args: Vec<OsString>,
}

impl Program {
    /// Says if it will not run the hooks of this project.
    pub(super) fn warn_of_trust(&self, app: &App, host: Host) {
        untrusted::warn(app, host, &self.args);
    }

    /// Fails if it is not there, without starting it.
    pub(crate) fn check(&self, host: Host, environment: &Environment) -> Result<(), CommandError> {
        Registry::built_in().locate(host, &self.path, environment)?;
        Ok(())
    }

    /// Makes it the program of an invocation.
    pub(crate) fn apply(&self, invocation: &mut Invocation) {
        invocation.program.clone_from(&self.path);
        invocation.args.clone_from(&self.args);
    }
}

/// The program of the flag, else of the configuration, else the host's default.
pub(crate) fn find(
    app: &App,
    host: Host,
    agent_command: Option<&str>,
) -> Result<Program, CommandError> {
    let configured = app.config()?.agents.programs.get(host.as_str());
    let (path, args) = match (agent_command, configured) {
        (Some(command), _) if host == Host::COMMAND => split_command(command)?,
        (Some(_), _) => {
            return Err(CommandError::invalid("`--agent-command` is for host `command`")
                .hinted("The program of another host is set by `agents.programs`."));
        }
        (None, Some(command)) => split_command(command)?,
        (None, None) => (default_program(host).into(), Vec::new()),
    };
    // A relative path starts at the user's folder, not at the project.
    let path = match path.components().count() {
        0 | 1 => path,
        _ => app.folder()?.join(path),
    };
    Ok(Program { path, args })
}

pub(super) fn invocation(
    app: &App,
    args: &SpawnArgs,
    program: &Program,
    assignment: &Assignment,
    prompt: &AdmittedPrompt,
) -> Result<Invocation, CommandError> {
    let config = app.config()?;
    let mut environment =
        Environment::scrubbed(app.environment()?, args.host, &config.agents.environment);
    environment.set(env::SESSION, assignment.session.as_str());
    if let Some(group) = &assignment.group {
        environment.set(env::GROUP, group.as_str());
    }
    let spawn = SpawnId::new(prompt.receipt().as_str())?;
    let mut invocation = Invocation::new(args.host, spawn, app.folder()?);
    program.apply(&mut invocation);
    invocation.prompt = Some(prompt.clone());
    invocation.environment = environment;
    invocation.databases = Some(&Tables);
    invocation.profile = args.profile;
    invocation.model.clone_from(&args.request.model);
    invocation.limits = Limits {
        wall: seconds(args.timeout, config.agents.timeout),
        idle: seconds(args.idle_timeout, config.agents.idle_timeout),
        turns: args.max_turns,
        cost_usd: args.max_cost,
        ..Limits::default()
    };
    Ok(invocation)
}

/// The first signal stops the agent gracefully, the second one kills it.
pub(crate) fn cancel_on_signals(cancel: &CancelToken) -> Result<(), CommandError> {
    for signal in [SIGINT, SIGTERM] {
        let (asked, force): (Arc<AtomicBool>, Arc<AtomicBool>) =
            (cancel.flag(), cancel.force_flag());
        // In this order: a flag that an earlier signal set makes this one the second.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&force))
            .and_then(|_| signal_hook::flag::register(signal, asked))
            .map_err(|error| io(&error))?;
    }
    Ok(())
}
