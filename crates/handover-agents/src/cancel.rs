//! How a run is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a run to stop, from another thread or a signal handler; clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    stop: Arc<AtomicBool>,
    now: Arc<AtomicBool>,
}

impl CancelToken {
    /// Ends the agent, with a short grace.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the agent without any grace, as a second Ctrl-C asks for.
    pub fn force(&self) {
        self.cancel();
        self.now.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the run is to stop without any grace.
    pub fn is_forced(&self) -> bool {
        self.now.load(Ordering::Relaxed)
    }

    /// The flag that a signal handler sets to cancel.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The flag that a signal handler sets, besides the other one, to force.
    pub fn force_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.now)
    }
}
