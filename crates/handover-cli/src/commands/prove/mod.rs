//! `handover prove`

mod begin;
mod conduct;
mod find_tasks;
mod init;
mod judge;
mod prompts;
pub(crate) mod record;
mod show;
mod tasks;
mod trial;

use std::path::PathBuf;

use handover_agents::{CancelToken, Environment, Registry};
use handover_engine::git::Repo;
use handover_model::Host;
use handover_prove::arm::ArmsError;
use handover_prove::{Arm, Plan, Report, stats};

use super::Outcome;
use super::run::money;
use super::spawn::{self, Program};
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::input::agent_programs;
use record::Record;
use tasks::PreparedTask;

/// Find out with your own tasks whether briefs help
///
/// Each trial is one agent on one task, in a clone that holds only the history before the task, with knowledge from
/// before it. Afterwards the task's command judges the work. Arms: `bare` gets the prompt alone, `placebo` a brief of
/// the same size that was chosen for another task, `brief` the brief, `brief-without-SECTION` the brief without one
/// section. The result says what may be claimed, and what the experiment was too small to say.
///
/// Agents and judges are programs that run with your rights, so the project must be trusted. Whatever stops an
/// experiment, `--resume` continues it; no trial is paid for twice.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "handover prove [OPTIONS] <FILE.toml>\n       handover prove init [OPTIONS] [FILE.toml]"
)]
pub(crate) struct ProveCommand {
    #[command(flatten)]
    args: ProveArgs,

    #[command(subcommand)]
    command: Option<ProveSubcommand>,
}

#[derive(Debug, clap::Subcommand)]
enum ProveSubcommand {
    Init(init::InitArgs),
}

/// What to try, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ProveArgs {
    /// Tasks: a TOML file with a `[[task]]` for each
    #[arg(value_name = "FILE.toml", required = true)]
    file: Option<PathBuf>,

    /// Arms to compare, such as bare,placebo,brief,brief-without-notes [default: bare,placebo,brief]
    #[arg(long, value_name = "A,B")]
    arms: Option<String>,

    /// How often each task is done in each arm [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,

    #[arg(long, help = agent_programs(" [default: runs.host, else claude]"), value_parser = handover_agents::parse_host)]
    host: Option<Host>,

    /// Program and arguments for host `command`, run without a shell
    #[arg(long, value_name = "PROGRAM ARGS")]
    agent_command: Option<String>,

    /// Model of the agents, if their program takes one [default: the program's own]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Start no agent that would exceed this total cost; the result is what there is then. `--resume` keeps it
    #[arg(long, value_name = "USD", value_parser = money)]
    max_cost: Option<f64>,

    /// Stop each agent after this many seconds [default: the task's timeout, else agents.timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,

    /// Number that decides the order of trials [default: from the file]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Continue the last unfinished experiment with this file
    #[arg(long)]
    resume: bool,

    /// Only show the result so far: start nothing
    #[arg(long, conflicts_with = "resume")]
    show: bool,

    /// Say how large the experiment is, what it could see and about what it costs: start nothing
    #[arg(long, short = 'n', conflicts_with_all = ["resume", "show", "html"])]
    dry_run: bool,

    /// Write the result as a single HTML file, whatever ends the experiment
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,

    /// Begin without asking
    #[arg(long, conflicts_with_all = ["resume", "show", "dry_run"])]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  handover prove init tasks.toml                            find tasks in the history of this project
  handover prove tasks.toml --host claude --dry-run         what it could see, and about what it costs
  handover prove tasks.toml --host claude --max-cost 40     compare bare, placebo and brief
  handover prove tasks.toml --resume --html result.html     continue, and write a page
  handover prove tasks.toml --arms brief,brief-without-notes --repeat 5

Exit codes: 0 every trial was done, 4 the budget ended it, 5 the agent program or git failed, 130 interrupted.";

/// How often a task is done in each arm unless somebody says otherwise.
const REPEAT: u32 = 3;

pub(crate) fn run(app: &App, command: ProveCommand) -> Outcome {
    match command.command {
        Some(ProveSubcommand::Init(args)) => init::run(app, args),
        None => prove(app, &command.args),
    }
}

/// Everything that trials have in common.
struct Lab<'a> {
    app: &'a App,
    repo: &'a Repo,
    plan: &'a Plan,
    tasks: &'a [PreparedTask],
    program: Program,
    cancel: &'a CancelToken,
}

fn prove(app: &App, args: &ProveArgs) -> Outcome {
    app.require_trust()?;
    app.check_model(args.model.as_deref())?;
    app.handoffs()?.check_overrides()?;
    show::check_page(app, args)?;
    let given = args.file.clone().unwrap_or_default();
    let (path, file) = tasks::read(app, &given)?;
    if args.show {
        let record = Record::last(app, &file)?.ok_or_else(|| record::none(&given))?;
        let progress = record.progress()?;
        return show::result(app, args, &Report::new(&record.plan, &progress), Exit::Done);
    }
    let repo = open_repository(app)?;
    let tasks = tasks::prepare(&repo, &file)?;
    if args.dry_run {
        let plan = new_plan(app, args, path, &file)?;
        return show::planned(app, &plan, record::usual_cost(app, plan.host)?);
    }
    let begun = match args.resume {
        true => Some(Record::last(app, &file)?.ok_or_else(|| record::none(&given))?),
        false => None,
    };
    let plan = match &begun {
        Some(record) => same_plan(args, &record.plan)?,
        None => new_plan(app, args, path, &file)?,
    };
    if let Some(record) = &begun {
        let progress = record.progress()?;
        if progress.next().is_none() {
            app.ui.note(format_args!("Experiment {} is over; nothing is left to resume.", plan.id));
            return show::result(app, args, &Report::new(&plan, &progress), Exit::Done);
        }
    }
    let command = agent_command(app, args, plan.host)?;
    let program = spawn::find_program(app, plan.host, command.as_deref())?;
    let cancel = CancelToken::default();
    spawn::cancel_on_signals(&cancel)?;
    let lab = Lab { app, repo: &repo, plan: &plan, tasks: &tasks, program, cancel: &cancel };
    let record = match begun {
        Some(record) => record,
        None => match lab.begin(args)? {
            Some(record) => record,
            None => return Ok(Exit::Interrupted),
        },
    };
    let _lock = record.lock()?;
    if args.resume {
        record.keep(&plan)?;
        app.ui.note(format_args!("Continuing experiment {}: {}", plan.id, show::size(&plan)));
    }
    let ended = lab.conduct(&record);
    let report = Report::new(&plan, &record.progress()?);
    match ended {
        Ok(exit) => {
            if exit == Exit::Done {
                record.finish()?;
            }
            show::result(app, args, &report, exit)
        }
        // Whatever ended it, the page has what there is.
        Err(error) => {
            if let Err(more) = show::page(app, args, &report) {
                app.ui.warn(format_args!("the page was not written: {}", more.message));
            }
            Err(error)
        }
    }
}

fn open_repository(app: &App) -> Result<Repo, CommandError> {
    let environment = Environment::scrubbed(env::all(), Host::COMMAND, &[]);
    Ok(Repo::open(&app.project()?.root, environment).map_err(handover_engine::EngineError::from)?)
}

fn arms(args: &ProveArgs) -> Result<Vec<Arm>, CommandError> {
    let Some(text) = &args.arms else { return Ok(Arm::USUAL.to_vec()) };
    let arms = Arm::list(text).map_err(|error: ArmsError| {
        CommandError::invalid(error).hinted("Pass a list such as `--arms bare,placebo,brief`.")
    })?;
    if stats::comparisons(&arms).is_empty() {
        return Err(CommandError::invalid(format!("`{text}` has nothing to compare"))
            .hinted("An arm without a section is compared with `brief`, `bare` or `placebo`."));
    }
    Ok(arms)
}

fn new_plan(
    app: &App,
    args: &ProveArgs,
    path: PathBuf,
    file: &handover_prove::TaskFile,
) -> Result<Plan, CommandError> {
    let arms = arms(args)?;
    if arms.contains(&Arm::Placebo) && file.tasks.len() < 2 {
        return Err(CommandError::invalid(
            "a placebo is the brief of another task, and there is one task only",
        )
        .hinted("Add tasks, or leave the placebo out: `--arms bare,brief`."));
    }
    let config = app.config()?;
    let usual = if args.agent_command.is_some() { Host::COMMAND } else { Host::CLAUDE };
    let host = args
        .host
        .or_else(|| config.runs.host.filter(|_| args.agent_command.is_none()))
        .unwrap_or(usual);
    Registry::built_in().find(host)?;
    let seed = args.seed.unwrap_or_else(|| {
        let digits = file.fingerprint.get(..13).unwrap_or_default();
        u64::from_str_radix(digits, 16).unwrap_or_default()
    });
    let plan = Plan {
        id: format!("x_{}", env::unique()),
        version: Plan::VERSION,
        file: path,
        fingerprint: file.fingerprint.clone(),
        tasks: file.tasks.iter().map(|task| task.id.clone()).collect(),
        arms,
        repeat: args.repeat.unwrap_or(REPEAT),
        seed,
        host,
        model: args.model.clone(),
        max_cost: args.max_cost,
        timeout: args.timeout,
        created_at: app.now(),
    };
    plan.check().map_err(|error| {
        CommandError::invalid(format!("the experiment cannot be done: {error}"))
            .hinted("Use fewer tasks, arms or repetitions.")
    })?;
    Ok(plan)
}

/// The plan of an experiment that continues, perhaps with another budget. One that changes half-way in anything else is
/// two experiments.
fn same_plan(args: &ProveArgs, plan: &Plan) -> Result<Plan, CommandError> {
    let names = |arms: &[Arm]| arms.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let given = [
        (
            "--arms",
            args.arms.is_some().then(|| arms(args)).transpose()?.map(|arms| names(&arms)),
            Some(names(&plan.arms)),
        ),
        ("--repeat", args.repeat.map(|repeat| repeat.to_string()), Some(plan.repeat.to_string())),
        ("--host", args.host.map(|host| host.to_string()), Some(plan.host.to_string())),
        ("--seed", args.seed.map(|seed| seed.to_string()), Some(plan.seed.to_string())),
        ("--model", args.model.clone(), plan.model.clone()),
        (
            "--timeout",
            args.timeout.map(|seconds| seconds.to_string()),
            plan.timeout.map(|seconds| seconds.to_string()),
        ),
    ];
    for (flag, now, before) in given {
        if let Some(now) = now.filter(|now| Some(now) != before.as_ref()) {
            let with = match before {
                Some(before) => format!("with `{flag} {before}`"),
                None => format!("without `{flag}`"),
            };
            let message = format!("the experiment was begun {with}, not with `{flag} {now}`");
            return Err(CommandError::invalid(message).hinted(
                "Leave the option out to continue, or leave `--resume` out to begin another one.",
            ));
        }
    }
    Ok(Plan { max_cost: args.max_cost.or(plan.max_cost), ..plan.clone() })
}

fn agent_command(app: &App, args: &ProveArgs, host: Host) -> Result<Option<String>, CommandError> {
    let configured = app.config()?.runs.command.clone().filter(|_| host == Host::COMMAND);
    let command = args.agent_command.clone().or(configured);
    if host == Host::COMMAND
        && command.is_none()
        && !app.config()?.agents.programs.contains_key(host.as_str())
    {
        return Err(CommandError::invalid("host `command` needs a program")
            .hinted("Pass `--agent-command \"PROGRAM ARGS\"` or set `runs.command`."));
    }
    Ok(command)
}
