//! Draws a scene as lines of a terminal: a function from data to text, whatever the size.

use anstyle::{AnsiColor, Style};
use handover_engine::Price;
use handover_model::{ReceiptState, Timestamp};
use handover_text::cut::one_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::scene::{AgentLane, Ongoing, RunLane, Scene, SessionLane, StoryLane};
use crate::commands::run::waiting;
use crate::ui::single_line;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const ASKS: Style = AnsiColor::Yellow.on_default().bold();

/// A line of the screen, in parts of one style each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Style, String)>);

impl Line {
    fn of(style: Style, text: impl Into<String>) -> Self {
        Self::default().with(style, text)
    }

    /// Adds text, which may come from an agent: nothing in it may steer the terminal.
    fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, single_line(text.into())));
        self
    }

    /// Cuts the line to a width.
    fn fit(mut self, width: usize) -> Self {
        let mut room = width;
        for (_, text) in &mut self.0 {
            if text.width() <= room {
                room -= text.width();
                continue;
            }
            let mut kept = String::new();
            for character in text.chars() {
                let wide = character.width().unwrap_or(0);
                // One column is for the ellipsis.
                if wide + 1 > room {
                    break;
                }
                room -= wide;
                kept.push(character);
            }
            if room > 0 {
                kept.push('…');
            }
            room = 0;
            *text = kept;
        }
        self
    }

    /// The line for a terminal, with or without color.
    pub(super) fn paint(&self, color: bool) -> String {
        let part = |(style, text): &(Style, String)| {
            if color { format!("{style}{text}{style:#}") } else { text.clone() }
        };
        self.0.iter().map(part).collect()
    }
}

/// What the person who watches has chosen.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The chosen agent, counted over all sessions.
    pub(super) chosen: usize,
    /// A text that covers the lanes, and its first line on the screen.
    pub(super) opened: Option<(Vec<String>, usize)>,
}

/// The whole screen: exactly `height` lines, none wider than `width`.
pub(super) fn screen(
    scene: &Scene,
    ongoing: &Ongoing,
    view: &View,
    now: Timestamp,
    (width, height): (usize, usize),
) -> Vec<Line> {
    let log = if view.opened.is_some() { &[] } else { last(&ongoing.log, height / 5) };
    let room = height.saturating_sub(2 + log.len());
    let (body, keys) = match &view.opened {
        Some((lines, first)) => {
            let first = (*first).min(lines.len().saturating_sub(room));
            let shown = lines.iter().skip(first).map(|line| Line::of(PLAIN, line.as_str()));
            (shown.take(room).collect(), "↑↓ scroll · Esc back · q quit")
        }
        None => (window(lanes(scene, ongoing, view, now), room), keys(ongoing)),
    };
    let mut lines = vec![header(scene)];
    lines.extend(body);
    lines.resize(height.saturating_sub(1 + log.len()), Line::default());
    lines.extend(log.iter().map(|text| Line::of(DIM, text.as_str())));
    lines.push(Line::of(DIM, keys));
    lines.truncate(height);
    lines.into_iter().map(|line| line.fit(width)).collect()
}

/// What can be done where the lanes are shown.
fn keys(ongoing: &Ongoing) -> &'static str {
    match ongoing.run {
        Some(_) => "↑↓ choose an agent · Enter its receipt · q lines instead · Ctrl-C stop the run",
        None => "↑↓ choose an agent · Enter its receipt · q quit",
    }
}

fn last(lines: &[String], most: usize) -> &[String] {
    &lines[lines.len().saturating_sub(most)..]
}

/// Breaks a text into lines of at most this width, between words where it can.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            lines.push(String::new());
            used = 0;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            if used > 0 && used + wide > width && character != ' ' {
                lines.push(String::new());
                used = 0;
            }
            used += wide;
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
        }
    }
    lines
}

/// All lanes, of any length.
pub(super) fn everything(scene: &Scene, now: Timestamp) -> Vec<Line> {
    let view = View { chosen: usize::MAX, opened: None };
    let lanes = lanes(scene, &Ongoing::default(), &view, now).into_iter().map(|(line, _)| line);
    std::iter::once(header(scene)).chain(lanes).collect()
}

fn header(scene: &Scene) -> Line {
    let agents: usize = scene.sessions.iter().map(|session| session.agents.len()).sum();
    let cost: Price = scene.runs.iter().map(|run| run.price).sum();
    let asked =
        scene.runs.iter().flat_map(|run| &run.stories).filter(|story| !story.question.is_empty());
    let line = Line::of(BOLD, format!("Handover · {}", scene.project)).with(
        DIM,
        format!(
            "  {} · {} · {}",
            plural(scene.runs.len(), "run"),
            plural(agents, "agent"),
            cost.short()
        ),
    );
    match asked.count() {
        0 => line,
        count => line.with(ASKS, format!("  {} for you", plural(count, "question"))),
    }
}

/// The lines of all lanes; true for those of the chosen agent.
fn lanes(scene: &Scene, ongoing: &Ongoing, view: &View, now: Timestamp) -> Vec<(Line, bool)> {
    let mut lines: Vec<(Line, bool)> = Vec::new();
    let nothing = Ongoing::default();
    let mut led = ongoing.run.as_ref().map(|(epic, _)| epic);
    for run in &scene.runs {
        // Of several runs of an epic the first is the latest.
        let is_led = led.take_if(|epic| **epic == run.epic).is_some();
        let ongoing = if is_led { ongoing } else { &nothing };
        lines.extend(run_lines(run, ongoing, now).into_iter().map(|line| (line, false)));
    }
    let mut nth = 0;
    for session in &scene.sessions {
        lines.push((Line::default(), false));
        lines.push((session_line(session), false));
        for agent in &session.agents {
            let chosen = nth == view.chosen;
            lines.extend(agent_lines(agent, chosen, now).into_iter().map(|line| (line, chosen)));
            nth += 1;
        }
    }
    if scene.runs.is_empty() && scene.sessions.is_empty() {
        let text = "Nothing to watch yet: `handover session new NAME` or `handover run EPIC` begins something.";
        lines.push((Line::of(DIM, text), false));
    }
    lines
}

/// As many lines as there is room for, the chosen ones among them.
fn window(lines: Vec<(Line, bool)>, room: usize) -> Vec<Line> {
    let last = lines.iter().rposition(|(_, chosen)| *chosen).unwrap_or(0);
    let first = (last + 2).saturating_sub(room).min(lines.len().saturating_sub(room));
    lines.into_iter().skip(first).take(room).map(|(line, _)| line).collect()
}

fn run_lines(run: &RunLane, ongoing: &Ongoing, now: Timestamp) -> Vec<Line> {
    let done = run.stories.iter().filter(|story| story.state == "done").count();
    let mut head = Line::of(BOLD, format!("RUN epic {}", run.epic))
        .with(style_of(&run.state), format!("  {}", run.state))
        .with(DIM, format!("  {done} of {} done  {}", run.stories.len(), run.price.short()));
    if let Some((_, how)) = &ongoing.run {
        head = head.with(DIM, format!("  {how}"));
    }
    let mut lines = vec![Line::default(), head];
    if let Some(until) = run.waits_until {
        let minutes = (until.as_micros() - now.as_micros()).max(0) / 60_000_000;
        let left = format!("  in {} min: {}", minutes + 1, waiting(until));
        lines.push(Line::of(ASKS, left));
    }
    for story in &run.stories {
        lines.extend(story_lines(story, ongoing.stories.get(&story.id)));
    }
    lines
}

fn story_lines(story: &StoryLane, doing: Option<&String>) -> Vec<Line> {
    let mark = match story.state.as_str() {
        "running" => "▸",
        "done" => "✓",
        "failed" => "✗",
        "blocked" => "■",
        "skipped" => "–",
        _ => "·",
    };
    let mut line = Line::of(style_of(&story.state), format!("  {mark} "))
        .with(PLAIN, format!("{:<24}", story.id))
        .with(DIM, format!(" {:<7}", story.price.short()));
    for (step, verdict) in &story.steps {
        let (sign, style) = match verdict.as_str() {
            "complete" | "passed" | "passed_with_fixes" => ("✓", GOOD),
            "" => ("…", DIM),
            _ => ("✗", BAD),
        };
        line = line.with(style, format!(" {step}{sign}"));
    }
    let mut lines = vec![line];
    lines.extend(doing.map(|doing| Line::of(PLAIN, format!("    {}", one_line(doing)))));
    if !story.question.is_empty() {
        lines.push(Line::of(ASKS, format!("    ? {}", one_line(&story.question))));
        lines.push(Line::of(DIM, format!("      handover run answer {} \"…\" --resume", story.id)));
    } else if !story.reason.is_empty() && story.state != "done" {
        lines.push(Line::of(DIM, format!("    {}", one_line(&story.reason))));
    }
    lines
}

fn session_line(session: &SessionLane) -> Line {
    let count = usize::try_from(session.packages).unwrap_or(usize::MAX);
    Line::of(BOLD, format!("SESSION {}", session.id)).with(
        DIM,
        format!("  {}, {}", plural(session.agents.len(), "agent"), plural(count, "package")),
    )
}

fn agent_lines(agent: &AgentLane, chosen: bool, now: Timestamp) -> Vec<Line> {
    let (mark, style) = match agent.state {
        ReceiptState::Confirmed => ("●", GOOD),
        ReceiptState::Delivered => ("○", GOOD),
        ReceiptState::Assembled => ("◌", DIM),
        ReceiptState::Failed => ("✗", BAD),
    };
    let who = agent.group.as_ref().map_or_else(String::new, |group| format!(" · {group}"));
    let got: Vec<String> =
        agent.got.iter().map(|(kind, count)| plural(*count, kind.as_str())).collect();
    let got = if got.is_empty() { "nothing from others".to_owned() } else { got.join(", ") };
    let used = agent.used.filter(|used| used.tokens > 0).map_or_else(String::new, |used| {
        format!(", used {} %", used.used_tokens * 100 / used.tokens)
    });
    let name = if chosen { BOLD } else { PLAIN };
    let mut lines = vec![
        Line::of(BOLD, if chosen { "> " } else { "  " })
            .with(style, format!("{mark} "))
            .with(name, format!("{}{who}", agent.role.replace('_', " ")))
            .with(DIM, format!("  {}  {} tokens", ago(now, agent.at), agent.tokens))
            .with(DIM, format!("  got {got}{used}")),
    ];
    if let Some((verdict, summary)) = &agent.said {
        lines.push(
            Line::of(style_of(verdict), format!("      {verdict}"))
                .with(PLAIN, format!("  {}", one_line(summary))),
        );
    }
    lines
}

/// The color of a state or verdict.
fn style_of(word: &str) -> Style {
    match word {
        "done" | "complete" | "passed" | "passed_with_fixes" => GOOD,
        "failed" | "retry" | "not started" => BAD,
        "blocked" | "escalate" | "environment" | "budget" => ASKS,
        _ => PLAIN,
    }
}

fn plural(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, "reasoning") => "1 piece of reasoning".to_owned(),
        (1, _) => format!("1 {noun}"),
        (_, "reasoning") => format!("{count} pieces of reasoning"),
        (_, "strategy") => format!("{count} strategies"),
        _ => format!("{count} {noun}s"),
    }
}

fn ago(now: Timestamp, then: Timestamp) -> String {
    let seconds = (now.as_micros() - then.as_micros()).max(0) / 1_000_000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
