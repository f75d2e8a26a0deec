//! TLS as both ends of the control plane use it: version 1.3 alone, certificates on both sides.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, Error as RustlsError, RootCertStore, ServerConfig,
    client::WebPkiServerVerifier,
    crypto::CryptoProvider,
    pki_types::{
        CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime, pem, pem::PemObject,
    },
    server::{VerifierBuilderError, WantsServerCert, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use thiserror::Error;
use zeroize::Zeroizing;

use super::{short_chains::ShortChains, validity::Validity};
use crate::errors::os_error_text;

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file with certificates or a key cannot be used.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: FileError,
    },
    /// Certificate and key do not belong together.
    #[error("{}: this is not the key of {}", key.display(), certificate.display())]
    KeyMismatch {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// Certificate or key are of a kind that is not supported.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

/// What is wrong with a file of certificates or keys.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{}", os_error_text(.0))]
    Io(#[from] io::Error),
    /// Others may read or change it.
    #[error("others may read or change this file")]
    Mode,
    /// It has nothing of the wanted kind.
    #[error("the file has no {0} in PEM")]
    Missing(&'static str),
    /// It is not PEM. What stands in it is not repeated: it may be a key.
    #[error("this is not PEM: {0}")]
    Pem(&'static str),
    /// The time of the certificate is over.
    #[error("this certificate has expired: clients refuse it")]
    Expired,
    /// The time of the certificate has not come.
    #[error("this certificate is not valid yet: clients refuse it")]
    NotYetValid,
    /// Its certificate cannot be an authority.
    #[error("{0}")]
    Authority(rustls::Error),
    /// No certificate can be verified with it.
    #[error("{0}")]
    Verifier(VerifierBuilderError),
}

impl TlsError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TlsError::File { why, .. } => why.hint(),
            TlsError::KeyMismatch { .. } => Some("put the new certificate and its key in place together, then reload"),
            TlsError::Tls(_) => None,
        }
    }
}

impl FileError {
    /// A suggestion to the user, if there is one beyond the error itself.
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, FileError::Mode).then_some("chmod 600")
    }
}

/// Files in PEM: whom to trust, and who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authority that the other side's certificate must come from.
    pub authority: PathBuf,
    /// Our certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its key. Nobody else may be allowed to read the file.
    pub key: PathBuf,
    /// For the relay: lists of revoked certificates.
    pub crl: Option<PathBuf>,
}

/// The relay's side of TLS.
#[derive(Clone, Debug)]
pub(crate) struct ServerTls {
    pub(crate) config: Arc<ServerConfig>,
    pub(super) verifier: Arc<dyn ClientCertVerifier>,
    pub(super) files: TlsFiles,
    /// Whom it trusts.
    roots: Arc<RootCertStore>,
    /// The content of the lists of revoked certificates.
    revocations: Arc<Vec<u8>>,
    pub(super) validity: Validity,
    #[cfg(test)]
    before: Option<Before>,
}

#[cfg(test)]
#[derive(Clone)]
struct Before(Arc<dyn Fn() + Send + Sync>);

#[cfg(test)]
impl std::fmt::Debug for Before {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Before")
    }
}

impl ServerTls {
    /// The same with the lists of revoked certificates as they are now, if they have changed. The other files are not read
    /// again: who replaces them may have done half of it, and a revocation does not wait for the rest.
    ///
    /// # Errors
    /// When the file of the lists cannot be read or used.
    pub(crate) fn refreshed(&self) -> Result<Option<ServerTls>, TlsError> {
        let revocations = self.files.read_revocations()?;
        if revocations == *self.revocations {
            return Ok(None);
        }
        let verifier = self.files.verifier(self.roots.clone(), &revocations)?;
        let config = builder(verifier.clone())?.with_cert_resolver(self.config.cert_resolver.clone());
        let validity = self.validity.with(&revocations);
        let (config, revocations) = (finished(config), Arc::new(revocations));
        Ok(Some(ServerTls { config, verifier, revocations, validity, ..self.clone() }))
    }

    /// Whether both trust the same authorities and revoked the same certificates: what one verified, the other does not find
    /// wrong before it expires.
    pub(crate) fn trusts_as(&self, other: &ServerTls) -> bool {
        self.roots.roots == other.roots.roots
            && (&self.revocations, self.files.crl.is_some()) == (&other.revocations, other.files.crl.is_some())
    }

    /// The same, but that `before` happens before a client's certificate is verified.
    #[cfg(test)]
    pub(crate) fn with_before(mut self, before: impl Fn() + Send + Sync + 'static) -> ServerTls {
        self.before = Some(Before(Arc::new(before)));
        self
    }

    /// What a client's certificate is worth now.
    pub(crate) fn standing(&self, chain: &[CertificateDer<'_>]) -> Standing {
        #[cfg(test)]
        self.before.iter().for_each(|before| before.0());
        let Some((certificate, between)) = chain.split_first() else { return Standing::NotTrusted };
        let (mut standing, mut at) = (Standing::Valid, UnixTime::now());
        // What has expired may be revoked too: it is verified as of a time when it was valid. Each certificate may ask
        // for another time; if none suits them all, that alone is wrong
        for _ in 0..=chain.len() + 1 {
            at = match self.verifier.verify_client_cert(certificate, between, at) {
                Ok(_) => return standing,
                Err(RustlsError::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => not_after,
                Err(RustlsError::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. })) => {
                    not_before
                }
                Err(_) => return Standing::NotTrusted,
            };
            standing = Standing::AtAnotherTime;
        }
        standing
    }

    /// Whether a client's certificate is valid now.
    pub(crate) fn is_valid(&self, chain: &[CertificateDer<'_>]) -> bool {
        self.standing(chain) == Standing::Valid
    }
}

/// What a certificate is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Valid,
    /// It has expired, or is not valid yet: nothing speaks against who has it.
    AtAnotherTime,
    /// It was revoked, or no authority of ours vouches for it.
    NotTrusted,
}

/// The beginning of a relay's configuration.
fn builder(verifier: Arc<dyn ClientCertVerifier>) -> Result<ConfigBuilder<ServerConfig, WantsServerCert>, RustlsError> {
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(builder.with_client_cert_verifier(verifier))
}

/// The end of it.
fn finished(mut config: ServerConfig) -> Arc<ServerConfig> {
    // No resumption: every session's keys come from a fresh exchange
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

/// Records by our AES-GCM; handshakes by aws-lc, for its post-quantum key exchange.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(sealwright_rustls::provider(rustls::crypto::aws_lc_rs::default_provider()))
}

impl TlsFiles {
    fn read_revocations(&self) -> Result<Vec<u8>, TlsError> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|error| wrong(path, error.into()));
        self.crl.as_ref().map_or(Ok(Vec::new()), read)
    }

    fn roots(&self) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority)? {
            roots.add(certificate).map_err(|error| wrong(&self.authority, FileError::Authority(error)))?;
        }
        Ok(roots)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        private(&self.key).map_err(|why| wrong(&self.key, why))?;
        let text = std::fs::read(&self.key).map(Zeroizing::new).map_err(|error| wrong(&self.key, error.into()))?;
        PrivateKeyDer::from_pem_slice(&text).map_err(|error| wrong(&self.key, FileError::of(error, "private key")))
    }

    /// For the relay: clients must show a certificate of the authority.
    ///
    /// # Errors
    /// When a file cannot be read or used.
    pub(crate) fn server(&self) -> Result<ServerTls, TlsError> {
        let revocations = self.read_revocations()?;
        let roots = Arc::new(self.roots()?);
        let verifier = self.verifier(roots.clone(), &revocations)?;
        let chain = certificates(&self.certificate)?;
        let algorithms = provider().signature_verification_algorithms;
        let validity = Validity::of(&chain, &roots, &revocations, algorithms.all);
        let config =
            builder(verifier.clone())?.with_single_cert(chain, self.key()?).map_err(|error| self.unusable(error))?;
        Ok(ServerTls {
            config: finished(config),
            validity,
            verifier,
            files: self.clone(),
            roots,
            revocations: Arc::new(revocations),
            #[cfg(test)]
            before: None,
        })
    }

    /// What verifies clients with these lists of revoked certificates.
    fn verifier(&self, roots: Arc<RootCertStore>, revocations: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let mut builder = WebPkiClientVerifier::builder_with_provider(roots, provider());
        if let Some(path) = &self.crl {
            let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(revocations).collect();
            let lists = lists.map_err(|error| wrong(path, FileError::of(error, "list of revoked certificates")))?;
            if lists.is_empty() {
                return Err(wrong(path, FileError::Missing("list of revoked certificates")));
            }
            // Authorities between a client and ours need no list; who issued the certificate of a client does
            builder = builder.with_crls(lists).only_check_end_entity_revocation();
        }
        let inner = builder.build().map_err(|error| {
            let list = self.crl.as_ref().filter(|_| matches!(error, VerifierBuilderError::InvalidCrl(_)));
            wrong(list.unwrap_or(&self.authority), FileError::Verifier(error))
        })?;
        Ok(Arc::new(ShortChains(inner)))
    }

    /// Why certificate and key cannot be used.
    fn unusable(&self, error: RustlsError) -> TlsError {
        match error {
            RustlsError::InconsistentKeys(_) => {
                TlsError::KeyMismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
            error => error.into(),
        }
    }

    /// For a client.
    ///
    /// # Errors
    /// When a file cannot be read or used.
    pub(crate) fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider())
            .build()
            .map_err(|error| wrong(&self.authority, FileError::Verifier(error)))?;
        // Verified as rustls does it by itself, once the chain is short
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(ShortChains(verifier)))
            .with_client_auth_cert(certificates(&self.certificate)?, self.key()?)
            .map_err(|error| self.unusable(error))?;
        Ok(Arc::new(config))
    }
}

fn wrong(path: &Path, why: FileError) -> TlsError {
    TlsError::File { path: path.to_owned(), why }
}

impl FileError {
    fn of(error: pem::Error, kind: &'static str) -> FileError {
        match error {
            pem::Error::Io(error) => FileError::Io(error),
            pem::Error::NoItemsFound => FileError::Missing(kind),
            pem::Error::IllegalSectionStart { .. } => FileError::Pem("a first line does not end in five hyphens"),
            pem::Error::MissingSectionEnd { .. } => FileError::Pem("the last line is missing"),
            pem::Error::Base64Decode(_) => FileError::Pem("its content is not base64"),
            _ => FileError::Pem("a section is too long or of an unknown kind"),
        }
    }
}

/// Refuses a file of secrets that others may read or change.
///
/// # Errors
/// When others may, or the file cannot be read.
pub(crate) fn private(path: &Path) -> Result<(), FileError> {
    let mode = std::fs::metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { Err(FileError::Mode) }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    match read() {
        Ok(certificates) if certificates.is_empty() => Err(wrong(path, FileError::Missing("certificate"))),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(wrong(path, FileError::of(error, "certificate"))),
    }
}

/// Names of a certificate that count: every request looks at them.
const NAMES: usize = 256;

/// The DNS names of a certificate, the first [`NAMES`], in lower case; they may begin with a wildcard.
pub(crate) fn dns_names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let certificate = webpki::EndEntityCert::try_from(certificate);
    certificate.map_or_else(
        |_| Vec::new(),
        |certificate| certificate.valid_dns_names().take(NAMES).map(str::to_ascii_lowercase).collect(),
    )
}

/// Whether a certificate can name a client so, wildcards aside.
pub(crate) fn is_name(name: &str) -> bool {
    matches!(ServerName::try_from(name), Ok(ServerName::DnsName(_)))
}

/// Whether a certificate names this client: as a DNS name, or by a wildcard for its first label.
pub fn names(certificate: &CertificateDer<'_>, client: &str) -> bool {
    let Ok(name) = ServerName::try_from(client) else { return false };
    let Ok(certificate) = webpki::EndEntityCert::try_from(certificate) else { return false };
    matches!(name, ServerName::DnsName(_)) && certificate.verify_is_valid_for_subject_name(&name).is_ok()
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
