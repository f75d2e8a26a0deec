//! The work of the four authenticating cores in software: one processor core that seals packets in place.

use std::{io, time::Duration};

use sealwright::{Isa, Suite};
use sealwright_measure::{Candidate, FEWEST, Interval, Meter};

use super::design::{Cipher, Design, Mode};
use crate::{
    progress::Progress,
    rotation::{Timed, nonces},
};

/// The speed of software with packets of one length.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) design: Design,
    /// Length of the packet's text in bytes.
    pub(super) bytes: usize,
    /// The rate in bits of text per nanosecond, that is Gbit/s.
    pub(super) gbps: Interval,
    /// The ratio of this rate to that of each other design, from the same rounds.
    pub(super) over: Vec<(Design, Interval)>,
}

/// The suites that also exist as hardware cores.
const SUITES: [(Design, Suite); 4] = [
    (Design(Cipher::Serpent, Mode::Ocb), Suite::Serpent256Ocb),
    (Design(Cipher::Aes, Mode::Ocb), Suite::Aes128Ocb),
    (Design(Cipher::Serpent, Mode::Gcm), Suite::Serpent256Gcm),
    (Design(Cipher::Aes, Mode::Gcm), Suite::Aes128Gcm),
];

/// The packet lengths with which the cores were simulated.
pub(super) const LENGTHS: [usize; 8] = [64, 128, 256, 512, 1024, 1500, 4096, 9000];

/// The longest packet in the paper's project.
pub(super) const ETHERNET: usize = 1500;
/// The length of a jumbo frame.
pub(super) const LONGEST: usize = 9000;

/// The packet lengths of the quick study.
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
            let Some(trial) = found.trial(suite.name()) else { continue };
            let others = SUITES.into_iter().filter(|(other, _)| *other != design);
            let over = others.filter_map(|(other, its)| Some((other, found.speedup(suite.name(), its.name())?)));
            rates.push(Rate { design, bytes, gbps: trial.interval.rate(8e-9 * bytes as f64), over: over.collect() });
        }
    }
    Ok(rates)
}

/// A candidate that seals a packet in place at the best level. It first checks that the sealed packet opens.
fn work(suite: Suite, bytes: usize) -> io::Result<Box<dyn Candidate>> {
    let aead = suite.aead_at(Isa::best(), &vec![0x42; suite.key_len()]).map_err(io::Error::other)?;
    let (mut text, nonces) = (vec![0x5a; bytes], nonces());
    let tag = aead.seal_in_place(&nonces[0], &[], &mut text).map_err(io::Error::other)?;
    aead.open_in_place(&nonces[0], &[], &mut text, tag.as_ref()).map_err(io::Error::other)?;
    if text.iter().any(|&byte| byte != 0x5a) {
        return Err(io::Error::other(format!("{} does not open what it sealed", suite.name())));
    }
    let seal = move |i: usize, text: &mut [u8]| aead.seal_in_place(&nonces[i], &[], text);
    Ok(Box::new(Timed::new(suite.name(), bytes, seal)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::random::Random;

    use super::*;

    /// As in `bench`, messages rotate: loads from a single buffer would collide with the previous stores.
    #[test]
    fn packets_rotate_and_move() {
        assert!(work(Suite::Aes128Gcm, 64).unwrap().renew(&mut Random::new(1)).unwrap());
    }

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
