//! `handover spawn`

mod prepare;
mod program;
mod progress;

use std::path::PathBuf;
use std::time::Duration;

use handover_agents::{
    AgentEvent, CancelToken, Ended, Outcome as AgentOutcome, Tee, run as run_agent,
};
use handover_context::assemble::deliver;
use handover_context::debrief::{Debrief, Kept, Origin, parse, request_for};
use handover_model::{FailureClass, Host, Profile, Verdict};
use handover_store::ReceiptStep;
use serde_json::json;

use super::Outcome;
use super::brief::PartArgs;
use super::debrief::{keep_debrief, show};
use super::request::RequestArgs;
use crate::app::App;
use crate::error::{CommandError, Exit};
use prepare::Ready;

pub(crate) use prepare::admitted;

/// Start an agent with its brief, and keep what it leaves behind
///
/// Makes the brief, has the guard look at it, runs the agent program in the current folder with the
/// prompt on its standard input, and stores its debrief. An agent that forgets the debrief is asked
/// once more where its program can go on. Without a receipt nothing is started.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpawnArgs {
    /// The agent program: claude, codex, gemini or command
    #[arg(long)]
    host: Host,

    /// The program and its arguments, for host `command` (no shell is involved)
    #[arg(long, value_name = "PROGRAM ARGS", required_if_eq("host", "command"))]
    agent_command: Option<String>,

    #[command(flatten)]
    request: RequestArgs,

    #[command(flatten)]
    parts: PartArgs,

    /// A prompt that `handover brief` made, instead of a new one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "task_file"])]
    prompt_file: Option<PathBuf>,

    /// What the agent may do: read_only, edit or full
    #[arg(long, default_value = "edit")]
    profile: Profile,

    /// End the agent after so many seconds [default: agents.timeout]
    #[arg(long, value_name = "SECS")]
    timeout: Option<u64>,

    /// End it after so many seconds without a sign of life [default: agents.idle_timeout]
    #[arg(long, value_name = "SECS")]
    idle_timeout: Option<u64>,

    /// At most so many turns of the model, where the program can be told
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,

    /// At most so many dollars, where the program can be told
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
}

const EXAMPLES: &str = "\
Examples:
  handover spawn --host claude --role developer --group login --task \"Refresh tokens in parallel\"
  handover spawn --host codex --role qa_expert --group login --task-file story.md --profile read_only
  handover spawn --host command --agent-command \"my-agent --quiet\" --role developer --task \"…\" --json";

/// How much of an agent's raw output is kept.
const LOG_BYTES: u64 = 16 << 20;

pub(crate) fn run(app: &App, args: SpawnArgs) -> Outcome {
    let task = args.request.task(app)?;
    if task.as_deref().is_none_or(|task| task.trim().is_empty()) && args.prompt_file.is_none() {
        return Err(CommandError::invalid("there is no task")
            .hinted("Say what the agent is to do with `--task` or `--task-file`."));
    }
    if args.request.current_tokens != 0 {
        return Err(CommandError::invalid("a fresh agent has no tokens in its window yet")
            .hinted("Leave `--current-tokens` out; it is for `handover assemble`."));
    }
    prepare::refuse_shortcuts(app)?;
    // What could not start anyway costs no receipt.
    let program = program::find(app, &args)?;
    let cancel = CancelToken::default();
    program::cancel_on_signals(&cancel)?;
    let ready = match &args.prompt_file {
        Some(file) => prepare::given(app, &args, file)?,
        None => prepare::fresh(app, &args, task)?,
    };
    let mut first = start(app, &args, &program, &ready, ready.admitted.prompt(), None, &cancel)?;
    let mut debrief = parse(&first.final_text);
    let mut asked = false;
    if let Some(session) = can_be_asked(&args, &first, &debrief) {
        asked = true;
        app.ui.note("No debrief; asking for it once.");
        let prompt = request_for(&ready.admitted.receipt().id);
        let second = start(app, &args, &program, &ready, &prompt, Some(session), &cancel)?;
        let late = parse(&second.final_text);
        if late.is_there() {
            debrief = late;
        }
        first.duration += second.duration;
        first.report.cost_usd = match (first.report.cost_usd, second.report.cost_usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
    }
    let kept = keep(app, &ready, &debrief, asked)?;
    answer(app, &ready, &first, &debrief, kept.as_ref())?;
    Ok(exit(&first, &debrief))
}

/// Runs the program once. The receipt counts as delivered as soon as the process is there, and as
/// failed if it never was.
fn start(
    app: &App,
    args: &SpawnArgs,
    program: &program::Program,
    ready: &Ready,
    prompt: &str,
    resume: Option<String>,
    cancel: &CancelToken,
) -> Result<AgentOutcome, CommandError> {
    let id = &ready.admitted.receipt().id;
    let again = resume.is_some();
    let invocation = program::invocation(app, args, program, ready, prompt, resume)?;
    let redactor = app.redactor()?;
    let folder = app.project()?.folder().join("spawns");
    fs_err::create_dir_all(&folder).map_err(|error| crate::error::io(&error))?;
    let log = folder.join(if again { format!("{id}-again.log") } else { format!("{id}.log") });
    let mut tee =
        Tee::create(&log, LOG_BYTES, |line| std::borrow::Cow::Owned(redactor.redact_bytes(line)))
            .map_err(|error| crate::error::io(&error))?;
    let mut delivery = Ok(());
    let mut progress = progress::Progress::new(app);
    let mut on_event = |event: AgentEvent| {
        if matches!(event, AgentEvent::Spawned(_)) && !again && ready.in_store {
            let host = redactor.clean(args.host.as_str());
            delivery = app
                .store()
                .and_then(|store| Ok(deliver(store, redactor, id, Some(&host), app.now())?));
        }
        progress.show(&event);
    };
    let outcome = run_agent(&invocation, Some(&mut tee), &mut on_event, cancel);
    match outcome {
        Ok(outcome) => {
            let last = redactor.clean(&outcome.final_text);
            fs_err::write(log.with_extension("md"), last.as_str())
                .map_err(|error| crate::error::io(&error))?;
            if let Err(error) = delivery {
                app.ui.warn(format_args!("the delivery was not kept: {}", error.message));
            }
            Ok(outcome)
        }
        Err(error) => {
            let error = CommandError::from(error);
            if !again {
                prepare::give_back(app, ready, &error.message);
            }
            Err(error)
        }
    }
}

/// The session in which a forgotten debrief can be asked for, if the agent ended well without one.
fn can_be_asked(args: &SpawnArgs, outcome: &AgentOutcome, debrief: &Debrief) -> Option<String> {
    let resumable = match args.host {
        Host::Claude | Host::Codex => true,
        Host::Gemini | Host::Command => false,
    };
    if debrief.is_there() || !resumable || !outcome.is_success() {
        return None;
    }
    outcome.report.host_session.clone()
}

fn keep(
    app: &App,
    ready: &Ready,
    debrief: &Debrief,
    asked: bool,
) -> Result<Option<Kept>, CommandError> {
    if !ready.in_store {
        let id = &ready.admitted.receipt().id;
        app.ui.warn(format_args!(
            "the store cannot be written and keeps no debrief; once it can: \
             handover debrief --receipt {id} < .handover/spawns/{id}.md"
        ));
        return Ok(None);
    }
    let receipt = ready.admitted.receipt();
    let origin = Origin {
        session: receipt.session.clone(),
        group: receipt.group.clone(),
        role: receipt.role.clone(),
        agent: None,
        iteration: receipt.iteration,
        receipt: Some(receipt.id.clone()),
        now: app.now(),
    };
    keep_debrief(app, &origin, debrief, asked)
}

fn answer(
    app: &App,
    ready: &Ready,
    outcome: &AgentOutcome,
    debrief: &Debrief,
    kept: Option<&Kept>,
) -> Result<(), CommandError> {
    let redactor = app.redactor()?;
    let failure = outcome.failure.as_ref().map(|failure| {
        json!({"class": failure.class, "message": redactor.clean(&failure.message).as_str()})
    });
    let document = json!({
        "receipt": ready.admitted.receipt().id,
        "exit_code": outcome.exit_code(),
        "verdict": debrief.verdict,
        "summary": debrief.summary,
        "debrief": debrief,
        "missing": debrief.missing,
        "kept": kept,
        "failure": failure,
        "warnings": ready.admitted.warnings(),
        "cost_usd": outcome.report.cost_usd,
        "tokens": outcome.report.usage.total(),
        "turns": outcome.report.turns,
        "duration_ms": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    });
    // What an agent says may hold what it read: everything that leaves is clean.
    let document = redactor.clean_json(document).value().clone();
    app.ui.answer_all(document, |ui| {
        ui.line(format_args!("Receipt    {}", ready.admitted.receipt().id))?;
        if let Some(failure) = &outcome.failure {
            let message = redactor.clean(&failure.message);
            ui.line(format_args!("Failed     {} ({})", message.as_str(), failure.class))?;
        }
        if ready.in_store {
            show(ui, debrief, kept)?;
        }
        let cost = outcome.report.cost_usd.map_or_else(String::new, |usd| format!(", ${usd:.4}"));
        ui.line(format_args!("Took       {:.1} s{cost}", outcome.duration.as_secs_f64()))
    })
}

fn exit(outcome: &AgentOutcome, debrief: &Debrief) -> Exit {
    if outcome.ended == Ended::Cancelled {
        return Exit::Interrupted;
    }
    match outcome.failure.as_ref().map(|failure| failure.class) {
        Some(FailureClass::MaxBudget | FailureClass::MaxTurns | FailureClass::Quota) => {
            Exit::Budget
        }
        Some(_) => Exit::Failed,
        // Two verdicts are none, and never a good one.
        None if debrief.is_there() && debrief.verdict.is_none() => Exit::Failed,
        None => match debrief.verdict {
            Some(Verdict::Blocked | Verdict::Escalate) => Exit::Blocked,
            Some(Verdict::Failed | Verdict::Retry) => Exit::Failed,
            Some(
                Verdict::Complete | Verdict::Passed | Verdict::PassedWithFixes | Verdict::Skip,
            )
            | None => Exit::Done,
        },
    }
}

/// A limit of the command line, or of the configuration; 0 is none.
fn seconds(flag: Option<u64>, configured: u64) -> Option<Duration> {
    let seconds = flag.unwrap_or(configured);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The step of a receipt whose agent never started.
fn never_started(app: &App, reason: &str) -> Result<ReceiptStep, CommandError> {
    Ok(ReceiptStep::Failed { reason: app.redactor()?.clean(reason) })
}
