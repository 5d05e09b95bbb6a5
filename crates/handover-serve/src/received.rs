//! A request's body that says when all of it has arrived.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::connections::ConnectionPermit;

/// The body of a request on a connection that waits for the rest of it.
pub(crate) struct Received {
    body: Incoming,
    connection: Arc<ConnectionPermit>,
}

impl Received {
    pub(crate) fn new(body: Incoming, connection: Arc<ConnectionPermit>) -> Self {
        if body.is_end_stream() {
            connection.works();
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
            self.connection.works();
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
