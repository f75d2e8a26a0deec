//! Connections in memory between our provider and others: handshakes, bulk data, key updates, forgeries, limits.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};

use common::{AWS_LC, OURS, PAIRS, RING, carry, connected, hear, only, said, suite, text};
use rustls::{
    Connection, Error, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{CipherSuiteCommon, CryptoProvider, aws_lc_rs, ring},
};
use sealwright_rustls::provider;

/// Sends `text` in pieces of many sizes, none larger than the reader's buffer, and reads it at the other end.
fn transfer(from: &mut Connection, to: &mut Connection, text: &[u8]) {
    let mut rest = text;
    let mut read = Vec::new();
    for size in [1, 15, 16, 17, 100, 1500, 16_383, 16_384].into_iter().cycle() {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        from.writer().write_all(piece).unwrap();
        carry(from, to).unwrap();
        let mut heard = vec![0; piece.len()];
        to.reader().read_exact(&mut heard).unwrap();
        read.extend(heard);
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    assert!(read == text);
}

#[test]
fn every_suite_with_every_other_provider_both_ways() {
    let mut suites = Vec::new();
    for theirs in ring::default_provider().cipher_suites {
        for ((client_name, client), (server_name, server)) in PAIRS {
            let (mut client, mut server) = connected(only(client(), theirs), only(server(), theirs));
            let name = format!("{theirs:?}, {client_name} to {server_name}");
            assert_eq!((suite(&client), suite(&server)), (theirs, theirs), "{name}");
            transfer(&mut client, &mut server, &text(300_000));
            transfer(&mut server, &mut client, &text(300_001));
            if theirs.tls13().is_some() {
                client.refresh_traffic_keys().unwrap();
                transfer(&mut client, &mut server, &text(40_000));
                server.refresh_traffic_keys().unwrap();
                transfer(&mut server, &mut client, &text(40_000));
                transfer(&mut client, &mut server, &text(40_000));
            }
        }
        suites.push(theirs);
    }
    // AES-GCM with two key sizes and ChaCha20-Poly1305: each once in TLS 1.3, with two signature algorithms in TLS 1.2.
    assert_eq!(suites.len(), if cfg!(feature = "tls12") { 9 } else { 3 });
}

#[test]
fn a_changed_bit_ends_the_connection() {
    for theirs in ring::default_provider().cipher_suites {
        if format!("{theirs:?}").contains("CHACHA") {
            continue;
        }
        let provider = || only(OURS.1(), theirs);
        let record = {
            let (mut client, _) = connected(provider(), provider());
            client.writer().write_all(b"pay 100 to alice").unwrap();
            said(&mut client).len()
        };
        // After the record's header: explicit nonce or text, text, tag.
        for at in [5, 12, 20, record - 16, record - 1] {
            for bit in [0x01, 0x80] {
                let (mut client, mut server) = connected(provider(), provider());
                client.writer().write_all(b"pay 100 to alice").unwrap();
                let mut wire = said(&mut client);
                wire[at] ^= bit;
                assert_eq!(hear(&mut server, &wire), Err(Error::DecryptError), "{theirs:?}, byte {at}");
                assert!(server.reader().read(&mut [0; 16]).is_err(), "{theirs:?}: text of a forged record");
                // The client receives the alert.
                assert!(carry(&mut server, &mut client).is_err());
            }
        }
    }
}

/// TLS 1.3 suites keep their hash and key derivation, so that rustls resumes between them and the base's.
#[test]
fn aes_gcm_is_replaced_once_and_nothing_else() {
    for base in [aws_lc_rs::default_provider, ring::default_provider] {
        let (before, after) = (base(), provider(base()));
        assert_eq!(before.cipher_suites, after.cipher_suites, "numbers and their order");
        let places = |provider: &CryptoProvider| provider.cipher_suites.iter().map(place).collect::<Vec<_>>();
        for ((theirs, ours), suite) in places(&before).into_iter().zip(places(&after)).zip(&before.cipher_suites) {
            let gcm = format!("{suite:?}").contains("GCM");
            assert_eq!(theirs != ours, gcm, "{suite:?}");
        }
        assert_eq!(places(&after), places(&provider(base())), "a second call allocates nothing");
        assert_eq!(places(&after), places(&provider(after.clone())), "ours are not replaced again");
        assert!(!after.fips());
        let limits = |provider: &CryptoProvider| provider.cipher_suites.iter().map(limit).collect::<Vec<_>>();
        assert_eq!(limits(&before), limits(&after));
        let gcm = |suite: &&SupportedCipherSuite| format!("{suite:?}").contains("GCM");
        assert!(after.cipher_suites.iter().filter(gcm).all(|suite| limit(suite) == 1 << 24));
    }
}

fn place(suite: &SupportedCipherSuite) -> usize {
    match *suite {
        SupportedCipherSuite::Tls13(suite) => std::ptr::from_ref(suite).addr(),
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(suite) => std::ptr::from_ref(suite).addr(),
    }
}

fn limit(suite: &SupportedCipherSuite) -> u64 {
    match *suite {
        SupportedCipherSuite::Tls13(suite) => suite.common.confidentiality_limit,
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(suite) => suite.common.confidentiality_limit,
    }
}

/// The suite of `provider` with a limit of `records` records per key.
fn limited(provider: CryptoProvider, records: u64) -> CryptoProvider {
    let suite = provider.cipher_suites[0].tls13().unwrap();
    let suite = SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
        common: CipherSuiteCommon { confidentiality_limit: records, ..suite.common },
        ..*suite
    })));
    CryptoProvider { cipher_suites: vec![suite], ..provider }
}

/// The number of records in `wire`.
fn records(mut wire: &[u8]) -> usize {
    let mut count = 0;
    while let [_, _, _, high, low, behind @ ..] = wire {
        wire = &behind[usize::from(u16::from_be_bytes([*high, *low]))..];
        count += 1;
    }
    count
}

#[test]
fn keys_are_updated_at_the_limit() {
    let first = OURS.1().cipher_suites[0];
    for (name, other) in [AWS_LC, RING, OURS] {
        let (mut client, mut server) = connected(limited(OURS.1(), 10), only(other(), first));
        let mut sent = 0;
        for message in 0..100_u8 {
            client.writer().write_all(&[message; 50]).unwrap();
            let wire = said(&mut client);
            sent += records(&wire);
            hear(&mut server, &wire).unwrap();
            let mut heard = [0; 50];
            server.reader().read_exact(&mut heard).unwrap();
            assert_eq!(heard, [message; 50], "{name}");
            carry(&mut server, &mut client).unwrap();
        }
        assert!((105..=115).contains(&sent), "{name}: {sent} records for 100 messages, an update in each ten");
    }
}

/// TLS 1.2 has no key update, so rustls ends the connection.
#[cfg(feature = "tls12")]
#[test]
fn without_an_update_the_connection_ends_at_the_limit() {
    let theirs = ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
    let ours = only(OURS.1(), theirs);
    let SupportedCipherSuite::Tls12(suite) = ours.cipher_suites[0] else { panic!("a suite of TLS 1.2") };
    let suite = SupportedCipherSuite::Tls12(Box::leak(Box::new(rustls::Tls12CipherSuite {
        common: CipherSuiteCommon { confidentiality_limit: 10, ..suite.common },
        ..*suite
    })));
    let (mut client, mut server) =
        connected(CryptoProvider { cipher_suites: vec![suite], ..ours }, only(AWS_LC.1(), theirs));
    let mut sent = 0;
    loop {
        let _ = client.writer().write_all(b"text");
        let wire = said(&mut client);
        hear(&mut server, &wire).unwrap();
        sent += records(&wire);
        match server.reader().read(&mut [0; 4]) {
            Ok(0) => break,
            Ok(len) => assert_eq!(len, 4),
            Err(error) => panic!("a record is missing: {error}"),
        }
    }
    // One record is the handshake's, and the last one is the closing alert.
    assert_eq!(sent, 10);
    let _ = client.writer().write_all(b"text");
    assert_eq!(records(&said(&mut client)), 0);
}
