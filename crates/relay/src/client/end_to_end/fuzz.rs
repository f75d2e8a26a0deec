//! Fuzz target: a stream that is sealed end to end. Whatever happens to it in transit, the receiver outputs a prefix of
//! the plaintext, and only the unchanged stream is accepted to its end. Whatever a peer with the right keys sends, the
//! receiver accepts exactly what follows the protocol.

use std::io::{Read, Write};

use hpke::{Deserializable, Kem as _, Serializable, kem::XWing};
use zeroize::Zeroizing;

use super::{
    EndToEnd, EndToEndError,
    agreement::{DATA, ENCAPSULATED_KEY_BYTES, END, EXPORT_LABEL, FIRST_MESSAGE_BYTES, RECEIPT, REKEY, Secret, Sender},
    sealing::record,
};

const KEYS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
const NAMES: [&str; 2] = ["alice", "bob"];
/// Bytes of plaintext, in pieces of this length, and how many go under the same keys: the keys change twice.
const TEXT_BYTES: usize = 150;
const PIECE_BYTES: usize = 30;
const REKEY_EVERY_BYTES: u64 = 60;
/// The most changes of an input.
const MAX_EDITS: usize = 8;
/// The most records of a peer that has the keys.
const MAX_RECORDS: usize = 40;

fn end(side: usize) -> EndToEnd {
    let peer = XWing::sk_to_pk(&Secret::from_bytes(&KEYS[1 - side]).expect("a secret key")).to_bytes();
    EndToEnd::with_rekey(&KEYS[side], &peer, [NAMES[side], NAMES[1 - side]], REKEY_EVERY_BYTES).expect("two ends")
}

/// Reads at most a piece at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(PIECE_BYTES);
        self.0.read(&mut buffer[..len])
    }
}

/// The stream that Alice sends to Bob before he has read any of it. Of Bob's stream only the first message is made; the
/// rest, without plaintext, counts as sent and opened.
fn sent(alice: &EndToEnd, bob: &EndToEnd, text: &[u8]) -> Vec<u8> {
    let mut first = vec![0; FIRST_MESSAGE_BYTES];
    bob.sealing(&[][..]).read_exact(&mut first).expect("a first message waits for nobody");
    let mut all = Vec::new();
    let mut opening = alice.opening(Vec::new());
    opening.write_all(&first).expect("alice takes bob's first message");
    bob.0.state().end_sent = true;
    alice.0.ended();
    alice.sealing(Pieces(text)).read_to_end(&mut all).expect("alice seals");
    all
}

/// A model of what Bob must make of records.
#[derive(Default)]
struct Model {
    text: Vec<u8>,
    /// How many bytes he sent, once he has sent his end.
    sent: Option<u64>,
    ended: bool,
    confirmed: bool,
    failed: bool,
    /// The announced keys are not those of the next record: no record opens any more.
    lost: bool,
}

impl Model {
    /// A record arrives that opens, with this kind and content.
    fn takes(&mut self, kind: Option<u8>, data: &[u8]) {
        match kind {
            _ if self.failed => {}
            _ if self.lost || self.confirmed => self.failed = true,
            Some(RECEIPT) if self.ended => {
                self.confirmed = self.sent.is_some_and(|sent| data == sent.to_be_bytes());
                self.failed = !self.confirmed;
            }
            _ if self.ended => self.failed = true,
            Some(DATA) => self.text.extend_from_slice(data),
            Some(END) if data.is_empty() => self.ended = true,
            Some(REKEY) => {
                self.failed = data.len() != ENCAPSULATED_KEY_BYTES;
                self.lost = true;
            }
            _ => self.failed = true,
        }
    }
}

/// Alice's next record, or one that violates the protocol, as two bytes and further data select it.
fn said(alice: &EndToEnd, context: &mut Sender, model: &mut Model, [what, with]: [u8; 2], data: &[u8]) -> Vec<u8> {
    let sent = model.sent.unwrap_or_default();
    let sealed = |context: &mut Sender, kind: u8, data: &[u8]| record(context, kind, data).expect("a short record");
    let mut simple = |kind: u8, data: &[u8]| {
        model.takes(Some(kind), data);
        sealed(context, kind, data)
    };
    match what % 8 {
        0 => simple(DATA, data),
        1 => simple(END, &[]),
        2 => simple(RECEIPT, &sent.to_be_bytes()),
        3 => simple(RECEIPT, &sent.wrapping_add(with.into()).to_be_bytes()[usize::from(with & 1)..]),
        // Any kind and content, or new keys of a wrong length
        4 => simple(with, data),
        // An empty plaintext, without even a kind, or a wrong length field
        5 => {
            let length = (16 + u16::from(with)).to_be_bytes();
            let plaintext = vec![DATA; usize::from(with)];
            let other = [length[0], length[1] ^ (what >> 7)];
            if other == length {
                model.takes(plaintext.first().copied(), plaintext.get(1..).unwrap_or_default());
            }
            model.failed |= other != length;
            [&length[..], &context.seal(&plaintext, &other).expect("a short record")].concat()
        }
        // New keys, and a next record under them or, wrongly, under the previous ones
        _ => {
            let mut secret = Zeroizing::new([0; 64]);
            context.export(EXPORT_LABEL, &mut *secret).expect("a secret");
            let (mut encapsulated, next) = alice.0.sender(&secret).expect("new keys");
            let at = usize::from(with) * 4;
            let is_changed = what % 8 == 7 && what & 16 != 0;
            encapsulated[at] ^= u8::from(is_changed);
            let before = model.lost;
            model.takes(Some(REKEY), &encapsulated);
            let bytes = sealed(context, REKEY, &encapsulated);
            if what % 8 == 6 {
                (*context, model.lost) = (next, before);
            }
            bytes
        }
    }
}

/// Records from a peer that has the keys, each of three bytes or more; the first byte says what Bob sent.
fn insider(step: u8, bytes: &[u8]) {
    let Some((&first, mut bytes)) = bytes.split_first() else { return };
    let (alice, bob) = (end(0), end(1));
    alice.0.agree(bob.0.ends.first.clone()).expect("a first message");
    let mut model = Model { sent: (first & 1 == 0).then_some(u64::from(first) >> 1), ..Model::default() };
    {
        let mut state = bob.0.state();
        (state.sent, state.end_sent) = (model.sent.unwrap_or(7), model.sent.is_some());
    }
    let (encapsulated, mut context) = alice.0.sender(&alice.0.secret_to_send().expect("both agreed")).expect("keys");
    let mut stream = [&alice.0.ends.first[..], &encapsulated].concat();
    for _ in 0..MAX_RECORDS {
        let Some((&[what, with, len], rest)) = bytes.split_first_chunk() else { break };
        let (data, rest) = rest.split_at(rest.len().min(len.into()));
        bytes = rest;
        stream.extend(said(&alice, &mut context, &mut model, [what, with], data));
    }
    let mut output = Vec::new();
    let mut opening = bob.opening(&mut output);
    let taken = stream.chunks(usize::from(step) * 16 + 1).try_for_each(|piece| opening.write_all(piece));
    drop(opening);
    assert_eq!(output, model.text);
    // A violation may be noticed only with the record after it
    assert!(taken.is_err() == model.failed || model.lost, "{taken:?}");
    let Model { text, sent, ended, confirmed, failed, .. } = model;
    match bob.finished() {
        Ok(done) => assert!(confirmed && !failed && Some(done) == sent.map(|sent| (sent, text.len() as u64))),
        Err(EndToEndError::Cut) => assert!(!ended),
        Err(EndToEndError::Unconfirmed) => assert!(ended && !confirmed),
        Err(EndToEndError::NotAuthentic) => assert!(taken.is_err()),
        Err(other) => panic!("{other}"),
    }
    assert!(failed || !confirmed || bob.finished().is_ok());
}

/// The first byte selects the stream: any bytes; or Alice's with changes of four bytes each (kind, position in 2 bytes,
/// value); or records that she seals. Bob reads it in pieces, whose length the second byte gives.
pub fn end_to_end(bytes: &[u8]) {
    let Some((&[how, step], rest)) = bytes.split_first_chunk() else { return };
    if how & 3 == 2 {
        return insider(step, rest);
    }
    let bob = end(1);
    let text: Vec<u8> = (0..TEXT_BYTES).map(|at| ((at * 31) >> 3) as u8).collect();
    let (stream, genuine) = if how & 1 == 0 {
        (rest.to_vec(), Vec::new())
    } else {
        let genuine = sent(&end(0), &bob, &text);
        (changed(genuine.clone(), rest), genuine)
    };
    let mut output = Vec::new();
    let mut opening = bob.opening(&mut output);
    let piece = usize::from(step) * 16 + 1;
    let taken = stream.chunks(piece).try_for_each(|piece| opening.write_all(piece));
    drop(opening);
    assert!(text.starts_with(&output), "other text came out");
    let whole = how & 1 == 1 && stream == genuine;
    assert_eq!(bob.finished().is_ok() && taken.is_ok(), whole, "{taken:?}, {:?}", bob.finished());
    if whole {
        assert_eq!((output, bob.finished()), (text, Ok((0, TEXT_BYTES as u64))));
    }
}

fn changed(mut stream: Vec<u8>, edits: &[u8]) -> Vec<u8> {
    let (edits, rest) = edits.as_chunks::<4>();
    for &[what, high, low, with] in edits.iter().take(MAX_EDITS) {
        let at = usize::from(u16::from_be_bytes([high, low])) % (stream.len() + 1);
        let to = (at + usize::from(with)).min(stream.len());
        match what % 5 {
            0 if at < stream.len() => stream[at] ^= with,
            1 => drop(stream.drain(at..to)),
            2 => stream.insert(at, with),
            3 => stream.truncate(at),
            4 => {
                let again = stream[at..to].to_vec();
                stream.splice(to..to, again);
            }
            _ => {}
        }
    }
    stream.extend_from_slice(rest);
    stream
}
