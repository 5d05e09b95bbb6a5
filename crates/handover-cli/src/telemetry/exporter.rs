//! Sends what is reported while work goes on, without ever holding it up.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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

/// How much of that at a time, before it is asked whether the command ends.
const SWEEP_STEP: Duration = Duration::from_millis(500);

/// A thread that sends. What it cannot send goes to the outbox.
pub(crate) struct Exporter {
    settings: Settings,
    queue: Arc<Queue>,
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What is still to be sent. The first batch stays until the collector has answered.
#[derive(Default)]
struct Queue {
    batches: Mutex<VecDeque<Batch>>,
    /// Since when the command only waits for this.
    ending: OnceLock<Instant>,
}

impl Queue {
    fn batches(&self) -> MutexGuard<'_, VecDeque<Batch>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is left. The caller that sends the first batch does not own it any more.
    fn drain(&self) -> Vec<Batch> {
        self.batches().drain(..).collect()
    }
}

impl Exporter {
    /// None if nothing is to be reported.
    pub(crate) fn start(app: &App) -> Option<Self> {
        let settings = Settings::of(app)?;
        let (wake, woken) = channel();
        let queue = Arc::new(Queue::default());
        let thread = {
            let (settings, queue) = (settings.clone(), Arc::clone(&queue));
            std::thread::spawn(move || work(&settings, &woken, &queue))
        };
        Some(Self { settings, queue, wake: Some(wake), thread: Some(thread) })
    }

    /// Reports signals, and what was logged meanwhile.
    pub(crate) fn export(&self, mut signals: Signals) {
        signals.lines.extend(logging::take_collected());
        let batches = Batch::of(&signals, &self.settings.resource);
        if let Some(wake) = self.wake.as_ref().filter(|_| !batches.is_empty()) {
            self.queue.batches().extend(batches);
            let _ = wake.send(());
        }
    }
}

impl Drop for Exporter {
    /// Waits a moment for what is on its way. The rest goes to the outbox, even if a request is still under way: the
    /// process ends before its answer.
    fn drop(&mut self) {
        self.export(Signals::default());
        let _ = self.queue.ending.set(Instant::now());
        self.wake = None;
        let Some(thread) = self.thread.take() else { return };
        let until = Instant::now() + LAST;
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let left = self.queue.drain();
        if !left.is_empty() {
            // The next command shall not wait for it, too.
            self.settings.outbox.pause(env::now());
            keep(&self.settings, &left);
        }
    }
}

fn work(settings: &Settings, woken: &Receiver<()>, queue: &Queue) {
    let collector = settings.collector(settings.timeout());
    let mut swept = false;
    while woken.recv().is_ok() {
        send(settings, &collector, queue);
        if !std::mem::replace(&mut swept, true) {
            sweep(settings, queue);
        }
    }
}

/// Sends what waits from earlier, for a while. Requests are limited so that the last one is over when a command that
/// ends stops waiting.
fn sweep(settings: &Settings, queue: &Queue) {
    let (until, usual, hasty) =
        (Instant::now() + SWEEP, settings.collector(LAST), settings.collector(LAST / 2));
    loop {
        let (collector, is_over) = match queue.ending.get() {
            None => (&usual, Instant::now() >= until),
            Some(since) => (&hasty, since.elapsed() >= LAST / 2 - SWEEP_STEP),
        };
        if is_over || !settings.sweep(collector, SWEEP_STEP) {
            return;
        }
    }
}

/// Sends what is in the queue; what the collector does not take waits in the outbox.
fn send(settings: &Settings, collector: &Collector, queue: &Queue) {
    loop {
        if settings.outbox.is_paused(env::now()) {
            return keep(settings, &queue.drain());
        }
        let Some(batch) = queue.batches().front().cloned() else { return };
        match collector.send(&batch) {
            Sent::Accepted => {}
            Sent::Refused(status) => {
                tracing::debug!(status, "the collector refused telemetry");
            }
            Sent::Later(reason) => {
                tracing::debug!(reason, "the collector cannot be reached");
                settings.outbox.pause(env::now());
                continue;
            }
        }
        queue.batches().pop_front();
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
