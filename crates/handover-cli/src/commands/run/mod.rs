//! `handover run`

mod live;
mod party;
mod preview;
mod progress;
mod request;

use handover_agents::CancelToken;
use handover_engine::{Engine, gates};
use handover_model::{Host, PipelineName, UatGate};

use super::Outcome;
use crate::app::App;
use crate::env;
use crate::error::CommandError;

pub(crate) use progress::{Shown, outcome};
pub(crate) use request::request;

/// Run the stories of an epic: develop, test, review, commit
///
/// Finds stories in docs/stories, docs/sprint-artifacts and docs/sprints. Each story is developed in its own
/// worktree, checked by the project's tests, reviewed by a fresh agent, and committed to the branch
/// `handover/epic-EPIC`. Your checkout and branch are not touched. Failed work is kept on
/// `handover/failed/STORY`.
///
/// Whatever stops a run (Ctrl-C, a crash, a full disk), `--resume` continues where it left off.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// Epic: `1`, `epic-1` or the path of its file
    #[arg(value_name = "EPIC")]
    pub(crate) epic: String,

    /// Pipeline that each story goes through: story or team [default: runs.pipeline, else story]
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline: Option<PipelineName>,

    /// Agent program: claude, codex, gemini or command [default: runs.host, else claude]
    #[arg(long, value_parser = handover_agents::parse_host)]
    pub(crate) host: Option<Host>,

    /// Program and arguments for host `command`, run without a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    pub(crate) agent_command: Option<String>,

    /// Model, if the agent program lets us choose
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

    /// Skip stories that are done
    #[arg(long)]
    pub(crate) skip_done: bool,

    /// Skip reviews
    #[arg(long)]
    pub(crate) skip_review: bool,

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
  handover run 1 --parallel 3                  work on three independent stories at once
  handover run 1 --pipeline team               developer, QA expert, tech lead, and specialists on demand
  handover run 1 --host codex --merge          fast-forward the current branch when done
  handover run 1 --agent-command \"./agent.sh --fast\"
  handover run 1 --uat quick --retro           end with acceptance tests and a retrospective
  handover run 1 --party-review --party-agents winston,murat
  handover run 1 --resume                      resume after an interruption

Exit codes: 0 all stories done, 1 some failed, 3 blocked or escalated, 4 over budget, 5 environment, 130 interrupted.";

pub(crate) fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(sum) if sum.is_finite() && sum >= 0.0 => Ok(sum),
        Ok(_) | Err(_) => Err("expected an amount of 0 or more".to_owned()),
    }
}

pub(crate) fn run(app: &App, args: RunArgs) -> Outcome {
    let request = request(app, &args)?;
    engine(app, |engine| {
        if args.dry_run {
            return preview::show(app, &engine.plan(&request)?, args.show_prompts);
        }
        let mut shown = progress::Shown::new(app);
        let (id, state) =
            engine.run(&request, &mut |state, progress| shown.progress(state, progress))?;
        shown.end(&id, &state)
    })
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
        environment: app.environment()?,
        machine: env::machine(),
        now: &env::now,
        unique: &env::unique,
        cancel,
        death: env::death(),
    };
    work(&engine)
}
