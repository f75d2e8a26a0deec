//! What is asked of a load: how many clients, which packets, how fast.

use std::str::FromStr;

use sealwright_measure::random::Random;
use thiserror::Error;

/// Packet sizes and how often each comes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(Vec<(usize, f64)>);

/// A mix that is none.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MixError {
    /// Not sizes, nor sizes with weights.
    #[error("a mix is a size such as 40, or sizes with weights such as 40:7,576:4,1500:1")]
    Syntax,
    /// The address and the generator's own mark need room.
    #[error("a packet holds at least {} bytes", Mix::LEAST)]
    Small,
    /// Nothing would ever be sent.
    #[error("the weights must be positive numbers")]
    Weight,
}

impl Mix {
    /// The smallest packet: the destination and the generator's mark.
    pub const LEAST: usize = 12;

    /// Packets of one size.
    ///
    /// # Errors
    /// When that is too small.
    pub fn of(bytes: usize) -> Result<Mix, MixError> {
        if bytes < Mix::LEAST { Err(MixError::Small) } else { Ok(Mix(vec![(bytes, 1.0)])) }
    }

    /// The largest packet.
    pub fn largest(&self) -> usize {
        self.0.iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// The one size, if there is but one.
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

impl Order {
    /// How often forged and replayed frames are put in where nothing else is said.
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
            if bytes < Mix::LEAST {
                return Err(MixError::Small);
            }
            if !(weight.is_finite() && weight > 0.0) {
                return Err(MixError::Weight);
            }
            parts.push((bytes, weight));
        }
        Ok(Mix(parts))
    }
}

/// One load.
#[derive(Clone, Debug)]
pub struct Order {
    /// Sessions, all of them in use.
    pub clients: u32,
    /// Bytes of text in a packet, the destination included.
    pub payload: Mix,
    /// Connections that carry them.
    pub connections: usize,
    /// Packets of a connection under way at once; 1 is the paper's loop.
    pub window: usize,
    /// Packets a second over all connections; without it, as fast as they come back.
    pub rate: Option<f64>,
    /// Forged and replayed frames are put in, one of each a so many packets; 0 is none.
    pub bad_every: u64,
    /// Random destinations follow from it.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_and_drawn() {
        assert_eq!("40".parse(), Mix::of(40));
        let mix: Mix = "40:3,1500:1".parse().expect("a mix");
        assert_eq!((mix.to_string(), mix.largest(), mix.only()), ("40:3,1500:1".into(), 1500, None));
        let mut random = Random::new(1);
        let small = (0..4000).filter(|_| mix.draw(&mut random) == 40).count();
        assert!((2850..3150).contains(&small), "{small} of 4000");
    }

    #[test]
    fn what_is_no_mix_is_refused() {
        for (text, why) in [
            ("", MixError::Syntax),
            ("40:", MixError::Syntax),
            ("11", MixError::Small),
            ("40:0", MixError::Weight),
            ("40:inf", MixError::Weight),
        ] {
            assert_eq!(text.parse::<Mix>(), Err(why), "{text}");
        }
    }
}
