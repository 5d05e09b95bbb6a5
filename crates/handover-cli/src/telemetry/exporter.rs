//! Sends what is reported while work goes on, without ever holding it up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use handover_telemetry::{Batch, Collector, Sent, Signals};

use super::settings::Settings;
use crate::app::App;
use crate::env;
use crate::logging;

/// The most that a command waits at its end for what it reported.
const LAST: Duration = Duration::from_secs(2);

/// How much of the outbox is sent on the way.
const SWEEP: Duration = Duration::from_secs(5);

#[cfg(feature = "service")]
/// How often a service empties the outbox.
const SERVICE_INTERVAL: Duration = Duration::from_secs(5);

/// A thread that sends. What it cannot send goes to the outbox.
pub(crate) struct Exporter {
    settings: Settings,
    batches: Option<Sender<Vec<Batch>>>,
    /// Nothing more is sent: the rest goes to the outbox.
    hurry: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// None if nothing is to be reported.
    pub(crate) fn start(app: &App) -> Option<Self> {
        let settings = Settings::of(app)?;
        let (batches, received) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let thread = {
            let (settings, hurry) = (settings.clone(), Arc::clone(&hurry));
            std::thread::spawn(move || work(&settings, &received, &hurry))
        };
        Some(Self { settings, batches: Some(batches), hurry, thread: Some(thread) })
    }

    /// Reports signals, and what was logged meanwhile.
    pub(crate) fn export(&self, mut signals: Signals) {
        signals.lines.extend(logging::take_collected());
        let batches = Batch::of(&signals, &self.settings.resource);
        if let Some(sender) = self.batches.as_ref().filter(|_| !batches.is_empty()) {
            let _ = sender.send(batches);
        }
    }
}

impl Drop for Exporter {
    /// Waits a moment for what is on its way.
    fn drop(&mut self) {
        self.export(Signals::default());
        self.batches = None;
        let Some(thread) = self.thread.take() else { return };
        let until = Instant::now() + LAST.min(self.settings.timeout());
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.hurry.store(true, Ordering::SeqCst);
        // One request may still be on its way, for as long as its timeout says.
        let _ = thread.join();
    }
}

fn work(settings: &Settings, received: &Receiver<Vec<Batch>>, hurry: &AtomicBool) {
    let collector = settings.collector(LAST);
    let mut swept = false;
    while let Ok(batches) = received.recv() {
        let in_time = !hurry.load(Ordering::SeqCst) && !settings.outbox.is_paused(env::now());
        if !in_time {
            keep(settings, &batches);
            continue;
        }
        send(settings, &collector, &batches);
        if !std::mem::replace(&mut swept, true) {
            settings.sweep(&collector, SWEEP);
        }
    }
}

/// Sends batches; what the collector does not take waits in the outbox.
fn send(settings: &Settings, collector: &Collector, batches: &[Batch]) {
    for (at, batch) in batches.iter().enumerate() {
        match collector.send(batch) {
            Sent::Accepted => {}
            Sent::Refused(status) => {
                tracing::debug!(status, "the collector refused telemetry");
            }
            Sent::Later(reason) => {
                tracing::debug!(reason, "the collector cannot be reached");
                settings.outbox.pause(env::now());
                return keep(settings, &batches[at..]);
            }
        }
    }
}

/// Leaves batches for a later command.
pub(super) fn keep(settings: &Settings, batches: &[Batch]) {
    if let Err(error) = settings.outbox.keep(&env::unique(), batches) {
        tracing::debug!(%error, "telemetry was lost");
    }
}

/// Empties the outbox every few seconds, as long as the process lives.
#[cfg(feature = "service")]
pub(crate) fn serve(app: &App) {
    let Some(settings) = Settings::of(app) else { return };
    std::thread::spawn(move || {
        loop {
            let lines = logging::take_collected();
            if !lines.is_empty() {
                let signals = Signals { lines, ..Signals::default() };
                keep(&settings, &Batch::of(&signals, &settings.resource));
            }
            settings.sweep(&settings.collector(SWEEP), SWEEP);
            std::thread::sleep(SERVICE_INTERVAL);
        }
    });
}
