//! AES by its definition (FIPS 197), round by round, for attackers that know some of the round keys.

use sealwright::Block;

/// The S-box and its inverse, computed from inversion in GF(2^8) and the affine map.
pub(crate) struct Boxes {
    pub(crate) forward: [u8; 256],
    pub(crate) back: [u8; 256],
}

/// The S-boxes.
pub(crate) const BOXES: Boxes = boxes();

const fn boxes() -> Boxes {
    let (mut forward, mut back) = ([0; 256], [0; 256]);
    let mut x = 0;
    while x < 256 {
        let mut inverse = 0;
        let mut y = 1;
        while y < 256 && x > 0 {
            if times(x as u8, y as u8) == 1 {
                inverse = y as u8;
            }
            y += 1;
        }
        let b = inverse;
        let s = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        forward[x] = s;
        back[s as usize] = x as u8;
        x += 1;
    }
    Boxes { forward, back }
}

/// Product in GF(2^8).
pub(crate) const fn times(mut x: u8, mut y: u8) -> u8 {
    let mut product = 0;
    while y > 0 {
        if y & 1 == 1 {
            product ^= x;
        }
        x = (x << 1) ^ ((x >> 7) * 0x1b);
        y >>= 1;
    }
    product
}

/// Row 0 of the InvMixColumns matrix; row r is rotated by r.
pub(crate) const INVERSE_MIX: [u8; 4] = [14, 11, 13, 9];
const MIX: [u8; 4] = [2, 3, 1, 1];

fn mix(state: &Block, row: &[u8; 4]) -> Block {
    core::array::from_fn(|at| {
        let (column, r) = (at / 4, at % 4);
        (0..4).fold(0, |sum, j| sum ^ times(row[(4 + j - r) % 4], state[4 * column + j]))
    })
}

/// InvMixColumns.
pub(crate) fn unmix(state: &Block) -> Block {
    mix(state, &INVERSE_MIX)
}

/// MixColumns.
pub(crate) fn mixed(state: &Block) -> Block {
    mix(state, &MIX)
}

fn xor(a: &Block, b: &Block) -> Block {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// The position from which ShiftRows takes byte `at`.
pub(crate) const fn shifted(at: usize) -> usize {
    (at + 4 * (at % 4)) % 16
}

/// One round with its key; the last has no MixColumns.
fn round(state: &Block, key: &Block, last: bool) -> Block {
    let shifted: Block = core::array::from_fn(|at| BOXES.forward[state[shifted(at)] as usize]);
    xor(&if last { shifted } else { mix(&shifted, &MIX) }, key)
}

/// The inverse of a round.
fn unround(state: &Block, key: &Block, last: bool) -> Block {
    let state = xor(state, key);
    let state = if last { state } else { unmix(&state) };
    let mut before = [0; 16];
    for at in 0..16 {
        before[shifted(at)] = BOXES.back[state[at] as usize];
    }
    before
}

/// Round keys.
#[derive(Clone, Debug)]
pub(crate) struct Rounds(pub(crate) Vec<Block>);

impl Rounds {
    /// The key schedule of a key of 16 or 32 bytes.
    pub(crate) fn expand(key: &[u8]) -> Rounds {
        let nk = key.len() / 4;
        let mut words: Vec<[u8; 4]> = key.as_chunks().0.to_vec();
        let sub = |word: [u8; 4]| word.map(|byte| BOXES.forward[byte as usize]);
        let mut constant = 1;
        for i in nk..4 * (nk + 7) {
            let mut word = words[i - 1];
            if i % nk == 0 {
                word.rotate_left(1);
                word = sub(word);
                word[0] ^= constant;
                constant = times(constant, 2);
            } else if nk > 6 && i % nk == 4 {
                word = sub(word);
            }
            words.push(core::array::from_fn(|b| words[i - nk][b] ^ word[b]));
        }
        Rounds(words.as_flattened().as_chunks().0.to_vec())
    }

    /// Number of rounds.
    pub(crate) fn count(&self) -> usize {
        self.0.len() - 1
    }

    /// Encrypts a block.
    pub(crate) fn encrypt(&self, block: &Block) -> Block {
        self.forward_to(block, self.count())
    }

    /// The state after round `to`, from a plaintext.
    pub(crate) fn forward_to(&self, plaintext: &Block, to: usize) -> Block {
        let last = self.count();
        (1..=to).fold(xor(plaintext, &self.0[0]), |state, i| round(&state, &self.0[i], i == last))
    }

    /// The state after round `to`, from a ciphertext; after round 0 that is the whitened plaintext.
    pub(crate) fn back_to(&self, ciphertext: &Block, to: usize) -> Block {
        let last = self.count();
        (to + 1..=last).rev().fold(*ciphertext, |state, i| unround(&state, &self.0[i], i == last))
    }
}

#[cfg(test)]
mod tests {
    use sealwright::{Isa, raw};

    use super::Rounds;

    #[test]
    fn is_the_library_s_aes() {
        for length in [16, 32] {
            let key: Vec<u8> = (0..length).map(|i| 7 * i + 1).collect();
            let rounds = Rounds::expand(&key);
            let mut block = *b"sixteen bytes ..";
            let ours = rounds.encrypt(&block);
            raw::aes(Isa::best(), &key).expect("a key").ecb_encrypt(&mut block);
            assert_eq!(ours, block);
            let state = rounds.back_to(&ours, 0);
            assert_eq!(core::array::from_fn(|i| state[i] ^ rounds.0[0][i]), *b"sixteen bytes ..");
        }
    }
}
