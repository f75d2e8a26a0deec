//! The workload of a load generator: number of clients, packet sizes, rate.

use std::str::FromStr;

use sealwright_measure::random::Random;
use sealwright_relay::Address;
use sealwright_session::{ReplayWindow, frame::MAX_PAYLOAD};
use thiserror::Error;

/// Packet sizes and their relative frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(Vec<(usize, f64)>);

/// Why a mix cannot be used.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MixError {
    /// The text is not a list of sizes with weights.
    #[error("a mix is a size such as 40, or sizes with weights such as 40:7,576:4,1500:1")]
    Syntax,
    /// A packet has no room for the address and the generator's mark.
    #[error("a packet holds at least {} bytes", Mix::MIN_BYTES)]
    Small,
    /// A packet does not fit into a frame.
    #[error("a packet holds at most {MAX_PAYLOAD} bytes")]
    Large,
    /// A weight is not positive, or the weights have no finite sum.
    #[error("the weights must be positive numbers with a finite sum")]
    Weight,
}

impl Mix {
    /// The smallest packet in bytes: the destination and the generator's mark.
    pub const MIN_BYTES: usize = Address::LEN + 8;

    /// Packets of one size.
    ///
    /// # Errors
    /// When the size is too small or too large.
    pub fn of(bytes: usize) -> Result<Mix, MixError> {
        fits(bytes).map(|()| Mix(vec![(bytes, 1.0)]))
    }

    /// The largest packet, in bytes.
    pub fn largest(&self) -> usize {
        self.0.iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// The size, if there is only one.
    pub fn only(&self) -> Option<usize> {
        if let [(bytes, _)] = self.0[..] { Some(bytes) } else { None }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        if let Some(bytes) = self.only() {
            return bytes;
        }
        let mut rest = random.unit() * self.0.iter().map(|&(_, weight)| weight).sum::<f64>();
        for &(bytes, weight) in &self.0 {
            rest -= weight;
            if rest < 0.0 {
                return bytes;
            }
        }
        self.largest()
    }
}

impl std::fmt::Display for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(bytes) = self.only() {
            return write!(f, "{bytes}");
        }
        let parts: Vec<String> = self.0.iter().map(|(bytes, weight)| format!("{bytes}:{weight}")).collect();
        f.write_str(&parts.join(","))
    }
}

/// Checks that packets of this many bytes can be sent.
fn fits(bytes: usize) -> Result<(), MixError> {
    match bytes {
        ..Mix::MIN_BYTES => Err(MixError::Small),
        Mix::MIN_BYTES..=MAX_PAYLOAD => Ok(()),
        _ => Err(MixError::Large),
    }
}

impl Workload {
    /// How often forged and replayed frames are sent by default.
    pub const BAD_EVERY: u64 = 1024;
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Mix, MixError> {
        let mut parts = Vec::new();
        for part in text.split(',') {
            let (bytes, weight) = part.split_once(':').unwrap_or((part, "1"));
            let bytes: usize = bytes.parse().map_err(|_| MixError::Syntax)?;
            let weight: f64 = weight.parse().map_err(|_| MixError::Syntax)?;
            fits(bytes)?;
            if !(weight.is_finite() && weight > 0.0) {
                return Err(MixError::Weight);
            }
            parts.push((bytes, weight));
        }
        if !parts.iter().map(|&(_, weight)| weight).sum::<f64>().is_finite() {
            return Err(MixError::Weight);
        }
        // Weights are relative, so the weight of a single size has no effect: normalise it
        if let [(_, weight)] = &mut parts[..] {
            *weight = 1.0;
        }
        Ok(Mix(parts))
    }
}

/// One workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Number of sessions; all of them send.
    pub clients: u32,
    /// Bytes of plaintext in a packet, including the destination.
    pub payload: Mix,
    /// Number of connections that carry the sessions.
    pub connections: usize,
    /// Number of packets in flight on each connection; 1 is the paper's closed loop.
    pub window: usize,
    /// Packets per second over all connections; without it, a packet is sent whenever one has arrived.
    pub rate: Option<f64>,
    /// One forged and one replayed frame are sent per this many packets, until a connection has carried 98 such frames;
    /// 0 sends none.
    pub bad_every: u64,
    /// By how many packets one may be late; `sealwright serve` has the wide window by default.
    pub replay_window: ReplayWindow,
    /// The seed of the random destinations and sizes.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_and_drawn() {
        assert_eq!("40".parse(), Mix::of(40));
        assert_eq!("65503".parse(), Mix::of(MAX_PAYLOAD));
        let mix: Mix = "40:3,1500:1".parse().expect("a mix");
        assert_eq!((mix.to_string(), mix.largest(), mix.only()), ("40:3,1500:1".into(), 1500, None));
        let mut random = Random::new(1);
        let small = (0..4000).filter(|_| mix.draw(&mut random) == 40).count();
        assert!((2850..3150).contains(&small), "{small} of 4000");
    }

    #[test]
    fn a_single_size_means_the_same_with_any_weight() {
        let mix: Mix = "62:2".parse().expect("a mix");
        assert_eq!(mix.to_string().parse(), Ok(mix));
    }

    #[test]
    fn a_mix_that_cannot_be_used_is_refused() {
        for (text, why) in [
            ("", MixError::Syntax),
            ("40:", MixError::Syntax),
            ("11", MixError::Small),
            ("65504", MixError::Large),
            ("40:7,65504:1", MixError::Large),
            ("40:0", MixError::Weight),
            ("40:inf", MixError::Weight),
            ("40:1e308,50:1e308", MixError::Weight),
        ] {
            assert_eq!(text.parse::<Mix>(), Err(why), "{text}");
        }
    }
}
