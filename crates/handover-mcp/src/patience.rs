//! A transport that lets a conversation begin in any order.
//!
//! The SDK ends a conversation that begins with anything but a request. A client that cancels its
//! first request, or is early with a notification, should not lose its server.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Keeps back what is no request until the SDK knows which generation it talks to.
pub(crate) struct Patient<T> {
    inner: T,
    begun: bool,
}

impl<T> Patient<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if self.begun {
                return Some(message);
            }
            if let JsonRpcMessage::Request(request) = &message {
                self.begun = begins(&request.request);
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Whether a request settles the generation: a handshake, or one that says everything about itself.
fn begins(request: &ClientRequest) -> bool {
    if matches!(request, ClientRequest::InitializeRequest(_)) {
        return true;
    }
    let meta = request.get_meta();
    !matches!(request, ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_))
        && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        && meta
            .protocol_version()
            .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}
