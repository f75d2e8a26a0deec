//! Observations on the results and on the paper. Every figure in these sentences is computed.

use sealwright_measure::Interval;

use super::{
    crossing::{self, Crossing},
    grid::{Against, Grid, LARGEST_PRINTED, SMALLEST_PRINTED, Size},
    measured::Measured,
    printed::PAPER,
};
use crate::{figure::shown, study::Note};

/// Selects one of the two times.
type Of = fn(Against) -> Interval;

/// A figure with its significant digits.
fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

/// The result on this machine, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let says = |name: &str, grid: &Grid| format!("{name} ({}): {}", grid.scope, crossing::words(crossing::of(grid)));
    let mut here = Vec::new();
    here.extend(measured.best().map(|(_, grid)| says("with the processor's instructions", grid)));
    here.extend(measured.portable().map(|(_, grid)| says("without them", grid)));
    for (_, grid) in measured.bitwise.iter().rev().take(1).chain(measured.bitwise.iter().take(1)) {
        here.push(says("with GHASH computed bit by bit, as the paper defines it", grid));
    }
    here.extend([&measured.new_key, &measured.rekeyed].map(|grid| says("with a new GCM key for each message", grid)));
    let printed = crossing::words(crossing::of(&measured.printed));
    let mut text = format!("In the paper, the crossing is {printed}. On this machine, {}.", here.join("; "));
    let best = measured.best().map(|(_, grid)| crossing::of(grid));
    if matches!(best, Some(Crossing::GcmThroughout(..))) {
        text += " RKC is not suited to short messages: for every block it computes a key with three hashes, while GCM needs \
            one multiplication.";
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let mut notes = vec![Note::new(
        "RKC is broken",
        "An attacker who knows the text of one message can forge each of its prefixes with one hash and without the key. An \
         attacker who guesses a text can confirm the guess with the tag. RKC is measured because the paper measured it. \
         docs/RKC.md describes the attacks. A faster RKC would not be a better one.",
    )];
    notes.extend(per_byte(measured));
    notes.extend(growth(measured));
    notes.extend(new_key(measured));
    notes.extend(chain(measured));
    notes.extend(prepared(measured));
    notes.extend(plain(measured));
    notes.push(wire());
    notes.push(open_ends());
    notes.push(brute_force());
    notes.extend(slip());
    notes
}

/// Microseconds per byte at a size.
fn rate(grid: &Grid, size: Size, of: Of) -> Option<f64> {
    Some(of(grid.at(size)?).median / size.0 as f64)
}

fn per_byte(measured: &Measured) -> Option<Note> {
    let (_, best) = measured.best()?;
    let size = LARGEST_PRINTED;
    let theirs = [rate(&measured.printed, size, |at| at.rkc)?, rate(&measured.printed, size, |at| at.gcm)?];
    let ours = [rate(best, size, |at| at.rkc)?, rate(best, size, |at| at.gcm)?];
    let text = format!(
        "At {size}, the paper's RKC took {} µs per byte and its GCM {} µs: tens of thousands of cycles on any processor of \
         its time. Here, RKC takes {:.1} ns per byte and GCM {:.2} ns, which is {:.0} and {:.0} times less. The paper's \
         figures do not show the cost of AES, of SHA-256 or of a multiplication in GF(2^128). They show the cost of the \
         code around these operations.",
        brief(theirs[0]),
        brief(theirs[1]),
        ours[0] * 1e3,
        ours[1] * 1e3,
        theirs[0] / ours[0],
        theirs[1] / ours[1],
    );
    Some(Note::new("A byte took tens of microseconds in the paper", text))
}

/// How the time grows when the message is ten times as long.
fn growth(measured: &Measured) -> Option<Note> {
    let grown = |grid: &Grid, of: Of| Some(of(grid.at(LARGEST_PRINTED)?).median / of(grid.at(Size::kib(1))?).median);
    let (_, best) = measured.best()?;
    let (rkc, gcm): (Of, Of) = (|at| at.rkc, |at| at.gcm);
    let first = |of: Of| {
        let at = |size| Some(of(measured.printed.at(size)?).median);
        Some((at(Size(512))? - at(SMALLEST_PRINTED)?) / (512 - SMALLEST_PRINTED.0) as f64)
    };
    let later = |of: Of| {
        let at = |size| Some(of(measured.printed.at(size)?).median);
        Some((at(LARGEST_PRINTED)? - at(Size::kib(5))?) / (LARGEST_PRINTED.0 - Size::kib(5).0) as f64)
    };
    let text = format!(
        "For ten times the bytes, 10 KiB instead of 1 KiB, the paper's RKC took {:.1} times as long and its GCM {:.1} times; \
         here the factors are {:.1} and {:.1}. Both modes do the same work for each block, so a factor above ten must have \
         other causes. From 128 to 512 bytes, each additional byte cost {:.0} µs in the paper's RKC and {:.0} µs in its GCM; \
         from 5 to 10 KiB, {:.0} and {:.0}. The cost of a byte grows with the message, and it grows more in one program than \
         in the other. For that reason the lines cross: the crossing is one of two programs, and not of two modes.",
        grown(&measured.printed, rkc)?,
        grown(&measured.printed, gcm)?,
        grown(best, rkc)?,
        grown(best, gcm)?,
        first(rkc)?,
        first(gcm)?,
        later(rkc)?,
        later(gcm)?,
    );
    Some(Note::new("What makes the paper's lines cross", text))
}

/// Circumstances in which RKC may be faster for the shortest messages.
fn new_key(measured: &Measured) -> Option<Note> {
    let at = |grid: &Grid| Some(grid.at(Size(16))?.gcm.median);
    let kept = at(&measured.best()?.1)?;
    let [made, rekeyed] = [at(&measured.new_key)? - kept, at(&measured.rekeyed)? - kept];
    let crossings = [&measured.new_key, &measured.rekeyed].map(crossing::of);
    let [by_made, by_rekeyed] = crossings.map(crossing::words);
    let text = format!(
        "GCM sets up a key before the first message: it computes round keys, and powers of the GHASH key for all blocks \
         that it hashes at once. Here that takes {rekeyed:.2} µs if the key replaces the one before in memory, and \
         {made:.2} µs if it is made and dropped. RKC has no such setup, because it expands keys all the time. If every \
         message has its own key, the crossing is {by_rekeyed}; with keys that are made and dropped it is {by_made}. \
         That is a reason to keep a GCM key, and not a reason to use RKC."
    );
    let crosses = crossings.iter().any(|crossing| matches!(crossing, Crossing::Between(..)));
    crosses.then(|| Note::new("One message per key", text))
}

/// The cost of the DRBG.
fn chain(measured: &Measured) -> Option<Note> {
    let parts = measured.parts.iter().rfind(|parts| parts.size == LARGEST_PRINTED)?;
    let text = format!(
        "At the best level ({}), {:.0} % of RKC's time at {} is spent in Hash_DRBG: {:.1} of {:.1} cycles per byte, {:.0} \
         cycles per block. Between two blocks it hashes 56 bytes. That takes two compressions of SHA-256, the second of which \
         waits for the first, and the key of the next block waits for both. With SHA instructions, which execute two \
         rounds in four cycles, these compressions take 256 cycles. Wider registers or a second core cannot \
         shorten a chain. GCM as a whole takes {:.2} cycles per byte.",
        parts.isa,
        100.0 * parts.drbg.median / parts.total.median,
        parts.size,
        parts.drbg.median,
        parts.total.median,
        16.0 * parts.drbg.median,
        parts.gcm.median,
    );
    Some(Note::new("The random bit generator takes most of the time", text))
}

fn prepared(measured: &Measured) -> Option<Note> {
    let at = measured.prepared.at(LARGEST_PRINTED)?;
    let whole = measured.best()?.1.at(LARGEST_PRINTED)?;
    let (rkc, gcm) = measured.prepared_bytes;
    let text = format!(
        "If the offsets of the keys are computed in advance, RKC takes {} µs for {LARGEST_PRINTED} instead of {}. That is still \
         {} times as long as GCM, for which only the key was prepared. The offsets take {rkc} bytes, twice the size of the \
         message; the keystream of GCM would take {gcm}.",
        brief(at.rkc.median),
        brief(whole.rkc.median),
        brief(at.ratio.median),
    );
    Some(Note::new("Preparation helps, but not enough", text))
}

fn plain(measured: &Measured) -> Option<Note> {
    let [ours, prepared] = measured.plain.get(&LARGEST_PRINTED)?;
    let text = format!(
        "A direct composition of the crates aes and sha2, with a key schedule and three hashes for each block, takes {} times \
         as long as Sealwright's RKC for {LARGEST_PRINTED}, and {} times as long as Sealwright's RKC with offsets that are \
         computed in advance. Without preparation, little more can be gained. Both must compute the same chain of two \
         compressions per block, which takes at least 256 cycles, and the composition spends most of its time on hashes.",
        shown(*ours),
        shown(*prepared),
    );
    Some(Note::new("How much can be gained", text))
}

fn wire() -> Note {
    // Overhead of RKC: seed and tag; of GCM: IV and tag
    let (rkc, gcm) = (55 + 32, 12 + 16);
    let size = SMALLEST_PRINTED.0;
    let text = format!(
        "The paper assumes for both modes that the ciphertext is as long as the plaintext, and recommends RKC for sensor \
         nodes. But the seed has 55 bytes and must be sent, and the tag has 32 bytes: {rkc} bytes per message, where GCM needs \
         {gcm}. For a message of {size} bytes, RKC sends {} bytes and GCM {}. In a radio, each byte costs energy. Moreover, RKC \
         is not defined for a message whose length is not a multiple of the block length.",
        size + rkc,
        size + gcm,
    );
    Note::new("Short messages grow", text)
}

fn open_ends() -> Note {
    Note::new(
        "Four modes under one name",
        "The paper does not say how the 440 bits of the seed become the state of the generator, nor whether there is one \
         request for each block or one for all blocks. The reading that is measured here, RKC-R, adds the least to the paper: \
         the seed is V, and each block requests 256 bits. One request for all blocks hashes less; that is a circumstance of its \
         own, “RKC draws all keys at once”.",
    )
}

fn brute_force() -> Note {
    let bits = PAPER.printed.get("brute_force_bits").and_then(toml::Value::as_integer).unwrap_or_default();
    let text = format!(
        "The paper says: “2^(256+440) steps are required to perform brute force attack”, which is 2^{bits}. The seed is sent \
         with the message, so its 440 bits protect nothing: the search takes at most 2^256 steps. With the seed, every R_i is known. \
         A message of n blocks therefore contains n keys that differ from K_0 by known amounts. If the texts of its blocks are known \
         and equal, one encryption tries a key for all of them, and the search takes at most 2^256 / n steps.",
    );
    Note::new("The paper's brute force", text)
}

/// A wrong difference in table 1.
fn slip() -> Option<Note> {
    let table = PAPER.table("times")?;
    let wrong = table.rows.iter().find(|row| (row.values[0] - row.values[1] - row.values[2]).abs() > 0.01)?;
    let [rkc, gcm, difference] = wrong.values[..] else { return None };
    let text = format!(
        "At {}, table 1 gives {difference} as the difference of {rkc} and {gcm}, which is {}.",
        wrong.label,
        rkc - gcm
    );
    Some(Note::new("An error of subtraction", text))
}
