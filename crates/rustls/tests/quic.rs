//! QUIC: the examples of RFC 9001, packets and headers compared with ring and aws-lc, handshakes.
#![allow(clippy::unwrap_used)]

mod common;

use common::{AWS_LC, Named, OURS, OURS_OVER_RING, RING, configs, only, text};
use rustls::{
    CipherSuite, Side,
    crypto::CryptoProvider,
    quic::{ClientConnection, Connection, DirectionalKeys, KeyChange, Keys, ServerConnection, Suite, Version},
};

/// The suite with this number, and its QUIC part.
fn quic(provider: &CryptoProvider, wanted: CipherSuite) -> Suite {
    let suite = provider.cipher_suites.iter().find(|suite| suite.suite() == wanted).unwrap();
    suite.tls13().unwrap().quic_suite().unwrap()
}

const AES_128: CipherSuite = CipherSuite::TLS13_AES_128_GCM_SHA256;
const AES_256: CipherSuite = CipherSuite::TLS13_AES_256_GCM_SHA384;

/// Seals a packet: header with a packet number of `number_len` bytes at its end, payload, tag, all protected.
fn protect(keys: &DirectionalKeys, header: &[u8], number_len: usize, number: u64, payload: &[u8]) -> Vec<u8> {
    let mut packet = [header, payload].concat();
    let (head, text) = packet.split_at_mut(header.len());
    let tag = keys.packet.encrypt_in_place(number, head, text).unwrap();
    packet.extend_from_slice(tag.as_ref());
    let (head, sealed) = packet.split_at_mut(header.len());
    // The sample begins where the payload would if the number had four bytes (RFC 9001, 5.4.2).
    let sample = sealed[4 - number_len..][..keys.header.sample_len()].to_vec();
    let (head, number) = head.split_at_mut(header.len() - number_len);
    keys.header.encrypt_in_place(&sample, &mut head[0], number).unwrap();
    packet
}

/// Opens a packet whose number starts at `at`: the header as it was, and the payload.
fn unprotect(keys: &DirectionalKeys, packet: &[u8], at: usize, number: u64) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut packet = packet.to_vec();
    let sample = packet[at + 4..][..keys.header.sample_len()].to_vec();
    let (head, behind) = packet.split_at_mut(at);
    keys.header.decrypt_in_place(&sample, &mut head[0], &mut behind[..4]).unwrap();
    let number_len = usize::from(head[0] & 3) + 1;
    let (head, sealed) = packet.split_at_mut(at + number_len);
    let text = keys.packet.decrypt_in_place(number, head, sealed).ok()?;
    Some((head.to_vec(), text.to_vec()))
}

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// RFC 9001, A.1 to A.3. (The packet of A.4 is not protected with these keys; A.5 uses ChaCha20-Poly1305.)
#[test]
fn the_initial_packets_of_rfc_9001() {
    for (name, provider) in [OURS, OURS_OVER_RING] {
        let keys = |side| quic(&provider(), AES_128).keys(&hex("8394c8f03e515708"), side, Version::V1);
        let (client, server) = (keys(Side::Client), keys(Side::Server));

        let header = hex("c300000001088394c8f03e5157080000449e00000002");
        let mut payload = hex("060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868
            04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578
            616d706c652e636f6dff01000100000a00080006001d00170018001000070005
            04616c706e000500050100000000003300260024001d00209370b2c9caa47fba
            baf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b000302030400
            0d0010000e0403050306030203080408050806002d00020101001c0002400100
            3900320408ffffffffffffffff05048000ffff07048000ffff08011001048000
            75300901100f088394c8f03e51570806048000ffff");
        payload.resize(1162, 0);
        let packet = protect(&client.local, &header, 4, 2, &payload);
        assert_eq!(packet.len(), 1200, "{name}");
        // The tag at the end covers every byte between.
        assert!(packet.starts_with(&hex("c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11")), "{name}");
        let end = "7e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241e221af44860018ab0856972e194cd934";
        assert!(packet.ends_with(&hex(end)), "{name}");
        assert_eq!(unprotect(&server.remote, &packet, 18, 2), Some((header, payload)), "{name}");

        let header = hex("c1000000010008f067a5502a4262b50040750001");
        let payload = hex("02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739
            88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94
            0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00
            020304");
        let packet = protect(&server.local, &header, 2, 1, &payload);
        let expected = hex("cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a
            5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3
            dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84
            022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc4
            2158407dd074ee");
        assert_eq!(packet, expected, "{name}");
        assert_eq!(unprotect(&client.remote, &packet, 18, 1), Some((header, payload)), "{name}");
    }
}

/// The client's initial keys of our suite and of another provider's.
fn beside(other: Named, suite: CipherSuite) -> [Keys; 2] {
    [OURS, other].map(|(_, provider)| quic(&provider(), suite).keys(b"a connection", Side::Client, Version::V2))
}

#[test]
fn the_same_packets_as_ring_and_aws_lc() {
    for other in [RING, AWS_LC] {
        for suite in [AES_128, AES_256] {
            let [ours, theirs] = beside(other, suite);
            for (number, len) in (0..).zip((4..100).chain([1200, 1452, 65_000])) {
                let number = number << 20 | number;
                // A short header with a packet number of every length.
                let number_len = len % 4 + 1;
                let header = [0x40 | (number_len as u8 - 1), 1, 2, 3, 4, 5, 6, 7, 8];
                let text = text(len);
                let sealed = protect(&ours.local, &header, number_len, number, &text);
                assert!(sealed == protect(&theirs.local, &header, number_len, number, &text), "{len} bytes");
                let at = header.len() - number_len;
                assert_eq!(unprotect(&ours.local, &sealed, at, number), Some((header.to_vec(), text)));
            }
            for path in [0, 1, u32::MAX] {
                let (mut a, mut b) = ([5; 40], [5; 40]);
                let seal = |keys: &Keys, text: &mut [u8]| {
                    keys.local.packet.encrypt_in_place_for_path(path, 77, b"header", text).unwrap().as_ref().to_vec()
                };
                let tags = [seal(&ours, &mut a), seal(&theirs, &mut b)];
                assert_eq!((&tags[0], a), (&tags[1], b));
                let mut message = [&a[..], &tags[0]].concat();
                let opened = ours.local.packet.decrypt_in_place_for_path(path, 77, b"header", &mut message);
                assert_eq!(opened.unwrap(), [5; 40]);
            }
            let limits = |keys: &Keys| {
                let key = &keys.local.packet;
                (key.confidentiality_limit(), key.integrity_limit(), key.tag_len())
            };
            assert_eq!(limits(&ours), limits(&theirs));
            assert_eq!(limits(&ours), (1 << 23, 1 << 52, 16));
        }
    }
}

#[test]
fn forged_packets_are_refused() {
    for suite in [AES_128, AES_256] {
        let [ours, _] = beside(RING, suite);
        let packet = protect(&ours.local, &[0x41, 1, 2, 3, 0, 9], 2, 9, &text(30));
        assert!(unprotect(&ours.local, &packet, 4, 9).is_some());
        for at in 0..packet.len() {
            let mut forged = packet.clone();
            forged[at] ^= 4;
            assert!(unprotect(&ours.local, &forged, 4, 9).is_none(), "byte {at}");
        }
        assert!(unprotect(&ours.local, &packet, 4, 10).is_none(), "another number");
        let mut short = [0; 15];
        assert!(ours.local.packet.decrypt_in_place(9, b"", &mut short).is_err(), "shorter than a tag");
    }
}

#[test]
fn headers_are_masked_as_ring_does_and_left_alone_on_an_error() {
    for suite in [AES_128, AES_256] {
        let [ours, theirs] = beside(RING, suite);
        assert_eq!(ours.local.header.sample_len(), 16);
        for first in 0..=255_u8 {
            let sample: Vec<u8> = text(16).iter().map(|byte| byte ^ first).collect();
            for len in 0..=4 {
                let apply = |keys: &Keys, masked| {
                    let (mut first, mut number) = (first, vec![0xaa; len]);
                    let key = &keys.local.header;
                    match masked {
                        true => key.decrypt_in_place(&sample, &mut first, &mut number).unwrap(),
                        false => key.encrypt_in_place(&sample, &mut first, &mut number).unwrap(),
                    }
                    (first, number)
                };
                for masked in [false, true] {
                    assert_eq!(apply(&ours, masked), apply(&theirs, masked), "{first:#x}, {len}, {masked}");
                }
            }
        }
        for (sample, number) in [(15, 4), (17, 4), (0, 1), (16, 5)] {
            let (mut first, mut number) = (0xc3, vec![0xaa; number]);
            assert!(ours.local.header.encrypt_in_place(&vec![1; sample], &mut first, &mut number).is_err());
            assert!(ours.local.header.decrypt_in_place(&vec![1; sample], &mut first, &mut number).is_err());
            assert!(first == 0xc3 && number.iter().all(|&byte| byte == 0xaa));
        }
    }
}

/// Transfers what one end sends next, and collects its key changes.
fn turn(from: &mut Connection, to: &mut Connection, changes: &mut Vec<KeyChange>) {
    loop {
        let mut said = Vec::new();
        let change = from.write_hs(&mut said);
        if !said.is_empty() {
            to.read_hs(&said).unwrap();
        }
        match change {
            Some(change) => changes.push(change),
            None if said.is_empty() => return,
            None => {}
        }
    }
}

#[test]
fn handshakes_and_key_updates() {
    for (client, server) in [(OURS, RING), (RING, OURS), (OURS, AWS_LC), (AWS_LC, OURS)] {
        for suite in [AES_128, AES_256] {
            let suite = *RING.1().cipher_suites.iter().find(|other| other.suite() == suite).unwrap();
            let (client_config, server_config) = configs(only(client.1(), suite), only(server.1(), suite));
            let name = "localhost".try_into().unwrap();
            let client = ClientConnection::new(client_config.into(), Version::V1, name, b"of the client".to_vec());
            let server = ServerConnection::new(server_config.into(), Version::V1, b"of the server".to_vec());
            let (mut client, mut server) = (client.unwrap().into(), server.unwrap().into());
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..4 {
                turn(&mut client, &mut server, &mut ours);
                turn(&mut server, &mut client, &mut theirs);
            }
            assert_eq!((ours.len(), theirs.len()), (2, 2), "keys of the handshake, then of the data");
            for (a, b) in ours.into_iter().zip(theirs) {
                match (a, b) {
                    (KeyChange::Handshake { keys: a }, KeyChange::Handshake { keys: b }) => meet(&a, &b),
                    (
                        KeyChange::OneRtt { keys: a, next: mut a_next },
                        KeyChange::OneRtt { keys: b, next: mut b_next },
                    ) => {
                        meet(&a, &b);
                        for _ in 0..3 {
                            let (a, b) = (a_next.next_packet_keys(), b_next.next_packet_keys());
                            let mut text = *b"after an update";
                            let tag = a.local.encrypt_in_place(5, b"header", &mut text).unwrap();
                            let mut message = [&text[..], tag.as_ref()].concat();
                            assert_eq!(
                                b.remote.decrypt_in_place(5, b"header", &mut message).unwrap(),
                                b"after an update"
                            );
                        }
                    }
                    _ => panic!("the ends have keys of different kinds"),
                }
            }
        }
    }
}

/// Exchanges packets in both directions.
fn meet(a: &Keys, b: &Keys) {
    for (from, to) in [(&a.local, &b.remote), (&b.local, &a.remote)] {
        let packet = protect(from, &[0xe1, 1, 2, 3, 0, 9], 2, 9, &text(500));
        assert_eq!(unprotect(to, &packet, 4, 9), Some((vec![0xe1, 1, 2, 3, 0, 9], text(500))));
    }
}
