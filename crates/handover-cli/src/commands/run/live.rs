//! A run on a terminal: the board of `handover watch`, with what only the process that leads the run knows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handover_agents::CancelToken;
use handover_engine::Progress;
use handover_engine::pipeline::Voice;
use handover_engine::reducer::{Effect, Event, PhaseEnd, State};
use handover_model::{Role, RunPhase};

use super::progress::{not_stories, sentence};
use crate::app::App;
use crate::commands::watch::{Board, Ongoing, Press};
use crate::error::CommandError;

/// How much of what happened is kept for the screen.
const LOG: usize = 50;

/// The board of one run.
pub(super) struct Live<'a> {
    board: Board<'a>,
    cancel: CancelToken,
    begin: Instant,
    /// What is being done, by story.
    doing: BTreeMap<String, Vec<Doing>>,
    log: Vec<String>,
    /// What must still be known when the screen is gone.
    warnings: Vec<String>,
}

/// Something that is being done.
struct Doing {
    what: String,
    since: Instant,
    /// The last sign of life.
    activity: String,
}

impl<'a> Live<'a> {
    /// None if nobody can look at it.
    pub(super) fn open(app: &'a App, cancel: &CancelToken) -> Option<Self> {
        // A terminal that cannot show the board still shows lines.
        let board = Board::open(app).ok().flatten()?;
        let (cancel, begin) = (cancel.clone(), Instant::now());
        let (doing, log, warnings) = Default::default();
        Some(Self { board, cancel, begin, doing, log, warnings })
    }

    /// Shows what happened. False if the person wants lines instead.
    pub(super) fn progress(
        &mut self,
        state: &State,
        progress: &Progress<'_>,
    ) -> Result<bool, CommandError> {
        if matches!(progress, Progress::Started { .. }) {
            not_stories(state).into_iter().for_each(|text| self.log(text));
        }
        self.note(state, progress);
        let ongoing = self.ongoing(state);
        match self.board.turn(Duration::ZERO, &ongoing)? {
            Some(Press::Quit) => return Ok(false),
            Some(Press::Interrupt) => {
                self.log("stopping; agents at work are ended …".to_owned());
                self.cancel.cancel();
            }
            None => {}
        }
        Ok(true)
    }

    /// Gives the terminal back.
    pub(super) fn close(self, app: &App) {
        let Self { board, warnings, .. } = self;
        drop(board);
        for warning in &warnings {
            app.ui.warn(warning);
        }
    }

    fn note(&mut self, state: &State, progress: &Progress<'_>) {
        match progress {
            Progress::Started { .. } | Progress::Tick => {}
            Progress::Expects(forecast) => self.log(forecast.to_string()),
            Progress::Helping { run, leader } => {
                self.log(format!("run {run} is led by {leader}; this machine helps"));
            }
            Progress::Starting(effect) => {
                if let Some((story, what)) = doing(state, effect) {
                    let doing = Doing { what, since: Instant::now(), activity: String::new() };
                    self.doing.entry(story).or_default().push(doing);
                }
            }
            Progress::Activity { story, what } => {
                if let Some(last) = self.doing.get_mut(*story).and_then(|all| all.last_mut()) {
                    last.activity.clone_from(what);
                }
            }
            Progress::Recorded(event) => {
                if let Some(text) = sentence(state, event) {
                    self.log(text);
                }
                self.ended(state, event);
            }
            Progress::Warning(text) => {
                self.log(format!("warning: {text}"));
                self.warnings.push(text.to_string());
            }
        }
    }

    fn log(&mut self, text: String) {
        if self.log.len() == LOG {
            self.log.remove(0);
        }
        self.log.push(text);
    }

    fn ended(&mut self, state: &State, event: &Event) {
        match event {
            Event::PhaseEnded(end) => {
                let what = ended(state, end);
                if let Some(all) = self.doing.get_mut(&end.story) {
                    all.retain(|doing| doing.what != what);
                }
            }
            Event::Opened { story, .. }
            | Event::GatesEnded { story, .. }
            | Event::Rebased { story, .. }
            | Event::UatEnded { story, .. }
            | Event::GaveUp { story, .. }
            | Event::Refused { story, .. }
            | Event::Committed { story, .. }
            | Event::Parked { story, .. } => drop(self.doing.remove(story)),
            Event::Started { .. }
            | Event::WaitEnded { .. }
            | Event::BaseChecked { .. }
            | Event::Resumed { .. }
            | Event::Answered { .. }
            | Event::Retried { .. }
            | Event::Approved { .. }
            | Event::Merged { .. }
            | Event::Stopped { .. }
            | Event::Ended { .. } => {}
        }
    }

    fn ongoing(&self, state: &State) -> Ongoing {
        let how = clock(self.begin.elapsed());
        let at_work = self.doing.iter().filter(|(_, all)| !all.is_empty());
        Ongoing {
            run: Some((state.plan.epic.to_string(), how)),
            stories: at_work.map(|(story, all)| (story.clone(), at_work_on(all))).collect(),
            log: self.log.clone(),
        }
    }
}

/// What is done at the same time in one story.
fn at_work_on(all: &[Doing]) -> String {
    let names: Vec<&str> = all.iter().map(|doing| doing.what.as_str()).collect();
    let since = all.iter().map(|doing| doing.since.elapsed()).max().unwrap_or_default();
    let activity = all.iter().rev().find(|doing| !doing.activity.is_empty());
    let activity = activity.map_or("", |doing| doing.activity.as_str());
    format!("{}  {}  {activity}", names.join(", "), clock(since)).trim_end().to_owned()
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}", seconds / 60, seconds % 60)
}

fn doing(state: &State, effect: &Effect) -> Option<(String, String)> {
    match effect {
        Effect::Agent { story, phase, attempt, voice } => {
            Some((story.clone(), starting(state, story, *phase, *attempt, voice.as_ref())))
        }
        Effect::Gates { story, attempt } => Some((story.clone(), format!("gates {attempt}"))),
        Effect::Rebase { story, .. } => Some((story.clone(), "rebase".to_owned())),
        Effect::Commit { story } => Some((story.clone(), "commit".to_owned())),
        Effect::Open { story } => Some((story.clone(), "worktree".to_owned())),
        Effect::Uat { story, attempt } => Some((story.clone(), format!("scenarios {attempt}"))),
        Effect::CheckBase
        | Effect::Wait { .. }
        | Effect::GiveUp { .. }
        | Effect::Park { .. }
        | Effect::Forgo { .. }
        | Effect::Merge
        | Effect::Ask
        | Effect::Halt { .. }
        | Effect::Finish => None,
    }
}

/// An agent in few words.
pub(super) fn agent(
    phase: RunPhase,
    attempt: u32,
    voice: Option<&Voice>,
    role: Option<&Role>,
) -> String {
    match (voice, role) {
        (Some(Voice { persona, round }), _) => format!("{phase} {attempt} {persona} {round}"),
        (None, Some(role)) => format!("{phase} {attempt} ({role})"),
        (None, None) => format!("{phase} {attempt}"),
    }
}

/// The agent that starts, with its role in a team, where several roles share a phase.
pub(super) fn starting(
    state: &State,
    story: &str,
    phase: RunPhase,
    attempt: u32,
    voice: Option<&Voice>,
) -> String {
    let step = state.story(story).and_then(|unit| state.agent_of(unit, voice));
    let role = step.map(|step| step.role).filter(|_| state.plan.pipeline.flow.is_some());
    agent(phase, attempt, voice, role.as_ref())
}

/// The agent that has ended.
pub(super) fn ended(state: &State, end: &PhaseEnd) -> String {
    let role = end.role.as_ref().filter(|_| state.plan.pipeline.flow.is_some());
    agent(end.phase, end.attempt, end.voice.as_ref(), role)
}
