//! Providers to connect with, certificates, and two ends of a connection in memory.
#![allow(dead_code, reason = "each test program uses a part")]

use std::sync::{Arc, LazyLock};

use rustls::{
    ClientConfig, ClientConnection, CommonState, Connection, Error, RootCertStore, ServerConfig, ServerConnection,
    SupportedCipherSuite, SupportedProtocolVersion,
    crypto::{CryptoProvider, aws_lc_rs, ring},
    pki_types::{CertificateDer, PrivateKeyDer},
};
use sealwright_rustls::provider;

/// A provider, with its name for failure messages.
pub(crate) type Named = (&'static str, fn() -> CryptoProvider);

pub(crate) const OURS: Named = ("ours over aws-lc", || provider(aws_lc_rs::default_provider()));
pub(crate) const OURS_OVER_RING: Named = ("ours over ring", || provider(ring::default_provider()));
pub(crate) const AWS_LC: Named = ("aws-lc", aws_lc_rs::default_provider);
pub(crate) const RING: Named = ("ring", ring::default_provider);

/// Clients and servers, with our provider on at least one side.
pub(crate) const PAIRS: [(Named, Named); 7] = [
    (OURS, AWS_LC),
    (OURS, RING),
    (AWS_LC, OURS),
    (RING, OURS),
    (OURS_OVER_RING, AWS_LC),
    (AWS_LC, OURS_OVER_RING),
    (OURS, OURS_OVER_RING),
];

/// A self-signed certificate for `localhost`, and its key.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    fn new(key: &rcgen::KeyPair) -> Identity {
        let names = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = names.self_signed(key).unwrap().der().clone();
        Identity { certificate, key: key.serialize_der() }
    }
}

static ECDSA: LazyLock<Identity> = LazyLock::new(|| Identity::new(&rcgen::KeyPair::generate().unwrap()));
static RSA: LazyLock<Identity> = LazyLock::new(|| {
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).unwrap();
    Identity::new(&key)
});

/// The identity whose key type fits a suite.
fn identity(suite: SupportedCipherSuite) -> &'static Identity {
    if format!("{suite:?}").contains("_RSA_") { &RSA } else { &ECDSA }
}

/// `provider` with only the suite of the same number.
pub(crate) fn only(provider: CryptoProvider, suite: SupportedCipherSuite) -> CryptoProvider {
    let cipher_suites = provider.cipher_suites.iter().copied().filter(|other| other.suite() == suite.suite()).collect();
    CryptoProvider { cipher_suites, ..provider }
}

/// Configurations of both ends that agree on the suite of `client`'s provider, its first.
pub(crate) fn configs(client: CryptoProvider, server: CryptoProvider) -> (ClientConfig, ServerConfig) {
    let suite = client.cipher_suites[0];
    let versions: &[&SupportedProtocolVersion] = &[suite.version()];
    let Identity { certificate, key } = identity(suite);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(client))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = ServerConfig::builder_with_provider(Arc::new(server))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key.clone().into()))
        .unwrap();
    (client, server)
}

/// Both ends after their handshake under one suite.
pub(crate) fn connected(client: CryptoProvider, server: CryptoProvider) -> (Connection, Connection) {
    let (client, server) = configs(client, server);
    let client = ClientConnection::new(Arc::new(client), "localhost".try_into().unwrap()).unwrap();
    let mut client = Connection::Client(client);
    let mut server = Connection::Server(ServerConnection::new(Arc::new(server)).unwrap());
    while client.is_handshaking() || server.is_handshaking() {
        carry(&mut client, &mut server).unwrap();
        carry(&mut server, &mut client).unwrap();
    }
    (client, server)
}

/// The bytes that `from` has to send.
pub(crate) fn said(from: &mut Connection) -> Vec<u8> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).unwrap();
    }
    wire
}

/// Processes received bytes.
pub(crate) fn hear(to: &mut Connection, mut wire: &[u8]) -> Result<(), Error> {
    while !wire.is_empty() {
        to.read_tls(&mut wire).unwrap();
        to.process_new_packets()?;
    }
    Ok(())
}

/// Transfers what `from` has to send to `to`.
pub(crate) fn carry(from: &mut Connection, to: &mut Connection) -> Result<(), Error> {
    hear(to, &said(from))
}

/// Bytes that look random.
pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// The suite that both ends chose.
pub(crate) fn suite(of: &CommonState) -> SupportedCipherSuite {
    of.negotiated_cipher_suite().unwrap()
}
