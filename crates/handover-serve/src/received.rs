//! A request body that reports when it has arrived completely.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::connections::ConnectionPermit;

/// The body of a request whose connection is idle until all of it has arrived.
pub(crate) struct Received {
    body: Incoming,
    connection: Arc<ConnectionPermit>,
}

impl Received {
    pub(crate) fn new(body: Incoming, connection: Arc<ConnectionPermit>) -> Self {
        if body.is_end_stream() {
            connection.mark_busy();
        }
        Self { body, connection }
    }
}

impl Body for Received {
    type Data = <Incoming as Body>::Data;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.connection.mark_busy();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
