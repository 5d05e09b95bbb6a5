//! What is shown while a run is at work: a board on a terminal, lines elsewhere, JSON for scripts.

use std::time::Instant;

use handover_agents::CancelToken;
use handover_engine::data::ScenarioResult;
use handover_engine::reducer::{Effect, Event, GateOutcome, PhaseEnd, Skip, State, StoryRun};
use handover_engine::{Progress, report};
use handover_model::{RunId, RunState, ScenarioOutcome, Timestamp, UatGate};
use handover_text::cut::{cut, one_line};
use serde_json::{Value, json};

use super::at_work::AtWork;
use super::live::{Live, ended, starting};
use crate::app::App;
use crate::commands::{Outcome, status};
use crate::env;
use crate::error::{CommandError, Exit};
use crate::local_time;
#[cfg(feature = "telemetry")]
use crate::telemetry::{Exporter, RunTrace};

/// Shows one run.
pub(crate) struct Shown<'a> {
    app: &'a App,
    run: Option<RunId>,
    begin: Instant,
    live: Option<Live<'a>>,
    /// When the last line was shown.
    last_line: Instant,
    at_work: AtWork,
    /// Why nothing can be shown any more. The run continues without output.
    lost: Option<CommandError>,
    #[cfg(feature = "telemetry")]
    telemetry: Option<(Exporter, Option<RunTrace>)>,
}

impl<'a> Shown<'a> {
    /// A board if a person watches, unless lines are wanted; Ctrl-C on it cancels the run.
    pub(crate) fn new(app: &'a App, plain: bool, cancel: &CancelToken) -> Self {
        let is_for_people = !plain && !app.ui.is_json() && app.ui.is_watched();
        let live = if is_for_people { Live::open(app, cancel) } else { None };
        let (begin, at_work) = (Instant::now(), AtWork::default());
        Self {
            app,
            run: None,
            begin,
            live,
            last_line: begin,
            at_work,
            lost: None,
            #[cfg(feature = "telemetry")]
            telemetry: Exporter::start(app).map(|exporter| (exporter, None)),
        }
    }

    pub(crate) fn progress(&mut self, state: &State, progress: &Progress<'_>) {
        if let Progress::Started { run, .. } | Progress::Helping { run, .. } = progress {
            self.run = Some((*run).clone());
        }
        #[cfg(feature = "telemetry")]
        if let (Some((exporter, trace)), Ok(store)) = (&mut self.telemetry, self.app.store()) {
            RunTrace::follow(trace, exporter, store, progress);
        }
        if self.lost.is_some() {
            return;
        }
        if let Some(live) = &mut self.live {
            // Whatever keeps the board from being drawn need not keep lines from being printed.
            if live.progress(state, progress).unwrap_or(false) {
                return;
            }
            self.close();
            self.app
                .ui
                .note("The run continues. Ctrl-C stops it; `handover watch` shows the board.");
        }
        let is_tick = matches!(progress, Progress::Tick);
        let shown = if self.app.ui.is_json() {
            if is_tick { Ok(()) } else { self.app.ui.document(&self.document(state, progress)) }
        } else {
            self.line(state, progress);
            Ok(())
        };
        self.lost = shown.err().filter(|error| error.exit != Exit::Done);
    }

    /// Gives the terminal back.
    fn close(&mut self) {
        if let Some(live) = self.live.take() {
            live.close(self.app);
        }
    }

    fn document(&self, state: &State, progress: &Progress<'_>) -> Value {
        let epic = &state.plan.epic;
        let mut document =
            json!({"schema": 1, "run": self.run, "epic": epic, "at": self.app.now()});
        let (kind, rest) = match progress {
            Progress::Started { resumed, .. } => {
                let files: Vec<Value> = state
                    .plan
                    .not_stories
                    .iter()
                    .map(|(path, reason)| json!({"path": path, "reason": reason}))
                    .collect();
                let word = if *resumed { "run_resumed" } else { "run_started" };
                (word, json!({"not_stories": files}))
            }
            Progress::Expects(forecast) => ("forecast", json!({"forecast": forecast})),
            Progress::Helping { leader, .. } => ("run_joined", json!({"leader": leader})),
            Progress::Starting(effect) => {
                ("intent", serde_json::to_value(effect).unwrap_or_default())
            }
            Progress::Recorded(event) => ("result", result(event)),
            Progress::Activity { story, what } => {
                ("activity", json!({"story": story, "what": what}))
            }
            Progress::Tick => ("tick", json!({})),
            Progress::Warning(text) => ("warning", json!({"message": text})),
        };
        document["type"] = kind.into();
        if let (Some(document), Value::Object(rest)) = (document.as_object_mut(), rest) {
            document.extend(rest);
        }
        document
    }

    fn line(&mut self, state: &State, progress: &Progress<'_>) {
        self.at_work.follow(state, progress);
        let ui = &self.app.ui;
        let is_due = self.last_line.elapsed() >= env::quiet() && !self.at_work.is_empty();
        if matches!(progress, Progress::Tick) && !is_due {
            return;
        }
        self.last_line = Instant::now();
        let seconds = self.begin.elapsed().as_secs();
        let cost = state.spent().price().short();
        let stamp = format!("{:02}:{:02} {cost}", seconds / 60, seconds % 60);
        match progress {
            Progress::Started { run, resumed } => {
                let word = if *resumed { "resumes" } else { "starts" };
                ui.note(format_args!("{stamp} run {run} of epic {} {word}", state.plan.epic));
                for text in not_stories(state) {
                    ui.note(format_args!("{stamp} {text}"));
                }
            }
            Progress::Expects(forecast) => ui.note(format_args!("{stamp} {forecast}")),
            Progress::Helping { run, leader } => {
                ui.note(format_args!("{stamp} run {run} is led by {leader}; this machine helps"));
            }
            Progress::Starting(Effect::Agent { story, phase, attempt, voice }) => {
                let who = starting(state, story, *phase, *attempt, voice.as_ref());
                ui.note(format_args!("{stamp} {story} {who} …"));
            }
            Progress::Starting(Effect::CheckBase) => {
                ui.note(format_args!("{stamp} gates on the base …"));
            }
            Progress::Starting(Effect::Gates { story, attempt }) => {
                ui.note(format_args!("{stamp} {story} gates {attempt} …"));
            }
            Progress::Starting(Effect::Uat { story, attempt }) => {
                ui.note(format_args!("{stamp} {story} scenarios {attempt} …"));
            }
            Progress::Starting(Effect::Wait { until }) => {
                let waits = waiting(*until);
                ui.note(format_args!("{stamp} {waits} (Ctrl-C stops, `--resume` continues)"));
            }
            Progress::Starting(_) => {}
            Progress::Recorded(event) => {
                if let Some(text) = sentence(state, event) {
                    ui.note(ui.cut(&format!("{stamp} {text}")));
                }
            }
            Progress::Tick => {
                let doing = self.at_work.sentence();
                ui.note(ui.cut(&format!("{stamp} still at work: {doing}")));
            }
            Progress::Activity { story, what } => {
                ui.note(ui.cut(&format!("{stamp}   {story}: {}", one_line(what))));
            }
            Progress::Warning(text) => ui.warn(text),
        }
    }

    pub(super) fn end(mut self, id: &RunId, state: &State) -> Outcome {
        self.close();
        if let Some(lost) = self.lost.take() {
            return Err(lost);
        }
        let run = self.app.store()?.run_record(id)?;
        let document = report::document(&run, state, false);
        if self.app.ui.is_json() {
            let line = json!({"schema": 1, "type": "run_ended", "run": document});
            self.app.ui.document(&line)?;
        } else {
            status::show(self.app, &document)?;
        }
        if let Some(why) = nothing_to_do(state) {
            self.app.ui.note(why);
        }
        let reason = state.stopped.clone().unwrap_or_default();
        let outcome = outcome(state.state, &reason, &format!("run {}", run.epic));
        if state.state == RunState::Environment && !state.base_checked {
            return outcome.map_err(|error| {
                error.hinted(
                    "Fix it and start again. `--skip-base-check` starts without this check.",
                )
            });
        }
        outcome
    }

    /// What could not be shown.
    pub(crate) fn lost(mut self) -> Result<(), CommandError> {
        self.close();
        self.lost.take().map_or(Ok(()), Err)
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

/// The outcome of a command whose run is in this state; `command` continues it.
pub(crate) fn outcome(state: RunState, reason: &str, command: &str) -> Outcome {
    let code = match exit(state) {
        exit @ (Exit::Done | Exit::Failed | Exit::Blocked | Exit::Usage) => return Ok(exit),
        Exit::Budget => "budget",
        Exit::Environment => "environment",
        Exit::Interrupted => "interrupted",
    };
    Err(CommandError::new(exit(state), code, format!("the run has stopped: {reason}"))
        .hinted(format!("`handover {command} --resume` continues it.")))
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

/// Why a run had nothing to do, and how it would have.
fn nothing_to_do(state: &State) -> Option<String> {
    let is_worked_on = |story: &StoryRun| story.planned.skip.is_none();
    if state.closing.is_some() || state.stories.iter().any(is_worked_on) {
        return None;
    }
    let number = |skip| state.stories.iter().filter(|it| it.planned.skip == Some(skip)).count();
    let (done, drafts, blocked) = (number(Skip::Done), number(Skip::Draft), number(Skip::Blocked));
    if drafts + blocked > 0 {
        let drafts = (drafts > 0).then(|| crate::ui::count(drafts, "draft"));
        let rest =
            [(blocked, "blocked"), (done, "done"), (number(Skip::Before), "before the start")];
        let rest = rest.into_iter().filter(|(number, _)| *number > 0);
        let all: Vec<String> = drafts
            .into_iter()
            .chain(rest.map(|(number, what)| format!("{number} {what}")))
            .collect();
        return Some(format!(
            "Nothing to do: {}. Set the status of what should be done to `ready-for-dev`, or use `--all`.",
            all.join(", ")
        ));
    }
    if done < state.stories.len() {
        return None;
    }
    let what = match state.stories.len() {
        0 => return None,
        1 => "the story is done; `--all` runs it again".to_owned(),
        2 => "both stories are done; `--all` runs them again".to_owned(),
        all => format!("all {all} stories are done; `--all` runs them again"),
    };
    Some(format!("Nothing to do: {what}."))
}

/// How many files that are not stories are named.
const NAMED: usize = 8;

/// The files that could be taken for stories of the epic, a line each.
pub(super) fn not_stories(state: &State) -> Vec<String> {
    let files = &state.plan.not_stories;
    let line = |(path, reason): &(String, String)| format!("not a story: {path} ({reason})");
    let mut lines: Vec<String> = files.iter().take(NAMED).map(line).collect();
    if files.len() > NAMED {
        lines.push(format!("not stories: {} more files", files.len() - NAMED));
    }
    lines
}

/// Why nothing happens.
pub(crate) fn waiting(until: Timestamp) -> String {
    let until = local_time::to_the_minute(until);
    format!("the agent program has reached a usage limit; waits until {until}")
}

/// An event without what is only for the engine.
fn result(event: &Event) -> Value {
    match event {
        Event::Started { plan, .. } => json!({"event": "started", "base": plan.base}),
        Event::Resumed { .. } => json!({"event": "resumed"}),
        Event::Opened { .. }
        | Event::PhaseEnded(_)
        | Event::BaseChecked { .. }
        | Event::GatesEnded { .. }
        | Event::Rebased { .. }
        | Event::UatEnded { .. }
        | Event::WaitEnded { .. }
        | Event::GaveUp { .. }
        | Event::Refused { .. }
        | Event::Committed { .. }
        | Event::Parked { .. }
        | Event::Answered { .. }
        | Event::Retried { .. }
        | Event::Approved { .. }
        | Event::Merged { .. }
        | Event::Stopped { .. }
        | Event::Ended { .. } => serde_json::to_value(event).unwrap_or_default(),
    }
}

pub(super) fn sentence(state: &State, event: &Event) -> Option<String> {
    Some(match event {
        Event::PhaseEnded(end) => {
            let who = ended(state, end);
            format!("{} {who}: {}", end.story, concluded(end))
        }
        Event::BaseChecked { failing, .. } if failing.is_empty() => {
            "the base passes its gates".to_owned()
        }
        Event::BaseChecked { failing, .. } => format!(
            "the base fails {}, which will not count: {}",
            crate::ui::count(failing.len(), "test"),
            cut(&failing.join(", "), 120)
        ),
        Event::GatesEnded { story, outcome, failures, .. } => match outcome {
            GateOutcome::Passed => format!("{story} gates passed"),
            GateOutcome::None => format!("{story} has no gates"),
            GateOutcome::Failed => {
                let first = failures.first().map(String::as_str).unwrap_or_default();
                format!("{story} gates failed: {} ({} in all)", one_line(first), failures.len())
            }
        },
        Event::Rebased { story, conflicts, .. } if conflicts.is_empty() => {
            format!("{story} moved to the new head of the branch")
        }
        Event::Rebased { story, conflicts, .. } => {
            format!("{story} conflicts with another story in {}", conflicts.join(", "))
        }
        Event::UatEnded { story, gate, results, problem, .. } => match problem {
            Some(problem) => format!("{story} scenarios: {problem}"),
            None => tried(story, *gate, results),
        },
        Event::WaitEnded { .. } => "the usage limit is lifted".to_owned(),
        Event::GaveUp { story, reason, .. } => format!("{story} ends: {}", one_line(reason)),
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
        | Event::Answered { .. }
        | Event::Retried { .. }
        | Event::Approved { .. }
        | Event::Opened { .. }
        | Event::Stopped { .. }
        | Event::Ended { .. } => return None,
    })
}

/// What came of an agent, in one line.
fn concluded(end: &PhaseEnd) -> String {
    let said = cut(&one_line(&end.summary), 120);
    let Some(verdict) = end.verdict else {
        let said = if said.is_empty() { "no reason is known".to_owned() } else { said };
        let price = if end.spent.unpriced > 0 { " (cost unknown)" } else { "" };
        return format!("the agent ended without a result: {said}{price}");
    };
    if said.is_empty() { verdict.to_string() } else { format!("{verdict}: {said}") }
}

/// What came of scenarios, with the first that does not hold.
fn tried(story: &str, gate: UatGate, results: &[ScenarioResult]) -> String {
    let count = |wanted| results.iter().filter(|result| result.outcome == wanted).count();
    let passed = count(ScenarioOutcome::Passed);
    let open = count(ScenarioOutcome::NotRun);
    let first = results.iter().find(|result| result.is_wrong());
    match first {
        Some(wrong) => format!(
            "{story} scenarios ({gate}): {passed} passed, {} failed; {}: {}",
            results.len() - passed - open,
            wrong.id,
            wrong.reason
        ),
        None if open == 0 => format!("{story} scenarios ({gate}): {passed} passed"),
        None => format!("{story} scenarios ({gate}): {passed} passed, {open} not tried"),
    }
}
