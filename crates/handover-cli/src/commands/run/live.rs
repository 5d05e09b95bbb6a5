//! A run on a terminal: the board of `handover watch`, with what only the process that leads the run knows.

use std::time::{Duration, Instant};

use handover_agents::CancelToken;
use handover_engine::Progress;
use handover_engine::pipeline::Voice;
use handover_engine::reducer::{PhaseEnd, State};
use handover_model::{Role, RunPhase};

use super::at_work::{AtWork, clock};
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
    at_work: AtWork,
    log: Vec<String>,
    /// What must still be known when the screen is gone.
    warnings: Vec<String>,
}

impl<'a> Live<'a> {
    /// None if nobody can look at it.
    pub(super) fn open(app: &'a App, cancel: &CancelToken) -> Option<Self> {
        // A terminal that cannot show the board still shows lines.
        let board = Board::open(app).ok().flatten()?;
        let (cancel, begin) = (cancel.clone(), Instant::now());
        let (at_work, log, warnings) = Default::default();
        Some(Self { board, cancel, begin, at_work, log, warnings })
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
        self.at_work.follow(state, progress);
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
            Progress::Started { .. }
            | Progress::Starting(_)
            | Progress::Activity { .. }
            | Progress::Tick => {}
            Progress::Expects(forecast) => self.log(forecast.to_string()),
            Progress::Helping { run, leader } => {
                self.log(format!("run {run} is led by {leader}; this machine helps"));
            }
            Progress::Recorded(event) => {
                if let Some(text) = sentence(state, event) {
                    self.log(text);
                }
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

    fn ongoing(&self, state: &State) -> Ongoing {
        let how = clock(self.begin.elapsed());
        Ongoing {
            run: Some((state.plan.epic.to_string(), how)),
            stories: self.at_work.stories(),
            log: self.log.clone(),
        }
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
