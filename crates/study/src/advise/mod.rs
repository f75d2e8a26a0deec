//! Which suite to use and how to handle its keys: rules, with the measured figures on which they are based.
//!
//! The rules, in this order:
//!
//! 1. AES-256-GCM, the most widely supported suite, unless AES-256-OCB3 is at least 25 % faster on this machine at this
//!    size, over its whole interval, both for sealing and for opening. Keys have 256 bits, because an attacker can attack
//!    the keys of many sessions at the same time.
//! 2. Neither mode commits to its key, and neither is secure if a nonce is used twice. If one of these properties is
//!    needed, messages are sealed like files: a fresh random salt gives each message its own key, and 32 bytes commit to
//!    it.
//! 3. For one session, one [`Sealer`](sealwright::Sealer), which counts its nonces. For many sessions, either one for each, or
//!    only keys are stored and the rest is computed for each packet: the scheme `gcm-on64-256` of `sealwright-session`, which uses
//!    GCM. The study of sessions measured both, and the faster one is taken; if it was not measured, prepared keys are kept
//!    while all of them fit into the largest cache.
//!
//! `sealwright-lab advise` and the chooser in the report both use these rules.

#[cfg(test)]
pub(crate) mod example;
mod measured;

use sealwright::{Isa, Suite};
use sealwright_measure::Interval;
use serde::Serialize;

pub use self::measured::Measured;
use self::measured::{Packet, keys_only_bytes};
use crate::{
    amount,
    bench::{Direction, Report, Row},
    figure::shown,
};

/// The requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Size of the text of a packet in bytes.
    pub bytes: usize,
    /// Number of sessions at a time, each with its own keys.
    pub sessions: u64,
    /// Whether the processors at both ends have AES instructions.
    pub hardware: bool,
    /// Whether some data must be authenticated but not encrypted.
    pub ad: bool,
    /// Whether senders cannot guarantee that nonces are unique.
    pub misuse: bool,
    /// Whether a sealed message must open under one key only.
    pub commit: bool,
}

/// How keys are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// One prepared key.
    One,
    /// A prepared key for each session.
    Kept,
    /// A key for each session, which is prepared again for each packet.
    KeysOnly,
    /// A key for each message, derived from a master key and a fresh salt.
    Sealed,
}

impl Scheme {
    /// The scheme in words.
    pub fn words(self) -> &'static str {
        match self {
            Scheme::One => "one `Sealer` and one `Opener`, which count nonces",
            Scheme::Kept => "a `Sealer` and an `Opener` for each session, kept in memory",
            Scheme::KeysOnly => {
                "store only the keys of each session, and compute the rest for each packet: `gcm-on64-256`"
            }
            Scheme::Sealed => "seal each message like a file: with a fresh salt, its own key and a commitment",
        }
    }
}

/// The advice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Advice {
    /// The suite's name.
    pub suite: &'static str,
    /// How to handle its keys.
    pub scheme: Scheme,
    /// The scheme in words.
    pub scheme_words: &'static str,
    /// The reasons, each a sentence.
    pub why: Vec<String>,
    /// Figures: the name and the value.
    pub numbers: Vec<(String, String)>,
    /// Notes, each a sentence or two.
    pub mind: Vec<String>,
}

/// OCB3 is chosen only if it is faster than GCM by this factor.
const FASTER: f64 = 1.25;

/// Bytes of a sealed file in addition to its text and the tags of its chunks: preamble, salt and commitment.
const SEALED: usize = 16 + 24 + 32;

/// Advice for `question`, based on what was measured.
pub fn advise(question: &Question, measured: Measured<'_>) -> Advice {
    let bench = measured.bench;
    let (usual, other) = (Suite::Aes256Gcm, Suite::Aes256Ocb);
    let speeds = |suite| Speeds::find(question, suite, bench);
    let (usual_speeds, other_speeds) = (speeds(usual), speeds(other));
    let packet = Packet::find(question, measured);
    let held = hold(question, usual, bench, packet);
    let scheme = held.scheme;
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
    found.say_keys(question, &held, packet);
    found.state(question, taken, left);
    found
}

/// How keys are handled, in bytes.
struct Held {
    scheme: Scheme,
    /// The prepared keys of all sessions.
    ready: u64,
    /// The largest cache.
    cache: Option<u64>,
}

fn hold(question: &Question, suite: Suite, bench: Option<&Report>, packet: Option<Packet>) -> Held {
    let ready = ready_bytes(suite, question.hardware).saturating_mul(question.sessions);
    let cache = largest_cache(bench);
    let scheme = match question {
        Question { misuse: true, .. } | Question { commit: true, .. } => Scheme::Sealed,
        Question { sessions: 0 | 1, .. } => Scheme::One,
        _ => match packet {
            Some(Packet { stored, computed, .. }) if computed.high < stored.low => Scheme::KeysOnly,
            Some(Packet { stored, computed, .. }) if stored.high < computed.low => Scheme::Kept,
            _ if cache.is_some_and(|cache| ready > cache) => Scheme::KeysOnly,
            _ => Scheme::Kept,
        },
    };
    Held { scheme, ready, cache }
}

/// Speeds of a suite at the measured size that is nearest to the size in question.
#[derive(Clone, Copy, Debug)]
struct Speeds {
    bytes: usize,
    seal: Interval,
    open: Interval,
}

impl Speeds {
    /// The speed of Sealwright at the highest measured level, or at the portable level for processors without AES
    /// instructions.
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
            None => "There are no measurements, and AES-256-GCM is the most widely supported suite.".into(),
            Some((usual, other)) if faster => format!(
                "On this machine, OCB3 seals messages of {} bytes at {} GB/s and GCM at {}. OCB3 needs no second pass for \
                 the tag.",
                other.bytes,
                shown(other.seal),
                shown(usual.seal)
            ),
            Some(_) if self.scheme == Scheme::KeysOnly => "Only GCM can seal packets of many sessions at the same time.".into(),
            Some((usual, other)) => format!(
                "AES-256-GCM is the most widely supported suite. OCB3 would be taken if it were surely 25 % faster both ways. With \
                 messages of {} bytes it seals at {} and opens at {} GB/s, GCM at {} and {}.",
                other.bytes,
                shown(other.seal),
                shown(other.open),
                shown(usual.seal),
                shown(usual.open)
            ),
        });
        if faster {
            self.mind.push("GCM is more widely supported. Check that the other end supports OCB3.".into());
        }
        if !question.hardware {
            let portable = "Without AES instructions, use only code whose time does not depend on secrets, such as the \
                portable level.";
            self.mind.push(portable.into());
        }
        if question.ad {
            let ad = "Associated data is authenticated with the text. It takes at most as much time as text of the same \
                length.";
            self.why.push(ad.into());
        }
    }

    fn say_keys(&mut self, question: &Question, held: &Held, packet: Option<Packet>) {
        let Held { ready, cache, .. } = *held;
        let size = cache.map_or("of unknown size".into(), |cache| format!("of {}", amount::rounded(cache)));
        let keys = match self.scheme {
            Scheme::Sealed => {
                if question.misuse {
                    self.why.push("Nobody chooses a nonce: 24 random bytes give each message its own key.".into());
                }
                if question.commit {
                    let commit =
                        "GCM and OCB3 do not commit to their key. 32 bytes that are derived together with the key do.";
                    self.why.push(commit.into());
                }
                let cost = format!(
                    "Each message costs {SEALED} bytes and a key derivation, which matters for short messages."
                );
                return self.mind.push(cost);
            }
            Scheme::One => {
                return self.why.push("One key is set up once. Its nonces are counted, so none is used twice.".into());
            }
            Scheme::Kept | Scheme::KeysOnly => {
                match packet {
                    Some(Packet { clients, bytes, stored, computed }) => self.why.push(format!(
                        "Measured with {clients} sessions and packets of {bytes} bytes: to open one and seal it again takes {} ns with \
                         prepared keys in memory and {} ns with keys that are prepared for each packet (128-bit keys).",
                        shown(stored),
                        shown(computed)
                    )),
                    None => {
                        let fit = if self.scheme == Scheme::Kept { "which is not more than" } else { "more than" };
                        let known = if cache.is_some() { fit } else { "beside" };
                        self.why.push(format!(
                            "The prepared keys of all sessions take {}, {known} the largest cache {size}.",
                            amount::rounded(ready)
                        ));
                        let missing = "Which takes longer here, fetching prepared keys or preparing them, is not measured: \
                            `sealwright-lab study sessions` does.";
                        self.mind.push(missing.into());
                    }
                }
                if self.scheme == Scheme::Kept { ready } else { keys_only_bytes().saturating_mul(question.sessions) }
            }
        };
        self.numbers.push(("memory for the keys of all sessions".into(), amount::rounded(keys)));
        self.mind.push(
            "If clients share the key of a cluster (GSCM-H), that saves little more, and they can attack each other."
                .into(),
        );
    }

    fn state(&mut self, question: &Question, taken: (Suite, Option<Speeds>), left: (Suite, Option<Speeds>)) {
        let extra = taken.0.tag_len() + if self.scheme == Scheme::Sealed { SEALED } else { 0 };
        let share = 100.0 * extra as f64 / question.bytes.max(1) as f64;
        self.numbers
            .push(("additional bytes in a message".into(), format!("{extra} ({share:.1} % of {})", question.bytes)));
        let Some(found) = taken.1 else {
            return self.mind.push("`sealwright-lab study bench` measures the missing figures.".into());
        };
        let at = format!("at {} bytes, one core", found.bytes);
        for (what, speed) in [("seals", found.seal), ("opens", found.open)] {
            self.numbers.push((format!("{} {what}, {at}", self.suite), format!("{} GB/s", shown(speed))));
        }
        let a_second = found.seal.scale(1e9 / found.bytes as f64 / 1e6);
        self.numbers.push((format!("messages sealed per second, {at}"), format!("{} million", shown(a_second))));
        if let (other, Some(speeds)) = left {
            self.numbers.push((format!("{} seals, {at}", other.name()), format!("{} GB/s", shown(speeds.seal))));
        }
        if matches!(self.scheme, Scheme::KeysOnly | Scheme::Sealed) {
            self.mind.push(
                "The speeds are those of a prepared key. The time to prepare a key for each message is not included."
                    .into(),
            );
        }
    }
}

/// Size of the prepared keys of a session for both directions, in bytes.
fn ready_bytes(suite: Suite, hardware: bool) -> u64 {
    let isa = if hardware { Some(Isa::best()) } else { Isa::available().first().copied() };
    let ready = isa.and_then(|isa| suite.aead_at(isa, &vec![0; suite.key_len()]).ok());
    ready.map_or(0, |aead| 2 * size_of_val(&*aead) as u64)
}

/// Size in bytes of the largest cache of the machine that was measured: `L3 Unified 32768K`.
fn largest_cache(bench: Option<&Report>) -> Option<u64> {
    let kib = |cache: &String| cache.rsplit(' ').next()?.strip_suffix('K')?.parse::<u64>().ok();
    bench?.machine.caches.iter().filter_map(kib).max().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests;
