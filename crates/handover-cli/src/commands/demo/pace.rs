//! The pace of a demo: pauses that a key skips, on a terminal only.
//!
//! The terminal belongs to the demo from beginning to end: keys are read while an agent works, too, and none is echoed.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{CommandError, Exit};
use crate::terminal::{Key, QuietTerminal};

/// How fast a person reads.
const PER_CHARACTER: Duration = Duration::from_millis(50);
const PER_LINE: Duration = Duration::from_millis(320);
/// Nobody waits longer than this for anything.
const LONGEST: Duration = Duration::from_secs(9);
/// How long a scripted agent takes for one step.
const AGENT_STEP: Duration = Duration::from_millis(1_100);

/// How long the terminal is read before the demo may end.
const BREATH: Duration = Duration::from_millis(100);

/// Whether and how to pause.
pub(super) struct Pace {
    keys: Option<Keys>,
}

/// The keys that are pressed during the demo.
struct Keys {
    pressed: Receiver<()>,
    wishes: Arc<Wishes>,
    reader: Option<JoinHandle<()>>,
}

/// What the keys asked for.
struct Wishes {
    is_fast: AtomicBool,
    interrupted: AtomicBool,
    is_over: AtomicBool,
    /// Exists once nobody wants to wait, so that agents hurry, too.
    hurry: PathBuf,
}

impl Wishes {
    fn go_fast(&self) {
        self.is_fast.store(true, Ordering::Relaxed);
        let _ = fs_err::write(&self.hurry, "");
    }

    /// Reads keys until the demo is over.
    fn read(&self, pressed: &Sender<()>) {
        let Some(terminal) = QuietTerminal::new() else { return };
        while !self.is_over.load(Ordering::Relaxed) {
            match terminal.key(BREATH) {
                None => {
                    std::thread::sleep(BREATH / 10);
                    continue;
                }
                Some(Key::Interrupt) => {
                    self.interrupted.store(true, Ordering::Relaxed);
                    self.go_fast();
                }
                Some(Key::Char('q') | Key::Escape) => self.go_fast(),
                Some(_) => {}
            }
            if pressed.send(()).is_err() {
                return;
            }
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.wishes.is_over.store(true, Ordering::Relaxed);
        // It restores the terminal.
        let _ = self.reader.take().map(JoinHandle::join);
    }
}

impl Pace {
    /// Slow if a person watches and did not ask otherwise. `folder` is where agents find out that they should hurry.
    pub(super) fn new(fast: bool, folder: &Path) -> Self {
        let watched = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if fast || !watched {
            return Self { keys: None };
        }
        let wishes = Arc::new(Wishes {
            is_fast: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            hurry: folder.join("hurry"),
        });
        let (sender, pressed) = channel();
        let theirs = Arc::clone(&wishes);
        let reader = std::thread::spawn(move || theirs.read(&sender));
        Self { keys: Some(Keys { pressed, wishes, reader: Some(reader) }) }
    }

    pub(super) fn is_slow(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| !keys.wishes.is_fast.load(Ordering::Relaxed))
    }

    /// The pause of a scripted agent between two steps.
    pub(super) fn agent_step(&self) -> Duration {
        if self.is_slow() { AGENT_STEP } else { Duration::ZERO }
    }

    /// The file that exists once nobody wants to wait.
    pub(super) fn hurry(&self) -> Option<&Path> {
        self.keys.as_ref().map(|keys| keys.wishes.hurry.as_path())
    }

    /// Time to read a sentence.
    pub(super) fn read(&self, text: &str) -> Result<(), CommandError> {
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.pause(PER_CHARACTER.saturating_mul(characters))
    }

    /// Time to look at this many lines.
    pub(super) fn look(&self, lines: u32) -> Result<(), CommandError> {
        self.pause(PER_LINE.saturating_mul(lines))
    }

    /// Waits, unless a key is pressed: any key ends this pause, `q` and Escape all of them.
    fn pause(&self, time: Duration) -> Result<(), CommandError> {
        let Some(keys) = &self.keys else { return Ok(()) };
        // What was pressed while an agent worked is not about this pause.
        while keys.pressed.try_recv().is_ok() {}
        if self.is_slow()
            && keys.pressed.recv_timeout(time.min(LONGEST)) == Err(RecvTimeoutError::Disconnected)
        {
            // Nobody can skip anything any more.
            std::thread::sleep(time.min(LONGEST));
        }
        if keys.wishes.interrupted.load(Ordering::Relaxed) {
            return Err(CommandError::new(
                Exit::Interrupted,
                "interrupted",
                "the demo was interrupted",
            ));
        }
        Ok(())
    }
}
