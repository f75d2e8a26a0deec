//! Tests whether times distinguish two kinds of secrets (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant
//! time?", 2017): both kinds are measured in random order, and Welch's t of their times grows with the number of
//! samples if the means differ.

use std::{
    hint::black_box,
    sync::atomic::{Ordering, fence},
    time::Instant,
};

use sealwright::{Aead, Isa};

use crate::subjects::Subject;

/// Threshold of t above which times differ. Usual is 4.5 for one test; here are hundreds, on machines that others use,
/// too.
pub const LIMIT: f64 = 10.0;
/// Bytes of the texts whose times are compared. Modes have other kernels for short ones, and fewer powers of h.
const LENGTHS: [usize; 3] = [32, 128, 512];
/// Bytes of the other texts.
const BYTES: usize = LENGTHS[1];
/// How often what is timed is repeated within one time, to confirm a difference: one that depends on secrets grows with
/// it; one caused by what ran before the time does not.
pub const REPEATS: usize = 8;
/// Samples that are discarded at the start, while caches and predictors are cold.
const COLD: usize = 100;

/// The two kinds of secrets that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A fixed key, or a random one each time: key set-up and sealing of this many bytes.
    Key(usize),
    /// A fixed text of this many bytes, or a random one each time: sealing.
    Text(usize),
    /// Refusal of a tag with one wrong byte: this one, or that one.
    Tag(usize, usize),
}

impl Question {
    /// All that apply to a mode with tags of `tag` bytes. Modes with a commitment compare that first, and refuse a
    /// wrong one before they check the tag.
    pub fn all(tag: usize) -> Vec<Question> {
        let tags: &[(usize, usize)] = if tag == 48 { &[(0, 31), (32, 47)] } else { &[(0, tag - 1)] };
        let tags = tags.iter().map(|&(first, last)| Question::Tag(first, last));
        let sizes = LENGTHS.into_iter().flat_map(|bytes| [Question::Key(bytes), Question::Text(bytes)]);
        sizes.chain(tags).collect()
    }

    /// The name of the comparison.
    pub fn name(self) -> String {
        match self {
            Question::Key(bytes) => format!("one key or any, {bytes} bytes"),
            Question::Text(bytes) => format!("one text or any, {bytes} bytes"),
            Question::Tag(a, b) => format!("byte {a} or {b} of the tag wrong"),
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The kinds were not told apart.
    Same {
        /// Welch's t.
        t: f64,
        /// How many samples the longest run took.
        samples: usize,
    },
    /// The kinds were distinguished in three runs, each time in the same direction.
    Differs {
        /// Welch's t, the lesser of those with repetitions.
        t: f64,
        /// How many samples the longest run took.
        samples: usize,
    },
    /// They were distinguished in one run with repetitions and not in the other, or in two directions: other programs
    /// caused it.
    Undecided {
        /// Welch's t, the lesser of those with repetitions.
        t: f64,
    },
}

/// Measures until the result is firm. A difference must be seen again in two runs with repetitions, and in the same
/// direction; if neither sees it, it was of what ran before. `run` takes the numbers of samples and of repetitions.
pub fn ask(samples: usize, mut run: impl FnMut(usize, usize) -> f64) -> Answer {
    let first = run(samples, 1);
    if first.abs() <= LIMIT {
        return Answer::Same { t: first, samples };
    }
    let repeated = [2, 4].map(|more| run(more * samples, REPEATS));
    let least = if repeated[0].abs() < repeated[1].abs() { repeated[0] } else { repeated[1] };
    let seen = |t: &f64| t.abs() > LIMIT;
    if !repeated.iter().any(seen) {
        Answer::Same { t: least, samples: 4 * samples }
    } else if repeated.iter().all(|t| seen(t) && t.signum() == first.signum()) {
        Answer::Differs { t: least, samples: 4 * samples }
    } else {
        Answer::Undecided { t: least }
    }
}

/// For a planted leak: doubles the number of samples, up to `most`, until the difference is seen. Returns that number.
pub fn needed(least: usize, most: usize, mut run: impl FnMut(usize) -> f64) -> Option<(usize, f64)> {
    let mut samples = least;
    while samples <= most {
        let t = run(samples);
        if t.abs() > LIMIT {
            return Some((samples, t));
        }
        samples *= 2;
    }
    None
}

/// Welch's t of a mode's times for two kinds, where each time is that of so many `repeats`.
pub fn of_subject(isa: Isa, subject: &Subject, question: Question, samples: usize, repeats: usize) -> f64 {
    let key = vec![0x5a; subject.key_len];
    let aead = &*(subject.make)(isa, &key);
    let nonce = vec![9; aead.nonce_len()];
    match question {
        Question::Key(bytes) => {
            let (mut key, mut text) = (key, vec![0; bytes]);
            t_of(samples, |random, other| {
                random.fill(&mut key, other);
                text.fill(7);
                let start = begin(aead, &nonce);
                for _ in 0..repeats {
                    let aead = (subject.make)(isa, black_box(&key));
                    black_box(aead.seal_in_place(&nonce, b"header", &mut text)).ok();
                }
                start.elapsed()
            })
        }
        Question::Text(bytes) => {
            let mut text = vec![0; bytes];
            t_of(samples, |random, other| {
                random.fill(&mut text, other);
                let start = begin(aead, &nonce);
                for _ in 0..repeats {
                    black_box(aead.seal_in_place(&nonce, b"header", black_box(&mut text))).ok();
                }
                start.elapsed()
            })
        }
        Question::Tag(first, last) => refused(aead, [first, last], samples, repeats, |aead, text, tag| {
            black_box(aead.open_in_place(&nonce, b"header", text, tag)).ok();
        }),
    }
}

/// The planted leak: computes a tag, and compares it byte by byte up to the first difference.
pub fn planted(isa: Isa, subject: &Subject, samples: usize, repeats: usize) -> f64 {
    let aead = (subject.make)(isa, &vec![0x5a; subject.key_len]);
    let nonce = vec![9; aead.nonce_len()];
    let Ok(ours) = aead.seal_in_place(&nonce, b"header", &mut [7; BYTES]) else { return 0.0 };
    refused(&*aead, [0, aead.tag_len() - 1], samples, repeats, |aead, text, tag| {
        black_box(aead.seal_in_place(&nonce, b"header", text)).ok();
        for (ours, theirs) in ours.as_ref().iter().zip(tag) {
            if black_box(*ours) != black_box(*theirs) {
                break;
            }
        }
        text.fill(0);
    })
}

/// The same kind twice: no difference may be seen.
pub fn nothing(isa: Isa, subject: &Subject, samples: usize) -> f64 {
    let aead = (subject.make)(isa, &vec![0x5a; subject.key_len]);
    let nonce = vec![9; aead.nonce_len()];
    refused(&*aead, [3, 3], samples, 1, |aead, text, tag| {
        black_box(aead.open_in_place(&nonce, b"header", text, tag)).ok();
    })
}

/// The times of refusing tags of which one byte or the other is wrong.
fn refused(
    aead: &dyn Aead,
    wrong: [usize; 2],
    samples: usize,
    repeats: usize,
    mut open: impl FnMut(&dyn Aead, &mut [u8], &[u8]),
) -> f64 {
    let mut sealed = [7; BYTES];
    let nonce = vec![9; aead.nonce_len()];
    let Ok(genuine) = aead.seal_in_place(&nonce, b"header", &mut sealed) else { return 0.0 };
    let (mut texts, mut tag) = (vec![[0; BYTES]; repeats], genuine.as_ref().to_vec());
    t_of(samples, |random, other| {
        texts.fill(sealed);
        tag.copy_from_slice(genuine.as_ref());
        let bit = 1 << (random.bits() % 8);
        // Both bytes are written, one of them with its old value: the writes must not distinguish the kinds.
        let second = black_box(0u8.wrapping_sub(other.into()));
        let masks = [bit & !second, bit & second];
        for (at, mask) in wrong.into_iter().zip(masks) {
            tag[at] ^= mask;
        }
        let start = begin(aead, &nonce);
        for text in &mut texts {
            open(aead, black_box(text), black_box(&tag));
        }
        start.elapsed()
    })
}

/// The start of a time. What was just written, of one kind or the other, is in memory by then, and the processor has
/// sealed something else: otherwise its predictors and queues still depend on the kind, and a short time with them.
fn begin(aead: &dyn Aead, nonce: &[u8]) -> Instant {
    black_box(aead.seal_in_place(nonce, b"header", black_box(&mut [3; BYTES]))).ok();
    fence(Ordering::SeqCst);
    Instant::now()
}

/// Welch's t of so many times of two kinds in random order.
fn t_of(samples: usize, mut time: impl FnMut(&mut Random, bool) -> std::time::Duration) -> f64 {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ samples as u64);
    let mut times: [Vec<f64>; 2] = Default::default();
    for i in 0..samples + COLD {
        let other = random.bits() % 2 == 1;
        let nanoseconds = time(&mut random, other).as_nanos() as f64;
        if i >= COLD {
            times[usize::from(other)].push(nanoseconds);
        }
    }
    // Slow times are caused by other programs. The fast half shows small differences best, nine tenths those of rare
    // paths.
    let [half, most] = [0.5, 0.9].map(|part| welch(&times, part));
    if half.abs() > most.abs() { half } else { most }
}

/// Welch's t of the times that are not above this quantile of all.
fn welch(times: &[Vec<f64>; 2], part: f64) -> f64 {
    let mut all = times.concat();
    all.sort_unstable_by(f64::total_cmp);
    let Some(&most) = all.get((all.len() as f64 * part) as usize) else { return 0.0 };
    let [a, b] = times.each_ref().map(|times| {
        let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= most).collect();
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    let t = (b.0 - a.0) / (a.1 + b.1).sqrt();
    if t.is_finite() { t } else { 0.0 }
}

/// Marsaglia's xorshift, for the order of the kinds and for random secrets.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Writes random bytes, or always the same bytes, with the same code.
    fn fill(&mut self, bytes: &mut [u8], random: bool) {
        // Compilers would split this into two loops, and the one for the same bytes has wider stores: the code under
        // test then waits longer for the stores of one kind than for those of the other.
        let mask = black_box(0u8.wrapping_sub(random.into()));
        for byte in bytes {
            *byte = 0x5a ^ (self.bits() as u8 & mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_tells_means_apart_and_nothing_else() {
        let mut noise = Random(1);
        let mut kinds = |shift: f64| -> [Vec<f64>; 2] {
            let mut of = |shift: f64| (0..4000).map(|_| 100.0 + (noise.bits() % 50) as f64 + shift).collect();
            [of(0.0), of(shift)]
        };
        assert!(welch(&kinds(0.0), 0.9).abs() < 5.0);
        let t = welch(&kinds(10.0), 0.9);
        assert!(t > LIMIT, "{t}");
        assert!(welch(&kinds(-10.0), 0.9) < -LIMIT);
        assert_eq!(welch(&[vec![], vec![]], 0.9), 0.0);
        assert_eq!(welch(&[vec![1.0; 9], vec![1.0; 9]], 0.9), 0.0, "no variance");
    }

    #[test]
    fn a_difference_counts_only_if_it_comes_again() {
        let answers = |ts: [f64; 3]| {
            let mut ts = ts.into_iter();
            ask(10, |_, _| ts.next().unwrap_or_default())
        };
        assert_eq!(answers([9.0, 99.0, 99.0]), Answer::Same { t: 9.0, samples: 10 });
        assert_eq!(answers([11.0, -20.0, 30.0]), Answer::Undecided { t: -20.0 });
        assert_eq!(answers([11.0, 20.0, 3.0]), Answer::Undecided { t: 3.0 });
        assert_eq!(answers([11.0, -9.0, 3.0]), Answer::Same { t: 3.0, samples: 40 });
        assert_eq!(answers([-20.0, -12.0, -30.0]), Answer::Differs { t: -12.0, samples: 40 });
        assert_eq!(answers([20.0, -12.0, -30.0]), Answer::Undecided { t: -12.0 });
        assert_eq!(needed(10, 80, |samples| samples as f64 / 4.0), Some((80, 20.0)));
        assert_eq!(needed(10, 79, |samples| samples as f64 / 4.0), None);
    }
}
