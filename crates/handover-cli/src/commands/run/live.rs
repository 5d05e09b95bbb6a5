//! A run as a tree on a terminal, drawn again whenever something happens.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handover_engine::Progress;
use handover_engine::pipeline::Voice;
use handover_engine::reducer::{Effect, Event, State, StoryRun};
use handover_model::{RunPhase, StoryState};

use super::progress::{sentence, waiting};
use crate::app::App;

/// How often the tree is drawn at most.
const PACE: Duration = Duration::from_millis(100);

const SECOND: Duration = Duration::from_secs(1);

/// What is on the screen.
#[derive(Default)]
pub(super) struct Live {
    /// How many lines of it.
    lines: usize,
    drawn: Option<Instant>,
    begin: Option<Instant>,
    /// What is being done, by story.
    doing: BTreeMap<String, Vec<Doing>>,
}

/// Something that is being done.
struct Doing {
    what: String,
    since: Instant,
    /// The last sign of life.
    activity: String,
}

impl Live {
    pub(super) fn progress(&mut self, app: &App, state: &State, progress: &Progress<'_>) {
        self.begin.get_or_insert_with(Instant::now);
        let mut above = None;
        match progress {
            Progress::Started { .. } => {}
            // The clock moves although nobody says anything.
            Progress::Tick if self.drawn.is_some_and(|drawn| drawn.elapsed() < SECOND) => return,
            Progress::Tick => {}
            Progress::Expects(forecast) => above = Some(forecast.to_string()),
            Progress::Helping { run, leader } => {
                above = Some(format!("run {run} is led by {leader}; this machine helps"));
            }
            Progress::Starting(effect) => {
                if let Some((story, what)) = doing(effect) {
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
                above = sentence(event);
                self.ended(event);
            }
            Progress::Warning(text) => above = Some(format!("warning: {text}")),
        }
        let is_sign_of_life = matches!(progress, Progress::Activity { .. });
        if is_sign_of_life && self.drawn.is_some_and(|drawn| drawn.elapsed() < PACE) {
            return;
        }
        self.draw(app, state, above);
    }

    fn ended(&mut self, event: &Event) {
        match event {
            Event::PhaseEnded(end) => {
                let what = agent(end.phase, end.attempt, end.voice.as_ref());
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
            | Event::Merged { .. }
            | Event::Stopped { .. }
            | Event::Ended { .. } => {}
        }
    }

    /// Draws the tree over the former one; what has happened stays above it.
    fn draw(&mut self, app: &App, state: &State, above: Option<String>) {
        let mut lines: Vec<String> = above.into_iter().collect();
        let kept = lines.len();
        let (width, height) = app.ui.size();
        lines.extend(self.tree(state, height.saturating_sub(4).max(3)));
        app.ui.redraw(self.lines, &lines, width);
        self.lines = lines.len() - kept;
        self.drawn = Some(Instant::now());
    }

    fn tree(&self, state: &State, most: usize) -> Vec<String> {
        let elapsed = self.begin.map_or(Duration::ZERO, |begin| begin.elapsed());
        let done = state.stories.iter().filter(|story| story.state == StoryState::Done).count();
        let mut lines = vec![format!(
            "epic {}  {done}/{} done  {}  ${:.2}",
            state.plan.epic,
            state.stories.len(),
            clock(elapsed),
            state.spent().cost_usd
        )];
        lines.extend(state.waits_until.map(waiting));
        // Of many stories those around the one at work are shown.
        let at = state.stories.iter().position(|story| story.state == StoryState::Running);
        let first =
            at.unwrap_or(0).saturating_sub(most / 2).min(state.stories.len().saturating_sub(most));
        lines.extend(state.stories.iter().skip(first).take(most).map(|story| self.line(story)));
        let closing = state.closing.iter().filter(|closing| closing.state != StoryState::Pending);
        lines.extend(closing.map(|closing| self.line(closing)));
        lines
    }

    fn line(&self, story: &StoryRun) -> String {
        let mark = match story.state {
            StoryState::Pending => "·",
            StoryState::Running => "▸",
            StoryState::Done => "✓",
            StoryState::Failed => "✗",
            StoryState::Blocked => "■",
            StoryState::Skipped => "–",
        };
        let id = &story.planned.id;
        let at_work = self.doing.get(id).filter(|all| !all.is_empty());
        let rest = match at_work {
            Some(all) if story.state == StoryState::Running => {
                let names: Vec<&str> = all.iter().map(|doing| doing.what.as_str()).collect();
                let since = all.iter().map(|doing| doing.since.elapsed()).max();
                let activity = all.iter().rev().find(|doing| !doing.activity.is_empty());
                format!(
                    "{}  {}  ${:.2}  {}",
                    names.join(", "),
                    clock(since.unwrap_or_default()),
                    story.spent().cost_usd,
                    activity.map_or("", |doing| doing.activity.as_str())
                )
            }
            Some(_) | None => story.reason.clone(),
        };
        format!("{mark} {id}  {rest}").trim_end().to_owned()
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}", seconds / 60, seconds % 60)
}

fn doing(effect: &Effect) -> Option<(String, String)> {
    match effect {
        Effect::Agent { story, phase, attempt, voice } => {
            Some((story.clone(), agent(*phase, *attempt, voice.as_ref())))
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
pub(super) fn agent(phase: RunPhase, attempt: u32, voice: Option<&Voice>) -> String {
    match voice {
        Some(Voice { persona, round }) => format!("{phase} {attempt} {persona} {round}"),
        None => format!("{phase} {attempt}"),
    }
}
