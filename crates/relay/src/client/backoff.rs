//! Exponential backoff with jitter: all clients of a relay may lose it at the same moment and must not all return at
//! once.

use std::{io, time::Duration};

/// The first wait, before jitter.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait, before jitter.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The number of failed attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff(u32);

impl Backoff {
    /// Waits before the next attempt, no longer than `left`.
    pub(super) fn wait(&mut self, left: Duration) -> io::Result<()> {
        std::thread::sleep(self.next(random()?, left));
        Ok(())
    }

    /// The next wait, no longer than `left`: double the one before, less a random part of up to a half.
    fn next(&mut self, random: u32, left: Duration) -> Duration {
        let whole = grown(FIRST_WAIT, LONGEST_WAIT, self.0);
        self.0 += 1;
        less(whole, random).min(left)
    }
}

/// A random number, for jitter.
pub(super) fn random() -> io::Result<u32> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// A wait that was doubled `times` times, up to `longest`.
pub(super) fn grown(first: Duration, longest: Duration, times: u32) -> Duration {
    first.saturating_mul(1 << times.min(16)).min(longest)
}

/// A wait less a random part of up to a half.
pub(super) fn less(whole: Duration, random: u32) -> Duration {
    whole - (whole / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_longest_and_differ_from_client_to_client() {
        let waits = |random: u32| {
            let mut backoff = Backoff::default();
            (0..40).map(|_| backoff.next(random, Duration::MAX).as_millis()).collect::<Vec<_>>()
        };
        let (short, long) = (waits(u32::MAX), waits(0));
        assert_eq!(long[..6], [200, 400, 800, 1600, 3200, 5000]);
        assert_eq!(short[..6], [100, 200, 400, 800, 1600, 2500]);
        assert!(long[5..].iter().all(|wait| *wait == 5000) && short[5..].iter().all(|wait| *wait == 2500));
        let between = waits(u32::MAX / 2);
        assert!(between.iter().zip(short.iter().zip(&long)).all(|(wait, (short, long))| short < wait && wait < long));
    }

    #[test]
    fn nobody_waits_longer_than_there_is_time() {
        assert_eq!(Backoff(30).next(u32::MAX, Duration::from_millis(1)), Duration::from_millis(1));
    }
}
