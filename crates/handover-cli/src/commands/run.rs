//! `handover run`

use std::time::Instant;

use handover_agents::{CancelToken, join_command, machine, split_command};
use handover_context::assemble::Setting;
use handover_engine::prompt::ContextPrompter;
use handover_engine::reducer::{Effect, Event, GateOutcome, Options, State};
use handover_engine::{Engine, Given, Preview, Progress, Request, report, story};
use handover_model::{Host, RunId, RunState};
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit};

/// Run the stories of an epic: each developed, checked, reviewed and committed by fresh agents
///
/// Stories are found in docs/stories, docs/sprint-artifacts and docs/sprints. Each is worked on in a
/// worktree of its own, checked by the project's own tests, reviewed by an agent that sees it for the
/// first time, and committed to the branch `handover/epic-EPIC`. Your checkout and branch are not
/// touched. Work that fails is kept on `handover/failed/STORY`.
///
/// Whatever stops a run (Ctrl-C, a crash, a full disk), `--resume` goes on where it was.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The epic: `1`, `epic-1` or its file
    #[arg(value_name = "EPIC")]
    epic: String,

    /// The agent program: claude, codex, gemini or command [default: runs.host, else claude]
    #[arg(long)]
    host: Option<Host>,

    /// For host `command`: the program and its arguments, run without a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    agent_command: Option<String>,

    /// The model, where the program can be told
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// With `--dry-run`: print the prompts too
    #[arg(long, requires = "dry_run")]
    show_prompts: bool,

    /// Go on with a run that did not come to its end
    #[arg(long)]
    resume: bool,

    /// Begin with this story
    #[arg(long, value_name = "ID")]
    start_from: Option<String>,

    /// Leave out stories that are done
    #[arg(long)]
    skip_done: bool,

    /// No review
    #[arg(long)]
    skip_review: bool,

    /// Leave the work in its worktree
    #[arg(long, conflicts_with = "merge")]
    no_commit: bool,

    /// Let the current branch follow at the end, if it is a mere step forward
    #[arg(long)]
    merge: bool,

    /// Start no agent that would pass this sum [default: budget.run]
    #[arg(long, value_name = "USD", value_parser = money)]
    max_cost: Option<f64>,

    /// The longest agent [default: runs.phase_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    phase_timeout: Option<u64>,

    /// The longest silence of an agent [default: runs.idle_timeout]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: Option<u64>,

    /// How often findings are mended before a story is given up [default: runs.max_fixes]
    #[arg(long, value_name = "N")]
    max_fixes: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  handover run 1 --dry-run --show-prompts      see the plan and what agents would be told
  handover run 1 --max-cost 20                 run with Claude Code, for at most 20 USD
  handover run 1 --host codex --merge          let the current branch follow at the end
  handover run 1 --agent-command \"./agent.sh --fast\"
  handover run 1 --resume                      go on after whatever stopped it

Exit codes: 0 all stories done, 1 some failed, 3 blocked or escalated, 4 budget, 5 environment, 130 interrupted.";

fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(sum) if sum.is_finite() && sum >= 0.0 => Ok(sum),
        Ok(_) | Err(_) => Err("a sum of 0 or more is expected".to_owned()),
    }
}

pub(crate) fn run(app: &App, args: RunArgs) -> Outcome {
    let request = request(app, &args)?;
    let cancel = CancelToken::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, cancel.flag())
            .map_err(|error| crate::error::io(&error))?;
    }
    let setting =
        Setting { store: app.store()?, redactor: app.redactor()?, config: &app.config()?.assembly };
    let prompter = ContextPrompter { setting };
    let engine = Engine {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        prompter: &prompter,
        project: app.project()?.root.clone(),
        project_id: app.project_id()?,
        environment: env::all(),
        machine: machine(),
        now: &env::now,
        unique: &|| uuid::Uuid::now_v7().simple().to_string(),
        cancel,
        death: env::death(),
    };
    if args.dry_run {
        return preview(app, &engine.plan(&request)?, args.show_prompts);
    }
    let mut shown = Shown { app, run: None, begin: Instant::now(), lost: None };
    let (id, state) =
        engine.run(&request, &mut |state, progress| shown.progress(state, progress))?;
    if let Some(lost) = shown.lost.take() {
        return Err(lost);
    }
    shown.end(&id, &state)
}

fn request(app: &App, args: &RunArgs) -> Result<Request, CommandError> {
    let config = app.config()?;
    let runs = &config.runs;
    let host = match (args.host, &args.agent_command) {
        (Some(host), command) => Some((host, command.clone())),
        (None, Some(command)) => Some((Host::Command, Some(command.clone()))),
        (None, None) => None,
    };
    let configured = runs.host.unwrap_or(Host::Claude);
    let needs_a_program = match &host {
        Some((host, command)) => *host == Host::Command && command.is_none(),
        None => configured == Host::Command && !args.resume,
    };
    if needs_a_program && runs.command.is_none() {
        return Err(CommandError::invalid("host `command` needs a program")
            .hinted("Pass `--agent-command \"PROGRAM ARGS\"` or set `runs.command`."));
    }
    let host = host.map(|(host, command)| {
        let usual = || runs.command.clone().filter(|_| host == Host::Command);
        (host, command.or_else(usual))
    });
    let command = runs.command.clone().filter(|_| configured == Host::Command);
    let host = match host {
        Some((host, Some(command))) => Some((host, Some(from_here(app, &command)?))),
        other => other,
    };
    let command = command.map(|command| from_here(app, &command)).transpose()?;
    Ok(Request {
        epic: story::epic_id(&args.epic)?,
        session: app.named_session()?,
        resume: args.resume,
        start_from: args.start_from.clone(),
        skip_done: args.skip_done,
        skip_review: args.skip_review,
        profile: runs.profile,
        defaults: Options {
            host: configured,
            command,
            model: runs.model.clone(),
            no_commit: false,
            merge: false,
            phase_timeout: runs.phase_timeout,
            idle_timeout: runs.idle_timeout,
            max_fixes: runs.max_fixes,
            budget: config.budget.clone(),
        },
        given: Given {
            host,
            model: args.model.clone(),
            no_commit: args.no_commit,
            merge: args.merge,
            max_cost: args.max_cost,
            phase_timeout: args.phase_timeout,
            idle_timeout: args.idle_timeout,
            max_fixes: args.max_fixes,
        },
    })
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

fn preview(app: &App, preview: &Preview, with_prompts: bool) -> Outcome {
    let plan = &preview.plan;
    let prompt_of = |id: &str| {
        let found = preview.prompts.iter().find(|(story, _)| story == id);
        found.map(|(_, prompt)| prompt.clone()).filter(|_| with_prompts)
    };
    let stories: Vec<Value> = plan
        .stories
        .iter()
        .map(|story| {
            let matched = preview.matches.iter().find(|found| found.path == story.path);
            json!({
                "id": story.id, "title": story.title, "path": story.path,
                "waits_for": story.waits_for, "skip": story.skip,
                "matched_by": matched.map(|found| found.reason),
                "prompt": prompt_of(&story.id),
            })
        })
        .collect();
    let answer = json!({
        "epic": plan.epic, "epic_file": plan.epic_file, "base": plan.base, "branch": plan.branch,
        "gates": preview.gates, "pipeline": plan.pipeline, "stories": stories,
    });
    app.ui.answer("plan", &answer, |ui| {
        ui.line(format_args!("Epic {} on branch {}", plan.epic, plan.branch))?;
        let gates = if preview.gates.is_empty() {
            "none found".to_owned()
        } else {
            preview.gates.join(", ")
        };
        ui.line(format_args!("Gates: {gates}"))?;
        let rows = plan
            .stories
            .iter()
            .map(|story| {
                let reason = preview.matches.iter().find(|found| found.path == story.path);
                vec![
                    story.id.clone(),
                    story
                        .skip
                        .clone()
                        .map_or_else(|| "run".to_owned(), |why| format!("skip: {why}")),
                    story.waits_for.join(", "),
                    format!("{} (by {})", story.path, reason.map_or("", |found| found.reason)),
                ]
            })
            .collect();
        ui.table(&["story", "plan", "waits for", "file"], rows, "No stories.")?;
        for (story, prompt) in preview.prompts.iter().filter(|_| with_prompts) {
            ui.line(format_args!("\n===== prompt of {story} =====\n{prompt}"))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// What is shown while a run is at work: lines for people, one JSON document a line for scripts.
struct Shown<'a> {
    app: &'a App,
    run: Option<RunId>,
    begin: Instant,
    /// Why nothing can be shown any more. The run goes on: nobody has to watch.
    lost: Option<CommandError>,
}

impl Shown<'_> {
    fn progress(&mut self, state: &State, progress: &Progress<'_>) {
        if let Progress::Begun { run, .. } = progress {
            self.run = Some((*run).clone());
        }
        if self.lost.is_some() {
            return;
        }
        let shown = if self.app.ui.is_json() {
            self.app.ui.document(&self.document(progress))
        } else {
            self.line(state, progress);
            Ok(())
        };
        self.lost = shown.err().filter(|error| error.exit != Exit::Done);
    }

    fn document(&self, progress: &Progress<'_>) -> Value {
        let mut document = json!({"schema": 1, "run": self.run, "at": self.app.now()});
        let (kind, rest) = match progress {
            Progress::Begun { resumed, .. } => {
                (if *resumed { "run_resumed" } else { "run_started" }, json!({}))
            }
            Progress::Doing(effect) => ("intent", serde_json::to_value(effect).unwrap_or_default()),
            Progress::Done(event) => ("result", result(event)),
            Progress::Activity { story, what } => {
                ("activity", json!({"story": story, "what": what}))
            }
            Progress::Warning(text) => ("warning", json!({"message": text})),
        };
        document["type"] = kind.into();
        if let (Some(document), Value::Object(rest)) = (document.as_object_mut(), rest) {
            document.extend(rest);
        }
        document
    }

    fn line(&self, state: &State, progress: &Progress<'_>) {
        let ui = &self.app.ui;
        let seconds = self.begin.elapsed().as_secs();
        let cost = state.spent().cost_usd;
        let stamp = format!("{:02}:{:02} ${cost:.2}", seconds / 60, seconds % 60);
        match progress {
            Progress::Begun { run, resumed } => {
                let word = if *resumed { "goes on" } else { "begins" };
                ui.note(format_args!("{stamp} run {run} of epic {} {word}", state.plan.epic));
            }
            Progress::Doing(Effect::Agent { story, phase, attempt }) => {
                ui.note(format_args!("{stamp} {story} {phase} {attempt} …"));
            }
            Progress::Doing(Effect::Gates { story, attempt }) => {
                ui.note(format_args!("{stamp} {story} gates {attempt} …"));
            }
            Progress::Doing(_) => {}
            Progress::Done(event) => {
                if let Some(text) = sentence(event) {
                    ui.note(format_args!("{stamp} {text}"));
                }
            }
            Progress::Activity { story, what } => {
                ui.note(format_args!("{stamp}   {story}: {what}"));
            }
            Progress::Warning(text) => ui.warn(text),
        }
    }

    fn end(&self, id: &RunId, state: &State) -> Outcome {
        let run = self.app.store()?.run_record(id)?;
        let document = report::document(&run, state, false);
        if self.app.ui.is_json() {
            let line = json!({"schema": 1, "type": "run_ended", "run": document});
            self.app.ui.document(&line)?;
        } else {
            super::status::show(self.app, &document)?;
        }
        let code = match exit(state.state) {
            exit @ (Exit::Done | Exit::Failed | Exit::Blocked | Exit::Usage) => return Ok(exit),
            Exit::Budget => "budget",
            Exit::Environment => "environment",
            Exit::Interrupted => "interrupted",
        };
        let reason = state.stopped.clone().unwrap_or_default();
        Err(CommandError::new(exit(state.state), code, format!("the run has stopped: {reason}"))
            .hinted(format!("`handover run {} --resume` goes on.", run.epic)))
    }
}

fn exit(state: RunState) -> Exit {
    match state {
        RunState::Done => Exit::Done,
        RunState::Failed => Exit::Failed,
        RunState::Blocked => Exit::Blocked,
        RunState::Budget => Exit::Budget,
        RunState::Environment => Exit::Environment,
        RunState::Running | RunState::Interrupted => Exit::Interrupted,
    }
}

/// An event without what is only for the engine.
fn result(event: &Event) -> Value {
    match event {
        Event::Started { plan, .. } => json!({"event": "started", "base": plan.base}),
        Event::Resumed { .. } => json!({"event": "resumed"}),
        Event::Opened { .. }
        | Event::PhaseEnded(_)
        | Event::GatesEnded { .. }
        | Event::Refused { .. }
        | Event::Committed { .. }
        | Event::Parked { .. }
        | Event::Merged { .. }
        | Event::Stopped { .. }
        | Event::Ended { .. } => serde_json::to_value(event).unwrap_or_default(),
    }
}

fn sentence(event: &Event) -> Option<String> {
    Some(match event {
        Event::PhaseEnded(end) => {
            let verdict = end.verdict.map_or("no verdict", |verdict| verdict.as_str());
            let summary = handover_text::cut::cut(&end.summary, 120);
            format!("{} {} {}: {verdict} {summary}", end.story, end.phase, end.attempt)
        }
        Event::GatesEnded { story, outcome, failures, .. } => match outcome {
            GateOutcome::Passed => format!("{story} gates passed"),
            GateOutcome::None => format!("{story} has no gates"),
            GateOutcome::Failed => {
                let first = failures.first().map(String::as_str).unwrap_or_default();
                format!("{story} gates failed: {first} ({} in all)", failures.len())
            }
        },
        Event::Refused { story, problems } => {
            format!("{story} cannot be committed: {}", problems.join("; "))
        }
        Event::Committed { story, commit } => {
            format!("{story} done in {}", &commit[..commit.len().min(10)])
        }
        Event::Parked { story, branch } => match branch {
            Some(branch) => format!("{story}: the work so far is on {branch}"),
            None => format!("{story}: no work to keep"),
        },
        Event::Merged { refused: None } => "the current branch has followed".to_owned(),
        Event::Merged { refused: Some(why) } => {
            format!("the current branch has not followed: {why}")
        }
        Event::Started { .. }
        | Event::Resumed { .. }
        | Event::Opened { .. }
        | Event::Stopped { .. }
        | Event::Ended { .. } => return None,
    })
}
