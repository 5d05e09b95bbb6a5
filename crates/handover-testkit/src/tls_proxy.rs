//! A TLS proxy in front of a service, as on a real network.

use std::path::Path;
use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// A proxy on loopback; stops when dropped.
pub struct TlsProxy {
    /// Its URL with the host name `localhost`.
    pub url: String,
    authority: tempfile::NamedTempFile,
    runtime: Option<Runtime>,
}

impl TlsProxy {
    /// Starts in front of a service, with a self-signed certificate.
    pub fn start(service: &str, name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let authority = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(authority.path(), made.cert.pem()).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let target = service.strip_prefix("http://").unwrap().to_owned();
        runtime.spawn(forward(listener, TlsAcceptor::from(Arc::new(config)), target));
        Self { url, authority, runtime: Some(runtime) }
    }

    /// The certificate, for clients that should trust it.
    pub fn authority(&self) -> &Path {
        self.authority.path()
    }
}

async fn forward(listener: TcpListener, acceptor: TlsAcceptor, target: String) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, target) = (acceptor.clone(), target.clone());
        tokio::spawn(async move {
            // A client that does not trust the certificate disconnects.
            let Ok(mut client) = acceptor.accept(stream).await else { return };
            let mut service = TcpStream::connect(target).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut service).await;
        });
    }
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
