//! The terminal's second screen: a scene that follows the store, and the keys that the viewer presses.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use handover_model::ReceiptId;

use super::render::{View, screen, wrapped};
use super::scene::{self, Ongoing, Scene};
use crate::app::App;
use crate::commands::receipt;
use crate::error::{CommandError, io as io_error};
use crate::terminal::{Key, QuietTerminal};

/// How often the picture is renewed if nothing changed, for the times in it.
const RENEWAL: Duration = Duration::from_secs(10);

/// How often the store is read at most, however much happens.
const PACE: Duration = Duration::from_millis(200);

/// A key that the caller handles.
pub(crate) enum Press {
    /// Enough seen.
    Quit,
    /// Ctrl-C.
    Interrupt,
}

/// The board; the terminal is as before when it is dropped.
pub(crate) struct Board<'a> {
    app: &'a App,
    // Dropped in this order: first the screen, then the settings of the terminal.
    screen: Screen,
    terminal: QuietTerminal,
    view: View,
    scene: Scene,
    /// What the feed said last, and when the scene was read.
    seen: Option<(u64, Instant)>,
    /// What is on the screen.
    shown: String,
}

impl<'a> Board<'a> {
    /// None without a terminal for both keys and picture.
    pub(crate) fn open(app: &'a App) -> Result<Option<Self>, CommandError> {
        if !io::stdout().is_terminal() {
            return Ok(None);
        }
        let Some(terminal) = QuietTerminal::new() else { return Ok(None) };
        Ok(Some(Self {
            app,
            screen: Screen::open()?,
            terminal,
            view: View::default(),
            scene: Scene::default(),
            seen: None,
            shown: String::new(),
        }))
    }

    /// Draws what there is and waits for a key, not longer than this.
    pub(crate) fn turn(
        &mut self,
        wait: Duration,
        ongoing: &Ongoing,
    ) -> Result<Option<Press>, CommandError> {
        self.read()?;
        self.draw(ongoing)?;
        match self.terminal.key(wait) {
            Some(Key::Char('q')) => return Ok(Some(Press::Quit)),
            Some(Key::Interrupt) => return Ok(Some(Press::Interrupt)),
            Some(key) => {
                self.pressed(key)?;
                self.draw(ongoing)?;
            }
            None => {}
        }
        Ok(None)
    }

    fn read(&mut self) -> Result<(), CommandError> {
        if self.seen.is_some_and(|(_, at)| at.elapsed() < PACE) {
            return Ok(());
        }
        let last = self.app.store()?.feed_span()?.last;
        if self.seen.is_none_or(|(seen, at)| seen != last || at.elapsed() > RENEWAL) {
            self.scene = scene::collect(self.app)?;
            self.seen = Some((last, Instant::now()));
        }
        Ok(())
    }

    fn pressed(&mut self, key: Key) -> Result<(), CommandError> {
        let agents: Vec<&ReceiptId> = self
            .scene
            .sessions
            .iter()
            .flat_map(|lane| &lane.agents)
            .map(|agent| &agent.receipt)
            .collect();
        let page = self.app.ui.size().1.saturating_sub(3);
        let moved = |at: usize, last: usize| match key {
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => (at + 1).min(last),
            Key::PageUp => at.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => (at + page).min(last),
            Key::Char(_) | Key::Enter | Key::Escape | Key::Interrupt | Key::Other => at,
        };
        if let Some((lines, first)) = &mut self.view.opened {
            *first = moved(*first, lines.len().saturating_sub(page));
            if matches!(key, Key::Escape | Key::Enter) {
                self.view.opened = None;
            }
            return Ok(());
        }
        self.view.chosen =
            moved(self.view.chosen.min(agents.len()), agents.len().saturating_sub(1));
        if let (Key::Enter, Some(id)) = (key, agents.get(self.view.chosen)) {
            let lines = receipt_lines(self.app, id)?;
            let width = self.app.ui.size().0;
            let lines = lines.iter().flat_map(|line| wrapped(line, width)).collect();
            self.view.opened = Some((lines, 0));
        }
        Ok(())
    }

    fn draw(&mut self, ongoing: &Ongoing) -> Result<(), CommandError> {
        let lines = screen(&self.scene, ongoing, &self.view, self.app.now(), self.app.ui.size());
        let painted: Vec<String> = lines.iter().map(|line| line.paint(self.screen.color)).collect();
        let frame = format!("\x1b[H{}\x1b[K\x1b[J", painted.join("\x1b[K\n"));
        if frame != self.shown {
            self.screen.write(&frame)?;
            self.shown = frame;
        }
        Ok(())
    }
}

/// A receipt as `receipt show` prints it, then the text itself.
fn receipt_lines(app: &App, id: &ReceiptId) -> Result<Vec<String>, CommandError> {
    let receipt = app.store()?.receipt(id)?;
    let mut lines = receipt::lines(app, &receipt)?;
    if let Some(text) = &receipt.text {
        lines.extend([String::new(), "What it read:".to_owned(), String::new()]);
        lines.extend(text.lines().map(str::to_owned));
    }
    Ok(lines)
}

/// The terminal's second screen, so that the first one is as before at the end.
struct Screen {
    color: bool,
}

impl Screen {
    fn open() -> Result<Self, CommandError> {
        let color = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let screen = Self { color };
        screen.write("\x1b[?1049h\x1b[?25l")?;
        Ok(screen)
    }

    fn write(&self, text: &str) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| io_error(&error))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.write("\x1b[?25h\x1b[?1049l");
    }
}
