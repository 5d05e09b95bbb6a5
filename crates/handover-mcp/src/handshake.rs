//! A transport that tolerates clients which speak before their handshake.
//!
//! The SDK terminates a connection whose first message is not a request. A client that cancels its first
//! request, or sends a notification too early, should not lose its server.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Drops everything but requests until the SDK knows which generation of the protocol it speaks.
pub(crate) struct LenientHandshake<T> {
    inner: T,
    established: bool,
}

impl<T> LenientHandshake<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, established: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for LenientHandshake<T> {
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
            if self.established {
                return Some(message);
            }
            if let JsonRpcMessage::Request(request) = &message {
                self.established = establishes_protocol(&request.request);
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Whether a request determines the generation: a handshake, or a self-contained request.
fn establishes_protocol(request: &ClientRequest) -> bool {
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
