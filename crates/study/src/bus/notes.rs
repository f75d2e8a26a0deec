//! What to know beside the figures.

use sealwright_smp::engine::Model;

use super::grid::{Grid, PROCESSORS, Scheme};
use crate::study::Note;

pub(super) fn summary(grid: &Grid) -> String {
    let mean = |scheme| grid.mean(8, 64, false, scheme).unwrap_or(f64::NAN);
    let gcm = Model::ALL.map(|model| mean(Scheme::gcm(model, 320)));
    format!(
        "With 8 processors and 320 cycles a line, GCM costs {:.1} % of the time if its AES unit may begin a line every cycle, \
         {:.1} % if every 80 cycles, and {:.1} % if it works on one line at a time; the chained masks cost {:.1} %. The thesis \
         does not say which unit it has, and that decides. {:.0} M references were simulated in {:.0} s.",
        gcm[0],
        gcm[1],
        gcm[2],
        mean(Scheme::Cbc(320, 1)),
        grid.references / 1e6,
        grid.seconds,
    )
}

pub(super) fn notes(grid: &Grid) -> Vec<Note> {
    let lunc = |align| {
        let run = |processors| super::grid::Run { program: 2, processors, line: 64, align, scheme: Scheme::Clear };
        let rates = PROCESSORS.map(|processors| grid.at(run(processors)).map_or(f64::NAN, |found| found.rate));
        format!("{:.2}, {:.2} and {:.2}", rates[0], rates[1], rates[2])
    };
    let masks = |program, align| {
        let run = super::grid::Run { program, processors: 8, line: 64, align, scheme: Scheme::Cbc(320, 1) };
        grid.loss(run).unwrap_or(f64::NAN)
    };
    let sizes = if grid.quick { "FFT 2^12, LU 128, RADIX 2^16" } else { "FFT 2^16, LU 256, RADIX 2^18" };
    vec![
        Note::new(
            "What was run",
            format!(
                "{sizes}; whole kernels from cold caches, every result checked as numbers. The thesis does not name its inputs. \
                 Time alone is counted here; the tests and the attacks seal every line for real and take the same cycles."
            ),
        ),
        Note::new(
            "The engine decides",
            "“320 cycles” is a latency. How often the unit may begin, the thesis does not say; its sentence on five pads within a \
             latency fits a unit that begins every cycle, its GB/s one that begins every 80 cycles (off by exactly four from 64 \
             bytes in 320 cycles at 1 GHz). Counter mode may be pipelined; the feedback of the masks may not.",
        ),
        Note::new(
            "False sharing makes the mean",
            format!(
                "LU in rows moves {} lines a thousand cycles and processor (2, 4, 8) with its matrix as malloc places it, and {} \
                 with the matrix at a page. With 8 processors and 320 cycles the masks cost it {:.0} % and {:.0} %, and RADIX {:.0} %: \
                 read the programs one by one, for their mean is mostly an accident.",
                lunc(false),
                lunc(true),
                masks(2, false),
                masks(2, true),
                masks(3, false),
            ),
        ),
        Note::new(
            "The printed IV repeats",
            "A 96-bit counter beside a 3-bit number is 99 bits, which GCM's short path does not take; and with one key and “its \
             counter value” shared with all, the first lines from one node to two others have one IV. `smp run --faithful-iv` \
             shows the first collision; ours holds source, destination, epoch and counter, and every run proves that none repeats.",
        ),
        Note::new(
            "CBC is CFB",
            "C = P xor mask, mask = AES(C) is cipher feedback: a flipped bit of ciphertext flips the same bit of plaintext, and \
             with a MAC in ten lines up to ten such lines are used before anybody knows. “128-bit RSA keys” are factored in \
             milliseconds; here units agree by X25519.",
        ),
        Note::new(
            "4X-9X is a ratio of losses",
            "CBC's loss over GCM's in figure 5.1 runs from 3.2 to 15.2; the programs themselves run 1.10 to 1.28 times as fast.",
        ),
    ]
}
