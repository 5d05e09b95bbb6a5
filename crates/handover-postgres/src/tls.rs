//! Encrypted connections, with rustls: no library of the system is needed to build or to run, and the
//! server's certificate is always checked.

use std::path::Path;
use std::sync::Arc;

use handover_store::{Fault, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::backend;

/// Connections to servers that the authorities of a file know, or else those of the system.
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
        // Some of a system's files may be unreadable; the rest counts.
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
