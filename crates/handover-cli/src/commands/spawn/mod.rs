//! `handover spawn`

mod prepare;
mod program;
mod progress;

use std::path::PathBuf;
use std::time::Duration;

use handover_agents::{
    AgentEvent, CancelToken, Ended, Outcome as AgentOutcome, Tee, run as run_agent,
};
use handover_engine::{log_filter, observe};
use handover_files::Sync;
use handover_handoff::{
    Debrief, Ending, Handoff, Kept, OutsideRead, follow_up_prompt, read_endings,
    request_for_debrief,
};
use handover_model::{AdmittedPrompt, FailureClass, Host, Profile, Trace, Verdict};
use serde_json::json;

pub(crate) use program::{Program, cancel_on_signals, find as find_program};

use super::Outcome;
use super::brief::PartArgs;
use super::debrief::show;
use super::request::RequestArgs;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input::agent_programs;
#[cfg(feature = "telemetry")]
use crate::telemetry::{Exporter, Spawned};
#[cfg(feature = "telemetry")]
use handover_model::Timestamp;

/// Start an agent with its brief, and store its debrief
///
/// Writes the brief, checks it with the guard, runs the agent program in the current folder with the
/// prompt on its standard input, and stores its debrief. An agent that forgets the debrief is asked
/// once more if its program can resume. No receipt, no spawn.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpawnArgs {
    #[arg(long, help = agent_programs(""), value_parser = handover_agents::parse_host)]
    host: Host,

    /// Program and arguments for host `command` (no shell is involved)
    #[arg(long, value_name = "PROGRAM ARGS", required_if_eq("host", "command"))]
    agent_command: Option<String>,

    #[command(flatten)]
    request: RequestArgs,

    #[command(flatten)]
    parts: PartArgs,

    /// Use a prompt that `handover brief` wrote, instead of a new one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "task_file"])]
    prompt_file: Option<PathBuf>,

    /// What the agent may do: read_only, edit or full
    #[arg(long, default_value = "edit")]
    profile: Profile,

    /// Stop the agent after this many seconds [default: agents.timeout]
    #[arg(long, value_name = "SECS")]
    timeout: Option<u64>,

    /// Stop it after this many seconds without output [default: agents.idle_timeout]
    #[arg(long, value_name = "SECS")]
    idle_timeout: Option<u64>,

    /// Maximum number of model turns, if the program supports a limit
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,

    /// Maximum cost in dollars, if the program supports a limit
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
}

const EXAMPLES: &str = "\
Examples:
  handover spawn --host claude --role developer --group login --task \"Refresh tokens in parallel\"
  handover spawn --host codex --role qa_expert --group login --task-file story.md --profile read_only
  handover spawn --host command --agent-command \"my-agent --quiet\" --role developer --task \"Rotate tokens\" --json";

/// How much of an agent's raw output is kept.
const LOG_BYTES: u64 = 16 << 20;

pub(crate) fn run(app: &App, args: SpawnArgs) -> Outcome {
    let task = args.request.task(app)?;
    if task.as_deref().is_none_or(|task| task.trim().is_empty()) && args.prompt_file.is_none() {
        return Err(CommandError::invalid("there is no task")
            .hinted("Say what the agent should do with `--task` or `--task-file`."));
    }
    if args.request.current_tokens != 0 {
        return Err(CommandError::invalid("a fresh agent has no tokens in its window yet")
            .hinted("Leave `--current-tokens` out; it is for `handover assemble`."));
    }
    // A program that cannot start costs no receipt.
    let program = program::find(app, args.host, args.agent_command.as_deref())?;
    let cancel = CancelToken::default();
    cancel_on_signals(&cancel)?;
    let handoff = match &args.prompt_file {
        Some(file) => prepare::from_file(app, &args, file)?,
        None => prepare::new_brief(app, &args, task)?,
    };
    let spawn = Spawn { app, args: &args, program: &program, handoff: &handoff, cancel: &cancel };
    program.warn_of_trust(app, args.host);
    let mut trace = Trace::default();
    let start = app.now();
    let mut first = spawn.start(&handoff.prompt, None, &mut trace)?;
    let mut debrief = read_endings(first.answers());
    let asked_again = is_resumable(&args, &first, &debrief);
    if asked_again {
        app.ui.note("No debrief; asking for it once.");
        let question = request_for_debrief(handoff.prompt.receipt());
        let prompt = follow_up_prompt(&handoff.prompt, question);
        let second = spawn.start(&prompt, Some(&first), &mut trace)?;
        let late = read_endings(second.answers());
        if late.has_block() {
            debrief = late;
        }
        first.add(&second);
    }
    let outside = first.report.outside.clone().map(|tool| OutsideRead { tool, at: None });
    let kept = spawn.end(&debrief, asked_again, outside.as_ref(), &trace)?;
    answer(app, &handoff, &first, &debrief, kept.as_ref())?;
    #[cfg(feature = "telemetry")]
    spawn.report(&first, &debrief, start);
    #[cfg(not(feature = "telemetry"))]
    let _ = start;
    Ok(exit(&first, &debrief))
}

/// One agent, and what it is started with.
struct Spawn<'a> {
    app: &'a App,
    args: &'a SpawnArgs,
    program: &'a program::Program,
    handoff: &'a Handoff,
    cancel: &'a CancelToken,
}

impl Spawn<'_> {
    /// Runs the program once, or once more in the conversation of the `first` time. The receipt is
    /// delivered as soon as the process exists, and failed if it never does.
    fn start(
        &self,
        prompt: &AdmittedPrompt,
        first: Option<&AgentOutcome>,
        trace: &mut Trace,
    ) -> Result<AgentOutcome, CommandError> {
        trace.given(prompt.text());
        let Self { app, args, handoff, .. } = self;
        let (id, again) = (prompt.receipt(), first.is_some());
        let assignment = &handoff.assignment;
        let invocation = program::invocation(app, args, self.program, assignment, prompt)?;
        let resumed = first.and_then(|first| invocation.follow_up(first, prompt.clone()));
        let invocation = resumed.unwrap_or(invocation);
        let redactor = app.redactor()?;
        let folder = app.project()?.folder().inside("spawns");
        let name = if again { format!("{id}-again") } else { id.to_string() };
        let log = folder.create_file(&format!("{name}.log"))?;
        let mut tee = Tee::new(log, LOG_BYTES, || log_filter(redactor));
        let mut delivery = Ok(());
        let mut progress = progress::Progress::new(app, redactor);
        let mut on_event = |event: AgentEvent| {
            if matches!(event, AgentEvent::Spawned(_)) && !again && handoff.in_store() {
                delivery = app
                    .handoffs()
                    .and_then(|handoffs| Ok(handoffs.started(id, Some(args.host), app.now())?));
            }
            observe(trace, &event);
            progress.show(&event);
        };
        match run_agent(&invocation, Some(&mut tee), &mut on_event, self.cancel) {
            Ok(outcome) => {
                let mut answers: Vec<&str> = outcome.answers().collect();
                answers.reverse();
                let last = redactor.clean(&answers.join("\n\n"));
                folder.replace(&format!("{name}.md"), last.as_str().as_bytes(), Sync::No)?;
                if let Err(error) = delivery {
                    app.ui.warn(format_args!("the delivery was not stored: {}", error.message));
                }
                Ok(outcome)
            }
            Err(error) => {
                let error = CommandError::from(error);
                if !again && let Ok(handoffs) = app.handoffs() {
                    handoffs.not_started(handoff, &error.message, app.now());
                }
                Err(error)
            }
        }
    }

    /// Reports the agent, if anybody wants to know.
    #[cfg(feature = "telemetry")]
    fn report(&self, outcome: &AgentOutcome, debrief: &Debrief, start: Timestamp) {
        let Some(exporter) = Exporter::start(self.app) else { return };
        let store = self.app.store().ok();
        let id = self.handoff.prompt.receipt();
        let Some(receipt) = store.and_then(|store| store.receipt(id).ok()) else { return };
        let spawned = Spawned {
            host: self.args.host,
            receipt: &receipt,
            outcome,
            verdict: debrief.verdict,
            start,
            end: self.app.now(),
        };
        exporter.export(spawned.signals());
    }

    fn end(
        &self,
        debrief: &Debrief,
        asked_again: bool,
        outside: Option<&OutsideRead>,
        trace: &Trace,
    ) -> Result<Option<Kept>, CommandError> {
        let Self { app, handoff, .. } = self;
        if !handoff.in_store() {
            let id = handoff.prompt.receipt();
            app.ui.warn(format_args!(
                "the store cannot be written, so the debrief was not stored; once it can: \
                 handover debrief --receipt {id} < .handover/spawns/{id}.md"
            ));
            return Ok(None);
        }
        let ending = Ending::new(&handoff.assignment, debrief, app.now());
        let ending = Ending { asked_again, outside, trace: Some(trace), ..ending };
        Ok(app.handoffs()?.ended(ending)?.kept().cloned())
    }
}

/// Whether a forgotten debrief can be asked for in the same conversation: only if the agent ended well.
fn is_resumable(args: &SpawnArgs, outcome: &AgentOutcome, debrief: &Debrief) -> bool {
    let program = handover_agents::Registry::built_in().find(args.host);
    let resumable = program.is_ok_and(|program| program.capabilities().resumable);
    let named = outcome.report.host_session.is_some();
    !debrief.has_block() && resumable && named && outcome.is_success()
}

fn answer(
    app: &App,
    handoff: &Handoff,
    outcome: &AgentOutcome,
    debrief: &Debrief,
    kept: Option<&Kept>,
) -> Result<(), CommandError> {
    let redactor = app.redactor()?;
    let failure = outcome.failure.as_ref().map(|failure| {
        json!({"class": failure.class, "message": redactor.clean(&failure.message).as_str()})
    });
    let document = json!({
        "receipt": handoff.prompt.receipt(),
        "exit_code": outcome.exit_code(),
        "verdict": debrief.verdict,
        "summary": debrief.summary,
        "debrief": debrief,
        "missing": debrief.missing,
        "kept": kept,
        "failure": failure,
        "warnings": handoff.warnings,
        "cost_usd": outcome.report.cost_usd,
        "tokens": outcome.report.usage.total(),
        "turns": outcome.report.turns,
        "duration_ms": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    });
    // An agent may repeat a secret that it read, so the whole document is redacted.
    let document = redactor.clean_json(document).value().clone();
    app.ui.answer_all(document, |ui| {
        ui.line(format_args!("Receipt    {}", handoff.prompt.receipt()))?;
        if let Some(failure) = &outcome.failure {
            let message = redactor.clean(&failure.message);
            ui.line(format_args!("Failed     {} ({})", message.as_str(), failure.class))?;
        }
        if handoff.in_store() {
            show(ui, redactor, debrief, kept)?;
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
        None if debrief.has_block() && debrief.verdict.is_none() => Exit::Failed,
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

/// The flag's limit, else the configured one; 0 means no limit.
fn seconds(flag: Option<u64>, configured: u64) -> Option<Duration> {
    let seconds = flag.unwrap_or(configured);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}
