//! Canceling a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a run to stop, from another thread or a signal handler; clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    stop: Arc<AtomicBool>,
    now: Arc<AtomicBool>,
}

impl CancelToken {
    /// Stops the agent after a short grace period.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Stops the agent immediately, as a second Ctrl-C does.
    pub fn force(&self) {
        self.cancel();
        self.now.store(true, Ordering::Relaxed);
    }

    /// Whether the run should stop.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the run should stop immediately.
    pub fn is_forced(&self) -> bool {
        self.now.load(Ordering::Relaxed)
    }

    /// The flag a signal handler sets to cancel.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The flag a signal handler sets, in addition to the other one, to force.
    pub fn force_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(token: &CancelToken) -> (bool, bool) {
        (token.is_cancelled(), token.is_forced())
    }

    #[test]
    fn clones_share_their_state_and_forcing_cancels() {
        let token = CancelToken::default();
        let other = token.clone();
        assert_eq!(state(&other), (false, false));
        token.cancel();
        assert_eq!(state(&other), (true, false));
        other.force();
        assert_eq!(state(&token), (true, true));
    }

    #[test]
    fn signal_handlers_set_the_same_flags() {
        let token = CancelToken::default();
        token.flag().store(true, Ordering::Relaxed);
        assert_eq!(state(&token), (true, false));
        token.force_flag().store(true, Ordering::Relaxed);
        assert_eq!(state(&token), (true, true));
        assert_eq!(state(&CancelToken::default()), (false, false));
    }
}
