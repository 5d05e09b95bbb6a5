//! `handover run`

mod live;
mod party;
mod preview;
mod progress;
mod request;

use handover_agents::CancelToken;
use handover_engine::Engine;
use handover_model::{Host, PipelineName, UatGate};

use super::Outcome;
use crate::app::App;
use crate::env;
use crate::error::CommandError;

pub(crate) use progress::{Shown, outcome};
pub(crate) use request::request;

/// Run the stories of an epic: develop, check, review, commit
///
/// Stories are found in docs/stories, docs/sprint-artifacts and docs/sprints. Each is worked on in a
/// worktree of its own, checked by the project's own tests, reviewed by an agent that sees it for the
/// first time, and committed to the branch `handover/epic-EPIC`. Your checkout and branch are not
/// touched. Work that fails is kept on `handover/failed/STORY`.
///
/// Whatever stops a run (Ctrl-C, a crash, a full disk), `--resume` goes on where it was.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The epic: `1`, `epic-1` or its file
    #[arg(value_name = "EPIC")]
    pub(crate) epic: String,

    /// What happens to a story: story or team [default: runs.pipeline, else story]
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline: Option<PipelineName>,

    /// The agent program: claude, codex, gemini or command [default: runs.host, else claude]
    #[arg(long)]
    pub(crate) host: Option<Host>,

    /// For host `command`: the program and its arguments, run without a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    pub(crate) agent_command: Option<String>,

    /// The model, where the program can be told
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With `--dry-run`: print the prompts too
    #[arg(long, requires = "dry_run")]
    pub(crate) show_prompts: bool,

    /// Go on with a run that did not come to its end
    #[arg(long)]
    pub(crate) resume: bool,

    /// Begin with this story
    #[arg(long, value_name = "ID")]
    pub(crate) start_from: Option<String>,

    /// Leave out stories that are done
    #[arg(long)]
    pub(crate) skip_done: bool,

    /// No review
    #[arg(long)]
    pub(crate) skip_review: bool,

    /// Leave the work in its worktree
    #[arg(long, conflicts_with = "merge")]
    pub(crate) no_commit: bool,

    /// Let the current branch follow at the end, if it is a mere step forward
    #[arg(long)]
    pub(crate) merge: bool,

    /// How many stories to work on at once [default: runs.parallel, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) parallel: Option<u32>,

    /// Start no agent that would pass this sum [default: budget.run]
    #[arg(long, value_name = "USD", value_parser = money)]
    pub(crate) max_cost: Option<f64>,

    /// The longest agent [default: runs.phase_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) phase_timeout: Option<u64>,

    /// The longest silence of an agent [default: runs.idle_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle_timeout: Option<u64>,

    /// How often findings are mended before a story is given up [default: runs.max_fixes]
    #[arg(long, value_name = "N")]
    pub(crate) max_fixes: Option<u32>,

    /// Write scenarios after the last story, and try them out: quick, full or skip [default: uat.gate]
    #[arg(long, value_name = "GATE")]
    pub(crate) uat: Option<UatGate>,

    /// How often what scenarios find is mended [default: uat.heal]
    #[arg(long, value_name = "N")]
    pub(crate) heal: Option<u32>,

    /// Let the run fail if its scenarios do
    #[arg(long)]
    pub(crate) uat_blocking: bool,

    /// Look back at the end, and write down what the next epic should know [default: runs.retro]
    #[arg(long)]
    pub(crate) retro: bool,

    #[command(flatten)]
    pub(crate) party: party::PartyArgs,
}

impl RunArgs {
    /// Goes on with the run of an epic, as it was.
    pub(crate) fn go_on(epic: &str) -> Self {
        Self { epic: epic.to_owned(), resume: true, ..Self::default() }
    }
}

/// More agents than this at once are a mistake rather than a wish.
const MOST: i64 = 64;

const EXAMPLES: &str = "\
Examples:
  handover run 1 --dry-run --show-prompts      see the plan and what agents would be told
  handover run 1 --max-cost 20                 run with Claude Code, for at most 20 USD
  handover run 1 --parallel 3                  three stories at once, if none waits for another
  handover run 1 --pipeline team               developer, QA expert and tech lead, and whom they call for
  handover run 1 --host codex --merge          let the current branch follow at the end
  handover run 1 --agent-command \"./agent.sh --fast\"
  handover run 1 --uat quick --retro           accept the epic and look back on it at the end
  handover run 1 --party-review --party-agents winston,murat
  handover run 1 --resume                      go on after whatever stopped it

Exit codes: 0 all stories done, 1 some failed, 3 blocked or escalated, 4 budget, 5 environment, 130 interrupted.";

pub(crate) fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(sum) if sum.is_finite() && sum >= 0.0 => Ok(sum),
        Ok(_) | Err(_) => Err("a sum of 0 or more is expected".to_owned()),
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
    let engine = Engine {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        handoffs: app.handoffs()?,
        project: app.project()?.root.clone(),
        project_id: app.project_id()?,
        environment: env::all(),
        machine: env::machine(),
        now: &env::now,
        unique: &|| uuid::Uuid::now_v7().simple().to_string(),
        cancel,
        death: env::death(),
    };
    work(&engine)
}
