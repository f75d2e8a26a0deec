//! Limits on certificate chains that a peer presents. Path building may try every order of the certificates: with a
//! hundred of them, all unsigned, a stranger could keep a processor busy for seconds.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

/// The most intermediate certificates: a valid path never contains more.
const MAX_INTERMEDIATES: usize = 6;
/// The most bytes of a chain. The chain of a client is stored as long as its session.
const MAX_CHAIN_BYTES: usize = 32 << 10;

/// A verifier that refuses long chains and passes short ones to the inner verifier, and those with intermediate
/// certificates to a second one too, if there is one.
#[derive(Debug)]
pub(super) struct ShortChains<V: ?Sized>(pub(super) Arc<V>, pub(super) Option<Arc<V>>);

fn check(leaf: &CertificateDer<'_>, between: &[CertificateDer<'_>]) -> Result<(), Error> {
    let bytes: usize = between.iter().chain([leaf]).map(|certificate| certificate.len()).sum();
    let short = between.len() <= MAX_INTERMEDIATES && bytes <= MAX_CHAIN_BYTES;
    // The closest existing TLS error: the chain leads to no authority
    if short { Ok(()) } else { Err(CertificateError::UnknownIssuer.into()) }
}

/// The methods that both kinds of verifier share: signatures are left to the inner one.
macro_rules! inner_verifies_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            leaf: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls12_signature(message, leaf, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            leaf: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls13_signature(message, leaf, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.supported_verify_schemes()
        }
    };
}

impl ClientCertVerifier for ShortChains<dyn ClientCertVerifier> {
    fn offer_client_auth(&self) -> bool {
        self.0.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        check(leaf, between)?;
        if let Some(also) = self.1.as_ref().filter(|_| !between.is_empty()) {
            also.verify_client_cert(leaf, between, now)?;
        }
        self.0.verify_client_cert(leaf, between, now)
    }

    inner_verifies_signatures!();
}

impl<V: ServerCertVerifier> ServerCertVerifier for ShortChains<V> {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        check(leaf, between)?;
        self.0.verify_server_cert(leaf, between, name, ocsp, now)
    }

    inner_verifies_signatures!();

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.0.root_hint_subjects()
    }
}
