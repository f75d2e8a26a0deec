//! The cost of the parts of RKC in cycles per byte, and the time of opening relative to sealing.

use std::{hint::black_box, io, time::Duration};

use sealwright::{
    Isa,
    mode::rkc::{Offsets, Rkc},
    raw,
};
use sealwright_measure::{Candidate, Clock, Comparison, Interval, Meter, clock::ThreadCpu};

use super::{
    grid::{LARGEST_PRINTED, Size},
    timed::{KEY, gcm, offsets, seeds},
};
use crate::{
    progress::Progress,
    rotation::{Timed, messages, nonces},
};

/// The sizes for which parts are measured.
pub(super) const SIZES: [Size; 2] = [Size::kib(1), LARGEST_PRINTED];

/// Cycles per byte. The parts form layers: DRBG, tag, key schedule, cipher. The cost of a layer is the difference that
/// it makes on top of those below, so the parts add up to the whole. Work that runs in parallel with a lower layer
/// counts only as far as it adds time.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) isa: Isa,
    pub(super) size: Size,
    /// Sealing minus sealing with precomputed offsets.
    pub(super) drbg: Interval,
    /// Sealing with precomputed offsets minus the same without the tag T.
    pub(super) tag: Interval,
    /// Encryption with precomputed offsets, without T, minus encryption of the same blocks under one key.
    pub(super) schedule: Interval,
    /// Encryption of the blocks under one key.
    pub(super) cipher: Interval,
    pub(super) total: Interval,
    /// Sealing with GCM, for comparison.
    pub(super) gcm: Interval,
    /// The tag's share of the time of sealing with precomputed offsets.
    pub(super) tag_share: Interval,
}

/// Time of opening divided by time of sealing.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) isa: Isa,
    pub(super) size: Size,
    pub(super) rkc: Interval,
    pub(super) gcm: Interval,
}

/// Measures the core's clock rate: a chain of dependent rotations and additions, each of which takes one cycle.
struct CoreClock;

const CORE_CLOCK: &str = "core clock";
/// Links of the chain per iteration; a link takes two cycles.
const LINKS: u32 = 1000;

impl Candidate for CoreClock {
    fn name(&self) -> &str {
        CORE_CLOCK
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let clock = ThreadCpu.now();
        let mut x = black_box(1u64);
        for _ in 0..iterations {
            for _ in 0..LINKS {
                x = x.rotate_left(7).wrapping_add(0x9e37_79b9_7f4a_7c15);
            }
            x = black_box(x);
        }
        Ok(ThreadCpu.now() - clock)
    }
}

const STEPS: [&str; 5] = ["seal", "prepared", "untagged", "one key", "GCM"];

fn name(step: &str, isa: Isa) -> String {
    format!("{step}, {isa}")
}

fn candidates(isa: Isa, size: Size) -> io::Result<[Box<dyn Candidate>; 5]> {
    let [seal, prepared, untagged, one_key, all_gcm] = STEPS.map(|step| name(step, isa));
    let (bytes, seeds, nonces, gcm) = (size.0 as usize, seeds(), nonces(), gcm(isa)?);
    let made = || -> Vec<Offsets> { seeds[..messages(bytes)].iter().map(|seed| offsets(isa, seed, size)).collect() };
    let (made, made_again) = (made(), made());
    let [whole, tagged, bare] = [(); 3].map(|()| Rkc::research_only(isa, &KEY));
    let aes = raw::aes(isa, &KEY).map_err(io::Error::other)?;
    Ok([
        Box::new(Timed::new(seal, bytes, move |i, text| whole.seal(&seeds[i], text))),
        Box::new(Timed::new(prepared, bytes, move |i, text| tagged.seal_ahead(&made[i], text))),
        Box::new(Timed::new(untagged, bytes, move |i, text| bare.encrypt_ahead(&made_again[i], text))),
        Box::new(Timed::new(one_key, bytes, move |_, text| aes.ecb_encrypt(text))),
        Box::new(Timed::new(all_gcm, bytes, move |i, text| gcm.seal_in_place(&nonces[i], &[], text))),
    ])
}

/// Measures the parts of RKC at every level. Also returns the time with four keys in a register divided by the time
/// with one, if the processor has both levels.
pub(super) fn measure(
    meter: &Meter,
    levels: &[Isa],
    size: Size,
    progress: &mut Progress<'_>,
) -> io::Result<(Vec<Parts>, Option<Interval>)> {
    let mut all: Vec<Box<dyn Candidate>> = vec![Box::new(CoreClock)];
    for &isa in levels {
        all.extend(candidates(isa, size)?);
    }
    let mut refs: Vec<&mut dyn Candidate> = all.iter_mut().map(|one| &mut **one as &mut dyn Candidate).collect();
    let found = progress.compare(meter, &mut refs)?;
    let parts = levels.iter().filter_map(|&isa| apart(&found, isa, size)).collect();
    let level = |name: &str| levels.iter().find(|isa| isa.name() == name);
    let lanes = level("avx512").zip(level("sse"));
    Ok((parts, lanes.and_then(|(four, one)| found.ratio(&name(STEPS[2], *four), &name(STEPS[2], *one)))))
}

/// Computes differences and shares within each round, and converts them to cycles by the clock rate of the same round.
fn apart(found: &Comparison, isa: Isa, size: Size) -> Option<Parts> {
    let samples = |name: &str| found.trial(name).map(|trial| &trial.samples[..]);
    let clock = samples(CORE_CLOCK)?;
    let cycles = |step: &str, less: Option<&str>| {
        let less = less.map(|less| samples(&name(less, isa)));
        let figures = samples(&name(step, isa))?.iter().zip(clock).enumerate().map(|(round, (time, clock))| {
            let less = less.flatten().map_or(0.0, |less| less[round]);
            (time - less) / clock * f64::from(2 * LINKS) / size.0 as f64
        });
        Interval::of(&figures.collect::<Vec<_>>(), found.seed)
    };
    let [seal, prepared, untagged, one_key, gcm] = STEPS;
    let (whole, bare) = (samples(&name(prepared, isa))?, samples(&name(untagged, isa))?);
    let shares: Vec<f64> = whole.iter().zip(bare).map(|(whole, bare)| (whole - bare) / whole).collect();
    Some(Parts {
        isa,
        size,
        drbg: cycles(seal, Some(prepared))?,
        tag: cycles(prepared, Some(untagged))?,
        schedule: cycles(untagged, Some(one_key))?,
        cipher: cycles(one_key, None)?,
        total: cycles(seal, None)?,
        gcm: cycles(gcm, None)?,
        tag_share: Interval::of(&shares, found.seed)?,
    })
}

/// Seals and opens copies of the same messages; the time of copying is included in both.
pub(super) fn opening(meter: &Meter, isa: Isa, size: Size, progress: &mut Progress<'_>) -> io::Result<Opening> {
    let bytes = size.0 as usize;
    let plain = vec![0x5a; bytes * messages(bytes)];
    let (seeds, nonces) = (seeds(), nonces());
    let (rkc, gcm_key) = (Rkc::research_only(isa, &KEY), gcm(isa)?);
    let (mut by_rkc, mut by_gcm, mut tags) = (plain.clone(), plain.clone(), Vec::new());
    let texts = by_rkc.chunks_exact_mut(bytes).zip(by_gcm.chunks_exact_mut(bytes));
    for (i, (first, second)) in texts.enumerate() {
        let t = rkc.seal(&seeds[i], first).map_err(io::Error::other)?;
        tags.push((t, gcm_key.seal_in_place(&nonces[i], &[], second).map_err(io::Error::other)?));
    }
    let (opener, opener_gcm) = (Rkc::research_only(isa, &KEY), gcm(isa)?);
    let (open_seeds, open_nonces, open_tags) = (seeds.clone(), nonces.clone(), tags.clone());
    let mut refused = [0u64; 2];
    let [refused_rkc, refused_gcm] = &mut refused;
    let mut seal = Timed::new("RKC seal", bytes, |i, text| rkc.seal(&seeds[i], text));
    let mut open = Timed::new("RKC open", bytes, |i, text| {
        *refused_rkc += u64::from(opener.open(&open_seeds[i], text, open_tags[i].0.as_ref()).is_err());
    });
    let mut seal_gcm = Timed::new("GCM seal", bytes, |i, text| gcm_key.seal_in_place(&nonces[i], &[], text));
    let mut open_gcm = Timed::new("GCM open", bytes, |i, text| {
        let opened = opener_gcm.open_in_place(&open_nonces[i], &[], text, open_tags[i].1.as_ref());
        *refused_gcm += u64::from(opened.is_err());
    });
    seal = seal.restored(&plain);
    open = open.restored(&by_rkc);
    seal_gcm = seal_gcm.restored(&plain);
    open_gcm = open_gcm.restored(&by_gcm);
    let found = progress.compare(meter, &mut [&mut seal, &mut open, &mut seal_gcm, &mut open_gcm])?;
    let ratio = |mode: &str| found.ratio(&format!("{mode} open"), &format!("{mode} seal"));
    let (Some(rkc), Some(gcm)) = (ratio("RKC"), ratio("GCM")) else {
        return Err(io::Error::other("sealing took no time"));
    };
    drop((seal, open, seal_gcm, open_gcm));
    if refused != [0, 0] {
        return Err(io::Error::other(format!("refused what was sealed before, at {size}, {isa}")));
    }
    Ok(Opening { isa, size, rkc, gcm })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::Trial;

    use super::*;

    /// A disturbance of a round affects all steps, so shares must be computed round by round.
    #[test]
    fn the_share_of_the_tag_is_that_of_each_round() {
        let isa = Isa::best();
        let slow = [1.0, 2.0, 1.5, 3.0, 1.2, 2.5, 1.1, 1.7];
        let trial =
            |name: String, time: f64| Trial::new(name, 1, slow.iter().map(|slow| slow * time).collect(), 1).unwrap();
        let times = [9.0, 4.0, 3.0, 2.0, 1.0];
        let mut trials: Vec<Trial> = STEPS.iter().zip(times).map(|(step, time)| trial(name(step, isa), time)).collect();
        trials.push(trial(CORE_CLOCK.to_owned(), 1.0));
        let found = Comparison { trials, narrow: true, seconds: 1.0, seed: 1 };
        let parts = apart(&found, isa, LARGEST_PRINTED).unwrap();
        assert!((parts.tag_share.low - 0.25).abs() < 1e-9 && (parts.tag_share.high - 0.25).abs() < 1e-9, "{parts:?}");
    }
}
