//! Hash_DRBG's outputs for one message, on numbers of 440 bits.
//!
//! After each request V becomes V + H(0x03 || V) + C + counter. H(0x03 || V) takes two compressions; the second needs
//! the result of the first, and the next request needs the new V. This chain determines the speed of RKC-R. The other
//! hashing is interleaved with it: the hash of V, which is the output, with the first compression, and a block of the
//! tag with the second.

use super::{
    reading::{Draw, Reading, Seed, SeedUse},
    tag::TagHash,
};
use crate::{
    drbg::MAX_REQUEST,
    seed_number::{Number, number, output_message, sum, update_message, widened},
    simd::sha::{Digest, Message, Sha256},
};

/// The padding after a message of 56 bytes: its length in bits.
pub(super) const AFTER_UPDATE: Message = [0, 0, 0, 0, 0, 0, 0, 8 * 56];
/// Outputs of 256 bits in the longest request.
const OUTPUTS: u64 = MAX_REQUEST as u64 / 32;

/// The outputs for one message, and the running xor of them.
pub(super) struct Chain {
    v: Number,
    c: Number,
    /// The reseed counter: one more than the requests so far.
    counter: u64,
    /// R_1 xor … xor R_i.
    offset: Digest,
    /// Outputs per request.
    per_request: u64,
    /// Outputs of this request that were used.
    taken: u64,
    /// Outputs still needed for this message: the chain is not continued beyond them.
    left: u64,
}
wipe_on_drop!(Chain { v: [0; 7], c: [0; 7], offset: [0; 4] });

/// Hash_df(V, 440), or Hash_df(0x00 || V, 440) if `ZERO` (SP 800-90A, 10.3.1): both its hashes side by side.
#[inline(always)]
fn hash_df<H: Sha256, const ZERO: bool>(sha: H, v: &Number) -> Number {
    // V follows a counter, four bytes of length and possibly a zero.
    let behind = if ZERO { 24 } else { 32 };
    let mut first = [[0; 8]; 2];
    for (counter, message) in first.iter_mut().enumerate() {
        message[0] = ((counter as u64 + 1) << 56) | (440 << 24) | (v[6] >> (64 - behind));
        for i in 1..7 {
            message[i] = (v[7 - i] << behind) | (v[6 - i] >> (64 - behind));
        }
        message[7] = (v[0] << behind) | (0x80 << (behind - 8));
    }
    let mut last = [0; 8];
    last[7] = 512 - behind;
    let mut states = [sha.start(); 2];
    sha.compress(&mut states, &first);
    sha.compress(&mut states, &[last; 2]);
    let ([a, b, c, d], [e, f, g, _]) = (sha.digest(states[0]), sha.digest(states[1]));
    // 440 bits of these 448.
    let (words, mut number) = ([g, f, e, d, c, b, a, 0], [0; 7]);
    for i in 0..7 {
        number[i] = (words[i] >> 8) | (words[i + 1] << 56);
    }
    number
}

/// V and C at the start of a message with this seed.
#[inline(always)]
pub(super) fn instantiate<H: Sha256>(sha: H, reading: Reading, seed: &Seed) -> (Number, Number) {
    let mut v = number(seed);
    if reading.seed == SeedUse::Df {
        v = hash_df::<_, false>(sha, &v);
    }
    (v, hash_df::<_, true>(sha, &v))
}

impl Chain {
    /// For a message of `blocks` blocks.
    #[inline(always)]
    pub(super) fn new<H: Sha256>(sha: H, reading: Reading, seed: &Seed, blocks: u64) -> Chain {
        let (v, c) = instantiate(sha, reading, seed);
        let per_request = if reading.draw == Draw::Block { 1 } else { OUTPUTS };
        Chain { v, c, counter: 1, offset: [0; 4], per_request, taken: 0, left: blocks }
    }

    /// The next offsets, with blocks of the tag interleaved.
    #[inline(always)]
    pub(super) fn next<H: Sha256>(&mut self, sha: H, offsets: &mut [Digest], tag: &mut TagHash<H>) {
        if self.per_request == 1 {
            for offset in offsets {
                *offset = self.request(sha, tag);
            }
        } else {
            let mut pairs = offsets.chunks_exact_mut(2);
            for pair in &mut pairs {
                let outputs = self.outputs::<_, 2>(sha, tag);
                pair[0] = self.add(outputs[0]);
                pair[1] = self.add(outputs[1]);
            }
            for offset in pairs.into_remainder() {
                let outputs = self.outputs::<_, 1>(sha, tag);
                *offset = self.add(outputs[0]);
            }
        }
    }

    /// The next offset, which includes this output.
    #[inline(always)]
    fn add(&mut self, output: Digest) -> Digest {
        for (sum, output) in self.offset.iter_mut().zip(output) {
            *sum ^= output;
        }
        self.offset
    }

    /// A whole request of one output.
    #[inline(always)]
    fn request<H: Sha256>(&mut self, sha: H, tag: &mut TagHash<H>) -> Digest {
        self.left -= 1;
        if self.left == 0 {
            let mut states = [sha.start()];
            sha.compress(&mut states, &[output_message(&self.v)]);
            return self.add(sha.digest(states[0]));
        }
        let mut states = [sha.start(); 2];
        sha.compress(&mut states, &[update_message(&self.v), output_message(&self.v)]);
        self.finish_update(sha, states[0], tag);
        self.add(sha.digest(states[1]))
    }

    /// The second half of the update, interleaved with a block of the tag if one is waiting.
    #[inline(always)]
    fn finish_update<H: Sha256>(&mut self, sha: H, half: H::State, tag: &mut TagHash<H>) {
        // The rest of the sum is computed while the hash is still in progress.
        let rest = sum(&sum(&self.v, &self.c), &[self.counter, 0, 0, 0, 0, 0, 0]);
        self.counter += 1;
        let hash = tag.interleave(sha, half, &AFTER_UPDATE);
        self.v = sum(&rest, &widened(sha.digest(hash)));
    }

    /// `N` outputs of a long request, hashes of V + 0, V + 1, …; a request has an even number of them left.
    #[inline(always)]
    fn outputs<H: Sha256, const N: usize>(&mut self, sha: H, tag: &mut TagHash<H>) -> [Digest; N] {
        if self.taken == self.per_request {
            let mut states = [sha.start()];
            sha.compress(&mut states, &[update_message(&self.v)]);
            self.finish_update(sha, states[0], tag);
            self.taken = 0;
        }
        let (mut messages, mut states) = ([[0; 8]; N], [sha.start(); N]);
        for message in &mut messages {
            *message = output_message(&sum(&self.v, &[self.taken, 0, 0, 0, 0, 0, 0]));
            self.taken += 1;
        }
        sha.compress(&mut states, &messages);
        let mut outputs = [[0; 4]; N];
        for (output, state) in outputs.iter_mut().zip(states) {
            *output = sha.digest(state);
        }
        outputs
    }
}
