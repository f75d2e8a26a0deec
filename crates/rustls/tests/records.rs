//! Records through rustls' own interface: compared byte for byte with ring and aws-lc, and those that must be refused.
#![allow(clippy::unwrap_used)]

mod common;

use common::text;
use rustls::{
    ContentType, Error, ProtocolVersion, Tls13CipherSuite,
    crypto::{
        aws_lc_rs,
        cipher::{
            AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundChunks, OutboundPlainMessage,
        },
        ring,
    },
};
use sealwright_rustls::provider;

/// Both directions of one implementation under the test's key.
struct Ends {
    name: &'static str,
    encrypter: Box<dyn MessageEncrypter>,
    decrypter: Box<dyn MessageDecrypter>,
}

const KEY: [u8; 32] = [7; 32];

/// AES-256-GCM in TLS 1.3: ours, ring's, aws-lc's.
fn tls13() -> [Ends; 3] {
    let ends = |name, suite: &Tls13CipherSuite| {
        let iv = || Iv::from([9; 12]);
        let encrypter = suite.aead_alg.encrypter(AeadKey::from(KEY), iv());
        Ends { name, encrypter, decrypter: suite.aead_alg.decrypter(AeadKey::from(KEY), iv()) }
    };
    let ours = provider(ring::default_provider());
    [
        ends("ours", ours.cipher_suites[0].tls13().unwrap()),
        ends("ring", ring::cipher_suite::TLS13_AES_256_GCM_SHA384.tls13().unwrap()),
        ends("aws-lc", aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384.tls13().unwrap()),
    ]
}

/// The same in TLS 1.2.
#[cfg(feature = "tls12")]
fn tls12() -> [Ends; 3] {
    use rustls::{CipherSuite, SupportedCipherSuite, crypto::CryptoProvider};
    let ends = |name, provider: CryptoProvider| {
        let wanted = CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384;
        let suite = provider.cipher_suites.iter().find(|suite| suite.suite() == wanted).unwrap();
        let SupportedCipherSuite::Tls12(suite) = suite else { panic!("a suite of TLS 1.2") };
        let shape = suite.aead_alg.key_block_shape();
        assert_eq!((shape.enc_key_len, shape.fixed_iv_len, shape.explicit_nonce_len), (32, 4, 8));
        let encrypter = suite.aead_alg.encrypter(AeadKey::from(KEY), &[1; 4], &[2; 8]);
        Ends { name, encrypter, decrypter: suite.aead_alg.decrypter(AeadKey::from(KEY), &[1; 4]) }
    };
    [
        ends("ours", provider(ring::default_provider())),
        ends("ring", ring::default_provider()),
        ends("aws-lc", aws_lc_rs::default_provider()),
    ]
}

fn versions() -> Vec<(ProtocolVersion, [Ends; 3])> {
    vec![
        (ProtocolVersion::TLSv1_3, tls13()),
        #[cfg(feature = "tls12")]
        (ProtocolVersion::TLSv1_2, tls12()),
    ]
}

impl Ends {
    fn seal(&mut self, typ: ContentType, payload: OutboundChunks<'_>, number: u64) -> Vec<u8> {
        let len = payload.len();
        let message = OutboundPlainMessage { typ, version: ProtocolVersion::TLSv1_2, payload };
        let record = self.encrypter.encrypt(message, number).unwrap().payload.as_ref().to_vec();
        assert_eq!(record.len(), self.encrypter.encrypted_payload_len(len), "{}", self.name);
        record
    }

    fn open(&mut self, mut record: Vec<u8>, number: u64) -> Result<Vec<u8>, Error> {
        let message = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
        self.decrypter.decrypt(message, number).map(|plain| plain.payload.to_vec())
    }
}

#[test]
fn the_same_records_as_ring_and_aws_lc() {
    for (version, mut ends) in versions() {
        // aws-lc requires increasing record numbers.
        let lengths = (0..200).chain([1500, 16_368, 16_383, 16_384]);
        for (number, len) in (0..).zip(lengths) {
            let text = text(len);
            let sealed = |ends: &mut Ends| ends.seal(ContentType::ApplicationData, text.as_slice().into(), number);
            let records = ends.each_mut().map(sealed);
            assert!(records[0] == records[1] && records[0] == records[2], "{version:?}, {len} bytes");
            for end in &mut ends {
                assert_eq!(end.open(records[0].clone(), number), Ok(text.clone()), "{}", end.name);
            }
        }
    }
}

#[test]
fn pieces_make_the_same_record_as_the_whole() {
    let whole = text(1000);
    let pieces: Vec<&[u8]> = whole.chunks(77).collect();
    for (_, [mut ours, ..]) in versions() {
        let one = ours.seal(ContentType::ApplicationData, whole.as_slice().into(), 3);
        assert_eq!(one, ours.seal(ContentType::ApplicationData, OutboundChunks::new(&pieces), 3));
    }
}

#[test]
fn every_changed_bit_every_cut_and_every_other_number_is_refused() {
    for (version, [mut ours, ..]) in versions() {
        let record = ours.seal(ContentType::ApplicationData, b"attack at dawn"[..].into(), 1);
        for at in 0..record.len() {
            for bit in 0..8 {
                let mut forged = record.clone();
                forged[at] ^= 1 << bit;
                assert_eq!(ours.open(forged, 1), Err(Error::DecryptError), "{version:?}: byte {at}, bit {bit}");
            }
            assert_eq!(ours.open(record[..at].to_vec(), 1), Err(Error::DecryptError), "{version:?}: cut at {at}");
        }
        for number in [0, 2, 1 << 32, u64::MAX] {
            assert_eq!(ours.open(record.clone(), number), Err(Error::DecryptError), "{version:?}: number {number}");
        }
        assert_eq!(ours.open(record, 1).unwrap(), b"attack at dawn");
    }
}

#[test]
fn records_that_are_too_long_or_of_no_type_are_refused() {
    for (version, [mut ours, ..]) in versions() {
        let longer = ours.seal(ContentType::ApplicationData, text(16_385).as_slice().into(), 1);
        assert_eq!(ours.open(longer, 1), Err(Error::PeerSentOversizedRecord), "{version:?}");
    }
    let [mut ours, ..] = tls13();
    let none = ours.seal(ContentType::Unknown(0), [0; 20][..].into(), 1);
    assert!(matches!(ours.open(none, 1), Err(Error::PeerMisbehaved(_))));
}

/// RFC 5288, 3: the explicit nonce is an initial value xor the record number, and precedes the ciphertext.
#[cfg(feature = "tls12")]
#[test]
fn tls_1_2_sends_half_of_the_nonce() {
    let [mut ours, ..] = tls12();
    for number in [0, 1, 255, 1 << 40] {
        let record = ours.seal(ContentType::ApplicationData, b"text"[..].into(), number);
        assert_eq!(record[..8], (u64::from_be_bytes([2; 8]) ^ number).to_be_bytes());
    }
}
