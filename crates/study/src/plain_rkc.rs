//! A straightforward RKC-R built on the crates `aes` and `sha2`: a new key schedule and a Generate for every block.
//! Our implementation must agree with it before it is timed, and is compared with it in `bench` and in the messages
//! study.

use aes::{
    Aes256,
    cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, array::Array},
};
use sealwright::mode::rkc::Seed;
use sha2::{Digest, Sha256};

/// Hash_DRBG (SP 800-90A, 10.1.1) as RKC-R uses it, starting from the seed.
struct Drbg {
    v: Seed,
    c: Seed,
    counter: u64,
}

/// Adds a shorter number to `v` modulo 2^440; both are big-endian.
fn add(v: &mut Seed, number: &[u8]) {
    let mut carry = 0;
    let padded = number.iter().rev().copied().chain(std::iter::repeat(0));
    for (v, n) in v.iter_mut().rev().zip(padded) {
        let sum = u16::from(*v) + u16::from(n) + carry;
        (*v, carry) = (sum as u8, sum >> 8);
    }
}

fn hash_df(prefix: &[u8], v: &Seed) -> Seed {
    let mut seed = [0; 55];
    for (out, counter) in seed.chunks_mut(32).zip(1u8..) {
        let hash = Sha256::new().chain_update([counter]).chain_update(440u32.to_be_bytes());
        out.copy_from_slice(&hash.chain_update(prefix).chain_update(v).finalize()[..out.len()]);
    }
    seed
}

impl Drbg {
    fn new(seed: &Seed) -> Drbg {
        Drbg { v: *seed, c: hash_df(&[0], seed), counter: 1 }
    }

    fn generate(&mut self) -> [u8; 32] {
        let out = Sha256::digest(self.v).into();
        let update = Sha256::new().chain_update([3]).chain_update(self.v).finalize();
        add(&mut self.v, &update);
        add(&mut self.v, &self.c);
        add(&mut self.v, &self.counter.to_be_bytes());
        self.counter += 1;
        out
    }
}

/// Encrypts whole blocks in place and returns the tag T.
pub(crate) fn seal(key: &[u8; 32], seed: &Seed, text: &mut [u8]) -> [u8; 32] {
    each_block(key, seed, text, Aes256::encrypt_block)
}

/// Decrypts whole blocks in place and returns the expected tag T.
pub(crate) fn open(key: &[u8; 32], seed: &Seed, text: &mut [u8]) -> [u8; 32] {
    each_block(key, seed, text, Aes256::decrypt_block)
}

type Block = Array<u8, <Aes256 as BlockSizeUser>::BlockSize>;

fn each_block(key: &[u8; 32], seed: &Seed, text: &mut [u8], cipher: fn(&Aes256, &mut Block)) -> [u8; 32] {
    let (mut drbg, mut key, mut tag) = (Drbg::new(seed), *key, Sha256::new());
    for block in text.as_chunks_mut::<16>().0 {
        for (key, r) in key.iter_mut().zip(drbg.generate()) {
            *key ^= r;
        }
        let mut x = Array(*block);
        cipher(&Aes256::new(&key.into()), &mut x);
        for (x, p) in x.iter_mut().zip(block) {
            let c = *x;
            *x ^= *p;
            *p = c;
        }
        tag.update(x);
    }
    tag.finalize().into()
}
