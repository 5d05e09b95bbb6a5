//! What the service has done since it started, and the figures of projects that it derived a moment ago.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use handover_model::ProjectId;

/// How long figures of the store are used again.
const FRESH: Duration = Duration::from_secs(10);

/// So many projects are remembered.
const PROJECTS: usize = 32;

/// Counts for `/metrics`.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests by the first digit of their status.
    requests: [AtomicU64; 6],
    /// How long they took together.
    micros: AtomicU64,
    figures: Mutex<HashMap<ProjectId, (Instant, String)>>,
}

impl Counters {
    /// Counts a request.
    pub(crate) fn count(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).min(self.requests.len() - 1);
        self.requests[class].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Requests by the first digit of their status.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.requests.iter().map(|count| count.load(Ordering::Relaxed));
        counts.enumerate().skip(1)
    }

    /// How long all requests took together.
    pub(crate) fn seconds(&self) -> f64 {
        self.micros.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Figures of a project that were derived a moment ago.
    pub(crate) fn remembered(&self, project: &ProjectId) -> Option<String> {
        let figures = self.figures.lock().ok()?;
        let (at, text) = figures.get(project)?;
        (at.elapsed() < FRESH).then(|| text.clone())
    }

    /// Keeps the figures of a project for a moment.
    pub(crate) fn remember(&self, project: ProjectId, text: &str) {
        if let Ok(mut figures) = self.figures.lock() {
            figures.retain(|_, (at, _)| at.elapsed() < FRESH);
            if figures.len() < PROJECTS {
                figures.insert(project, (Instant::now(), text.to_owned()));
            }
        }
    }
}
