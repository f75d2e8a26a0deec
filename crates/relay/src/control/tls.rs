//! TLS as both ends of the control plane use it: version 1.3 alone, certificates on both sides.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    server::WebPkiClientVerifier,
};
use thiserror::Error;

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file with certificates or a key.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The pieces do not fit together.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

/// Files in PEM: whom to trust, and who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Papers {
    /// The authority that the other side's certificate must come from.
    pub authority: PathBuf,
    /// Our certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

fn wrong(path: &Path, why: impl std::fmt::Display) -> TlsError {
    TlsError::File { path: path.to_owned(), why: why.to_string() }
}

fn plain(path: &Path, error: &rustls::pki_types::pem::Error) -> TlsError {
    match error {
        rustls::pki_types::pem::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            wrong(path, "no such file")
        }
        rustls::pki_types::pem::Error::Io(error) => wrong(path, error),
        rustls::pki_types::pem::Error::NoItemsFound => wrong(path, "holds nothing of the kind in PEM"),
        other => wrong(path, other),
    }
}

impl Papers {
    fn roots(&self) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority)? {
            roots.add(certificate).map_err(|error| wrong(&self.authority, error))?;
        }
        Ok(roots)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::from_pem_file(&self.key).map_err(|error| plain(&self.key, &error))
    }

    /// For the relay: clients must show a certificate of the authority.
    ///
    /// # Errors
    /// A file that cannot be read or does not fit.
    pub fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()?), provider.clone())
            .build()
            .map_err(|error| wrong(&self.authority, error))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(certificates(&self.certificate)?, self.key()?)?;
        // No resumption: every session's keys come from a fresh exchange
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// For a client.
    ///
    /// # Errors
    /// A file that cannot be read or does not fit.
    pub fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(self.roots()?)
            .with_client_auth_cert(certificates(&self.certificate)?, self.key()?)?;
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    match read() {
        Ok(certificates) if certificates.is_empty() => Err(wrong(path, "holds no certificate in PEM")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(plain(path, &error)),
    }
}

/// Whether a certificate names this client: as a DNS name, or by a wildcard for its first label.
pub fn names(certificate: &CertificateDer<'_>, client: &str) -> bool {
    let Ok(name) = ServerName::try_from(client) else { return false };
    let Ok(certificate) = webpki::EndEntityCert::try_from(certificate) else { return false };
    matches!(name, ServerName::DnsName(_)) && certificate.verify_is_valid_for_subject_name(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_certificate_names_what_is_written_in_it_and_by_a_wildcard_one_label_more() {
        let certificate = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            CertificateDer::from(rcgen::generate_simple_self_signed(names).unwrap().cert)
        };
        let plain = certificate(&["alice", "bob.example"]);
        assert!(names(&plain, "alice") && names(&plain, "ALICE") && names(&plain, "bob.example"));
        for other in ["bob", "example", "x.alice", "alic", "", "*", "*.example", "127.0.0.1"] {
            assert!(!names(&plain, other), "{other}");
        }
        let many = certificate(&["*.load.test"]);
        assert!(names(&many, "0.load.test") && names(&many, "x-1.load.test"));
        for other in ["load.test", "1.2.load.test", "*.load.test", ".load.test", "0.load.tes"] {
            assert!(!names(&many, other), "{other}");
        }
        assert!(!names(&certificate(&["*.load"]), "0.load"), "two labels must follow");
    }
}
