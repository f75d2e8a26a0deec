//! TLS for both ends of the control plane: version 1.3 only, certificates on both sides.

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
    server::{
        ClientCertVerifierBuilder, VerifierBuilderError, WantsServerCert, WebPkiClientVerifier,
        danger::ClientCertVerifier,
    },
};
use thiserror::Error;
use zeroize::Zeroizing;

use super::{short_chains::ShortChains, validity::Validity};
use crate::errors::os_error_text;

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
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
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// What is wrong with a file of certificates or keys.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    #[error("{}", os_error_text(.0))]
    Io(io::Error),
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

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(error)
    }
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
#[non_exhaustive]
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
    /// Roots of trust for client certificates.
    roots: Arc<RootCertStore>,
    /// The PEM of the revocation lists.
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
    /// The same setup with the revocation lists as they are now; `None` if they have not changed. The other files are
    /// not read again: they may be half replaced at this moment, and a revocation must not wait for the rest.
    ///
    /// # Errors
    /// When the file of revocation lists cannot be read or used.
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

    /// Whether both have the same authorities and revocation lists, so that a chain that one found valid is valid for
    /// the other until it expires.
    pub(crate) fn trusts_as(&self, other: &ServerTls) -> bool {
        self.roots.roots == other.roots.roots
            && (&self.revocations, self.files.crl.is_some()) == (&other.revocations, other.files.crl.is_some())
    }

    /// Like `server`, with a hook that runs before each verification of a client.
    #[cfg(test)]
    pub(crate) fn with_before(mut self, before: impl Fn() + Send + Sync + 'static) -> ServerTls {
        self.before = Some(Before(Arc::new(before)));
        self
    }

    /// The standing of a client's certificate chain now.
    pub(crate) fn standing(&self, chain: &[CertificateDer<'_>]) -> Standing {
        #[cfg(test)]
        self.before.iter().for_each(|before| before.0());
        let Some((certificate, between)) = chain.split_first() else { return Standing::NotTrusted };
        let (mut standing, mut at) = (Standing::Valid, UnixTime::now());
        // An expired certificate may also be revoked, so the chain is verified again as of a time when it was valid.
        // Each certificate may move that time; if no time suits all of them, validity periods are the only fault
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

/// The standing of a certificate chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Valid,
    /// Expired or not valid yet, and otherwise trusted.
    AtAnotherTime,
    /// Revoked, or not issued under one of our authorities.
    NotTrusted,
}

/// The first part of a relay's TLS configuration.
fn builder(verifier: Arc<dyn ClientCertVerifier>) -> Result<ConfigBuilder<ServerConfig, WantsServerCert>, RustlsError> {
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13])?;
    Ok(builder.with_client_cert_verifier(verifier))
}

/// The last part of a relay's TLS configuration.
fn finished(mut config: ServerConfig) -> Arc<ServerConfig> {
    // No resumption: the keys of every session come from a fresh key exchange
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

/// The crypto provider: records by our AES-GCM, handshakes by aws-lc for its post-quantum key exchange.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(sealwright_rustls::provider(rustls::crypto::aws_lc_rs::default_provider()))
}

impl TlsFiles {
    /// These files, and no list of revoked certificates.
    pub fn new(authority: PathBuf, certificate: PathBuf, key: PathBuf) -> TlsFiles {
        TlsFiles { authority, certificate, key, crl: None }
    }

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

    /// The relay's setup: clients must present a certificate from the authority.
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

    /// The verifier of clients with these revocation lists.
    fn verifier(&self, roots: Arc<RootCertStore>, revocations: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let builder = || WebPkiClientVerifier::builder_with_provider(roots.clone(), provider());
        let built = |builder: ClientCertVerifierBuilder| {
            builder.build().map_err(|error| {
                let list = self.crl.as_ref().filter(|_| matches!(error, VerifierBuilderError::InvalidCrl(_)));
                wrong(list.unwrap_or(&self.authority), FileError::Verifier(error))
            })
        };
        let Some(path) = &self.crl else { return Ok(Arc::new(ShortChains(built(builder())?, None))) };
        let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(revocations).collect();
        let lists = lists.map_err(|error| wrong(path, FileError::of(error, "list of revoked certificates")))?;
        if lists.is_empty() {
            return Err(wrong(path, FileError::Missing("list of revoked certificates")));
        }
        // The issuer of the client's certificate needs a list. Lists of other authorities need not be there, but if one
        // is, it counts: one setup of the library cannot say both
        let of_clients = built(builder().with_crls(lists.clone()).only_check_end_entity_revocation())?;
        let of_all = built(builder().with_crls(lists).allow_unknown_revocation_status())?;
        Ok(Arc::new(ShortChains(of_clients, Some(of_all))))
    }

    /// The error for a certificate and key that cannot be used.
    fn unusable(&self, error: RustlsError) -> TlsError {
        match error {
            RustlsError::InconsistentKeys(_) => {
                TlsError::KeyMismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
            error => error.into(),
        }
    }

    /// The client's setup.
    ///
    /// # Errors
    /// When a file cannot be read or used.
    pub(crate) fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider())
            .build()
            .map_err(|error| wrong(&self.authority, FileError::Verifier(error)))?;
        // Short chains are verified as rustls does by default
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(ShortChains(verifier, None)))
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
/// When others may read or change it, or the file cannot be read.
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

/// The most DNS names of a certificate that are considered: every request goes through them.
const MAX_DNS_NAMES: usize = 256;

/// The DNS names of a certificate, the first [`MAX_DNS_NAMES`], in lower case; they may begin with a wildcard.
pub(crate) fn dns_names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let certificate = webpki::EndEntityCert::try_from(certificate);
    certificate.map_or_else(
        |_| Vec::new(),
        |certificate| certificate.valid_dns_names().take(MAX_DNS_NAMES).map(str::to_ascii_lowercase).collect(),
    )
}

/// Whether a certificate can name a client like this, wildcards aside.
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
