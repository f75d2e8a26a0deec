//! How long an output of Hash_DRBG takes, beside one SHA-256 after the other by the crate `sha2`, and as a share of the
//! limit.
//!
//! ```console
//! $ cargo run --release -p sealwright --features drbg --example hash_drbg
//! ```
//!
//! The limit is what the instructions of sixteen compressions side by side take on registers alone, at `avx512`. All
//! take turns; a figure is the least of all turns.
#![allow(clippy::print_stdout)]

use std::{hint::black_box, time::Instant};

use sealwright::{
    Block, Isa,
    drbg::HashDrbg,
    simd::{Kernel, Logic, Reg, Simd},
};
use sha2::{Digest, Sha256};

/// Requests, in outputs of 32 bytes; the last is the longest that there is.
const REQUESTS: [usize; 8] = [1, 4, 8, 16, 64, 100, 256, 2048];
/// Turns of each.
const TURNS: usize = 3000;

/// So many times the instructions of sixteen compressions: in each of 64 rounds 6 rotations, 4 logical operations and 7
/// additions, for each of 48 words of the schedule 6 rotations or shifts, 2 and 3, and 8 additions at the end. Of these
/// 672, 352 and 600, twelve registers that go eight times through 7, 4 and 6 take 672 and, of the other two together, 8
/// more.
struct Instructions(usize);

impl Kernel for Instructions {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Block {
        let (key, other) = (simd.splat_words(black_box(0x5a5a_1234)), simd.splat_words(black_box(0x1357_9bdf)));
        let mut x = [key; 12];
        for (n, x) in x.iter_mut().enumerate() {
            *x = simd.splat_words(n as u32);
        }
        /// One instruction of a kind for every register. Two of a kind in a row would be made one by the compiler.
        macro_rules! go_through {
            ($($kind:ident)*) => { $(for x in &mut x { *x = go_through!($kind: x); })* };
            (rotate: $x:ident) => { $x.rotate32::<7>() };
            (add: $x:ident) => { $x.add32(key) };
            (logic: $x:ident) => { $x.ternary::<0x96>(key, other) };
        }
        for _ in 0..8 * self.0 {
            go_through! {
                rotate add logic add rotate logic rotate add rotate logic rotate add rotate add rotate logic add
            }
        }
        x.into_iter().fold(simd.zero(), |sum, x| sum ^ x).first_block()
    }
}

/// Generate of SP 800-90A, 10.1.1.4, without additional input.
struct OneAfterTheOther {
    v: [u8; 55],
    c: [u8; 55],
    counter: u64,
}

fn add(v: &mut [u8; 55], number: &[u8]) {
    let mut carry = 0;
    for (i, byte) in v.iter_mut().rev().enumerate() {
        if i >= number.len() && carry == 0 {
            break;
        }
        let other = if i < number.len() { number[number.len() - 1 - i] } else { 0 };
        let sum = u16::from(*byte) + u16::from(other) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
}

impl OneAfterTheOther {
    fn generate(&mut self, out: &mut [[u8; 32]]) {
        let mut data = self.v;
        for out in out {
            *out = Sha256::digest(data).into();
            add(&mut data, &[1]);
        }
        let hash = Sha256::new().chain_update([3]).chain_update(self.v).finalize();
        for number in [&hash[..], &self.c.clone(), &self.counter.to_be_bytes()] {
            add(&mut self.v, number);
        }
        self.counter += 1;
    }
}

fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

fn main() -> Result<(), sealwright::drbg::DrbgError> {
    let isa = Isa::best();
    let mut ours = HashDrbg::instantiate(&[1; 32], &[2; 16], b"")?;
    let mut theirs = OneAfterTheOther { v: [1; 55], c: [2; 55], counter: 1 };
    println!("level {isa}; nanoseconds for an output of 32 bytes, the update of each request included");
    println!("{:>8} {:>8} {:>8} {:>10} {:>8} {:>8}", "outputs", "ours", "sha2", "ours/sha2", "limit", "of limit");
    for outputs in REQUESTS {
        let mut out = vec![[0; 32]; outputs];
        let mut least = [f64::INFINITY; 3];
        // As many times sixteen as take some microseconds.
        let times = 16.max(outputs / 16);
        for _ in 0..TURNS.min(400_000 / outputs) {
            let found = [
                nanoseconds(|| {
                    ours.generate(black_box(out.as_flattened_mut()), b"").expect("no longer than a request")
                }),
                nanoseconds(|| theirs.generate(black_box(&mut out))),
                nanoseconds(|| {
                    black_box(isa.run(Instructions(times)));
                }) * outputs as f64
                    / (16 * times) as f64,
            ];
            least = [0, 1, 2].map(|i| found[i].min(least[i]));
        }
        let [ours, theirs, limit] = least.map(|all| all / outputs as f64);
        let share = if isa.name() == "avx512" {
            format!("{limit:8.1} {:8.2}", limit / ours)
        } else {
            format!("{:>8} {:>8}", "none", "none")
        };
        println!("{outputs:>8} {ours:8.1} {theirs:8.1} {:10.2} {share}", ours / theirs);
    }
    Ok(())
}
