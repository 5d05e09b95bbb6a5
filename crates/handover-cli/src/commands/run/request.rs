//! From arguments and configuration to what is asked of the engine.

use handover_agents::{Registry, join_command, split_command};
use handover_engine::pipeline::{Closing, PartyRules, Pipeline, UatStep};
use handover_engine::reducer::Options;
use handover_engine::{Overrides, RunRequest, story};
use handover_model::config::Config;
use handover_model::{EpicId, Host, PartyPhase, PipelineName};

use super::RunArgs;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// What a run is asked to do. Its programs, prompts and limits come from the files of the project, so those
/// must be trusted.
pub(crate) fn request(app: &App, args: &RunArgs) -> Result<RunRequest, CommandError> {
    app.check_model(args.model.as_deref())?;
    app.require_trust()?;
    let config = app.config()?;
    let runs = &config.runs;
    let host = match (args.host, &args.agent_command) {
        (Some(host), command) => Some((host, command.clone())),
        (None, Some(command)) => Some((Host::COMMAND, Some(command.clone()))),
        (None, None) => None,
    };
    let configured = runs.host.unwrap_or(Host::CLAUDE);
    Registry::built_in().find(configured)?;
    let needs_a_program = match &host {
        Some((host, command)) => *host == Host::COMMAND && command.is_none(),
        None => configured == Host::COMMAND && !args.resume,
    };
    if needs_a_program && runs.command.is_none() {
        return Err(CommandError::invalid("host `command` needs a program")
            .hinted("Pass `--agent-command \"PROGRAM ARGS\"` or set `runs.command`."));
    }
    let host = host.map(|(host, command)| {
        let usual = || runs.command.clone().filter(|_| host == Host::COMMAND);
        (host, command.or_else(usual))
    });
    let command = runs.command.clone().filter(|_| configured == Host::COMMAND);
    let host = match host {
        Some((host, Some(command))) => Some((host, Some(from_here(app, &command)?))),
        other => other,
    };
    let command = command.map(|command| from_here(app, &command)).transpose()?;
    let parties = args.party.parties(app, name(args, config) == PipelineName::Team)?;
    let mut closing = closing(config, args);
    closing.retro |= parties.has(PartyPhase::Retro);
    let mut pipeline = pipeline(args, config)?.closed_with(closing);
    pipeline.rules = PartyRules::new(&config.party);
    Ok(RunRequest {
        epic: epic(app, &args.epic)?,
        session: app.session_of_run()?,
        resume: args.resume,
        abandon: false,
        start_from: args.start_from.clone(),
        all: args.all,
        pipeline: parties.join(pipeline),
        close: args.retro || args.uat.is_some() || args.party.asks_for(PartyPhase::Retro),
        check_base: !args.skip_base_check,
        only_closing: false,
        from: None,
        defaults: Options {
            host: configured,
            command,
            model: runs.model.clone(),
            no_commit: false,
            merge: false,
            parallel: runs.parallel,
            phase_timeout: runs.phase_timeout,
            idle_timeout: runs.idle_timeout,
            max_fixes: runs.max_fixes,
            uat_blocking: config.uat.blocking,
            max_retries: runs.max_retries,
            budget: config.budget.clone(),
        },
        overrides: Overrides {
            host,
            model: args.model.clone(),
            no_commit: args.no_commit,
            merge: args.merge,
            parallel: args.parallel,
            max_cost: args.max_cost,
            phase_timeout: args.phase_timeout,
            idle_timeout: args.idle_timeout,
            max_fixes: args.max_fixes,
            uat_blocking: args.uat_blocking,
        },
    })
}

/// The epic that an argument names. Its id is stored, shown and part of the names of branches.
pub(crate) fn epic(app: &App, word: &str) -> Result<EpicId, CommandError> {
    app.no_secret("epic", story::epic_id(word)?)
}

fn name(args: &RunArgs, config: &Config) -> PipelineName {
    args.pipeline.unwrap_or(config.runs.pipeline)
}

fn pipeline(args: &RunArgs, config: &Config) -> Result<Pipeline, CommandError> {
    let runs = &config.runs;
    match name(args, config) {
        PipelineName::Story => Ok(Pipeline::story(!args.skip_review, runs.profile)),
        PipelineName::Team if args.skip_review => {
            Err(CommandError::invalid("the `team` pipeline cannot do without its reviews")
                .hinted("Leave out `--skip-review`, or pass `--pipeline story`."))
        }
        PipelineName::Team => Ok(Pipeline::team(runs.profile, config.specialization.testing_mode)),
    }
}

/// What closes the epic.
fn closing(config: &Config, args: &RunArgs) -> Closing {
    let heal = args.heal.unwrap_or(config.uat.heal);
    let uat = args.uat.or(config.uat.gate).map(|gate| UatStep { gate, heal });
    let retro = args.retro || config.runs.retro;
    Closing { generate: uat.is_some(), uat, retro, commit: true }
}

/// The command with a program that is named by a path made absolute: agents start elsewhere.
fn from_here(app: &App, command: &str) -> Result<String, CommandError> {
    let (program, args) = split_command(command).map_err(CommandError::invalid)?;
    if program.is_absolute() || program.components().count() < 2 {
        return Ok(command.to_owned());
    }
    let found = [app.folder()?, app.project()?.root.clone()]
        .into_iter()
        .find_map(|folder| fs_err::canonicalize(folder.join(&program)).ok());
    match found {
        Some(program) => Ok(join_command(&program, &args)),
        None => Err(CommandError::new(
            Exit::Environment,
            "host",
            format!("the agent program `{}` was not found", program.display()),
        )
        .hinted("It is looked for in the current folder and in the project's.")),
    }
}
