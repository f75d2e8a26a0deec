//! Which suite to take and how to hold its keys: rules, with the figures behind them from what was measured.
//!
//! The rules, in their order:
//!
//! 1. AES-256-GCM, the suite that everybody speaks, unless AES-256-OCB3 is faster by a quarter on this machine at this
//!    size, to the end of its interval, sealing and opening alike. 256-bit keys: with many sessions some of them are
//!    attacked at once.
//! 2. Neither mode commits to its key, and neither survives a nonce that comes twice. Who needs either seals as files
//!    are sealed: a fresh random salt gives each message a key of its own, and 32 bytes commit to it.
//! 3. One session: one [`Sealer`](sealwright::Sealer), which counts its nonces. Many: one each, as long as all of them
//!    fit into the largest cache; beyond that fetching round keys costs more than making them, and only keys are kept:
//!    the scheme `gcm-on64` of `sealwright-session`, which is GCM's.
//!
//! `sealwright-lab advise` and the report's chooser are both this.

#[cfg(test)]
pub(crate) mod example;

use sealwright::{Isa, Suite};
use sealwright_measure::Interval;
use serde::Serialize;

use crate::{
    amount,
    bench::{Direction, Report, Row},
    figure::shown,
};

/// What somebody wants to seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Bytes of text in a packet.
    pub bytes: usize,
    /// Sessions at once, each with keys of its own.
    pub sessions: u64,
    /// Whether the processors at both ends have AES instructions.
    pub hardware: bool,
    /// Whether something is to be proven with the text that is not sealed with it.
    pub ad: bool,
    /// Whether senders cannot promise that no nonce comes twice.
    pub misuse: bool,
    /// Whether a sealed text must open under one key only.
    pub commit: bool,
}

/// How keys are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// One key, ready to use.
    One,
    /// A key a session, each ready to use.
    Kept,
    /// A key a session, made ready for each packet.
    KeysOnly,
    /// A key a message, derived from a master key and a fresh salt.
    Sealed,
}

impl Scheme {
    /// The scheme in words.
    pub fn words(self) -> &'static str {
        match self {
            Scheme::One => "one `Sealer` and one `Opener`, which count nonces",
            Scheme::Kept => "a `Sealer` and an `Opener` for each session, kept ready",
            Scheme::KeysOnly => "keep nothing of a session but its keys, and make the rest for each packet: `gcm-on64`",
            Scheme::Sealed => "seal each message as a file is sealed: fresh salt, key of its own, commitment",
        }
    }
}

/// What to take.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Advice {
    /// The suite's name.
    pub suite: &'static str,
    /// How to hold its keys.
    pub scheme: Scheme,
    /// That in words.
    pub scheme_words: &'static str,
    /// Why, a sentence each.
    pub why: Vec<String>,
    /// The figures behind it: what, and how much.
    pub numbers: Vec<(String, String)>,
    /// What to mind.
    pub mind: Vec<String>,
}

/// The faster suite has to be so much faster than the one that everybody speaks.
const FASTER: f64 = 1.25;

/// Bytes that a sealed file has beyond its text and the tags of its chunks: preamble, salt and commitment.
const SEALED: usize = 16 + 24 + 32;

/// Advice for `question`, from what `bench` measured, if it did.
pub fn advise(question: &Question, bench: Option<&Report>) -> Advice {
    let (usual, other) = (Suite::Aes256Gcm, Suite::Aes256Ocb);
    let speeds = |suite| Speeds::find(question, suite, bench);
    let (usual_speeds, other_speeds) = (speeds(usual), speeds(other));
    let (scheme, ready, cache) = hold(question, usual, bench);
    let faster = scheme != Scheme::KeysOnly
        && usual_speeds.zip(other_speeds).is_some_and(|(usual, other)| {
            let beyond = |other: Interval, usual: Interval| other.low > FASTER * usual.high;
            beyond(other.seal, usual.seal) && beyond(other.open, usual.open)
        });
    let (taken, left) = if faster {
        ((other, other_speeds), (usual, usual_speeds))
    } else {
        ((usual, usual_speeds), (other, other_speeds))
    };
    let mut found = Advice {
        suite: taken.0.name(),
        scheme,
        scheme_words: scheme.words(),
        why: Vec::new(),
        numbers: Vec::new(),
        mind: Vec::new(),
    };
    found.say_suite(question, faster, usual_speeds.zip(other_speeds));
    found.say_keys(question, taken.0, ready, cache);
    found.state(question, taken, left);
    found
}

/// How to hold keys; the bytes that those of all sessions take when ready, and those of the largest cache.
fn hold(question: &Question, suite: Suite, bench: Option<&Report>) -> (Scheme, u64, Option<u64>) {
    let ready = ready_bytes(suite, question.hardware).saturating_mul(question.sessions);
    let cache = largest_cache(bench);
    let scheme = match question {
        Question { misuse: true, .. } | Question { commit: true, .. } => Scheme::Sealed,
        Question { sessions: 0 | 1, .. } => Scheme::One,
        _ if cache.is_some_and(|cache| ready > cache) => Scheme::KeysOnly,
        _ => Scheme::Kept,
    };
    (scheme, ready, cache)
}

/// Speeds of a suite at the size that is nearest among those measured.
#[derive(Clone, Copy, Debug)]
struct Speeds {
    bytes: usize,
    seal: Interval,
    open: Interval,
}

impl Speeds {
    /// Ours at the highest level measured, or at the portable one for processors without instructions.
    fn find(question: &Question, suite: Suite, bench: Option<&Report>) -> Option<Speeds> {
        let level = |row: &Row| Isa::NAMES.iter().position(|name| *name == row.level);
        let ours = |row: &&Row| row.implementation == "sealwright" && row.suite == suite.name();
        let fits = |row: &&Row| level(row).is_some_and(|level| question.hardware || level == 0);
        let rows = || bench.into_iter().flat_map(|report| &report.rows).filter(ours).filter(fits);
        let far = |bytes: usize| (bytes as f64 / question.bytes.max(1) as f64).ln().abs();
        let bytes = rows().map(|row| row.bytes).min_by(|a, b| far(*a).total_cmp(&far(*b)))?;
        let speed = |direction| {
            let here = rows().filter(|row| row.bytes == bytes && row.direction == direction);
            here.max_by_key(|row| level(row)).map(Row::speed)
        };
        Some(Speeds { bytes, seal: speed(Direction::Seal)?, open: speed(Direction::Open)? })
    }
}

impl Advice {
    fn say_suite(&mut self, question: &Question, faster: bool, both: Option<(Speeds, Speeds)>) {
        self.why.push(match both {
            None => "Nothing was measured here: AES-256-GCM is what everybody speaks.".into(),
            Some((usual, other)) if faster => format!(
                "Here OCB3 seals messages of {} bytes at {} GB/s where GCM seals at {}: it needs no second pass for the tag.",
                other.bytes,
                shown(other.seal),
                shown(usual.seal)
            ),
            Some(_) if self.scheme == Scheme::KeysOnly => "Packets of many sessions at once are sealed by GCM alone.".into(),
            Some(_) => "AES-256-GCM is what everybody speaks, and OCB3 is not faster by a quarter here.".into(),
        });
        if faster {
            self.mind.push("GCM is spoken more widely: ask the other end first.".into());
        }
        if !question.hardware {
            self.mind.push("Without AES instructions take only code whose time does not depend on secrets; the portable level is such.".into());
        }
        if question.ad {
            self.why.push(
                "Associated data is proven with the text, and costs as much time as text of its length at most.".into(),
            );
        }
    }

    fn say_keys(&mut self, question: &Question, suite: Suite, ready: u64, cache: Option<u64>) {
        let size = cache.map_or("of unknown size".into(), |cache| format!("of {}", amount::rounded(cache)));
        let keys = match self.scheme {
            Scheme::Sealed => {
                if question.misuse {
                    self.why.push("Nobody chooses a nonce: 24 random bytes give each message a key of its own.".into());
                }
                if question.commit {
                    self.why.push("GCM and OCB3 do not commit to their key; 32 bytes derived with it do.".into());
                }
                let mind = format!("{SEALED} bytes and a key derivation a message: mind it for short ones.");
                return self.mind.push(mind);
            }
            Scheme::One => {
                return self.why.push("One key is set up once; its nonces are counted, so none comes twice.".into());
            }
            Scheme::Kept => {
                self.why.push(format!("Kept ready, the keys of all sessions fit into the largest cache {size}."));
                ready
            }
            Scheme::KeysOnly => {
                self.why.push(format!(
                    "Keys kept ready would take {}, more than the largest cache {size}: fetching them from memory takes \
                     longer than making them.",
                    amount::rounded(ready)
                ));
                (2 * suite.key_len() as u64).saturating_mul(question.sessions)
            }
        };
        self.numbers.push(("memory for the keys of all sessions".into(), amount::rounded(keys)));
        self.mind.push(
            "Clients that share a cluster's key (GSCM-H) save little beside this, and are open to each other.".into(),
        );
    }

    fn state(&mut self, question: &Question, taken: (Suite, Option<Speeds>), left: (Suite, Option<Speeds>)) {
        let extra = taken.0.tag_len() + if self.scheme == Scheme::Sealed { SEALED } else { 0 };
        let share = 100.0 * extra as f64 / question.bytes.max(1) as f64;
        self.numbers.push(("bytes beyond the text".into(), format!("{extra} ({share:.1} % of {})", question.bytes)));
        let Some(found) = taken.1 else {
            return self.mind.push("`sealwright-lab study bench` measures the figures that are missing here.".into());
        };
        let at = format!("at {} bytes, one core", found.bytes);
        for (what, speed) in [("seals", found.seal), ("opens", found.open)] {
            self.numbers.push((format!("{} {what}, {at}", self.suite), format!("{} GB/s", shown(speed))));
        }
        let a_second = found.seal.scale(1e9 / found.bytes as f64 / 1e6);
        self.numbers.push((format!("messages sealed a second, {at}"), format!("{} million", shown(a_second))));
        if let (other, Some(speeds)) = left {
            self.numbers.push((format!("{} seals, {at}", other.name()), format!("{} GB/s", shown(speeds.seal))));
        }
        if matches!(self.scheme, Scheme::KeysOnly | Scheme::Sealed) {
            self.mind.push("The speeds are of a key that is ready: making one for each message comes on top.".into());
        }
    }
}

/// Bytes of both directions' keys of a session, ready to use.
fn ready_bytes(suite: Suite, hardware: bool) -> u64 {
    let isa = if hardware { Some(Isa::best()) } else { Isa::available().first().copied() };
    let ready = isa.and_then(|isa| suite.aead_at(isa, &vec![0; suite.key_len()]).ok());
    ready.map_or(0, |aead| 2 * size_of_val(&*aead) as u64)
}

/// Bytes of the largest cache of the machine that was measured: `L3 Unified 32768K`.
fn largest_cache(bench: Option<&Report>) -> Option<u64> {
    let kib = |cache: &String| cache.rsplit(' ').next()?.strip_suffix('K')?.parse::<u64>().ok();
    bench?.machine.caches.iter().filter_map(kib).max().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests;
