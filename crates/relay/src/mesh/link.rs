//! Links between nodes: messages sealed under keys of the current incarnations of both nodes, each accepted at most
//! once.
//!
//! ```text
//!  0       1      2        4             8                        24
//!  | ver 1 | from | 0 0    | epoch       | incarnation of sender  | one frame, as sessions have them |
//! ```
//! Messages with another version, or with other bytes in place of the zeros, are refused: no bit of a message can be
//! changed without effect.
//!
//! The key for messages from a to b is derived from the secret of the mesh, the incarnations of both nodes (random
//! numbers chosen at their start), and the epoch, which a increments whenever it makes new keys for b. No key is
//! therefore used twice, and nobody can open a message to a former incarnation of a node.
//!
//! A hello announces the incarnation of a node. It is authenticated by the secret, but anybody can replay it, so it
//! only makes the node a candidate. Every message begins with an echo of the last epoch received from its addressee. A
//! candidate becomes present, and replaces the former incarnation, once it echoes the epoch of the keys made for it:
//! only a live node can do that.
//!
//! The number of candidates per node is bounded. A hello displaces no candidate that sent a message under its keys, and
//! any other only after a while. A displaced incarnation must wait until its hello counts again, twice as long each
//! time. Replayed hellos of former incarnations can therefore neither displace a live node nor cause keys to be made
//! without end, and a live node gets its turn.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use rustls::crypto::{aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384, tls13::HkdfExpander};
use sealwright_session::{
    Material, Plan, SchemeKind, SessionError, Sessions, Side, Spec,
    frame::{HEADER, TAG, payload},
    table,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::layout::NodeLayout;

/// The incarnation of a node: a random number, chosen at its start.
pub(crate) type Incarnation = [u8; 16];

/// Length of a hello: node, incarnation, tag.
const HELLO_BYTES: usize = 1 + 16 + 16;
/// Length of the head before the frame.
const HEAD_BYTES: usize = 24;
/// Length of the echo before the text.
const ECHO_BYTES: usize = 4;
/// The echo of a node that has received nothing yet; no epoch has this number.
const NO_EPOCH: u32 = u32::MAX;
/// Keys are replaced when fewer blocks than this are left.
const REKEY_BELOW: u64 = 1 << 24;
/// The most candidates of one node.
const MAX_CANDIDATES: usize = 4;
/// For how long a candidate that sent only a hello cannot be displaced.
const CANDIDATE_TURN: Duration = Duration::from_millis(400);
/// For how long a displaced incarnation must wait until its hello counts again. The time doubles with each further
/// displacement, so that incarnations that prove nothing leave turns to others.
const FIRST_EXCLUSION: Duration = Duration::from_secs(10);
/// The longest such wait, after which the displacement is forgotten.
const LONGEST_EXCLUSION: Duration = Duration::from_secs(3600);
/// The most displaced incarnations that are remembered per node, about 3 MiB. At ten displacements per second there are
/// no more within [`LONGEST_EXCLUSION`]. If there are, hellos displace nobody until one is forgotten.
const MAX_DISPLACED: usize = 36_000;
/// How many messages per second are tried under new keys, for each node from which they claim to be. Making the keys
/// takes fifty times as long as refusing a message under keys that are there.
const TRIALS_PER_SECOND: u32 = 200;
/// For how long a candidate that sent a message under its keys cannot be displaced by another that did.
const PROVED_TURN: Duration = Duration::from_secs(3);
const SCHEME: Spec = Spec { kind: SchemeKind::GcmOn64, long: true };

/// One node's end of its links to all others.
pub(crate) struct Links {
    me: u32,
    incarnation: Incarnation,
    secret: Zeroizing<[u8; 32]>,
    /// [`REKEY_BELOW`], or another limit in a test.
    rekey_below: u64,
    /// The other nodes, by number.
    peers: Vec<Peer>,
}

/// The state of another node.
#[derive(Default)]
struct Peer {
    /// The link to its present incarnation.
    present: Option<Link>,
    /// Incarnations that have not proved yet that they are live.
    candidates: Vec<Link>,
    /// Displaced candidates: the time of the last displacement, and their number.
    in_vain: HashMap<Incarnation, (Instant, u32)>,
    /// Former incarnations, of which nothing is accepted any more.
    gone: HashSet<Incarnation>,
    next_epoch: u32,
    /// The present second, and how many messages were tried under new keys in it.
    trials: Option<(Instant, u32)>,
}

/// The keys between this node and one incarnation of another.
struct Link {
    with: Incarnation,
    since: Instant,
    sending: Keys,
    receiving: Option<Keys>,
}

/// Keys of one direction.
struct Keys {
    epoch: u32,
    table: Box<dyn Sessions>,
}

/// The result of opening a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened<'a> {
    /// From a node that is present; `is_new` if this message made it so.
    Present { node: u32, is_new: bool, text: &'a [u8] },
    /// From a candidate, which needs an answer to prove that it is live.
    Candidate { node: u32 },
}

/// What a hello means for this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// Our own hello.
    Own,
    /// Another process uses our node number, or our hello of an earlier start was replayed.
    NumberTaken,
    /// From an incarnation that is present or a candidate already.
    Known(u32),
    /// From a new candidate.
    Candidate(u32),
}

impl Links {
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn new(me: u32, secret: Zeroizing<[u8; 32]>) -> Result<Links, SessionError> {
        let mut incarnation = Incarnation::default();
        getrandom::fill(&mut incarnation).map_err(|_| SessionError::NoRandomness)?;
        let peers = (0..NodeLayout::NODES).map(|_| Peer::default()).collect();
        Ok(Links { me, incarnation, secret, rekey_below: REKEY_BELOW, peers })
    }

    /// A hello that announces this node.
    pub(crate) fn hello(&self) -> Result<Vec<u8>, SessionError> {
        let tag = hello_tag(&self.secret, self.me, &self.incarnation)?;
        Ok([&[self.me as u8], &self.incarnation[..], &tag[..]].concat())
    }

    /// Processes a hello.
    ///
    /// # Errors
    /// When it is forged, of a former incarnation, or of one that must wait.
    pub(crate) fn hear(&mut self, hello: &[u8], now: Instant) -> Result<Hello, SessionError> {
        let hello: &[u8; HELLO_BYTES] = hello.try_into().map_err(|_| SessionError::Malformed)?;
        let (node, rest) = (u32::from(hello[0]), &hello[1..]);
        let mut incarnation = Incarnation::default();
        incarnation.copy_from_slice(&rest[..16]);
        if node >= NodeLayout::NODES {
            return Err(SessionError::Malformed);
        }
        let peer = &self.peers[node as usize];
        // Refused before the tag is verified, which costs more
        if peer.gone.contains(&incarnation) {
            return Err(SessionError::Stale);
        }
        let waits = |(lost, times): &(Instant, u32)| now.saturating_duration_since(*lost) < next_turn(*times);
        if peer.in_vain.get(&incarnation).is_some_and(waits) {
            return Err(SessionError::Replayed);
        }
        if !bool::from(hello_tag(&self.secret, node, &incarnation)?[..].ct_eq(&rest[16..])) {
            return Err(SessionError::Forged);
        }
        if node == self.me {
            return Ok(if incarnation == self.incarnation { Hello::Own } else { Hello::NumberTaken });
        }
        if peer.present.iter().chain(&peer.candidates).any(|link| link.with == incarnation) {
            return Ok(Hello::Known(node));
        }
        self.add_candidate(node, incarnation, None, now)?;
        Ok(Hello::Candidate(node))
    }

    fn add_candidate(
        &mut self,
        node: u32,
        with: Incarnation,
        receiving: Option<Keys>,
        now: Instant,
    ) -> Result<(), SessionError> {
        self.peers[node as usize].make_room(receiving.is_some(), now)?;
        let sending = self.sending(node, with)?;
        self.peers[node as usize].candidates.push(Link { with, since: now, sending, receiving });
        Ok(())
    }

    /// New keys for messages to an incarnation of a node.
    fn sending(&mut self, node: u32, to: Incarnation) -> Result<Keys, SessionError> {
        let peer = &mut self.peers[node as usize];
        let epoch = peer.next_epoch;
        if epoch == NO_EPOCH {
            return Err(SessionError::Exhausted);
        }
        peer.next_epoch += 1;
        let material = material(&self.secret, (self.me, self.incarnation), (node, to), epoch)?;
        Ok(Keys { epoch, table: keys(Side::Client, &material)? })
    }

    /// Keys for messages from an incarnation of a node.
    fn receiving(&self, node: u32, from: Incarnation, epoch: u32) -> Result<Keys, SessionError> {
        let material = material(&self.secret, (node, from), (self.me, self.incarnation), epoch)?;
        Ok(Keys { epoch, table: keys(Side::Server, &material)? })
    }

    /// Seals a text for a node that is present. [`SessionError::Unknown`] if it is not.
    pub(crate) fn seal(&mut self, node: u32, text: &[u8]) -> Result<Vec<u8>, SessionError> {
        let link = self.peers[node as usize].present.as_ref().ok_or(SessionError::Unknown)?;
        if link.sending.table.blocks_left(0).is_some_and(|left| left < self.rekey_below) {
            let renewed = self.sending(node, link.with)?;
            if let Some(link) = &mut self.peers[node as usize].present {
                link.sending = renewed;
            }
        }
        let link = self.peers[node as usize].present.as_mut().ok_or(SessionError::Unknown)?;
        link.seal(self.me, &self.incarnation, text)
    }

    /// Seals an empty message for each candidate (of all nodes, or of one), so that it can prove that it is live.
    pub(crate) fn probes(&mut self, only: Option<u32>) -> Vec<(u32, Vec<u8>)> {
        let (me, incarnation) = (self.me, self.incarnation);
        let nodes = self.peers.iter_mut().enumerate().map(|(node, peer)| (node as u32, peer));
        let wanted = nodes.filter(|(node, _)| only.is_none_or(|only| only == *node));
        let candidates = wanted.flat_map(|(node, peer)| peer.candidates.iter_mut().map(move |link| (node, link)));
        candidates.filter_map(|(node, link)| Some((node, link.seal(me, &incarnation, &[]).ok()?))).collect()
    }

    /// Opens a message.
    ///
    /// # Errors
    /// When it is forged, replayed, or of a former incarnation; it has then changed nothing.
    pub(crate) fn open<'a>(&mut self, message: &'a mut [u8], now: Instant) -> Result<Opened<'a>, SessionError> {
        let (head, frame) = message.split_first_chunk_mut::<HEAD_BYTES>().ok_or(SessionError::Short)?;
        let node = u32::from(head[1]);
        if head[0] != 1 || head[2..4] != [0; 2] || node >= NodeLayout::NODES || node == self.me {
            return Err(SessionError::Malformed);
        }
        let epoch = head[4..8].iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
        let mut from = Incarnation::default();
        from.copy_from_slice(&head[8..]);
        let peer = &mut self.peers[node as usize];
        if peer.gone.contains(&from) {
            return Err(SessionError::Stale);
        }
        let link = peer.present.iter_mut().chain(&mut peer.candidates).find(|link| link.with == from);
        match link.and_then(|link| link.receiving.as_mut()) {
            Some(keys) if keys.epoch == epoch => keys.table.open(0, frame)?,
            Some(keys) if epoch < keys.epoch => return Err(SessionError::Stale),
            _ => {
                // Messages under known keys do not come here: a flood breaks no link that is there
                if frame.len() < HEADER + ECHO_BYTES + TAG {
                    return Err(SessionError::Short);
                }
                peer.try_new_keys(now)?;
                let mut keys = self.receiving(node, from, epoch)?;
                keys.table.open(0, frame)?;
                self.received(node, from, keys, now)?;
            }
        }
        let (echo, text) = payload(frame).split_first_chunk::<ECHO_BYTES>().ok_or(SessionError::Short)?;
        let peer = &mut self.peers[node as usize];
        if peer.present.as_ref().is_some_and(|link| link.with == from) {
            return Ok(Opened::Present { node, is_new: false, text });
        }
        let alive = |link: &Link| link.with == from && link.sending.epoch == u32::from_be_bytes(*echo);
        let Some(at) = peer.candidates.iter().position(alive) else { return Ok(Opened::Candidate { node }) };
        let link = peer.candidates.swap_remove(at);
        // An echo of keys made for another candidate must not make that one present later
        peer.candidates.clear();
        // Displaced incarnations must not either, but they keep their waiting times
        peer.in_vain.remove(&from);
        peer.gone.extend(peer.present.replace(link).map(|former| former.with));
        Ok(Opened::Present { node, is_new: true, text })
    }

    /// Stores new receiving keys, under which a message was opened.
    fn received(&mut self, node: u32, from: Incarnation, keys: Keys, now: Instant) -> Result<(), SessionError> {
        let peer = &mut self.peers[node as usize];
        match peer.present.iter_mut().chain(&mut peer.candidates).find(|link| link.with == from) {
            Some(link) => link.receiving = Some(keys),
            None => self.add_candidate(node, from, Some(keys), now)?,
        }
        Ok(())
    }
}

impl Peer {
    /// Counts a message that is tried under new keys.
    fn try_new_keys(&mut self, now: Instant) -> Result<(), SessionError> {
        let second = |(since, _): &(Instant, u32)| now.saturating_duration_since(*since) < Duration::from_secs(1);
        let (since, before) = self.trials.filter(second).unwrap_or((now, 0));
        if before == TRIALS_PER_SECOND {
            return Err(SessionError::Forged);
        }
        self.trials = Some((since, before + 1));
        Ok(())
    }

    /// Makes room for one more candidate. Displaces the oldest that sent only a hello and has had its time. A candidate
    /// that sent a message under its keys (`proved`) may displace any such candidate at once, and after a while one
    /// that did so too.
    fn make_room(&mut self, proved: bool, now: Instant) -> Result<(), SessionError> {
        if self.candidates.len() < MAX_CANDIDATES {
            return Ok(());
        }
        let had = |link: &Link, time: Duration| now.saturating_duration_since(link.since) >= time;
        let turn = if proved { Duration::ZERO } else { CANDIDATE_TURN };
        self.in_vain.retain(|_, (lost, _)| now.saturating_duration_since(*lost) < LONGEST_EXCLUSION);
        let silent = self.candidates.iter().position(|link| link.receiving.is_none() && had(link, turn));
        let oldest = || self.candidates.iter().position(|link| proved && had(link, PROVED_TURN));
        let at = silent.or_else(oldest).ok_or(SessionError::Replayed)?;
        let known = self.in_vain.get(&self.candidates[at].with).map_or(0, |(_, times)| *times);
        // A candidate that proved that it has the secret is not held up by a full list
        if known == 0 && self.in_vain.len() >= MAX_DISPLACED && !proved {
            return Err(SessionError::Replayed);
        }
        let lost = self.candidates.remove(at);
        self.in_vain.insert(lost.with, (now, known + 1));
        Ok(())
    }
}

/// For how long an incarnation must wait that was displaced this many times.
fn next_turn(times: u32) -> Duration {
    FIRST_EXCLUSION.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LONGEST_EXCLUSION)
}

impl Link {
    fn seal(&mut self, me: u32, incarnation: &Incarnation, text: &[u8]) -> Result<Vec<u8>, SessionError> {
        // Must not grow: growing would leave a copy of the text behind
        let mut message = Vec::with_capacity(HEAD_BYTES + HEADER + ECHO_BYTES + text.len() + TAG);
        message.extend_from_slice(&[1, me as u8, 0, 0]);
        message.extend_from_slice(&self.sending.epoch.to_be_bytes());
        message.extend_from_slice(incarnation);
        message.extend_from_slice(&[0; HEADER]);
        message.extend_from_slice(&self.receiving.as_ref().map_or(NO_EPOCH, |keys| keys.epoch).to_be_bytes());
        message.extend_from_slice(text);
        message.extend_from_slice(&[0; TAG]);
        self.sending.table.seal(0, me, &mut message[HEAD_BYTES..])?;
        Ok(message)
    }
}

/// A table of one session.
fn keys(side: Side, material: &Material) -> Result<Box<dyn Sessions>, SessionError> {
    let mut keys = table(Plan::new(SCHEME, 1).side(side))?;
    keys.admit(0, 0, material)?;
    Ok(keys)
}

/// HKDF with SHA-384, keyed with the secret of the mesh.
fn expander(secret: &[u8; 32], salt: &[u8]) -> Result<Box<dyn HkdfExpander>, SessionError> {
    let suite = TLS13_AES_256_GCM_SHA384.tls13().ok_or(SessionError::NoRandomness)?;
    Ok(suite.hkdf_provider.extract_from_secret(Some(salt), secret))
}

/// Derives the material for messages from one node to another.
fn material(
    secret: &[u8; 32],
    from: (u32, Incarnation),
    to: (u32, Incarnation),
    epoch: u32,
) -> Result<Material, SessionError> {
    let numbers = [from.0, to.0, epoch].map(u32::to_be_bytes).concat();
    let mut bytes = Zeroizing::new([0; Material::LEN]);
    expander(secret, &[from.1, to.1].concat())?
        .expand_slice(&[b"sealwright mesh ", &numbers], &mut bytes[..])
        .map_err(|_| SessionError::NoRandomness)?;
    Ok(Material::from_bytes(&bytes))
}

/// The tag of a hello: HKDF serves as a pseudorandom function.
fn hello_tag(secret: &[u8; 32], node: u32, incarnation: &Incarnation) -> Result<[u8; 16], SessionError> {
    let mut tag = [0; 16];
    expander(secret, incarnation)?
        .expand_slice(&[b"sealwright hello ", &node.to_be_bytes()], &mut tag)
        .map_err(|_| SessionError::NoRandomness)?;
    Ok(tag)
}

#[cfg(feature = "fuzz")]
#[path = "link_fuzz.rs"]
pub(super) mod fuzz;
#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
