//! A conversation starts, or goes on with an empty window.

use super::input;
use crate::call::{Event, Source};

input! {
    /// `SessionStart`
    {
        /// startup, resume, clear, compact, fork.
        source: Option<String>,
    }
}

impl Input {
    fn into_event(self) -> Event {
        Event::Opened(Source::named(self.source.as_deref()))
    }
}
