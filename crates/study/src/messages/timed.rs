//! Messages sealed and opened in memory: the checks before timing, and the candidates.

use std::{hint::black_box, io};

use sealwright::{
    Aead, Isa, SealError, Suite, Tag,
    block::aes::Aes256,
    ghash::Bitwise,
    mode::{
        gcm::{Aes256Gcm, Gcm, TagLen},
        rkc::{Draw, Offsets, Reading, Rkc, Seed},
    },
    raw,
    simd::{Kernel, Simd},
};
use sealwright_measure::{Candidate, Placed, random::Random};

use super::grid::Size;
use crate::{
    plain_rkc,
    rotation::{MESSAGES, Timed, Work, messages, nonces, placed, stride},
};

/// A key for measurements only.
pub(super) const KEY: [u8; 32] = [0x42; 32];

/// A way to seal a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// RKC-R, from the seed to the tag.
    Rkc,
    /// RKC with all keys drawn by one request, which hashes less; the paper does not say which.
    RkcDrawAll,
    /// RKC-R with precomputed offsets of the keys.
    RkcPrepared,
    /// RKC-R composed of the crates `aes` and `sha2`; it has no levels.
    RkcPlain,
    /// AES-256-GCM with a 96-bit IV.
    Gcm,
    /// AES-256-GCM with a key for each message, which is made and dropped.
    GcmNewKey,
    /// AES-256-GCM with a key for each message, in the memory of the one before.
    GcmRekeyed,
    /// AES-256-GCM with bit-by-bit GHASH, as the paper specifies the multiplication.
    GcmBitwise,
    /// AES-256-GCM with a precomputed keystream, which is XORed with the text; then the ciphertext is hashed.
    GcmPrepared,
    /// AES-256-OCB.
    Ocb,
}

pub(super) fn name(way: Way, isa: Isa) -> String {
    let way = match way {
        Way::Rkc => "RKC",
        Way::RkcDrawAll => "RKC draws all",
        Way::RkcPrepared => "RKC prepared",
        Way::RkcPlain => "RKC by crates",
        Way::Gcm => "GCM",
        Way::GcmNewKey => "GCM new key",
        Way::GcmRekeyed => "GCM rekeyed",
        Way::GcmBitwise => "GCM bit by bit",
        Way::GcmPrepared => "GCM prepared",
        Way::Ocb => "OCB",
    };
    format!("{way}, {isa}")
}

/// A seed for each message, generated beforehand.
pub(super) fn seeds() -> Vec<Seed> {
    let seed = |i: usize| std::array::from_fn(|at| (i * 31 + at * 7) as u8);
    (0..MESSAGES).map(seed).collect()
}

/// RKC that draws the keys of all blocks at once.
fn draws_all(isa: Isa) -> Rkc {
    Rkc::research_only_reading(isa, &KEY, Reading { draw: Draw::All, ..Reading::default() })
}

/// AES-256-GCM under [`KEY`].
pub(super) fn gcm(isa: Isa) -> io::Result<Box<dyn Aead>> {
    Suite::Aes256Gcm.aead_at(isa, &KEY).map_err(io::Error::other)
}

/// The same, as a type whose key can be replaced.
fn rekeyable(isa: Isa) -> Box<Aes256Gcm> {
    Box::new(Aes256Gcm::new(isa, Aes256::new(isa, &KEY), TagLen::T16))
}

fn bitwise(isa: Isa) -> Gcm<Aes256, Bitwise> {
    Gcm::new(isa, Aes256::new(isa, &KEY), TagLen::T16)
}

/// The offsets of a seed for messages of `size`.
pub(super) fn offsets(isa: Isa, seed: &Seed, size: Size) -> Offsets {
    Offsets::new(isa, Reading::default(), seed, (size.0 / 16) as u32)
}

/// The keystream of GCM for a message.
fn keystream(isa: Isa, nonce: &[u8; 12], size: Size) -> io::Result<Vec<u8>> {
    let mut counter = [0; 16];
    counter[..12].copy_from_slice(nonce);
    counter[15] = 2;
    let mut stream = vec![0; size.0 as usize];
    raw::aes(isa, &KEY).map_err(io::Error::other)?.ctr(&counter, &mut stream);
    Ok(stream)
}

/// Encrypts with a precomputed keystream, then computes a tag under the same key. The tag is that of the ciphertext as
/// associated data, which costs the same multiplications and the same mask. These are two passes, each compiled for
/// the level.
fn seal_prepared(isa: Isa, gcm: &dyn Aead, stream: &[u8], nonce: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
    isa.run(Sum { text, stream });
    gcm.seal_in_place(nonce, text, &mut [])
}

/// GCM with the keystream of each message of the window, on cache lines of its own like the texts.
struct Prepared {
    isa: Isa,
    gcm: Box<dyn Aead>,
    nonces: Vec<[u8; 12]>,
    bytes: usize,
    keystreams: Placed,
}

impl Prepared {
    fn new(isa: Isa, size: Size) -> io::Result<Prepared> {
        let (bytes, nonces) = (size.0 as usize, nonces());
        let mut keystreams = placed(stride(bytes) * messages(bytes), 0);
        for (place, nonce) in keystreams.chunks_exact_mut(stride(bytes)).zip(&nonces) {
            place[..bytes].copy_from_slice(&keystream(isa, nonce, size)?);
        }
        Ok(Prepared { isa, gcm: gcm(isa)?, nonces, bytes, keystreams })
    }

    /// The keystream of message number `message`.
    fn keystream(&self, message: usize) -> &[u8] {
        &self.keystreams[message * stride(self.bytes)..][..self.bytes]
    }
}

impl Work for Prepared {
    type Output = Result<Tag, SealError>;

    fn apply(&mut self, message: usize, text: &mut [u8]) -> Self::Output {
        seal_prepared(self.isa, &*self.gcm, self.keystream(message), &self.nonces[message], text)
    }

    fn renew(&mut self, random: &mut Random) {
        self.keystreams.renew(random);
    }
}

/// A text and its keystream.
struct Sum<'a> {
    text: &'a mut [u8],
    stream: &'a [u8],
}

impl Kernel for Sum<'_> {
    type Output = ();

    /// Compiled for the level, so that the compiler uses its registers.
    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, _: S) {
        for (byte, key) in self.text.iter_mut().zip(self.stream) {
            *byte ^= key;
        }
    }
}

/// Memory in bytes for RKC's precomputed offsets of a message, and for GCM's keystream.
pub(super) fn prepared_bytes(isa: Isa, size: Size) -> (usize, usize) {
    (offsets(isa, &seeds()[0], size).heap_bytes(), size.0 as usize)
}

/// The candidate for one way at one level.
pub(super) fn candidate(way: Way, isa: Isa, size: Size) -> io::Result<Box<dyn Candidate>> {
    let name = name(way, isa);
    let (bytes, seeds, nonces) = (size.0 as usize, seeds(), nonces());
    // Texts are whole blocks within all limits, and `check` has verified that nothing is refused
    Ok(match way {
        Way::Rkc => {
            let rkc = Rkc::research_only(isa, &KEY);
            Box::new(Timed::new(name, bytes, move |i, text| rkc.seal(&seeds[i], text)))
        }
        Way::RkcDrawAll => {
            let rkc = draws_all(isa);
            Box::new(Timed::new(name, bytes, move |i, text| rkc.seal(&seeds[i], text)))
        }
        Way::RkcPrepared => {
            let rkc = Rkc::research_only(isa, &KEY);
            let made = seeds[..messages(bytes)].iter().map(|seed| offsets(isa, seed, size));
            let made: Vec<Offsets> = made.collect();
            Box::new(Timed::new(name, bytes, move |i, text| rkc.seal_ahead(&made[i], text)))
        }
        Way::RkcPlain => Box::new(Timed::new(name, bytes, move |i, text| plain_rkc::seal(&KEY, &seeds[i], text))),
        Way::Gcm => {
            let gcm = gcm(isa)?;
            Box::new(Timed::new(name, bytes, move |i, text| gcm.seal_in_place(&nonces[i], &[], text)))
        }
        Way::GcmNewKey => Box::new(Timed::new(name, bytes, move |i, text| {
            gcm(isa).map(|gcm| gcm.seal_in_place(&nonces[i], &[], text))
        })),
        Way::GcmRekeyed => {
            let mut gcm = rekeyable(isa);
            Box::new(Timed::new(name, bytes, move |i, text| {
                gcm.rekey(black_box(&KEY));
                gcm.seal_in_place(&nonces[i], &[], text)
            }))
        }
        Way::GcmPrepared => Box::new(Timed::of(name, bytes, Prepared::new(isa, size)?)),
        Way::Ocb => {
            let ocb = Suite::Aes256Ocb.aead_at(isa, &KEY).map_err(io::Error::other)?;
            Box::new(Timed::new(name, bytes, move |i, text| ocb.seal_in_place(&nonces[i], &[], text)))
        }
        Way::GcmBitwise => {
            let gcm = bitwise(isa);
            Box::new(Timed::new(name, bytes, move |i, text| gcm.seal_in_place(&nonces[i], &[], text)))
        }
    })
}

/// Checks that at this size all ways of a scheme compute the same, and that RKC opens what it sealed.
pub(super) fn check(levels: &[Isa], size: Size) -> io::Result<()> {
    let (seed, nonce) = (seeds()[3], nonces()[5]);
    let text: Vec<u8> = (0..size.0).map(|i| (i * i + i / 256) as u8).collect();
    let mut by_crates = text.clone();
    let tag = plain_rkc::seal(&KEY, &seed, &mut by_crates);
    let mut sealed: Option<(Vec<u8>, Tag)> = None;
    let mut drawn: Option<(Vec<u8>, Vec<u8>)> = None;
    for &isa in levels {
        let wrong = |what: &str| Err(io::Error::other(format!("{what} differs at {size}, {isa}")));
        let rkc = Rkc::research_only(isa, &KEY);
        let mut ours = text.clone();
        let t = rkc.seal(&seed, &mut ours).map_err(io::Error::other)?;
        if ours != by_crates || t.as_ref() != tag {
            return wrong("RKC");
        }
        if rkc.open(&seed, &mut ours, t.as_ref()).is_err() || ours != text {
            return wrong("opened RKC");
        }
        let t = rkc.seal_ahead(&offsets(isa, &seed, size), &mut ours).map_err(io::Error::other)?;
        if ours != by_crates || t.as_ref() != tag {
            return wrong("prepared RKC");
        }
        ours.clone_from(&text);
        let mut rekeyed = rekeyable(isa);
        rekeyed.rekey(&[0; 32]);
        rekeyed.rekey(&KEY);
        let aeads: [Box<dyn Aead>; 3] = [gcm(isa)?, rekeyed, Box::new(bitwise(isa))];
        let rkc = draws_all(isa);
        let t = rkc.seal(&seed, &mut ours).map_err(io::Error::other)?;
        let again = drawn.get_or_insert_with(|| (ours.clone(), t.as_ref().to_vec()));
        if (&ours[..], t.as_ref()) != (&again.0[..], &again.1[..]) {
            return wrong("RKC that draws all keys at once");
        }
        if rkc.open(&seed, &mut ours, t.as_ref()).is_err() || ours != text {
            return wrong("opened RKC that draws all keys at once");
        }
        // Bit by bit, long messages take long, and are not measured
        let bitwise = usize::from(isa == levels[0] || size.printed());
        for gcm in &aeads[..2 + bitwise] {
            let (mut ours, mut prepared) = (text.clone(), text.clone());
            let t = gcm.seal_in_place(&nonce, &[], &mut ours).map_err(io::Error::other)?;
            let stream = keystream(isa, &nonce, size)?;
            let _ = seal_prepared(isa, &**gcm, &stream, &nonce, &mut prepared).map_err(io::Error::other)?;
            if prepared != ours {
                return wrong("prepared GCM");
            }
            let ours = (ours, t);
            if *sealed.get_or_insert_with(|| ours.clone()) != ours {
                return wrong("GCM");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{super::grid::SIZES, *};

    #[test]
    fn every_way_agrees_at_the_papers_sizes() {
        for size in SIZES.into_iter().filter(|size| size.0 <= 2048) {
            check(&Isa::available(), size).unwrap();
        }
    }

    /// Where the keystream lies is chance in each round, as for the texts, and it is still the message's.
    #[test]
    fn keystreams_are_moved() {
        let (isa, mut random) = (Isa::best(), Random::new(4));
        for size in [16, 128, 10 * 1024].map(Size) {
            let mut prepared = Prepared::new(isa, size).unwrap();
            let mut places = std::collections::HashSet::new();
            for _ in 0..32 {
                prepared.renew(&mut random);
                for message in 0..messages(prepared.bytes) {
                    let stream = prepared.keystream(message);
                    assert_eq!(stream.as_ptr().addr() % 64, 0, "{size}, message {message}");
                }
                places.insert(prepared.keystream(0).as_ptr().addr() % 4096);
            }
            assert!(places.len() > 12, "{size}: {places:?}");
            let last = messages(prepared.bytes) - 1;
            assert_eq!(prepared.keystream(last), keystream(isa, &nonces()[last], size).unwrap());
        }
    }
}
