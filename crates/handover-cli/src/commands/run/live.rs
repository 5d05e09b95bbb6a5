//! A run as a tree on a terminal, drawn again whenever something happens.

use std::time::{Duration, Instant};

use handover_engine::Progress;
use handover_engine::reducer::{Effect, State, StoryRun};
use handover_model::StoryState;

use super::progress::sentence;
use crate::app::App;

/// How often the tree is drawn at most.
const PACE: Duration = Duration::from_millis(100);

/// What is on the screen.
#[derive(Default)]
pub(super) struct Live {
    /// How many lines of it.
    lines: usize,
    drawn: Option<Instant>,
    begin: Option<Instant>,
    /// What is being done, for which story, since when.
    doing: Option<(String, String, Instant)>,
    /// The last sign of life.
    activity: String,
}

impl Live {
    pub(super) fn progress(&mut self, app: &App, state: &State, progress: &Progress<'_>) {
        self.begin.get_or_insert_with(Instant::now);
        let mut above = None;
        match progress {
            Progress::Begun { .. } => {}
            Progress::Doing(effect) => {
                self.activity.clear();
                self.doing = doing(effect).map(|(story, what)| (story, what, Instant::now()));
            }
            Progress::Activity { what, .. } => self.activity.clone_from(what),
            Progress::Done(event) => above = sentence(event),
            Progress::Warning(text) => above = Some(format!("warning: {text}")),
        }
        let is_sign_of_life = matches!(progress, Progress::Activity { .. });
        if is_sign_of_life && self.drawn.is_some_and(|drawn| drawn.elapsed() < PACE) {
            return;
        }
        self.draw(app, state, above);
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
        // Of many stories those around the one at work are shown.
        let at = state.stories.iter().position(|story| story.state == StoryState::Running);
        let first =
            at.unwrap_or(0).saturating_sub(most / 2).min(state.stories.len().saturating_sub(most));
        lines.extend(state.stories.iter().skip(first).take(most).map(|story| self.line(story)));
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
        let rest = match &self.doing {
            Some((of, what, since)) if of == id && story.state == StoryState::Running => {
                format!(
                    "{what}  {}  ${:.2}  {}",
                    clock(since.elapsed()),
                    story.spent().cost_usd,
                    self.activity
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
        Effect::Agent { story, phase, attempt } => {
            Some((story.clone(), format!("{phase} {attempt}")))
        }
        Effect::Gates { story, attempt } => Some((story.clone(), format!("gates {attempt}"))),
        Effect::Commit { story } => Some((story.clone(), "commit".to_owned())),
        Effect::Open { story } => Some((story.clone(), "worktree".to_owned())),
        Effect::Park { .. } | Effect::Merge | Effect::Halt { .. } | Effect::Finish => None,
    }
}
