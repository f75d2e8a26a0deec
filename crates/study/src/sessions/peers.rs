//! The memory that other libraries keep per session: the growth of this process for one side of the sessions.

use std::{
    any::Any,
    io::{self, Read, Write},
    sync::Arc,
};

use aes_gcm::KeyInit;
use boringtun::{
    noise::{Tunn, TunnResult, rate_limiter::RateLimiter},
    x25519::{PublicKey, StaticSecret},
};
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, RootCertStore, ServerConfig, ServerConnection, SideData,
    crypto::aws_lc_rs, pki_types::PrivateKeyDer, version::TLS13,
};

use super::memory::resident;

/// Name of a library, and bytes per session; `None` if they are not known.
pub(super) type Peer = (String, Option<f64>);

/// The sessions that were counted. They are kept until all are counted, because growth does not show if memory was
/// freed before and is used again.
pub(super) type Kept = Vec<Box<dyn Any>>;

/// Measures every library. Those with the largest sessions get `sessions` of them, the others more.
pub(super) fn measure(sessions: u32) -> io::Result<(Vec<Peer>, Kept)> {
    let key = [7; 32];
    let tls = Tls::new()?;
    let few = sessions;
    let many = 20 * sessions;
    let ring = || ring_key(&key);
    let aws = || aws_lc_rs_key(&key);
    let mut all = Kept::new();
    let kept = &mut all;
    let peers = vec![
        each(kept, "rustls, a TLS 1.3 server's connection", few, |_| tls.connection())?,
        each(kept, "boringtun, a WireGuard peer", few, tunnel)?,
        each(kept, "RustCrypto AES-256-GCM, both directions", many, |_| {
            Ok([aes_gcm::Aes256Gcm::new(&key.into()), aes_gcm::Aes256Gcm::new(&key.into())])
        })?,
        each(kept, "aws-lc AES-256-GCM, both directions", many, |_| Ok([aws()?, aws()?]))?,
        each(kept, "ring AES-256-GCM, both directions", many, |_| Ok([ring()?, ring()?]))?,
    ];
    Ok((peers, all))
}

fn aws_lc_rs_key(key: &[u8]) -> io::Result<::aws_lc_rs::aead::LessSafeKey> {
    let key = ::aws_lc_rs::aead::UnboundKey::new(&::aws_lc_rs::aead::AES_256_GCM, key).map_err(io::Error::other)?;
    Ok(::aws_lc_rs::aead::LessSafeKey::new(key))
}

fn ring_key(key: &[u8]) -> io::Result<ring::aead::LessSafeKey> {
    let key =
        ring::aead::UnboundKey::new(&ring::aead::AES_256_GCM, key).map_err(|_| io::Error::other("ring: a key"))?;
    Ok(ring::aead::LessSafeKey::new(key))
}

/// The growth of the process per session, for `count` sessions that `make` creates.
fn each<T: 'static>(kept: &mut Kept, name: &str, count: u32, make: impl Fn(u32) -> io::Result<T>) -> io::Result<Peer> {
    // The first session also allocates what is allocated only once
    drop(make(0)?);
    let mut all = Vec::with_capacity(count as usize);
    let before = resident();
    for i in 0..count {
        all.push(make(i)?);
    }
    let grown = resident().zip(before).map(|(after, before)| after.saturating_sub(before));
    kept.push(Box::new(all));
    // Growth of zero means that freed memory was used again, so the size is unknown
    let grown = grown.filter(|&bytes| bytes > 0);
    Ok((name.to_owned(), grown.map(|bytes| bytes as f64 / f64::from(count))))
}

/// The configuration of a TLS server, and of clients that trust its certificate.
struct Tls {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl Tls {
    fn new() -> io::Result<Tls> {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(own.cert.der().clone()).map_err(io::Error::other)?;
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .map_err(io::Error::other)?;
        server.send_tls13_tickets = 0;
        Ok(Tls { server: Arc::new(server), client: Arc::new(client) })
    }

    /// The server's end of a connection after the handshake and a message in each direction.
    fn connection(&self) -> io::Result<ServerConnection> {
        let name = "localhost".try_into().map_err(io::Error::other)?;
        let mut client = ClientConnection::new(Arc::clone(&self.client), name).map_err(io::Error::other)?;
        let mut server = ServerConnection::new(Arc::clone(&self.server)).map_err(io::Error::other)?;
        let mut message = [0; 40];
        client.writer().write_all(&message)?;
        server.writer().write_all(&message)?;
        while client.wants_write() || server.wants_write() {
            carry(&mut *client, &mut *server)?;
            carry(&mut *server, &mut *client)?;
        }
        server.reader().read_exact(&mut message)?;
        client.reader().read_exact(&mut message)?;
        Ok(server)
    }
}

/// Transfers pending TLS data from one end to the other.
fn carry<A: SideData, B: SideData>(from: &mut ConnectionCommon<A>, to: &mut ConnectionCommon<B>) -> io::Result<()> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire)?;
    }
    let mut wire = wire.as_slice();
    while !wire.is_empty() {
        to.read_tls(&mut wire)?;
        to.process_new_packets().map_err(io::Error::other)?;
    }
    Ok(())
}

/// The server's end of a WireGuard tunnel after the handshake and a first packet, which is a keepalive.
fn tunnel(i: u32) -> io::Result<Tunn> {
    let secret = |n: u32| {
        let mut bytes = [1; 32];
        bytes[..4].copy_from_slice(&n.to_le_bytes());
        StaticSecret::from(bytes)
    };
    let (ours, theirs) = (secret(u32::MAX), secret(i));
    let (our_public, their_public) = (PublicKey::from(&ours), PublicKey::from(&theirs));
    let limiter = Arc::new(RateLimiter::new(&our_public, u64::MAX));
    let mut server = Tunn::new(ours, their_public, None, None, i, Some(limiter));
    let mut client = Tunn::new(theirs, our_public, None, None, 0, None);
    let (mut a, mut b) = ([0; 256], [0; 256]);
    let mut said = say(client.format_handshake_initiation(&mut a, false))?.to_vec();
    for turn in 0..2 {
        let (end, buffer) = if turn % 2 == 0 { (&mut server, &mut b) } else { (&mut client, &mut a) };
        said = say(end.decapsulate(None, &said, buffer))?.to_vec();
    }
    match server.decapsulate(None, &said, &mut b) {
        TunnResult::Done => Ok(server),
        other => Err(io::Error::other(format!("WireGuard's handshake ended in {other:?}"))),
    }
}

fn say(result: TunnResult<'_>) -> io::Result<&[u8]> {
    match result {
        TunnResult::WriteToNetwork(bytes) => Ok(bytes),
        other => Err(io::Error::other(format!("WireGuard's handshake ended in {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sessions_of_peers_are_whole() {
        Tls::new().unwrap().connection().unwrap();
        tunnel(3).unwrap();
        let (peers, kept) = measure(4).unwrap();
        assert_eq!((peers.len(), kept.len()), (5, 5));
    }
}
