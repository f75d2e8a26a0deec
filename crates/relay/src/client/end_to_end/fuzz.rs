//! What fuzzing asks of a stream that is sealed end to end: whatever becomes of it on its way, what comes out is a beginning of the
//! text, and only the stream that was sent comes to its end.

use std::io::{Read, Write};

use hpke::{Deserializable, Kem as _, Serializable, kem::XWing};

use super::{
    EndToEnd,
    agreement::{FIRST, Secret},
};

const KEYS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
const NAMES: [&str; 2] = ["alice", "bob"];
/// Bytes of text, in pieces of this length, and how many go under the same keys: there are two changes of keys.
const TEXT: usize = 150;
const PIECE: usize = 30;
const REKEY: u64 = 60;
/// Changes of an input.
const EDITS: usize = 8;

fn end(side: usize) -> EndToEnd {
    let peer = XWing::sk_to_pk(&Secret::from_bytes(&KEYS[1 - side]).expect("a secret key")).to_bytes();
    EndToEnd::with_rekey(&KEYS[side], &peer, [NAMES[side], NAMES[1 - side]], REKEY).expect("two ends")
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

/// The first byte says what comes: any bytes as the whole stream, or the one that Alice sends with changes of four bytes each: what,
/// where (2 bytes), and with what. Bob takes it in pieces, of which the second byte has the length.
pub fn end_to_end(bytes: &[u8]) {
    let Some((&[how, step], rest)) = bytes.split_first_chunk() else { return };
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
