//! What surprised here, and what is odd in the paper; every figure in these sentences is computed.

use sealwright_measure::Interval;

use super::{
    crossing::{self, Crossing},
    grid::{Against, Grid, LARGEST_PRINTED, SMALLEST_PRINTED, Size},
    measured::Measured,
    printed::PAPER,
};
use crate::{figure::shown, study::Note};

/// One of the two times.
type Of = fn(Against) -> Interval;

/// A figure with the digits that matter.
fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

/// What this machine says, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let says = |name: &str, grid: &Grid| format!("{name} ({}): {}", grid.scope, crossing::words(crossing::of(grid)));
    let mut here = Vec::new();
    here.extend(measured.best().map(|(_, grid)| says("with the processor's instructions", grid)));
    here.extend(measured.portable().map(|(_, grid)| says("without them", grid)));
    here.push(says("with GCM computed as the paper writes it down", &measured.bitwise));
    here.push(says("with a key that GCM sets up for one message", &measured.new_key));
    let printed = crossing::words(crossing::of(&measured.printed));
    let mut text = format!("The crossing of the paper lies {printed}. On this machine, {}.", here.join("; "));
    let best = measured.best().map(|(_, grid)| crossing::of(grid));
    if matches!(best, Some(Crossing::GcmThroughout(..))) {
        text += " RKC is no mode for short messages: for every block it draws a key by three hashes, where GCM multiplies \
            once.";
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let mut notes = vec![Note::new(
        "RKC is broken",
        "Whoever knows the text of one message forges each of its prefixes with one hash and no key, and whoever guesses a text \
         sees from the tag whether the guess is right. It is measured because the paper did; docs/RKC.md says what is \
         wrong with it. A faster RKC would not be a better one.",
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

/// Microseconds a byte at a size.
fn rate(grid: &Grid, size: Size, of: Of) -> Option<f64> {
    Some(of(grid.at(size)?).median / size.0 as f64)
}

fn per_byte(measured: &Measured) -> Option<Note> {
    let (_, best) = measured.best()?;
    let size = LARGEST_PRINTED;
    let theirs = [rate(&measured.printed, size, |at| at.rkc)?, rate(&measured.printed, size, |at| at.gcm)?];
    let ours = [rate(best, size, |at| at.rkc)?, rate(best, size, |at| at.gcm)?];
    let text = format!(
        "At {size} the paper's RKC took {} µs for every byte and its GCM {} µs, tens of thousands of cycles of any processor \
         of its day. Here RKC takes {:.1} ns a byte and GCM {:.2} ns: {:.0} and {:.0} times less. Neither of the \
         paper's figures is the cost of AES, of SHA-256 or of a multiplication in GF(2^128); they are the cost of how \
         bits were handled around them.",
        brief(theirs[0]),
        brief(theirs[1]),
        ours[0] * 1e3,
        ours[1] * 1e3,
        theirs[0] / ours[0],
        theirs[1] / ours[1],
    );
    Some(Note::new("A byte took the paper tens of microseconds", text))
}

/// Time of ten times the bytes.
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
        "Ten times the bytes, 1 KiB to 10 KiB, took the paper's RKC {:.1} times as long and its GCM {:.1} times; here {:.1} and \
         {:.1}. Both modes do the same for each block, so more than ten times must come from around them. From 128 to \
         512 bytes a further byte cost the paper's RKC {:.0} µs and its GCM {:.0} µs; from 5 to 10 KiB {:.0} and {:.0}. A \
         byte that grows dearer with the message, and more so in one program than in the other, makes the two lines cross; \
         it is a crossing of two programs.",
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

/// The one circumstance that favours RKC.
fn new_key(measured: &Measured) -> Option<Note> {
    let at = |grid: &Grid| Some(grid.at(Size(16))?.gcm.median);
    let setup = at(&measured.new_key)? - at(&measured.best()?.1)?;
    let crossing = crossing::of(&measured.new_key);
    let text = format!(
        "GCM sets up a key before its first message: round keys, and powers of the GHASH key for as many blocks as it hashes at \
         once. Here that takes {setup:.2} µs, and RKC, which expands keys all along, has nothing of the kind. Where every \
         message has a key of its own the crossing is {}. That is the one thing here that looks like the paper, and \
         it speaks for keeping a GCM key, not for RKC.",
        crossing::words(crossing),
    );
    matches!(crossing, Crossing::Between(..)).then(|| Note::new("One message a key", text))
}

/// What the DRBG costs.
fn chain(measured: &Measured) -> Option<Note> {
    let parts = measured.parts.iter().rfind(|parts| parts.size == LARGEST_PRINTED)?;
    let text = format!(
        "At the best level ({}), {:.0} % of RKC's time at {} is Hash_DRBG: {:.1} of {:.1} cycles a byte, {:.0} cycles a block. \
         Between two blocks it hashes 56 bytes, two compressions of SHA-256 that wait for each other, and the next \
         block's key waits for both; with the processor's SHA instructions that alone is 256 cycles, two rounds in four cycles. \
         No width of registers and no second core shortens a chain. All of GCM takes {:.2} cycles a byte.",
        parts.isa,
        100.0 * parts.drbg.median / parts.total.median,
        parts.size,
        parts.drbg.median,
        parts.total.median,
        16.0 * parts.drbg.median,
        parts.gcm.median,
    );
    Some(Note::new("The generator is what costs", text))
}

fn prepared(measured: &Measured) -> Option<Note> {
    let at = measured.prepared.at(LARGEST_PRINTED)?;
    let whole = measured.best()?.1.at(LARGEST_PRINTED)?;
    let (rkc, gcm) = measured.prepared_bytes;
    let text = format!(
        "With the keys' offsets made before there is a message, RKC takes {} µs for {LARGEST_PRINTED} instead of {}, still {} \
         times as long as GCM, which had nothing prepared but its key. The offsets take {rkc} bytes, twice the message; \
         GCM's keystream would take {gcm}.",
        brief(at.rkc.median),
        brief(whole.rkc.median),
        brief(at.ratio.median),
    );
    Some(Note::new("Preparing helps, and is not enough", text))
}

fn plain(measured: &Measured) -> Option<Note> {
    let [ours, prepared] = measured.plain.get(&LARGEST_PRINTED)?;
    let text = format!(
        "RKC written down with the crates aes and sha2, a key schedule and three hashes a block, takes {} times as long as \
         ours for {LARGEST_PRINTED}, and {} times as long as ours with offsets made beforehand. Without \
         preparation there is not much more to gain: both have to go through the same chain of two compressions a block, \
         which sets a floor of 256 cycles to a block, and the composition does little else than hash.",
        shown(*ours),
        shown(*prepared),
    );
    Some(Note::new("What can be gained at all", text))
}

fn wire() -> Note {
    // Seed and tag; IV and tag
    let (rkc, gcm) = (55 + 32, 12 + 16);
    let size = SMALLEST_PRINTED.0;
    let text = format!(
        "The paper counts ciphertext as long as plaintext for both and sends sensor nodes to RKC. But the seed has 55 bytes \
         and must travel, and its tag has 32: {rkc} bytes a message beside GCM's {gcm}. Of a message of {size} bytes, RKC sends \
         {} bytes and GCM {}; a radio pays for each. And a length that is not a whole number of blocks has no RKC at all: the \
         paper defines none for its last block.",
        size + rkc,
        size + gcm,
    );
    Note::new("Short messages grow", text)
}

fn open_ends() -> Note {
    Note::new(
        "Four modes under one name",
        "How the 440 bits of the seed become a generator's state, and whether each block asks it anew or all blocks ask once, \
         the paper does not say. Measured here is the reading that needs the least invented, RKC-R: the seed is V, and each block \
         asks for 256 bits. One request for all blocks would halve the hashing and is no longer a stream.",
    )
}

fn brute_force() -> Note {
    let bits = PAPER.printed.get("brute_force_bits").and_then(toml::Value::as_integer).unwrap_or_default();
    let text = format!(
        "“2^(256+440) steps are required to perform brute force attack”, 2^{bits}. The seed travels with the message, so its 440 \
         bits protect nothing, and with it every R_i is known: a message of n blocks offers n keys that differ from K_0 by \
         known amounts, each as good as another. At most 2^256 / n steps.",
    );
    Note::new("The paper's brute force", text)
}

/// A difference that is none.
fn slip() -> Option<Note> {
    let table = PAPER.table("times")?;
    let wrong = table.rows.iter().find(|row| (row.values[0] - row.values[1] - row.values[2]).abs() > 0.01)?;
    let [rkc, gcm, difference] = wrong.values[..] else { return None };
    let text = format!(
        "At {}, table 1 prints {difference} for the difference of {rkc} and {gcm}, which is {}.",
        wrong.label,
        rkc - gcm
    );
    Some(Note::new("A slip of subtraction", text))
}
