//! The named figures that the paper's claims are judged by.

use sealwright::Isa;

use super::{
    grid::{Grid, LARGEST_PRINTED, SIZES, Size},
    measured::Measured,
    parts::Parts,
    timed::{KEY, seeds},
};
use crate::{
    plain_rkc,
    quantity::{Quantities, Quantity, QuantityKind},
    rotation::nonces,
};

/// The circumstance of figures that follow from definitions.
const DEFINITION: &str = "by definition";
/// The same, if RKC draws as many keys by a request as it may.
const LONG_REQUESTS: &str = "by definition, requests of 2^19 bits";
/// The circumstance of figures that are determined once and do not depend on the level.
const TRIED: &str = "tried here";

/// The figures that the paper prints or that follow from definitions; they are the same on every machine.
pub(super) fn printed(grid: &Grid) -> Vec<Quantity> {
    let mut all = Vec::new();
    ratios(grid, &mut Quantities::new(&mut all, &grid.scope, QuantityKind::Arithmetic));
    let mut add = Quantities::new(&mut all, DEFINITION, QuantityKind::Arithmetic);
    let values = ["RKC: key and seed", "GCM: key and IV"];
    values.into_iter().for_each(|mode| add.exact(format!("values besides the text/{mode}"), 2.0));
    // The counter has 32 bits; J0 and the value before it are not available for text
    let gcm = ((1_u64 << 32) - 2) as f64 * 128.0;
    add.exact("bits of the longest message : what the paper says/GCM", gcm / ((1_u64 << 39) - 256) as f64);
    add.exact("bits that brute force searches/RKC", 8.0 * KEY.len() as f64);
    // SP 800-90A, table 2: reseed_interval and the most bits of a request of Hash_DRBG. A block of 128 bits takes a key
    // of 256
    let (requests, most) = ((1_u64 << 48) as f64, (1_u64 << 19) as f64);
    for (scope, text) in [(DEFINITION, 128.0), (LONG_REQUESTS, most / 256.0 * 128.0)] {
        // SHA-256 takes fewer than 2^64 bits
        let rkc = (requests * text).min(2f64.powi(64) - 1.0);
        let mut add = Quantities::new(&mut all, scope, QuantityKind::Arithmetic);
        add.exact("bits of the longest message : what the paper says/RKC", rkc / 2f64.powi(64));
    }
    all
}

/// Ratios in the paper's three ranges of sizes.
fn ratios(grid: &Grid, add: &mut Quantities<'_>) {
    for (size, against) in grid.points().filter(|(size, _)| size.printed()) {
        let range = match size {
            _ if size <= Size::kib(1) => "up to 1 KiB",
            _ if size < Size::kib(3) => "around",
            _ => "from 3 KiB",
        };
        add.add(format!("RKC : GCM/{range}/{size}"), against.ratio);
    }
}

pub(super) fn quantities(measured: &Measured) -> Vec<Quantity> {
    let mut all = printed(&measured.printed);
    for grid in measured.grids().skip(1) {
        ratios(grid, &mut Quantities::new(&mut all, &grid.scope, QuantityKind::Measured));
    }
    for (isa, grid) in &measured.levels {
        let mut add = Quantities::new(&mut all, &grid.scope, QuantityKind::Measured);
        for opening in measured.opening.iter().filter(|opening| opening.isa == *isa) {
            for (mode, ratio) in [("RKC", opening.rkc), ("GCM", opening.gcm)] {
                add.add(format!("opening : sealing/{mode}/{}", opening.size), ratio);
            }
        }
        for parts in measured.parts.iter().filter(|parts| parts.isa == *isa) {
            of_parts(parts, &mut add);
        }
        add.add(format!("OCB : GCM/{LARGEST_PRINTED}"), measured.ocb.iter().find(|one| one.0 == *isa).map(|one| one.1));
    }
    if let Some((_, best)) = measured.best() {
        let mut add = Quantities::new(&mut all, &best.scope, QuantityKind::Measured);
        for (size, [rkc, gcm]) in measured.ahead.iter().filter(|(size, _)| size.printed()) {
            add.add(format!("RKC prepared : RKC/{size}"), *rkc);
            add.add(format!("GCM prepared : GCM/{size}"), *gcm);
        }
        add.add("four keys in a register : one", measured.lanes);
        add.add(format!("GCM, best level : sse/{LARGEST_PRINTED}"), measured.wider);
        let (rkc, gcm) = measured.prepared_bytes;
        add.exact(format!("bytes prepared, RKC : GCM/{LARGEST_PRINTED}"), rkc as f64 / gcm as f64);
    }
    tried(&mut Quantities::new(&mut all, TRIED, QuantityKind::Measured));
    all
}

fn of_parts(parts: &Parts, add: &mut Quantities<'_>) {
    let Parts { size, total, tag_share, gcm, .. } = parts;
    add.add(format!("hash of the tag : sealing after preparation/{size}"), *tag_share);
    add.add(format!("cycles of a byte/GCM/{size}"), *gcm);
    add.add(format!("cycles of a byte/RKC/{size}"), *total);
}

/// Properties that single messages show.
fn tried(add: &mut Quantities<'_>) {
    for mode in ["RKC", "GCM"] {
        add.exact(format!("other blocks damaged by a flipped bit/{mode}"), other_blocks(mode) as f64);
        for size in SIZES.into_iter().filter(|size| size.printed()) {
            let longer = sealed(mode, vec![0x5a; size.0 as usize]).len() as f64 - size.0 as f64;
            add.exact(format!("bytes of ciphertext less bytes of text/{mode}/{size}"), longer);
        }
    }
}

/// The ciphertext of a text without its tag.
fn sealed(mode: &str, mut text: Vec<u8>) -> Vec<u8> {
    match mode {
        "RKC" => drop(plain_rkc::seal(&KEY, &seeds()[0], &mut text)),
        _ => ctr(&mut text),
    }
    text
}

/// GCM's encryption without authentication; it is its own inverse.
fn ctr(text: &mut [u8]) {
    let mut counter = [0; 16];
    counter[..12].copy_from_slice(&nonces()[0]);
    counter[15] = 2;
    let aes = sealwright::raw::aes(Isa::best(), &KEY).expect("32 bytes are a key");
    aes.ctr(&counter, text);
}

/// Flips a bit in the sixth of 16 blocks of ciphertext, and counts the other blocks that decrypt wrongly.
fn other_blocks(mode: &str) -> usize {
    let text: Vec<u8> = (0..256).map(|i| (i * 7) as u8).collect();
    let mut changed = sealed(mode, text.clone());
    changed[5 * 16 + 3] ^= 0x10;
    match mode {
        "RKC" => drop(plain_rkc::open(&KEY, &seeds()[0], &mut changed)),
        _ => ctr(&mut changed),
    }
    let wrong = text.chunks(16).zip(changed.chunks(16)).enumerate().filter(|(_, (a, b))| a != b);
    let wrong: Vec<usize> = wrong.map(|(block, _)| block).collect();
    debug_assert!(wrong.contains(&5));
    wrong.len() - usize::from(wrong.contains(&5))
}

#[cfg(test)]
#[path = "quantities_tests.rs"]
mod tests;
