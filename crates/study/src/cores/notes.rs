//! What surprised, and what is odd in the paper; every figure in these sentences is computed.

use sealwright_measure::Interval;

use super::{
    design::{CIPHERS, Cipher, Column, Design, Mode},
    measured::Measured,
    software::{ETHERNET, LONGEST},
};
use crate::{figure::shown, study::Note};

fn brief(figure: f64) -> String {
    shown(Interval::exact(figure))
}

/// GCM's clock over that of the cipher alone.
fn share(measured: &Measured, cipher: Cipher) -> Option<f64> {
    let clock = |mode| measured.kept.clock(Design(cipher, mode));
    Some(clock(Mode::Gcm)? / clock(Mode::Alone)?)
}

/// What the cores and this machine say, in a few sentences.
pub(super) fn summary(measured: &Measured) -> String {
    let mut text = "The paper's GCM cores lose a quarter of their clock to GHASH.".to_owned();
    let says =
        |cipher: Cipher| Some(format!("{} of {}'s", brief(share(measured, cipher)?), Design(cipher, Mode::Alone)));
    let shares: Vec<String> = CIPHERS.into_iter().filter_map(says).collect();
    if shares.is_empty() {
        text += " Ours were not synthesised when this program was built.";
    } else {
        text += &format!(
            " With products that return after several cycles the clock of ours is {} (one lane, routed on ECP5).",
            shares.join(" and ")
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
        .map(|(design, cores)| format!("{} of this processor's cores what the paper's {design} core did", brief(cores)))
        .collect();
    if !words.is_empty() {
        text += &format!(" In software, packets of {ETHERNET} bytes take {}.", words.join(", "));
    }
    text
}

pub(super) fn notes(measured: &Measured) -> Vec<Note> {
    let mut notes = vec![
        Note::new(
            "More than twice the area, with AES",
            format!(
                "The paper says that GCM takes more than twice the area of OCB. By its table that is so with AES, {} times, and not \
                 with Serpent, {} times: what GHASH adds is the same, and Serpent is larger.",
                over(Cipher::Aes),
                over(Cipher::Serpent)
            ),
        ),
        Note::new(
            "What the paper's cores leave out",
            "Messages are whole blocks up to 1500 bytes, without padding. It does not say whether 38,312 ALMs of Serpent-OCB open as \
             well as seal, which takes the inverse cipher besides, nor what packets of 64 bytes make of 141 Gbit/s. Ours take any \
             number of bytes to 65,535, associated data too, under several keys; the tables say what short packets make of them.",
        ),
        Note::new(
            "Two devices, two estimates",
            "The paper's clocks and areas are of a device that is no longer made, by tools of its maker. Ours are of open tools: the \
             clocks of ECP5, also of 40 nm but of small tables and few memories; the areas of tables that would fit an ALM, not \
             placed. Compare ratios within a column before columns.",
        ),
    ];
    let versions = measured.kept.synthesised.first().map(|found| {
        let tools: Vec<String> = found.tools.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!("{} ({})", tools.join(", "), found.device)
    });
    if let (Some(versions), [sources]) = (versions, &measured.kept.sources[..]) {
        let short = sources.get(..12).unwrap_or(sources);
        notes.push(Note::new(
            "Which sources these results are of",
            format!(
                "Synthesis and simulation take an hour or two and are not run here. They are of the sources of rtl/ with SHA-256 {short}..., by \
                 {versions} and others at the versions of rtl/requirements.txt. `cargo xtask rtl` fails if the sources have \
                 changed since; docs/CORES.md says how to make the results anew."
            ),
        ));
    }
    notes.extend(modes(measured));
    notes
}

/// GCM's area over OCB's in the paper's table.
fn over(cipher: Cipher) -> String {
    let area = |mode| Design(cipher, mode).printed(Column::Alms).unwrap_or(f64::NAN);
    format!("{:.2}", area(Mode::Gcm) / area(Mode::Ocb))
}

/// GCM against OCB in software.
fn modes(measured: &Measured) -> Option<Note> {
    let rate = |cipher, mode| measured.software_rate(Design(cipher, mode), LONGEST);
    let of = |cipher| Some(rate(cipher, Mode::Gcm)?.median / rate(cipher, Mode::Ocb)?.median);
    let (aes, serpent) = (of(Cipher::Aes)?, of(Cipher::Serpent)?);
    Some(Note::new(
        "GHASH in software",
        format!(
            "On this machine GCM's rate is {} of OCB's with AES and {} with Serpent ({LONGEST} bytes): a processor multiplies beside \
             the cipher, as the cores do, and where the cipher is slow the product costs nearly nothing.",
            brief(aes),
            brief(serpent)
        ),
    ))
}
