//! The compression function of SHA-256 in plain Rust, for levels without SHA instructions.

use super::{
    sha::{Digest, Hashing, Message, Sha256},
    sha_constants::{K, START},
};

/// Runs `kernel` in plain Rust.
pub(super) fn run<H: Hashing>(kernel: H) -> H::Output {
    kernel.run(Plain)
}

/// The implementation that needs no instruction set.
#[derive(Clone, Copy)]
struct Plain;

impl Sha256 for Plain {
    type State = [u32; 8];

    #[inline(always)]
    fn start(self) -> [u32; 8] {
        START
    }

    #[inline(always)]
    fn compress<const N: usize>(self, states: &mut [[u32; 8]; N], messages: &[Message; N]) {
        for (state, message) in states.iter_mut().zip(messages) {
            compress(state, message);
        }
    }

    #[inline(always)]
    fn digest(self, [a, b, c, d, e, f, g, h]: [u32; 8]) -> Digest {
        [[a, b], [c, d], [e, f], [g, h]].map(|[first, second]| u64::from(first) << 32 | u64::from(second))
    }
}

/// 6.2.2, with the message schedule in a window of sixteen words.
#[inline(never)]
fn compress(state: &mut [u32; 8], message: &Message) {
    let mut w = [0; 16];
    for (w, pair) in w.as_chunks_mut::<2>().0.iter_mut().zip(message) {
        *w = [(pair >> 32) as u32, *pair as u32];
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for round in 0..64 {
        if round >= 16 {
            let (fifteen, two) = (w[(round + 1) % 16], w[(round + 14) % 16]);
            let s0 = fifteen.rotate_right(7) ^ fifteen.rotate_right(18) ^ (fifteen >> 3);
            let s1 = two.rotate_right(17) ^ two.rotate_right(19) ^ (two >> 10);
            let word = &mut w[round % 16];
            *word = word.wrapping_add(s0).wrapping_add(s1);
            w[round % 16] = w[round % 16].wrapping_add(w[(round + 9) % 16]);
        }
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = g ^ (e & (f ^ g));
        let first = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(K[round]).wrapping_add(w[round % 16]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) | (c & (a | b));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(s0).wrapping_add(majority));
    }
    for (state, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *state = state.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use sha2::Digest as _;

    use super::super::{
        Isa,
        sha::{Hashing, Message, Sha256},
    };

    /// One block into each of `N` states, each after another number of blocks.
    struct Chains<const N: usize>(Vec<Message>);
    impl<const N: usize> Hashing for Chains<N> {
        type Output = [[u64; 4]; N];
        fn run<H: Sha256>(self, sha: H) -> [[u64; 4]; N] {
            let mut states = [sha.start(); N];
            for at in 0..self.0.len() - N {
                sha.compress(&mut states, &core::array::from_fn(|n| self.0[at + n]));
            }
            states.map(|state| sha.digest(state))
        }
    }

    /// SHA-256 of the blocks, without padding, by the `sha2` crate.
    fn theirs(blocks: &[Message]) -> [u64; 4] {
        let mut state = super::START;
        let blocks: Vec<[u8; 64]> = blocks
            .iter()
            .map(|message| {
                let bytes: Vec<u8> = message.iter().flat_map(|pair| pair.to_be_bytes()).collect();
                bytes.try_into().expect("eight times eight bytes")
            })
            .collect();
        sha2::block_api::compress256(&mut state, &blocks);
        super::Plain.digest(state)
    }

    #[test]
    fn every_width_agrees_with_sha2() {
        let mut bytes = sha2::Sha256::digest(b"blocks").to_vec();
        let mut next = || {
            bytes = sha2::Sha256::digest(&bytes).to_vec();
            u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
        };
        let blocks: Vec<Message> = (0..20).map(|_| core::array::from_fn(|_| next())).collect();
        for isa in Isa::available() {
            let one = isa.hash(Chains::<1>(blocks.clone()));
            assert_eq!(one[0], theirs(&blocks[..19]), "{isa}");
            let three = isa.hash(Chains::<3>(blocks.clone()));
            for n in 0..3 {
                assert_eq!(three[n], theirs(&blocks[n..n + 17]), "{isa}, {n}");
            }
        }
    }
}
