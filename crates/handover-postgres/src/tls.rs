//! Encrypted connections with rustls: no system library is needed to build or run, and the server's
//! certificate is always verified.

use std::path::Path;
use std::sync::Arc;

use handover_store::{Fault, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::backend;

/// Connections to servers that are certified by the authorities in a file, or else by the system's.
pub(crate) fn verified(authorities: Option<&Path>) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let bytes = fs_err::read(path).map_err(|error| backend(Fault::Unavailable, error))?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let certificate =
                    certificate.map_err(|error| backend(Fault::Unavailable, error.to_string()))?;
                roots.add(certificate).map_err(|error| backend(Fault::Unavailable, error))?;
            }
        }
        // Some of a system's files may be unreadable; the rest are used.
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| backend(Fault::Refused, error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
