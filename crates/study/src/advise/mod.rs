//! Which suite to use and how to handle its keys: rules, with the measured figures on which they are based.
//!
//! The rules are those of `docs/CHOOSING.md`, in this order:
//!
//! 1. No suite commits to its key by itself. Where a message must open under one key only, it is sealed by
//!    [`RandomNonceKey::committing`](sealwright::RandomNonceKey::committing), with a random nonce.
//! 2. Without AES instructions: ChaCha20-Poly1305, because bit-sliced AES takes many times as long; if nonces may
//!    repeat, [`RandomNonceKey::xchacha20_poly1305`](sealwright::RandomNonceKey::xchacha20_poly1305) with random nonces
//!    of 192 bits.
//! 3. With AES instructions, if nonces may repeat: AES-256-GCM-SIV.
//! 4. Otherwise AES-256-GCM, the most widely supported suite, unless AES-256-OCB3 was measured to be at least 25 % faster
//!    at this size, over its whole interval, both for sealing and for opening. Keys have 256 bits, because an
//!    attacker can attack the keys of many sessions at the same time.
//! 5. For one session, one [`Sealer`](sealwright::Sealer), which counts its nonces. For many sessions, either one for
//!    each, or only keys are stored and the rest is computed for each packet: the scheme `gcm-on64-256` of
//!    `sealwright-session`, which uses GCM. The study of sessions measured both, and the faster one is taken. If it had
//!    no table of a quarter to four times as many sessions, prepared keys are kept while all of them fit into the
//!    largest cache, unless computing was faster with fewer sessions, or storing with more.
//!
//! `sealwright-lab advise` and the chooser in the report both use these rules.

#[cfg(test)]
pub(crate) mod example;
mod measured;

use sealwright::{Isa, Key, RandomNonceKey, Suite};
use sealwright_measure::Interval;
use serde::Serialize;

pub use self::measured::Measured;
use self::measured::{Packet, keys_only_bytes};
use crate::{
    amount,
    bench::{Direction, Report, Row, Subject, Way},
    figure::shown,
};

/// The requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Size of the text of a packet in bytes, from 1.
    pub bytes: usize,
    /// Number of sessions at a time, from 1, each with its own keys.
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
    /// A mode that tolerates repeated nonces.
    Resistant,
    /// A random nonce with each message.
    Random,
    /// A random nonce and a commitment with each message.
    Committing,
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
            Scheme::Resistant => "a key of `mode::gcm_siv` for each session, which tolerates repeated nonces",
            Scheme::Random => "`RandomNonceKey::xchacha20_poly1305`: each message carries a random nonce",
            Scheme::Committing => "`RandomNonceKey::committing`: each message carries a random nonce and a commitment",
        }
    }
}

/// The advice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Advice {
    /// Name of the suite.
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

/// The advice for `question`, based on `measured`.
pub fn advise(question: &Question, measured: Measured<'_>) -> Advice {
    let bench = measured.bench;
    let [gcm, ocb, chacha] = [Suite::Aes256Gcm, Suite::Aes256Ocb, Suite::ChaCha20Poly1305].map(Subject::from);
    let nearest = Packet::find(question, measured);
    let packet = nearest.filter(|packet| packet.tells_of(question.sessions));
    let held = hold(question, if question.hardware { gcm } else { chacha }, bench, packet);
    let speeds = |subject| Speeds::find(question, subject, bench);
    let faster = question.hardware
        && !matches!(held.scheme, Scheme::KeysOnly | Scheme::Resistant)
        && speeds(gcm).zip(speeds(ocb)).is_some_and(|(usual, other)| {
            let beyond = |other: Interval, usual: Interval| other.low > FASTER * usual.high;
            beyond(other.seal, usual.seal) && beyond(other.open, usual.open)
        });
    let (taken, left) = match held.scheme {
        Scheme::Resistant => (Subject::Aes256GcmSiv, Subject::Xaes256Gcm),
        _ if !question.hardware => (chacha, gcm),
        _ if faster => (ocb, gcm),
        _ => (gcm, ocb),
    };
    let mut found = Advice {
        suite: if held.scheme == Scheme::Random { "xchacha20-poly1305" } else { taken.name() },
        scheme: held.scheme,
        scheme_words: held.scheme.words(),
        why: Vec::new(),
        numbers: Vec::new(),
        mind: Vec::new(),
    };
    let (taken, left) = ((taken, speeds(taken)), (left, speeds(left)));
    let extra = additional(held.scheme, taken.0);
    found.say_suite(question, faster, taken.1.zip(left.1));
    found.say_keys(question, &held, nearest, extra);
    found.state(question, taken, left, extra);
    found
}

/// The number of bytes by which a sealed message is longer than its text.
fn additional(scheme: Scheme, subject: Subject) -> usize {
    let random = match (scheme, subject) {
        (Scheme::Random, _) => Some(RandomNonceKey::xchacha20_poly1305(&Key::from([0; 32]))),
        (Scheme::Committing, Subject::Suite(suite)) => {
            RandomNonceKey::committing(suite, &vec![0; suite.key_len()]).ok()
        }
        _ => None,
    };
    random.map_or(subject.tag_len(), |random| random.overhead())
}

/// Memory that decides how keys are handled, in bytes.
struct Held {
    scheme: Scheme,
    /// Size of the prepared keys of all sessions.
    ready: u64,
    /// Size of the largest cache.
    cache: Option<u64>,
}

fn hold(question: &Question, subject: Subject, bench: Option<&Report>, packet: Option<Packet>) -> Held {
    let ready = ready_bytes(subject, question.hardware).saturating_mul(question.sessions);
    let cache = largest_cache(bench);
    let scheme = match question {
        Question { commit: true, .. } => Scheme::Committing,
        Question { misuse: true, hardware: true, .. } => Scheme::Resistant,
        Question { misuse: true, .. } => Scheme::Random,
        Question { sessions: 0 | 1, .. } => Scheme::One,
        // ChaCha20-Poly1305: a prepared key is no larger than the key itself
        Question { hardware: false, .. } => Scheme::Kept,
        _ => match packet.and_then(|packet| packet.computed_is_faster()) {
            Some(true) => Scheme::KeysOnly,
            Some(false) => Scheme::Kept,
            None if cache.is_some_and(|cache| ready > cache) => Scheme::KeysOnly,
            None => Scheme::Kept,
        },
    };
    Held { scheme, ready, cache }
}

/// Speeds of a suite at the measured size nearest to the size in question.
#[derive(Clone, Copy, Debug)]
struct Speeds {
    bytes: usize,
    seal: Interval,
    open: Interval,
}

impl Speeds {
    /// The speed of Sealwright at the highest measured level, or at the portable level for processors without AES
    /// instructions.
    fn find(question: &Question, subject: Subject, bench: Option<&Report>) -> Option<Speeds> {
        let level = |row: &Row| Isa::NAMES.iter().position(|name| *name == row.level);
        let ours =
            |row: &&Row| row.implementation == "sealwright" && row.suite == subject.name() && row.way == Way::OneKey;
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
    /// Explains the choice of the suite. `both` are the speeds of the chosen suite and of its alternative.
    fn say_suite(&mut self, question: &Question, faster: bool, both: Option<(Speeds, Speeds)>) {
        let why = match both {
            _ if self.scheme == Scheme::Resistant => {
                "AES-GCM-SIV stays secure when a nonce comes twice: it only reveals whether two messages are equal."
                    .into()
            }
            None if !question.hardware => {
                "Without AES instructions, bit-sliced AES takes many times as long as ChaCha20-Poly1305.".into()
            }
            None => "There are no measurements, and AES-256-GCM is the most widely supported suite.".into(),
            Some((chacha, gcm)) if !question.hardware => format!(
                "Without AES instructions, ChaCha20-Poly1305 seals messages of {} bytes at {} GB/s where it was measured, \
                 and bit-sliced AES-256-GCM at {}.",
                chacha.bytes,
                shown(chacha.seal),
                shown(gcm.seal)
            ),
            Some((ocb, gcm)) if faster => format!(
                "Where it was measured, OCB3 seals messages of {} bytes at {} GB/s and GCM at {}. OCB3 needs no second pass \
                 for the tag.",
                ocb.bytes,
                shown(ocb.seal),
                shown(gcm.seal)
            ),
            Some(_) if self.scheme == Scheme::KeysOnly => {
                "Only GCM can seal packets of many sessions at the same time.".into()
            }
            Some((gcm, ocb)) => format!(
                "AES-256-GCM is the most widely supported suite. OCB3 is recommended only if it is at least 25 % faster \
                 over its whole interval, for both sealing and opening. With messages of {} bytes it seals at {} and \
                 opens at {} GB/s, GCM at {} and {}.",
                ocb.bytes,
                shown(ocb.seal),
                shown(ocb.open),
                shown(gcm.seal),
                shown(gcm.open)
            ),
        };
        self.why.push(why);
        if faster {
            self.mind.push("GCM is more widely supported. Check that the other end supports OCB3.".into());
        }
        if !question.hardware {
            let portable = "If AES is required, use only constant-time code, such as the portable level.";
            self.mind.push(portable.into());
        }
        if question.ad {
            let ad = "Associated data is authenticated with the text. It takes at most as much time as text of the same \
                length.";
            self.why.push(ad.into());
        }
    }

    /// Explains how keys are handled. `nearest` is the measurement nearest to the question, even if it is too far away
    /// to decide.
    fn say_keys(&mut self, question: &Question, held: &Held, nearest: Option<Packet>, extra: usize) {
        let packet = nearest.filter(|packet| packet.tells_of(question.sessions));
        let Held { ready, cache, .. } = *held;
        let size = cache.map_or("of unknown size".into(), |cache| format!("of {}", amount::rounded(cache)));
        let keys = match self.scheme {
            Scheme::Resistant => {
                let other = "AES-GCM-SIV makes two passes over the text and derives keys for each message. If a random \
                    nonce of 24 bytes can be sent with each message, XAES-256-GCM (`RandomNonceKey::xaes_256_gcm`) \
                    needs one pass: such nonces do not repeat in practice, unless a restored snapshot repeats random bytes.";
                self.mind.push(other.into());
                let nonce =
                    "If the receiver cannot count the nonces itself, each message must carry its nonce: 12 more bytes.";
                return self.mind.push(nonce.into());
            }
            Scheme::Random | Scheme::Committing => {
                if question.misuse {
                    let random =
                        "No nonce is chosen: each message carries 24 random bytes, which do not repeat in practice.";
                    self.why.push(random.into());
                    let restored = "A machine that is restored from a snapshot may repeat random bytes, and so nonces: take \
                        new keys after that. Only AES-GCM-SIV withstands repeated nonces; it has no commitment.";
                    self.mind.push(restored.into());
                }
                if question.commit {
                    let commit = "No suite commits to its key by itself: who knows two keys can make a message that \
                        opens under both. A commitment of 32 bytes, derived together with the message key, prevents that.";
                    self.why.push(commit.into());
                }
                let cost =
                    format!("Each message costs {extra} bytes and a key derivation, which matters for short messages.");
                return self.mind.push(cost);
            }
            Scheme::One => {
                return self.why.push("One key is set up once. Its nonces are counted, so none is used twice.".into());
            }
            Scheme::Kept | Scheme::KeysOnly => {
                match packet {
                    _ if !question.hardware => {
                        self.why.push("Preparing a key of ChaCha20-Poly1305 takes almost no time.".into());
                    }
                    Some(Packet { clients, bytes, stored, computed }) => self.why.push(format!(
                        "Measured with {clients} sessions and packets of {bytes} bytes: to open one and seal it again takes {} ns with \
                         prepared keys in memory and {} ns with keys that are prepared for each packet (128-bit keys).",
                        shown(stored),
                        shown(computed)
                    )),
                    None => {
                        let fit = if self.scheme == Scheme::Kept { "which is at most" } else { "which is more than" };
                        let known = if cache.is_some() { fit } else { "compared with" };
                        self.why.push(format!(
                            "The prepared keys of all sessions take {}, {known} the largest cache {size}.",
                            amount::rounded(ready)
                        ));
                        self.mind.push(match nearest {
                            None => "`sealwright-lab study sessions` measures what is missing here: whether it takes longer \
                                to fetch prepared keys from memory or to prepare them."
                                .into(),
                            Some(Packet { clients, .. }) => format!(
                                "Whether it takes longer to fetch prepared keys from memory or to prepare them was measured \
                                with {clients} sessions at the nearest, which does not apply to {}.",
                                question.sessions
                            ),
                        });
                    }
                }
                if self.scheme == Scheme::Kept { ready } else { keys_only_bytes().saturating_mul(question.sessions) }
            }
        };
        self.numbers.push(("memory for the keys of all sessions".into(), amount::rounded(keys)));
        if question.hardware {
            let cluster = "A key shared by a cluster of clients (GSCM-H) costs about as much for a packet, and they can attack each other.";
            self.mind.push(cluster.into());
        }
    }

    fn state(
        &mut self,
        question: &Question,
        taken: (Subject, Option<Speeds>),
        left: (Subject, Option<Speeds>),
        extra: usize,
    ) {
        let share = 100.0 * extra as f64 / question.bytes.max(1) as f64;
        self.numbers
            .push(("additional bytes in a message".into(), format!("{extra} ({share:.1} % of {})", question.bytes)));
        let Some(found) = taken.1 else {
            return self.mind.push("`sealwright-lab study bench` measures the missing figures.".into());
        };
        let at = format!("at {} bytes, one core", found.bytes);
        for (what, speed) in [("seals", found.seal), ("opens", found.open)] {
            self.numbers.push((format!("{} {what}, {at}", taken.0), format!("{} GB/s", shown(speed))));
        }
        let a_second = found.seal.scale(1e9 / found.bytes as f64 / 1e6);
        self.numbers.push((format!("messages sealed per second, {at}"), format!("{} million", shown(a_second))));
        if let (other, Some(speeds)) = left {
            self.numbers.push((format!("{} seals, {at}", other.name()), format!("{} GB/s", shown(speeds.seal))));
        }
        if matches!(self.scheme, Scheme::KeysOnly | Scheme::Random | Scheme::Committing) {
            self.mind.push(
                "The speeds are those of a prepared key. The time to prepare a key for each message is not included."
                    .into(),
            );
        }
    }
}

/// Size of a session's prepared keys for both directions, in bytes.
fn ready_bytes(subject: Subject, hardware: bool) -> u64 {
    let isa = if hardware { Some(Isa::best()) } else { Isa::available().first().copied() };
    let ready = isa.and_then(|isa| subject.aead_at(isa, &vec![0; subject.key_len()]));
    ready.map_or(0, |aead| 2 * size_of_val(&*aead) as u64)
}

/// Size in bytes of the largest cache of the measured machine, from text such as `L3 Unified 32768K`.
fn largest_cache(bench: Option<&Report>) -> Option<u64> {
    let kib = |cache: &String| cache.rsplit(' ').next()?.strip_suffix('K')?.parse::<u64>().ok();
    bench?.machine.caches.iter().filter_map(kib).max().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests;
