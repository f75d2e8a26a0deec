//! Records of TLS and packets of QUIC: ours against ring's and aws-lc's, under the traits of rustls.

use std::sync::OnceLock;

use rustls::{
    CipherSuite, ContentType, Error, PeerMisbehaved, ProtocolVersion, Side, SupportedCipherSuite,
    crypto::{
        CryptoProvider, aws_lc_rs,
        cipher::{
            AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundChunks, OutboundPlainMessage,
        },
        ring,
    },
    quic::{DirectionalKeys, Version},
};

use crate::message::{grown, take};

/// The longest text of a record.
const LONGEST: usize = 1 << 14;

/// What an input says about one message.
struct Case {
    kind: u8,
    typ: u8,
    version: u8,
    cut: u8,
    change: u8,
    mask: u8,
    at: usize,
    number: u64,
    other: u64,
    key: [u8; 32],
    iv: [u8; 12],
    text: Vec<u8>,
}

/// Content type, version and text, or why not.
type Answer = Result<(ContentType, ProtocolVersion, Vec<u8>), Error>;

/// Ours first.
fn providers() -> &'static [(&'static str, CryptoProvider); 3] {
    static PROVIDERS: OnceLock<[(&str, CryptoProvider); 3]> = OnceLock::new();
    PROVIDERS.get_or_init(|| {
        let ours = sealwright_rustls::provider(ring::default_provider());
        [("ours", ours), ("ring", ring::default_provider()), ("aws-lc", aws_lc_rs::default_provider())]
    })
}

fn suite(provider: &CryptoProvider, wanted: CipherSuite) -> SupportedCipherSuite {
    *provider.cipher_suites.iter().find(|suite| suite.suite() == wanted).expect("each provider has AES-GCM")
}

impl Case {
    /// The message as an attacker changes it; the same one if there is nothing to change.
    fn changed(&self, message: &[u8]) -> Vec<u8> {
        let mut changed = message.to_vec();
        let at = self.at % message.len().max(1);
        match self.change % 8 {
            1 => message.get(at).iter().for_each(|byte| changed[at] = *byte ^ self.mask),
            2 => changed.truncate(at),
            3 => drop(changed.drain(..at)),
            4 => changed.extend(vec![self.mask; 1 + at % 40]),
            5 if !message.is_empty() => changed.swap(at, 0),
            _ => {}
        }
        changed
    }

    /// The number under which the changed message is opened.
    fn changed_number(&self) -> u64 {
        if self.change % 8 == 6 { self.other } else { self.number }
    }
}

/// Both directions of each implementation. rustls lets others make keys of 256 bits only; those of 128 bits are tried
/// in QUIC, where it derives them.
fn ends(case: &Case, is_13: bool) -> [(Box<dyn MessageEncrypter>, Box<dyn MessageDecrypter>); 3] {
    let wanted = match is_13 {
        true => CipherSuite::TLS13_AES_256_GCM_SHA384,
        false => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    };
    let key = || AeadKey::from(case.key);
    let (fixed, start) = case.iv.split_at(4);
    providers().each_ref().map(|(_, provider)| match suite(provider, wanted) {
        SupportedCipherSuite::Tls13(suite) => {
            let aead = suite.aead_alg;
            (aead.encrypter(key(), Iv::from(case.iv)), aead.decrypter(key(), Iv::from(case.iv)))
        }
        SupportedCipherSuite::Tls12(suite) => {
            (suite.aead_alg.encrypter(key(), fixed, start), suite.aead_alg.decrypter(key(), fixed))
        }
    })
}

/// A record, sealed from its pieces.
fn seal(encrypter: &mut dyn MessageEncrypter, case: &Case) -> Result<Vec<u8>, Error> {
    let piece = if case.cut == 0 { case.text.len().max(1) } else { usize::from(case.cut) * 8 - 7 };
    let pieces: Vec<&[u8]> = case.text.chunks(piece).collect();
    let version = ProtocolVersion::from(0x300 | u16::from(case.version));
    let message =
        OutboundPlainMessage { typ: ContentType::from(case.typ), version, payload: OutboundChunks::new(&pieces) };
    let len = encrypter.encrypted_payload_len(case.text.len());
    let record = encrypter.encrypt(message, case.number)?.payload.as_ref().to_vec();
    assert_eq!(record.len(), len);
    Ok(record)
}

/// TLS 1.2 and 1.3: the same records of a text; the same answers to them, to changed ones and to arbitrary ones, under
/// any number.
fn tls(case: &Case, is_13: bool) {
    let mut ends = ends(case, is_13);
    let mut open = |record: &[u8], number: u64, typ: u8, version: u8| -> Answer {
        let [ours, ring, aws_lc] = ends.each_mut().map(|(_, decrypter)| -> Answer {
            let mut record = record.to_vec();
            let version = ProtocolVersion::from(0x300 | u16::from(version));
            let message = InboundOpaqueMessage::new(ContentType::from(typ), version, &mut record);
            decrypter.decrypt(message, number).map(|plain| (plain.typ, plain.version, plain.payload.to_vec()))
        });
        assert!(ours == ring && ours == aws_lc, "{:?} {:?} {:?}", ours.err(), ring.err(), aws_lc.err());
        ours
    };
    drop(open(&case.text, case.number, case.typ, case.version));

    let [ours, ring, aws_lc] = ends_sealing(case, is_13);
    let record = ours.unwrap();
    assert!(ring.is_ok_and(|ring| ring == record), "ring seals another record");
    // It refuses the last number of TLS 1.2, which no connection reaches
    let last = !is_13 && case.iv.last_chunk() == Some(&(!case.number).to_be_bytes());
    assert!(aws_lc.map_or(last, |aws_lc| aws_lc == record), "aws-lc seals another record");

    let answer = open(&record, case.number, case.typ, case.version);
    if case.text.len() > LONGEST {
        assert_eq!(answer, Err(Error::PeerSentOversizedRecord));
    } else if is_13 && ContentType::from(case.typ) == ContentType::ChangeCipherSpec {
        // RFC 8446, 5: it may not be encrypted
        assert_eq!(answer, Err(PeerMisbehaved::IllegalMiddleboxChangeCipherSpec.into()));
    } else if case.typ != 0 || !is_13 {
        let (typ, version, text) = answer.clone().unwrap();
        assert!(text == case.text && typ == ContentType::from(case.typ), "{typ:?}");
        assert!(is_13 || version == ProtocolVersion::from(0x300 | u16::from(case.version)), "{version:?}");
    }
    let (changed, number) = (case.changed(&record), case.changed_number());
    if changed != record || number != case.number {
        assert_eq!(open(&changed, number, case.typ, case.version), Err(Error::DecryptError), "a changed record opens");
    }
    // What precedes a record is authenticated in TLS 1.2; TLS 1.3 has its own type within.
    let other = open(&record, case.number, case.typ ^ case.mask, case.version);
    match is_13 {
        true => assert!(other == answer, "the type outside counts"),
        false if case.mask != 0 => assert_eq!(other, Err(Error::DecryptError), "another type"),
        false => {}
    }
}

/// The record by each of them, under keys of their own: aws-lc wants increasing numbers of a key.
fn ends_sealing(case: &Case, is_13: bool) -> [Result<Vec<u8>, Error>; 3] {
    ends(case, is_13).map(|(mut encrypter, _)| seal(&mut *encrypter, case))
}

/// QUIC: the same for packets with any header, and for the protection of headers.
fn quic(case: &Case, wanted: CipherSuite) {
    let version = if case.kind & 4 == 0 { Version::V1 } else { Version::V2 };
    let id = &case.key[..usize::from(case.typ) % 21];
    let side = if case.kind & 8 == 0 { Side::Client } else { Side::Server };
    let keys = providers().each_ref().map(|(_, provider)| {
        let suite = suite(provider, wanted);
        suite.tls13().unwrap().quic_suite().expect("each provider has QUIC").keys(id, side, version).local
    });
    packets(case, &keys);
    headers(case, &keys);
}

fn packets(case: &Case, keys: &[DirectionalKeys; 3]) {
    let (header, payload) = case.text.split_at(case.text.len().min(case.cut.into()));
    let path = (case.kind & 16 != 0).then(|| u32::from_be_bytes(*case.iv.first_chunk().unwrap()));
    let open = |packet: &[u8], header: &[u8], number: u64| {
        let [ours, ring, aws_lc] = keys.each_ref().map(|keys| {
            let mut packet = packet.to_vec();
            let text = match path {
                Some(path) => keys.packet.decrypt_in_place_for_path(path, number, header, &mut packet),
                None => keys.packet.decrypt_in_place(number, header, &mut packet),
            };
            text.map(<[u8]>::to_vec)
        });
        assert!(ours == ring && ours == aws_lc, "{:?} {:?} {:?}", ours.err(), ring.err(), aws_lc.err());
        ours
    };
    drop(open(payload, header, case.number));
    let [packet, ring, aws_lc] = keys.each_ref().map(|keys| {
        let mut packet = payload.to_vec();
        let tag = match path {
            Some(path) => keys.packet.encrypt_in_place_for_path(path, case.number, header, &mut packet),
            None => keys.packet.encrypt_in_place(case.number, header, &mut packet),
        };
        packet.extend_from_slice(tag.unwrap().as_ref());
        packet
    });
    assert!(packet == ring && packet == aws_lc, "{} bytes of a packet", payload.len());
    assert!(open(&packet, header, case.number).is_ok_and(|text| text == payload));
    let (changed, number) = (case.changed(&packet), case.changed_number());
    if changed != packet || number != case.number {
        assert_eq!(open(&changed, header, number), Err(Error::DecryptError), "a changed packet opens");
    }
    let other = case.changed(header);
    if other != header {
        assert_eq!(open(&packet, &other, case.number), Err(Error::DecryptError), "another header");
    }
}

fn headers(case: &Case, keys: &[DirectionalKeys; 3]) {
    // Nearly all samples have the length that they must have
    let sample_len = if case.mask < 240 { 16 } else { usize::from(case.mask) % 20 };
    let sample = &[case.iv, case.key[..12].try_into().unwrap()].concat()[..sample_len];
    let number = &case.other.to_be_bytes()[..usize::from(case.version) % 6];
    let apply = |keys: &DirectionalKeys, mut first: u8, number: &[u8], masked: bool| {
        let mut number = number.to_vec();
        let done = match masked {
            true => keys.header.decrypt_in_place(sample, &mut first, &mut number),
            false => keys.header.encrypt_in_place(sample, &mut first, &mut number),
        };
        (done, first, number)
    };
    for masked in [false, true] {
        let [ours, ring, aws_lc] = keys.each_ref().map(|keys| apply(keys, case.typ, number, masked));
        assert_eq!(ours, ring, "ring");
        assert_eq!(ours, aws_lc, "aws-lc");
        let (done, first, changed) = ours;
        if done.is_ok() {
            assert_eq!(apply(&keys[0], first, &changed, !masked), (Ok(()), case.typ, number.to_vec()));
        } else {
            assert_eq!((first, &changed[..]), (case.typ, number), "a refused header was changed");
        }
    }
}

/// Takes arbitrary bytes as keys, numbers and a text: the first byte chooses between records of TLS 1.3 and 1.2 and
/// packets of QUIC. Ours, ring and aws-lc protect the text alike, and give the same answer to what is protected, to
/// changed messages, and to the text as a message. No changed message opens.
pub(crate) fn records(bytes: &[u8]) {
    let Some((&[kind, typ, version, cut, change, mask], mut rest)) = bytes.split_first_chunk() else { return };
    let at = u16::from_be_bytes(take(&mut rest)).into();
    let (number, other) = (u64::from_be_bytes(take(&mut rest)), u64::from_be_bytes(take(&mut rest)));
    let (key, iv) = (take(&mut rest), take(&mut rest));
    let len = usize::from(u16::from_be_bytes(take(&mut rest))) % 20_000;
    let text = grown(rest, len);
    let case = Case { kind, typ, version, cut, change, mask, at, number, other, key, iv, text };
    match kind % 4 {
        0 => tls(&case, true),
        1 => tls(&case, false),
        2 => quic(&case, CipherSuite::TLS13_AES_128_GCM_SHA256),
        _ => quic(&case, CipherSuite::TLS13_AES_256_GCM_SHA384),
    }
}
