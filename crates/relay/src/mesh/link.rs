//! Links between nodes: messages sealed under keys of both nodes' present incarnations, each accepted once.
//!
//! ```text
//!  0       1      2        4             8                        24
//!  | ver 1 | from | 0 0    | epoch       | incarnation of sender  | one frame, as sessions have them |
//! ```
//! A version other than 1, or other bytes where zeros stand, are refused: nothing in a message can be changed that does not count.
//!
//! The key of messages from a to b is made of the mesh's secret, the incarnations of both nodes (random numbers that they
//! choose when they start), and the epoch, which goes up whenever a makes keys for b anew. So no key ever serves twice,
//! and a message for a former incarnation of a node opens for nobody.
//!
//! A hello says which incarnation a node has. It is authenticated by the secret, but anybody can repeat it, so it changes
//! nothing yet: the other node becomes a candidate. Every message begins with an echo of the last epoch that its sender
//! received. A candidate is present, and replaces a former incarnation, once it echoes the epoch that was made for it:
//! only a node that is alive now can do so.
//!
//! Few candidates of a node are remembered. A hello takes the place of none that sent a message under its keys, and of
//! another one only after a while; what had its turn in vain waits for the next, twice as long each time. So hellos that
//! are repeated, of many former incarnations, neither drive out the node that is alive nor make keys without end, and
//! leave it turns.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use rustls::crypto::{aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384, tls13::HkdfExpander};
use sealwright_session::{
    Material, Plan, SchemeKind, Secret, SessionError, Sessions, Side, Spec,
    frame::{HEADER, TAG, payload},
    table,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::layout::NodeLayout;

/// The incarnation of a node: random at its start.
pub(crate) type Incarnation = [u8; 16];

/// Bytes of a hello: node, incarnation, tag.
const HELLO: usize = 1 + 16 + 16;
/// Bytes in front of the frame.
const HEAD: usize = 24;
/// Bytes of the echo in front of a text.
const ECHO: usize = 4;
/// The echo of a node that received nothing yet. No epoch has this number.
const NOTHING: u32 = u32::MAX;
/// Keys are replaced when fewer blocks than this are left.
const REKEY_BELOW: u64 = 1 << 24;
/// Candidates of one node that are remembered at once.
const CANDIDATES: usize = 4;
/// How long a candidate that said nothing but hello keeps its place from others.
const TURN: Duration = Duration::from_millis(400);
/// How long an incarnation that lost its place waits until its hello counts again; after each further time twice as long, so
/// that those who never prove anything leave turns to others.
const NEXT_TURN: Duration = Duration::from_secs(10);
/// How long at most. Then it is forgotten that it lost its place.
const LAST_TURN: Duration = Duration::from_secs(3600);
/// The most incarnations of one node that wait: about 3 MiB. Ten lose their places in a second, so there are not more within
/// [`LAST_TURN`]. If there are, no hello drives out another until one is forgotten.
const IN_VAIN: usize = 36_000;
/// How long a candidate that sent a message under its keys keeps its place from others that did so too.
const PROOF: Duration = Duration::from_secs(3);
const SCHEME: Spec = Spec { kind: SchemeKind::GcmOn64, long: true };

/// One node's end of its links to all others.
pub(crate) struct Links {
    me: u32,
    incarnation: Incarnation,
    secret: Zeroizing<[u8; 32]>,
    /// [`REKEY_BELOW`], or another number in a test.
    rekey_below: u64,
    /// By node.
    peers: Vec<Peer>,
}

/// What is known of another node.
#[derive(Default)]
struct Peer {
    /// The incarnation that is present.
    present: Option<Link>,
    /// Incarnations that said hello and proved nothing yet.
    candidates: Vec<Link>,
    /// Candidates that lost their places, when, and how often.
    in_vain: HashMap<Incarnation, (Instant, u32)>,
    /// Former incarnations. Nothing of them is accepted any more.
    gone: HashSet<Incarnation>,
    next_epoch: u32,
}

/// Keys between this node and one incarnation of another.
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

/// A message that opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened<'a> {
    /// Of a node that is present; `is_new` if that is news.
    Present { node: u32, is_new: bool, text: &'a [u8] },
    /// Of a node that has proved nothing yet. It should be answered.
    Candidate { node: u32 },
}

/// What a hello says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// It is our own.
    Own,
    /// Another process has the number of this node.
    NumberTaken,
    /// A node that is present, or a candidate already.
    Known(u32),
    /// A new candidate.
    Candidate(u32),
}

impl Links {
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn new(me: u32, secret: Zeroizing<[u8; 32]>) -> Result<Links, SessionError> {
        let mut incarnation = Incarnation::default();
        getrandom::fill(&mut incarnation).map_err(|_| SessionError::NoRandom)?;
        let peers = (0..NodeLayout::NODES).map(|_| Peer::default()).collect();
        Ok(Links { me, incarnation, secret, rekey_below: REKEY_BELOW, peers })
    }

    /// Tells others of this node.
    pub(crate) fn hello(&self) -> Result<Vec<u8>, SessionError> {
        let tag = hello_tag(&self.secret, self.me, &self.incarnation)?;
        Ok([&[self.me as u8], &self.incarnation[..], &tag[..]].concat())
    }

    /// Hears a hello.
    ///
    /// # Errors
    /// When it is forged, of an incarnation that is gone, or of one that is not heard now for others' sake.
    pub(crate) fn hear(&mut self, hello: &[u8], now: Instant) -> Result<Hello, SessionError> {
        let hello: &[u8; HELLO] = hello.try_into().map_err(|_| SessionError::Malformed)?;
        let (node, rest) = (u32::from(hello[0]), &hello[1..]);
        let mut incarnation = Incarnation::default();
        incarnation.copy_from_slice(&rest[..16]);
        if node >= NodeLayout::NODES {
            return Err(SessionError::Malformed);
        }
        let peer = &self.peers[node as usize];
        // What is refused in any case is not verified
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

    /// Fresh keys for messages to an incarnation of a node.
    fn sending(&mut self, node: u32, to: Incarnation) -> Result<Keys, SessionError> {
        let peer = &mut self.peers[node as usize];
        let epoch = peer.next_epoch;
        if epoch == NOTHING {
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

    /// Seals a message without text for each candidate of each node, or of one, so that it can prove that it is alive.
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
    /// When it is forged, repeated, or of an incarnation that is gone. It has then changed nothing.
    pub(crate) fn open<'a>(&mut self, message: &'a mut [u8], now: Instant) -> Result<Opened<'a>, SessionError> {
        let (head, frame) = message.split_first_chunk_mut::<HEAD>().ok_or(SessionError::Short)?;
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
                let mut keys = self.receiving(node, from, epoch)?;
                keys.table.open(0, frame)?;
                self.received(node, from, keys, now)?;
            }
        }
        let (echo, text) = payload(frame).split_first_chunk::<ECHO>().ok_or(SessionError::Short)?;
        let peer = &mut self.peers[node as usize];
        if peer.present.as_ref().is_some_and(|link| link.with == from) {
            return Ok(Opened::Present { node, is_new: false, text });
        }
        let alive = |link: &Link| link.with == from && link.sending.epoch == u32::from_be_bytes(*echo);
        let Some(at) = peer.candidates.iter().position(alive) else { return Ok(Opened::Candidate { node }) };
        let link = peer.candidates.swap_remove(at);
        // What other candidates were sent must not make them present later
        peer.candidates.clear();
        // Those that wait have nothing to prove later either: they go on waiting
        peer.in_vain.remove(&from);
        peer.gone.extend(peer.present.replace(link).map(|former| former.with));
        Ok(Opened::Present { node, is_new: true, text })
    }

    /// The first message under new keys opened.
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
    /// Room for one more candidate, if another has had its time: one that said nothing but hello, the oldest first. Who
    /// sent a message under its keys (`proved`) may take any such place at once, and that of another like it after a
    /// while.
    fn make_room(&mut self, proved: bool, now: Instant) -> Result<(), SessionError> {
        if self.candidates.len() < CANDIDATES {
            return Ok(());
        }
        let had = |link: &Link, time: Duration| now.saturating_duration_since(link.since) >= time;
        let turn = if proved { Duration::ZERO } else { TURN };
        self.in_vain.retain(|_, (lost, _)| now.saturating_duration_since(*lost) < LAST_TURN);
        let silent = self.candidates.iter().position(|link| link.receiving.is_none() && had(link, turn));
        let oldest = || self.candidates.iter().position(|link| proved && had(link, PROOF));
        let at = silent.or_else(oldest).ok_or(SessionError::Replayed)?;
        let known = self.in_vain.get(&self.candidates[at].with).map_or(0, |(_, times)| *times);
        // Who proved that it has the secret need not wait for what is forgotten
        if known == 0 && self.in_vain.len() >= IN_VAIN && !proved {
            return Err(SessionError::Replayed);
        }
        let lost = self.candidates.remove(at);
        self.in_vain.insert(lost.with, (now, known + 1));
        Ok(())
    }
}

/// How long an incarnation waits that lost its place so often.
fn next_turn(times: u32) -> Duration {
    NEXT_TURN.saturating_mul(1 << times.saturating_sub(1).min(16)).min(LAST_TURN)
}

impl Link {
    fn seal(&mut self, me: u32, incarnation: &Incarnation, text: &[u8]) -> Result<Vec<u8>, SessionError> {
        // It must not grow, as the text would stay where it was
        let mut message = Vec::with_capacity(HEAD + HEADER + ECHO + text.len() + TAG);
        message.extend_from_slice(&[1, me as u8, 0, 0]);
        message.extend_from_slice(&self.sending.epoch.to_be_bytes());
        message.extend_from_slice(incarnation);
        message.extend_from_slice(&[0; HEADER]);
        message.extend_from_slice(&self.receiving.as_ref().map_or(NOTHING, |keys| keys.epoch).to_be_bytes());
        message.extend_from_slice(text);
        message.extend_from_slice(&[0; TAG]);
        self.sending.table.seal(0, me, &mut message[HEAD..])?;
        Ok(message)
    }
}

/// A table of one session.
fn keys(side: Side, material: &Material) -> Result<Box<dyn Sessions>, SessionError> {
    let mut keys = table(Plan { side, secret: Some(Secret::random()?), ..Plan::new(SCHEME, 1) })?;
    keys.admit(0, 0, material)?;
    Ok(keys)
}

/// HKDF with SHA-384, from the secret of the mesh.
fn expander(secret: &[u8; 32], salt: &[u8]) -> Result<Box<dyn HkdfExpander>, SessionError> {
    let suite = TLS13_AES_256_GCM_SHA384.tls13().ok_or(SessionError::NoRandom)?;
    Ok(suite.hkdf_provider.extract_from_secret(Some(salt), secret))
}

/// What keys of messages from one node to another are made of.
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
        .map_err(|_| SessionError::NoRandom)?;
    Ok(Material::from_bytes(&bytes))
}

/// What authenticates a hello: HKDF is a pseudorandom function of its input.
fn hello_tag(secret: &[u8; 32], node: u32, incarnation: &Incarnation) -> Result<[u8; 16], SessionError> {
    let mut tag = [0; 16];
    expander(secret, incarnation)?
        .expand_slice(&[b"sealwright hello ", &node.to_be_bytes()], &mut tag)
        .map_err(|_| SessionError::NoRandom)?;
    Ok(tag)
}

#[cfg(feature = "fuzz")]
#[path = "link_fuzz.rs"]
pub(super) mod fuzz;
#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
