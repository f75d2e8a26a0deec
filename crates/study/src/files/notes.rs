//! Observations on the results and on the paper. Every figure in these sentences is computed.

use sealwright_measure::{Interval, Verdict};

use super::{
    grid::{Direction, Grid, Mode, Point, SIZES},
    measured::{Measured, TOOLS},
    printed::PAPER,
    programs::{IV, Program},
    tables::speed,
    ticks,
};
use crate::{corpus::Content, figure::shown, study::Note};

/// Text of the largest size.
const LARGEST: Point = Point { kind: Content::Text, size: SIZES[2], mode: Mode::Cbc, direction: Direction::Encrypt };

fn decrypt(point: Point) -> Point {
    Point { direction: Direction::Decrypt, ..point }
}

/// The result on this machine, in a few sentences.
pub(super) fn summary(measured: &Measured<'_>) -> String {
    let says = |grid: &Grid| {
        let ratio = grid.gcm_to_cbc(LARGEST)?;
        Some(format!("{} ({})", brief(ratio.median), grid.scope))
    };
    let here = [Some(&measured.no_instructions), Some(&measured.seal), measured.best(), measured.portable()];
    let here: Vec<String> = here.into_iter().flatten().filter_map(says).collect();
    let printed = measured.printed.gcm_to_cbc(LARGEST).map_or(f64::NAN, |ratio| ratio.median);
    let mut text = format!(
        "To encrypt 10 MB of text, GCM took {printed:.2} times as long as CBC in the paper. On this machine, the \
         factors are: {}.",
        here.join("; ")
    );
    if let Some(ratio) = measured.no_instructions.gcm_to_cbc(LARGEST) {
        let best = measured.best().and_then(|grid| grid.gcm_to_cbc(LARGEST));
        let other = best.is_some_and(|best| Verdict::below(best, 1.0) == Verdict::Holds);
        if other && Verdict::above(ratio, 1.0) == Verdict::Holds {
            text +=
                " So which mode is faster depends on the instructions that the machine has and that the software uses.";
        }
    }
    text
}

/// A figure with its significant digits.
fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

fn times(ratio: Interval) -> String {
    format!("{} times", shown(ratio))
}

pub(super) fn notes(measured: &Measured<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(without_instructions(measured));
    notes.extend(chain(measured));
    notes.extend(bitsliced(measured));
    notes.extend(start(measured));
    notes.extend(in_memory(measured));
    notes.push(clock());
    notes.extend(luck(measured));
    notes.extend(odd());
    notes.extend(missing(measured));
    notes
}

/// An explanation of the paper's result: AES without instructions.
fn without_instructions(measured: &Measured<'_>) -> Option<Note> {
    let ratio = measured.no_instructions.gcm_to_cbc(LARGEST)?;
    let printed = measured.printed.gcm_to_cbc(LARGEST)?.median;
    let rate = LARGEST.size.0 as f64 / 1e3 / measured.printed.time(LARGEST)?.median;
    let with = |mode| {
        let program = Program::OpensslCms { mode, instructions: true };
        measured.trials.used.get(&(program, Content::Text, SIZES[2], Direction::Encrypt)).map(|used| used.cpu.median)
    };
    let with = with(Mode::Gcm)? / with(Mode::Cbc)?;
    let near = ratio.median / printed < 1.25 && printed / ratio.median < 1.25;
    let near = if near {
        "That is near enough to suppose that the paper's virtual machine had no AES instructions, or that its \
         library did not use them."
    } else {
        "That is not the paper's ratio, so more than the missing instructions sets the two machines apart."
    };
    let text = format!(
        "The paper's CBC ran at {rate:.0} MB/s, the speed of AES from tables. Without the AES instructions, \
         today's OpenSSL takes {} as long for GCM as for CBC here, where the paper found {printed:.2}; with them, \
         it takes {with:.2} times as long. {near} Without the instructions, authentication takes about as long as \
         encryption.",
        times(ratio)
    );
    Some(Note::new("The paper's result, made again", text))
}

/// The cost of chaining in CBC.
fn chain(measured: &Measured<'_>) -> Option<Note> {
    let best = measured.best()?;
    let (there, back) = (speed(best, LARGEST)?, speed(best, decrypt(LARGEST))?);
    let gcm = speed(best, LARGEST.mode(Mode::Gcm))?;
    let text = format!(
        "At the best level ({}), CBC encrypts {:.2} GB/s and decrypts {:.2} GB/s. In encryption, each block waits \
         for the previous one, so only one lane is used; in decryption, all blocks are known at once. GCM, whose \
         blocks do not depend on each other, seals {:.2} GB/s including its tag.",
        best.scope, there.median, back.median, gcm.median
    );
    Some(Note::new("What chaining costs", text))
}

/// The portable level is bit-sliced, and does not use tables as software did at the time of the paper.
fn bitsliced(measured: &Measured<'_>) -> Option<Note> {
    let portable = measured.portable()?;
    let speed = |point| speed(portable, point).map(|speed| speed.median * 1e3);
    let (there, back) = (speed(LARGEST)?, speed(decrypt(LARGEST))?);
    let text = format!(
        "Sealwright's portable level computes AES with bit-sliced logic on many blocks in parallel, in constant \
         time, while the software of the paper's time used tables, whose timing can reveal keys. The difference \
         shows in CBC: {there:.0} MB/s to encrypt, where only one block at a time is known, and {back:.0} MB/s to \
         decrypt. So on “basic hardware” one can have fast tables that leak, or constant time, in which chained \
         modes are slow."
    );
    Some(Note::new("Two ways to compute AES on basic hardware", text))
}

/// The cost of starting a process.
fn start(measured: &Measured<'_>) -> Option<Note> {
    let point = LARGEST.mode(Mode::Gcm);
    let whole = measured.seal.time(point.size(SIZES[0]))?.median;
    let alone = measured.best()?.time(point.size(SIZES[0]))?.median;
    let text = format!(
        "Sealing 100 kB takes {:.0} µs in the library and {:.2} ms of CPU time as a whole process: {:.1} % of the latter \
         is starting, reading and writing. A comparison of modes on small files \
         mostly measures the start of the program.",
        alone * 1e3,
        whole,
        100.0 * (1.0 - alone / whole)
    );
    Some(Note::new("Small files measure the start of the process", text))
}

/// What sets the two circumstances with GCM apart in decryption; both encrypt piece by piece.
fn in_memory(measured: &Measured<'_>) -> Option<Note> {
    let point = decrypt(LARGEST.mode(Mode::Gcm));
    let (enc, seal) = (measured.enc.time(point)?, measured.seal.time(point)?);
    let text = format!(
        "To decrypt 10 MB, sealwright enc -d -aes-256-gcm takes {} ms of CPU time and sealwright open {} ms, with the \
         same kernel. enc has one tag over everything, so it holds the whole text in memory, fresh from the system and \
         wiped at the end, and writes nothing before the tag is verified. open works in chunks of 16 KiB, each with a \
         tag of its own, in memory that is used again.",
        shown(enc),
        shown(seal)
    );
    Some(Note::new("One tag for the whole file", text))
}

/// The resolution of the paper's clock.
fn clock() -> Note {
    let (_, whole, all) = ticks::table(&PAPER);
    let text = format!(
        "{whole} of the paper's {all} means, times three trials, are whole multiples of 4 ms: 5.33 × 3 = 16 = 4 \
         ticks, 8.00 × 3 = 24 = 6 ticks, 214.67 × 3 = 644 = 161 ticks. User time was counted in ticks of 1/250 s, \
         and the process that was running at a tick was charged for all of it. So the difference between 5.33 and \
         8.00 ms, images and text at 100 kB, is two ticks over three trials, which means nothing. A reading may be \
         off by a tick either way, and this is the uncertainty assumed when the paper's own claims are tested on \
         its figures."
    );
    Note::new("The paper's clock ticked every 4 ms", text)
}

/// The same clock on this machine.
fn luck(measured: &Measured<'_>) -> Option<Note> {
    let used = measured.trials.used.get(&(Program::OpensslEnc, Content::Text, SIZES[0], Direction::Encrypt))?;
    let text = format!(
        "Of {} runs of openssl enc on 100 kB here, {:.0} % show no user time at all, and the others too much; their \
         mean is {:.2} ms. User and system time together are {} ms. The kernel measures the sum exactly but splits \
         it by sampling, so verdicts use the sum; user time is shown because the paper used it.",
        used.runs,
        used.user_zero * 100.0,
        used.user_mean,
        shown(used.cpu)
    );
    Some(Note::new("User time is still imprecise for short runs", text))
}

/// Errors and oddities in the paper.
fn odd() -> Vec<Note> {
    let digits = |name: &str| PAPER.printed.get(name).and_then(|value| value.as_str()).map_or(0, str::len);
    vec![
        Note::new(
            "Its GCM wrote no tag",
            "LibreSSL's enc of that time accepted -aes-256-gcm but had no place for the tag: the output is as long \
             as the input, nothing in it is authenticated, and decryption ends in “bad decrypt” after writing the \
             right text (as reported to LibreSSL for 2.1.9 and 2.3.2; since 2023 it refuses such ciphers, as \
             OpenSSL does). So GCM was timed without the authentication that is its purpose. sealwright enc \
             -aes-256-gcm appends the tag and refuses to decrypt without it; sealwright seal is what to use.",
        ),
        Note::new(
            "Its IV is longer than GCM reads",
            format!(
                "The IV of figure 2 has {} hex digits, {} bytes. By default GCM takes 12 bytes, and enc does not \
                 change that: the last {} digits, {}, had no effect. The output of openssl rand -hex 16 in figure 1 \
                 has {} digits where the command prints 32: one was lost in the paper.",
                digits("iv"),
                digits("iv") / 2,
                digits("iv").saturating_sub(24),
                &IV[24..],
                digits("rand_16"),
            ),
        ),
        Note::new(
            "Its salt does nothing",
            "The timed command has both -salt and -K. A salt is used to derive a key from a password; with a key \
             given in hex nothing is derived, and no salt is generated or written.",
        ),
        Note::new(
            "GCM is not LibreSSL's alone",
            "The paper took LibreSSL because “GCM is only supported in the said fork”. The OpenSSL library has had GCM since \
             1.0.1 of 2012; only its enc command refuses it, on purpose, since enc writes text before it could know \
             whether it is authentic. Its cms command seals with GCM and keeps the tag: that is what ran here.",
        ),
    ]
}

/// Programs that were not available.
fn missing(measured: &Measured<'_>) -> Option<Note> {
    if measured.missing.is_empty() {
        return None;
    }
    let named = measured.missing.iter().map(|(program, why)| format!("{} ({why})", program.name()));
    let names: Vec<String> = named.collect();
    let tools = if measured.missing.iter().all(|(program, _)| TOOLS.contains(program)) {
        " The claims do not need them."
    } else {
        ""
    };
    Some(Note::new("Not measured here", format!("Without rows: {}.{tools}", names.join("; "))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::files::{
        measured::{ENC, NO_INSTRUCTIONS, PRINTED, SEAL},
        process::Trials,
        programs::Programs,
    };

    /// Encrypting with GCM holds a piece of the text, as CBC does.
    #[test]
    fn what_is_held_in_memory_is_said_of_decrypting() {
        let programs = Programs::find(None).unwrap();
        let grid = |scope: &str, there, back| {
            let mut grid = Grid::new(scope);
            let point = LARGEST.mode(Mode::Gcm);
            let times: [(Point, Option<f64>); 2] = [(point, there), (decrypt(point), back)];
            for (point, ms) in times {
                ms.into_iter().for_each(|ms| grid.set(point, Interval::exact(ms)));
            }
            grid
        };
        let measured = |enc, seal| Measured {
            trials: Trials::new(&programs, &[]).unwrap(),
            printed: Grid::printed(&PAPER, PRINTED),
            no_instructions: Grid::new(NO_INSTRUCTIONS),
            enc,
            seal,
            library: Vec::new(),
            wider: std::collections::BTreeMap::new(),
            missing: Vec::new(),
        };
        let there = measured(grid(ENC, Some(11.0), None), grid(SEAL, Some(12.0), None));
        assert!(in_memory(&there).is_none(), "only encryption was measured");
        let both = measured(grid(ENC, Some(11.0), Some(23.0)), grid(SEAL, Some(12.0), Some(34.0)));
        let text = in_memory(&both).unwrap().text;
        assert!(text.contains("enc -d") && text.contains("23") && text.contains("34"), "{text}");
        assert!(!text.contains("11") && !text.contains("12"), "{text}");
    }
}
