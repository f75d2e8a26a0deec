//! The four cores' work in software: one core of this machine, packets sealed in place.

use std::{hint::black_box, io, time::Duration};

use sealwright::{Isa, Suite};
use sealwright_measure::{Candidate, FEWEST, Interval, Meter, Work};

use super::design::{Cipher, Design, Mode};
use crate::progress::Progress;

/// How fast software seals packets of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) design: Design,
    /// Bytes of text of a packet.
    pub(super) bytes: usize,
    /// Bits of text in a nanosecond.
    pub(super) gbps: Interval,
}

/// The suites that are in hardware, too.
const SUITES: [(Design, Suite); 4] = [
    (Design(Cipher::Serpent, Mode::Ocb), Suite::Serpent256Ocb),
    (Design(Cipher::Aes, Mode::Ocb), Suite::Aes128Ocb),
    (Design(Cipher::Serpent, Mode::Gcm), Suite::Serpent256Gcm),
    (Design(Cipher::Aes, Mode::Gcm), Suite::Aes128Gcm),
];

/// The lengths that the cores were simulated with.
pub(super) const LENGTHS: [usize; 8] = [64, 128, 256, 512, 1024, 1500, 4096, 9000];

/// The longest packet of the paper's project.
pub(super) const ETHERNET: usize = 1500;
/// A jumbo frame.
pub(super) const LONGEST: usize = 9000;

/// Lengths that are measured quickly.
const FEW: [usize; 4] = [64, 256, ETHERNET, LONGEST];

pub(super) fn measure(quick: bool, progress: &mut Progress<'_>) -> io::Result<Vec<Rate>> {
    let lengths: &[usize] = if quick { &FEW } else { &LENGTHS };
    let meter = if quick { Meter::quick().rounds(FEWEST, 500) } else { Meter::full().rounds(15, 2000) };
    let meter = meter.budget(Duration::from_millis(if quick { 600 } else { 4000 }));
    progress.expect(lengths.len());
    let mut rates = Vec::new();
    for &bytes in lengths {
        progress.step(&format!("packets of {bytes} B"));
        let mut works = SUITES.iter().map(|&(_, suite)| work(suite, bytes)).collect::<io::Result<Vec<_>>>()?;
        let mut candidates: Vec<&mut dyn Candidate> =
            works.iter_mut().map(|work| &mut **work as &mut dyn Candidate).collect();
        let found = progress.compare(&meter, &mut candidates)?;
        for (design, suite) in SUITES {
            let seconds = found.trial(suite.name()).map(|trial| trial.interval);
            rates.extend(seconds.map(|seconds| Rate { design, bytes, gbps: seconds.rate(8e-9 * bytes as f64) }));
        }
    }
    Ok(rates)
}

/// Sealing a packet in place at the best level, after it was seen to open what it seals.
fn work(suite: Suite, bytes: usize) -> io::Result<Box<dyn Candidate>> {
    let aead = suite.aead_at(Isa::best(), &vec![0x42; suite.key_len()]).map_err(io::Error::other)?;
    let mut text = vec![0x5a; bytes];
    let mut nonce = [0; 12];
    let tag = aead.seal_in_place(&nonce, &[], &mut text).map_err(io::Error::other)?;
    aead.open_in_place(&nonce, &[], &mut text, tag.as_ref()).map_err(io::Error::other)?;
    if text.iter().any(|&byte| byte != 0x5a) {
        return Err(io::Error::other(format!("{} does not open what it sealed", suite.name())));
    }
    let mut number = 0_u64;
    let seal = move || {
        number += 1;
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        let _ = black_box(aead.seal_in_place(&nonce, &[], black_box(&mut text)));
    };
    Ok(Box::new(Work::new(suite.name(), seal).by_thread_cpu()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_suite_is_measured_at_every_length() {
        let meter = Meter::quick().rounds(1, 1).sample(Duration::from_micros(20)).budget(Duration::from_millis(1));
        for (_, suite) in SUITES {
            let mut work = work(suite, 64).unwrap();
            let found = meter.compare(&mut [&mut *work], &mut |_| {}).unwrap();
            assert!(found.trial(suite.name()).unwrap().interval.median > 0.0);
        }
        assert!(FEW.iter().all(|length| LENGTHS.contains(length)));
    }
}
