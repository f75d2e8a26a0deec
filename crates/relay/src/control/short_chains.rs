//! Certificates that the other side may show. To verify a chain, every order of its certificates is tried: with a hundred that nobody
//! signed a stranger keeps a processor busy for seconds.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

/// The most certificates between one and its authority: more are never a part of a valid chain.
const MOST: usize = 6;
/// The most bytes of all of them. A client's chain is kept as long as its session.
const BYTES: usize = 32 << 10;

/// Verifies what is short, and refuses the rest.
#[derive(Debug)]
pub(super) struct ShortChains<V: ?Sized>(pub(super) Arc<V>);

fn check(leaf: &CertificateDer<'_>, between: &[CertificateDer<'_>]) -> Result<(), Error> {
    let bytes: usize = between.iter().chain([leaf]).map(|certificate| certificate.len()).sum();
    let short = between.len() <= MOST && bytes <= BYTES;
    // An error of TLS that there is: the chain leads to no authority
    if short { Ok(()) } else { Err(CertificateError::UnknownIssuer.into()) }
}

/// What both kinds of verifier have in the same words: signatures are the inner one's to verify.
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
