//! `handover watch`

mod render;
mod scene;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use handover_engine::stats::use_of;
use handover_model::{ItemKind, PackageId, Receipt, ReceiptId};
use handover_store::Store;
use signal_hook::consts::{SIGHUP, SIGTERM};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io as io_error};
use crate::terminal::{Key, QuietTerminal};
use render::{View, everything, screen, wrapped};
use scene::Scene;

/// Watch agents at work: runs, sessions, what each agent got and said
///
/// Updates by itself. The arrow keys choose an agent and Enter shows its receipt; questions that only a person can
/// decide are shown with the command that answers them. Without a terminal, prints everything once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover watch\n  handover watch --once")]
pub(crate) struct WatchArgs {
    /// Print everything once instead
    #[arg(long)]
    once: bool,
}

/// How long a key is waited for before the store is asked what changed.
const TICK: Duration = Duration::from_millis(300);
/// How often the picture is renewed if nothing changed, for the times in it.
const RENEWAL: Duration = Duration::from_secs(10);

pub(crate) fn run(app: &App, args: WatchArgs) -> Outcome {
    if app.ui.is_json() {
        return Err(CommandError::new(Exit::Usage, "usage", "this view has no JSON output")
            .hinted("`handover status --json` and `handover receipt list --json` have the data."));
    }
    let terminal = QuietTerminal::new().filter(|_| io::stdout().is_terminal() && !args.once);
    let Some(terminal) = terminal else {
        for line in everything(&scene::collect(app)?, app.now()) {
            app.ui.line(line.paint(false))?;
        }
        return Ok(Exit::Done);
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| io_error(&error))?;
    }
    let screen = Screen::open()?;
    Watch { app, screen, view: View::default(), shown: String::new() }.go(&terminal, &stop)
}

/// A person who watches.
struct Watch<'a> {
    app: &'a App,
    screen: Screen,
    view: View,
    /// What is on the screen.
    shown: String,
}

impl Watch<'_> {
    fn go(mut self, terminal: &QuietTerminal, stop: &AtomicBool) -> Outcome {
        let store = self.app.store()?;
        let mut seen = None;
        let mut scene = Scene::default();
        let mut read = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let last = store.feed_span()?.last;
            if seen != Some(last) || read.elapsed() > RENEWAL {
                scene = scene::collect(self.app)?;
                (seen, read) = (Some(last), Instant::now());
            }
            self.draw(&scene)?;
            match terminal.key(TICK) {
                Some(Key::Char('q') | Key::Interrupt) => return Ok(Exit::Done),
                Some(key) => self.pressed(key, &scene)?,
                None => {}
            }
        }
        Ok(Exit::Interrupted)
    }

    fn pressed(&mut self, key: Key, scene: &Scene) -> Result<(), CommandError> {
        let agents: Vec<&ReceiptId> = scene
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
            let store = self.app.store()?;
            let lines = receipt_lines(store, &store.receipt(id)?);
            let width = self.app.ui.size().0;
            let lines = lines.iter().flat_map(|line| wrapped(line, width)).collect();
            self.view.opened = Some((lines, 0));
        }
        Ok(())
    }

    fn draw(&mut self, scene: &Scene) -> Result<(), CommandError> {
        let lines = screen(scene, &self.view, self.app.now(), self.app.ui.size());
        let painted: Vec<String> = lines.iter().map(|line| line.paint(self.screen.color)).collect();
        let frame = format!("\x1b[H{}\x1b[K\x1b[J", painted.join("\x1b[K\n"));
        if frame == self.shown {
            return Ok(());
        }
        self.screen.write(&frame)?;
        self.shown = frame;
        Ok(())
    }
}

/// A receipt for reading: what the agent got and what was left out, then the text itself.
fn receipt_lines(store: &dyn Store, receipt: &Receipt) -> Vec<String> {
    let name = |kind: ItemKind, id: &str| {
        let package = (kind == ItemKind::Package)
            .then(|| id.parse::<PackageId>().ok())
            .flatten()
            .and_then(|id| store.package(id).ok());
        match package {
            Some(package) => format!("{kind} {id}  {}", package.title.unwrap_or(package.path)),
            None => format!("{kind} {id}"),
        }
    };
    let mut lines = vec![
        format!("Receipt {}", receipt.id),
        format!(
            "{} in session {}, {}, {} tokens",
            receipt.role, receipt.session, receipt.state, receipt.tokens
        ),
        String::new(),
        "Got:".to_owned(),
    ];
    lines.extend(receipt.items.iter().map(|item| {
        let used = item.used.map(|used| format!(", {used}")).unwrap_or_default();
        format!("  {}  ({}, {} tokens{used})", name(item.kind, &item.id), item.form, item.tokens)
    }));
    if let Some(uses) = use_of(receipt) {
        lines.push(format!("  of {} tokens, {} were used", uses.tokens, uses.used_tokens));
    }
    if receipt.items.is_empty() {
        lines.push("  nothing from others".to_owned());
    }
    if !receipt.left_out.is_empty() {
        lines.extend([String::new(), "Left out:".to_owned()]);
        lines.extend(
            receipt
                .left_out
                .iter()
                .map(|left| format!("  {}: {}", name(left.kind, &left.id), left.reason)),
        );
    }
    if let Some(text) = &receipt.text {
        lines.extend([String::new(), "What it read:".to_owned(), String::new()]);
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
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
