//! What fuzzing asks of a stream that is sealed end to end: whatever becomes of it on its way, what comes out is a beginning of the
//! text, and only the stream that was sent comes to its end. And whatever a peer says that has the keys, what comes out is what it said
//! as it must be said.

use std::io::{Read, Write};

use hpke::{Deserializable, Kem as _, Serializable, kem::XWing};
use zeroize::Zeroizing;

use super::{
    EndToEnd, EndToEndError,
    agreement::{DATA, ENCAPSULATED, END, EXPORT, FIRST, RECEIPT, REKEY, Secret, Sender},
    sealing::record,
};

const KEYS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
const NAMES: [&str; 2] = ["alice", "bob"];
/// Bytes of text, in pieces of this length, and how many go under the same keys: there are two changes of keys.
const TEXT: usize = 150;
const PIECE: usize = 30;
const EVERY: u64 = 60;
/// Changes of an input.
const EDITS: usize = 8;
/// Records of a peer that has the keys.
const RECORDS: usize = 40;

fn end(side: usize) -> EndToEnd {
    let peer = XWing::sk_to_pk(&Secret::from_bytes(&KEYS[1 - side]).expect("a secret key")).to_bytes();
    EndToEnd::with_rekey(&KEYS[side], &peer, [NAMES[side], NAMES[1 - side]], EVERY).expect("two ends")
}

/// Reads at most a piece at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(PIECE);
        self.0.read(&mut buffer[..len])
    }
}

/// What Alice sends to Bob, who has not read it yet. Of Bob's stream only the first message is made: the rest, which has
/// no text, counts as sent and opened.
fn sent(alice: &EndToEnd, bob: &EndToEnd, text: &[u8]) -> Vec<u8> {
    let mut first = vec![0; FIRST];
    bob.sealing(&[][..]).read_exact(&mut first).expect("a first message waits for nobody");
    let mut all = Vec::new();
    let mut opening = alice.opening(Vec::new());
    opening.write_all(&first).expect("alice takes bob's first message");
    bob.0.state().end_sent = true;
    alice.0.ended();
    alice.sealing(Pieces(text)).read_to_end(&mut all).expect("alice seals");
    all
}

/// What Bob must make of records.
#[derive(Default)]
struct Model {
    text: Vec<u8>,
    /// What he sent, if his end was.
    sent: Option<u64>,
    ended: bool,
    confirmed: bool,
    failed: bool,
    /// The keys that were announced are not those of the next record: none opens any more.
    lost: bool,
}

impl Model {
    /// A record of this kind with this content comes, which opens.
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
                self.failed = data.len() != ENCAPSULATED;
                self.lost = true;
            }
            _ => self.failed = true,
        }
    }
}

/// Alice's next record, or what she says instead, as two bytes and some more choose it.
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
        // Any kind and content; new keys of another length
        4 => simple(with, data),
        // Nothing, not even a kind, or another length than was sealed
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
        // New keys, under which the next record comes, or another one under those before
        _ => {
            let mut secret = Zeroizing::new([0; 64]);
            context.export(EXPORT, &mut *secret).expect("a secret");
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

/// Records of three bytes and more each, of a peer that has the keys; the first byte says what Bob sent.
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
    for _ in 0..RECORDS {
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
    // What must not be taken may be noticed with the record behind it
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

/// The first byte says what comes: any bytes as the whole stream, or the one that Alice sends with changes of four bytes each: what,
/// where (2 bytes), and with what; or records that she seals. Bob takes it in pieces, of which the second byte has the length.
pub fn end_to_end(bytes: &[u8]) {
    let Some((&[how, step], rest)) = bytes.split_first_chunk() else { return };
    if how & 3 == 2 {
        return insider(step, rest);
    }
    let bob = end(1);
    let text: Vec<u8> = (0..TEXT).map(|at| ((at * 31) >> 3) as u8).collect();
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
        assert_eq!((output, bob.finished()), (text, Ok((0, TEXT as u64))));
    }
}

fn changed(mut stream: Vec<u8>, edits: &[u8]) -> Vec<u8> {
    let (edits, rest) = edits.as_chunks::<4>();
    for &[what, high, low, with] in edits.iter().take(EDITS) {
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
