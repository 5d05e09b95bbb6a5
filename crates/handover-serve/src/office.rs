//! What every request shares, and how it gets to work on the store.

use std::sync::Arc;

use handover_mcp::{Desk, Refusal, Seat, ToolError};

/// What every request shares.
#[derive(Clone)]
pub(crate) struct Office {
    desk: Arc<dyn Desk>,
}

impl Office {
    pub(crate) fn new(desk: Arc<dyn Desk>) -> Self {
        Self { desk }
    }

    /// Works on a thread that may wait: the store is synchronous.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let desk = Arc::clone(&self.desk);
        let task = tokio::task::spawn_blocking(move || desk.as_ref().work(work));
        // A panic has told standard error already; the service goes on.
        task.await.unwrap_or_else(|_| Err(Refusal::broken("the request failed in Handover itself")))
    }
}
