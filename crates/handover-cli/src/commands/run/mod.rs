//! `handover run`

mod at_work;
mod live;
mod party;
mod preview;
mod progress;
mod request;

use handover_agents::{CancelToken, split_command};
use handover_engine::{Engine, RunRequest, gates};
use handover_model::{Host, PipelineName, Run, RunState, UatGate};
use handover_store::RunFilter;

use super::Outcome;
use super::chain::{self, ChainArgs};
use super::host::untrusted;
use crate::app::App;
use crate::env;
use crate::error::{Code, CommandError, Exit};
use crate::input::agent_programs;
use crate::learn::Tables;
use crate::local_time;
use crate::typos::nearest;

pub(crate) use progress::{Shown, outcome, waiting};
pub(crate) use request::{epic, request};

/// Run the stories of an epic: develop, test, review, commit
///
/// Finds stories where BMAD 4 and 6, spec-kit and plain folders keep them; `--dry-run` shows which file became
/// which story, and `runs.stories` names other places. Each story is developed in its own worktree, checked by
/// the project's tests, reviewed by a fresh agent, and committed to the branch `handover/epic-EPIC`. Your
/// checkout and branch are not touched. Failed work is kept on `handover/failed/STORY`.
///
/// On a terminal you see its stories, agents and what they were given, as with `handover watch`; elsewhere, or
/// with `--plain`, a line for everything that happens.
///
/// Whatever stops a run (Ctrl-C, a crash, a full disk), `--resume` continues where it left off. `run abandon`
/// ends it instead: unfinished work is kept on `handover/failed/STORY`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "handover run [OPTIONS] <EPIC>...\n       handover run status|journal|report [RUN]\n       \
                      handover run answer [RUN] [STORY] [TEXT|-]\n       handover run uat <EPIC>\n       \
                      handover run abandon [EPIC]"
)]
pub(crate) struct RunCommand {
    #[command(flatten)]
    run: RunArgs,

    /// Further epics, run in dependency order
    #[arg(value_name = "EPIC", help_heading = None)]
    more: Vec<String>,
}

/// What and how to run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunArgs {
    /// Epic: `1`, `epic-1` or the path of its file
    #[arg(value_name = "EPIC")]
    pub(crate) epic: String,

    /// Pipeline that each story goes through: story or team [default: runs.pipeline, else story]
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline: Option<PipelineName>,

    #[arg(long, help = agent_programs(" [default: runs.host, else claude]"), value_parser = handover_agents::parse_host)]
    pub(crate) host: Option<Host>,

    /// Program and arguments for host `command`, run without a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    pub(crate) agent_command: Option<String>,

    /// Model (if the agent program supports choosing one)
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Show the plan without running anything
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run, print the prompts too
    #[arg(long, requires = "dry_run")]
    pub(crate) show_prompts: bool,

    /// Resume an unfinished run
    #[arg(long)]
    pub(crate) resume: bool,

    /// Start with this story
    #[arg(long, value_name = "ID")]
    pub(crate) start_from: Option<String>,

    /// Run drafts and stories that are done, too
    #[arg(long, conflicts_with = "skip_done")]
    pub(crate) all: bool,

    /// Skip stories that are done; they are skipped anyway
    #[arg(long, hide = true)]
    pub(crate) skip_done: bool,

    /// Skip reviews
    #[arg(long)]
    pub(crate) skip_review: bool,

    /// Start although the gates cannot run on the base
    #[arg(long)]
    pub(crate) skip_base_check: bool,

    /// Leave the work uncommitted in its worktree
    #[arg(long, conflicts_with = "merge")]
    pub(crate) no_commit: bool,

    /// Fast-forward the current branch when the run ends
    #[arg(long)]
    pub(crate) merge: bool,

    /// Number of stories to work on in parallel [default: runs.parallel, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) parallel: Option<u32>,

    /// Start no agent that would exceed this total cost [default: budget.run]
    #[arg(long, value_name = "USD", value_parser = money)]
    pub(crate) max_cost: Option<f64>,

    /// Timeout of each agent [default: runs.phase_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) phase_timeout: Option<u64>,

    /// Timeout for an agent that produces no output [default: runs.idle_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle_timeout: Option<u64>,

    /// Maximum number of fix attempts per story [default: runs.max_fixes]
    #[arg(long, value_name = "N")]
    pub(crate) max_fixes: Option<u32>,

    /// Write and run acceptance scenarios after the last story: quick, full or skip [default: uat.gate]
    #[arg(long, value_name = "GATE")]
    pub(crate) uat: Option<UatGate>,

    /// Maximum number of fix attempts for failed scenarios [default: uat.heal]
    #[arg(long, value_name = "N")]
    pub(crate) heal: Option<u32>,

    /// Fail the run if its scenarios fail
    #[arg(long)]
    pub(crate) uat_blocking: bool,

    /// End with a retrospective and a handoff for the next epic [default: runs.retro]
    #[arg(long)]
    pub(crate) retro: bool,

    /// Print a line for everything that happens, as without a terminal
    #[arg(long)]
    pub(crate) plain: bool,

    #[command(flatten)]
    pub(crate) party: party::PartyArgs,
}

impl RunArgs {
    /// Resumes the unfinished run of an epic.
    pub(crate) fn go_on(epic: &str) -> Self {
        Self { epic: epic.to_owned(), resume: true, ..Self::default() }
    }
}

/// More agents than this at once are a mistake rather than a wish.
const MOST: i64 = 64;

const EXAMPLES: &str = "\
Examples:
  handover run 1 --dry-run --show-prompts      show the plan and the prompts
  handover run 1 --max-cost 20                 run with Claude Code, spending at most 20 USD
  handover run 1 2 3                           several epics, in dependency order
  handover run 1 --parallel 3                  work on three independent stories at once
  handover run 1 --pipeline team               developer, QA expert, tech lead, and specialists on demand
  handover run 1 --host codex --merge          fast-forward the current branch when done
  handover run 1 --agent-command \"./agent.sh --fast\"
  handover run 1 --uat quick --retro           end with acceptance tests and a retrospective
  handover run 1 --party-review --party-agents winston,murat
  handover run 1 --resume                      resume after an interruption
  handover run abandon 1                       end it; unfinished work is kept on its own branches

Exit codes: 0 all stories done, 1 some failed, 3 blocked or escalated, 4 over budget, 5 environment, 130 interrupted.";

pub(crate) fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(sum) if sum.is_finite() && sum >= 0.0 => Ok(sum),
        Ok(_) | Err(_) => Err("expected an amount of 0 or more".to_owned()),
    }
}

/// What follows `run` instead of an epic.
pub(crate) const ASKED: [&str; 6] = ["status", "journal", "answer", "report", "uat", "abandon"];

/// `run EPIC…`, or `run abandon [EPIC]`.
pub(crate) fn run_or_abandon(app: &App, command: RunCommand) -> Outcome {
    let RunCommand { run: mut args, mut more } = command;
    if args.epic != "abandon" {
        let epic = args.epic.clone();
        let outcome = if more.is_empty() {
            run(app, args)
        } else {
            chain::run(app, ChainArgs { run: args, more })
        };
        return outcome.map_err(|error| match nearest(&epic, ASKED) {
            Some(meant) if error.code == Code::NotFound => {
                error.hinted(format!("Did you mean `handover run {meant}`?"))
            }
            Some(_) | None => error,
        });
    }
    args.epic = match (more.pop(), more.is_empty()) {
        (Some(epic), true) => epic,
        (Some(extra), false) => {
            return Err(CommandError::invalid(format!("there is one epic too many: `{extra}`"))
                .hinted("`handover run abandon EPIC` ends one run."));
        }
        (None, _) => unfinished(app)?,
    };
    args.resume = true;
    let mut request = request(app, &args)?;
    request.abandon = true;
    drive(app, &request, args.plain)
}

/// The epic of the latest run that is not over.
fn unfinished(app: &App) -> Result<String, CommandError> {
    let runs = app.store()?.runs(&RunFilter { epic: None, limit: None })?;
    let open = |run: &&Run| !run.state.is_final() || run.state == RunState::Blocked;
    match runs.iter().find(open) {
        Some(run) => Ok(run.epic.to_string()),
        None => Err(CommandError::new(Exit::Usage, "not_found", "no run is unfinished")
            .hinted("`handover status` shows the latest.")),
    }
}

fn drive(app: &App, request: &RunRequest, plain: bool) -> Outcome {
    if !request.abandon {
        warn_of_trust(app, request);
    }
    engine(app, |engine| {
        let mut shown = progress::Shown::new(app, plain, &engine.cancel);
        let (id, state) =
            engine.run(request, &mut |state, progress| shown.progress(state, progress))?;
        shown.end(&id, &state)
    })
}

/// Says if the agents of a run will not run the hooks of this project.
pub(crate) fn warn_of_trust(app: &App, request: &RunRequest) {
    let (host, command) = match &request.overrides.host {
        Some((host, command)) => (*host, command),
        None => (request.defaults.host, &request.defaults.command),
    };
    let args = command.as_ref().and_then(|command| split_command(command).ok());
    let args = args.map(|(_, args)| args).unwrap_or_default();
    untrusted::warn(app, host, &args);
}

pub(crate) fn run(app: &App, args: RunArgs) -> Outcome {
    let request = request(app, &args)?;
    if args.dry_run {
        return engine(app, |engine| {
            let preview = engine.plan(&request)?;
            let forecast = engine.forecast(&preview.plan, &request)?;
            preview::show(app, &preview, &forecast, args.show_prompts)
        });
    }
    drive(app, &request, args.plain)
}

/// Does something with an engine that signals stop.
pub(crate) fn engine<T>(
    app: &App,
    work: impl FnOnce(&Engine<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let cancel = CancelToken::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, cancel.flag())
            .map_err(|error| crate::error::io(&error))?;
    }
    let handoffs = app.handoffs()?;
    handoffs.check_overrides()?;
    let engine = Engine {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        gates: gates::BUILT_IN,
        handoffs,
        project: app.project()?.root.clone(),
        project_id: app.project_id()?,
        databases: Some(&Tables),
        environment: app.environment()?,
        machine: env::machine(),
        now: &env::now,
        next_at: &local_time::next_at,
        unique: &env::unique,
        cancel,
        death: env::death(),
    };
    work(&engine)
}
