//! What each AEAD and each way to call it costs on this machine: the tables of `docs/CHOOSING.md`.
//!
//! ```console
//! $ cargo run --release -p sealwright --all-features --example call_forms
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use sealwright::{
    Aead, Batch, BatchMessage, Isa, Suite,
    committing::Committing,
    mode::{
        chacha::{ChaCha20Poly1305, XChaCha20Poly1305},
        gcm_siv,
        xaes::Xaes256Gcm,
    },
};

const SIZES: [usize; 5] = [64, 1500, 16 << 10, 1 << 20, 32 << 20];

/// Nanoseconds of one call: the median of 15 trials, each of some milliseconds.
fn time(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    let calls = (Duration::from_millis(4).as_nanos() / start.elapsed().as_nanos().max(50)).clamp(1, 100_000);
    let trial = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e9 / calls as f64
    };
    let mut trials: Vec<f64> = (0..15).map(trial).collect();
    trials.sort_by(f64::total_cmp);
    trials[7]
}

fn row(name: &str, cells: impl IntoIterator<Item = f64>, bytes: &[usize]) {
    print!("{name:28}");
    for (ns, bytes) in cells.into_iter().zip(bytes) {
        // Short messages in nanoseconds, long ones in GB/s.
        if *bytes < 4096 {
            print!(" {ns:>9.0} ns");
        } else {
            print!(" {:>7.2} GB/s", *bytes as f64 / ns);
        }
    }
    println!();
}

fn main() {
    let isa = Isa::best();
    println!("level {isa}, sealing\n");
    print!("{:28}", "bytes");
    SIZES.iter().for_each(|size| print!(" {size:>12}"));
    println!();
    let key = [7; 32];
    let portable = Isa::available()[0];
    let aeads: [(&str, Box<dyn Aead>); 11] = [
        ("aes-128-gcm", Suite::Aes128Gcm.aead(&[7; 16]).unwrap()),
        ("aes-256-gcm", Suite::Aes256Gcm.aead(&key).unwrap()),
        ("aes-256-ocb", Suite::Aes256Ocb.aead(&key).unwrap()),
        ("aes-256-gcm-siv", gcm_siv::by_key(isa, &key).unwrap()),
        ("xaes-256-gcm", Box::new(Xaes256Gcm::new(isa, &key))),
        ("committing aes-256-gcm", Box::new(Committing::at(isa, Suite::Aes256Gcm, &key).unwrap())),
        ("chacha20-poly1305", Box::new(ChaCha20Poly1305::new(&key))),
        ("xchacha20-poly1305", Box::new(XChaCha20Poly1305::new(&key))),
        ("serpent-256-gcm", Suite::Serpent256Gcm.aead(&key).unwrap()),
        ("aes-256-gcm, portable", Suite::Aes256Gcm.aead_at(portable, &key).unwrap()),
        ("chacha20-poly1305, portable", Box::new(ChaCha20Poly1305::at(portable, &key))),
    ];
    for (name, aead) in &aeads {
        let nonce = vec![1; aead.nonce_len()];
        let cell = |size: &usize| {
            let mut text = vec![3; *size];
            time(|| {
                let _ = black_box(aead.seal_in_place(&nonce, b"header", &mut text).unwrap());
            })
        };
        row(name, SIZES.iter().take(if name.contains("portable") { 3 } else { 5 }).map(cell), &SIZES);
    }

    println!("\naes-256-gcm, the ways to call it");
    let aead = &aeads[1].1;
    let nonce = [1; 12];
    let ways: [(&str, &dyn Fn(usize) -> f64); 5] = [
        ("seal_in_place", &|size| {
            let mut text = vec![3; size];
            time(|| {
                let _ = black_box(aead.seal_in_place(&nonce, b"header", &mut text).unwrap());
            })
        }),
        ("seal_to", &|size| {
            let (text, mut out) = (vec![3; size], vec![0; size]);
            time(|| {
                let _ = black_box(aead.seal_to(&nonce, b"header", &text, &mut out).unwrap());
            })
        }),
        ("copied, then in place", &|size| {
            let (text, mut out) = (vec![3; size], vec![0; size]);
            time(|| {
                // Else the compiler, which knows what is in `text`, would fill instead of copying
                out.copy_from_slice(black_box(&text));
                let _ = black_box(aead.seal_in_place(&nonce, b"header", &mut out).unwrap());
            })
        }),
        ("seal_into a vector", &|size| {
            let (text, mut out) = (vec![3; size], Vec::with_capacity(size + 16));
            time(|| {
                out.clear();
                aead.seal_into(&nonce, b"header", &text, &mut out).unwrap();
                black_box(&out);
            })
        }),
        ("seal_scattered, 4 buffers", &|size| {
            let mut text = vec![3; size];
            time(|| {
                let mut parts: Vec<&mut [u8]> = text.chunks_mut(size.div_ceil(4)).collect();
                let _ = black_box(aead.seal_scattered(&nonce, b"header", &mut parts).unwrap());
            })
        }),
    ];
    for (name, way) in ways {
        row(name, SIZES.map(way), &SIZES);
    }

    println!("\nnanoseconds a message, a key for each (AES-256-GCM)");
    let sizes = [16, 40, 100, 200, 512];
    let keys: Vec<[u8; 32]> = (0..32).map(|i| [i; 32]).collect();
    let one = sizes.map(|size| {
        let mut text = vec![3; size];
        time(|| {
            let aead = Suite::Aes256Gcm.aead(black_box(&keys[0])).unwrap();
            let _ = black_box(aead.seal_in_place(&nonce, b"header", &mut text).unwrap());
        })
    });
    row("one at a time", one, &sizes);
    let mut batch = Batch::new(isa);
    for count in [4, 32] {
        let cells = sizes.map(|size| {
            let mut texts = vec![vec![3; size]; count];
            let messages = texts.iter_mut().zip(&keys);
            let mut messages: Vec<_> =
                messages.map(|(text, key)| BatchMessage { key, nonce, ad: b"header", text, tag: [0; 16] }).collect();
            time(|| batch.seal(black_box(&mut messages)).unwrap()) / count as f64
        });
        row(&format!("Batch of {count}"), cells, &sizes);
    }
}
