//! Observations on the results and on the paper. Every figure in these sentences is computed.

use std::collections::BTreeSet;

use sealwright_measure::Interval;

use super::{
    design::{CIPHERS, Cipher, Column, DESIGNS, Design, Mode},
    kept::SEEDS,
    measured::Measured,
    software::ETHERNET,
};
use crate::{figure::shown, study::Note};

fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

/// The clock of GCM divided by the clock of the cipher alone.
fn share(measured: &Measured, cipher: Cipher) -> Option<Interval> {
    let routed = |mode| measured.kept.routed(Design(cipher, mode));
    routed(Mode::Gcm)?.share(routed(Mode::Alone)?)
}

/// The result for the cores and on this machine, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let mut text = "The paper's GCM cores lose a quarter of their clock rate to GHASH.".to_owned();
    let says = |cipher: Cipher| {
        Some(format!("{} of that of {}", shown(share(measured, cipher)?), Design(cipher, Mode::Alone)))
    };
    let shares: Vec<String> = CIPHERS.into_iter().filter_map(says).collect();
    if shares.is_empty() {
        text += " Sealwright's cores were not synthesized when this program was built.";
    } else {
        text += &format!(
            " With a pipelined multiplier, the clock rate of Sealwright's GCM cores is {} (one lane, routed on ECP5, {}).",
            shares.join(" and "),
            runs(measured, &CIPHERS.map(|cipher| [Mode::Alone, Mode::Gcm].map(|mode| Design(cipher, mode))).concat())
        );
    }
    let cores = |design: Design| {
        let rate = measured.software_rate(design, ETHERNET)?;
        Some((design, design.printed(Column::Gbps)? / rate.median))
    };
    let (gcm, serpent) = (Design(Cipher::Aes, Mode::Gcm), Design(Cipher::Serpent, Mode::Ocb));
    let words: Vec<String> = [gcm, serpent]
        .into_iter()
        .filter_map(cores)
        .map(|(design, cores)| format!("{} cores of this processor to match the paper's {design} core", brief(cores)))
        .collect();
    if !words.is_empty() {
        text += &format!(" In software, with packets of {ETHERNET} bytes, it takes {}.", words.join(" and "));
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let alms = |mode| Design(Cipher::Serpent, mode).printed(Column::Alms).unwrap_or(f64::NAN);
    let mut notes = vec![
        Note::new(
            "More than twice the area, with AES",
            format!(
                "The paper says that GCM takes more than twice the area of OCB. According to its table, this is true with AES \
                 ({} times) and not with Serpent ({} times): GHASH adds the same area to both, but Serpent is larger.",
                over(Cipher::Aes),
                over(Cipher::Serpent)
            ),
        ),
        Note::new(
            "What the paper's cores leave out",
            format!(
                "Their messages are whole blocks of up to 1500 bytes, without padding. The paper does not say whether its cores for \
                 OCB open as well as seal, which takes the inverse cipher. Its table has no room for one: Serpent-OCB has {:.0} ALMs \
                 beyond the {:.0} of its cipher. Sealwright's cores for OCB contain it, so their areas and clocks have circumstances of \
                 their own. {} Nor does the paper say which rate remains of 141 Gbit/s \
                 with packets of 64 bytes. Sealwright's cores accept any number of bytes up to 65,535, associated data, and several \
                 keys. The tables show their rates with short packets.",
                alms(Mode::Ocb) - alms(Mode::Alone),
                alms(Mode::Alone),
                match measured.kept.area(Design(Cipher::Serpent, Mode::Ocb), false) {
                    Some(_) =>
                        "Of cores that only seal there are areas, which have their own, and no clocks: they were not routed.",
                    None => "Cores that only seal can be built, and were not synthesised.",
                },
            ),
        ),
        Note::new(
            "Two devices, two estimates",
            "The paper's clock rates and areas are those of a device that is no longer made, from the tools of its manufacturer. \
             Sealwright's come from open tools. The clock rates are those of ECP5, which is also a 40 nm device, but has small \
             lookup tables and little memory. The areas are bounds of an estimate from lookup tables that would fit into an ALM, \
             without placement. Compare ratios within a column rather than figures of different columns.",
        ),
    ];
    let tools: BTreeSet<String> = (measured.kept.synthesised.iter().flat_map(|found| &found.tools))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    if !tools.is_empty() {
        let tools = tools.into_iter().collect::<Vec<_>>().join(", ");
        notes.push(Note::new(
            "The sources of these results",
            format!(
                "Synthesis and simulation take hours and are not part of this study. Every stored result names its tools, its device \
                 and the SHA-256 of the files in rtl/ that its design consists of. All of them together were made by {tools}. \
                 `cargo xtask rtl` fails if one of those files has changed since. docs/CORES_RESULTS.md says how to make the results \
                 again."
            ),
        ));
    }
    notes.extend(seeds(measured));
    notes.extend(modes(measured));
    notes
}

/// The number of place-and-route runs per design: `1 run`, `2 to 3 runs`.
fn runs(measured: &Measured, designs: &[Design]) -> String {
    let counts = || designs.iter().map(|&design| measured.kept.seeds(design)).filter(|&count| count > 0);
    match (counts().min().unwrap_or_default(), counts().max().unwrap_or_default()) {
        (1, 1) => "1 run of place and route".to_owned(),
        (few, many) if few == many => format!("medians of {few} runs of place and route"),
        (few, many) => format!("medians of {few} to {many} runs of place and route"),
    }
}

/// The clock rates that have no interval, and what they would need.
fn seeds(measured: &Measured) -> Option<Note> {
    let few = |&design: &Design| (1..SEEDS).contains(&measured.kept.seeds(design));
    let few: Vec<String> =
        DESIGNS.into_iter().filter(few).map(|design| format!("{design} {}", measured.kept.seeds(design))).collect();
    (!few.is_empty()).then(|| {
        Note::new(
            "Too few runs of place and route",
            format!(
                "The clock changes from seed to seed by a tenth or more. Its median has an interval from {SEEDS} seeds on; these \
                 designs have fewer: {}. No claim is decided by their clocks. `flow synth --seeds 10` adds the missing seeds.",
                few.join(", ")
            ),
        )
    })
}

/// The area of GCM divided by the area of OCB in the paper's table.
fn over(cipher: Cipher) -> String {
    let area = |mode| Design(cipher, mode).printed(Column::Alms).unwrap_or(f64::NAN);
    format!("{:.2}", area(Mode::Gcm) / area(Mode::Ocb))
}

/// GCM compared with OCB in software.
fn modes(measured: &Measured) -> Option<Note> {
    let rate = |cipher, mode| measured.software_rate(Design(cipher, mode), ETHERNET);
    let of = |cipher| Some(rate(cipher, Mode::Gcm)?.median / rate(cipher, Mode::Ocb)?.median);
    let (aes, serpent) = (of(Cipher::Aes)?, of(Cipher::Serpent)?);
    Some(Note::new(
        "GHASH in software",
        format!(
            "On this machine, the rate of GCM is {} of the rate of OCB with AES, and {} with Serpent ({ETHERNET} bytes). Like the cores, \
             a processor multiplies in parallel with the cipher. If the cipher is slow, the multiplication costs almost nothing.",
            brief(aes),
            brief(serpent)
        ),
    ))
}
