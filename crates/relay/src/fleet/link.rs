//! Links between nodes: messages sealed under keys of both nodes' present lives, each taken once and in order.
//!
//! ```text
//!  0       1      2        4             8                24
//!  | ver 1 | from | 0 0    | turn        | life of sender | one frame, as sessions have them |
//! ```
//! The key of messages from a to b is made of the fleet's secret, the random numbers of both nodes' present lives, and the
//! turn, which goes up whenever a makes keys for b anew. So no key ever serves twice, and what a node sealed for another's
//! former life opens for nobody.

use std::collections::HashSet;

use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384;
use sealwright_session::{
    Material, Plan, SchemeKind, Secret, SessionError, Sessions, Side, Spec,
    frame::{HEADER, TAG, payload},
    table,
};
use zeroize::Zeroizing;

use crate::layout::NodeLayout;

/// A node's life: random at its start.
pub(crate) type Life = [u8; 16];

/// Bytes in front of the frame.
const HEAD: usize = 24;
/// Keys are made anew with so few blocks left.
const WORN: u64 = 1 << 24;
const SCHEME: Spec = Spec { kind: SchemeKind::GcmOn64, long: true };

/// One node's end of its links to all others.
pub(crate) struct Links {
    me: u32,
    life: Life,
    secret: Zeroizing<[u8; 32]>,
    /// By node.
    sending: Vec<Option<Sending>>,
    receiving: Vec<Receiving>,
}

/// Keys for what one node is sent in its present life.
struct Sending {
    to: Life,
    turn: u32,
    keys: Box<dyn Sessions>,
}

#[derive(Default)]
struct Receiving {
    now: Option<(Life, u32, Box<dyn Sessions>)>,
    /// Former lives, whose messages are too old.
    gone: HashSet<Life>,
}

impl Links {
    /// # Errors
    /// When the system gives no random bytes.
    pub(crate) fn new(me: u32, secret: Zeroizing<[u8; 32]>) -> Result<Links, SessionError> {
        let mut life = Life::default();
        getrandom::fill(&mut life).map_err(|_| SessionError::NoRandom)?;
        let nodes = 0..NodeLayout::NODES;
        let sending = nodes.clone().map(|_| None).collect();
        Ok(Links { me, life, secret, sending, receiving: nodes.map(|_| Receiving::default()).collect() })
    }

    pub(crate) fn life(&self) -> Life {
        self.life
    }

    /// A node lives this life now; whether that is news.
    pub(crate) fn meet(&mut self, node: u32, life: Life) -> Result<bool, SessionError> {
        if self.sending[node as usize].as_ref().is_some_and(|sending| sending.to == life) {
            return Ok(false);
        }
        self.renew(node, life)?;
        Ok(true)
    }

    fn renew(&mut self, node: u32, to: Life) -> Result<(), SessionError> {
        let turn = self.sending[node as usize].as_ref().map_or(0, |sending| sending.turn + 1);
        let material = material(&self.secret, (self.me, self.life), (node, to), turn)?;
        self.sending[node as usize] = Some(Sending { to, turn, keys: keys(Side::Client, &material)? });
        Ok(())
    }

    /// Seals a text, which must not be empty, for a node. [`SessionError::Unknown`] if this node was never met.
    pub(crate) fn seal(&mut self, node: u32, text: &[u8]) -> Result<Vec<u8>, SessionError> {
        let sending = self.sending[node as usize].as_ref().ok_or(SessionError::Unknown)?;
        if sending.keys.blocks_left(0).is_some_and(|left| left < WORN) {
            self.renew(node, sending.to)?;
        }
        let sending = self.sending[node as usize].as_mut().ok_or(SessionError::Unknown)?;
        let mut message = vec![1, self.me as u8, 0, 0];
        message.extend_from_slice(&sending.turn.to_be_bytes());
        message.extend_from_slice(&self.life);
        message.extend_from_slice(&[0; HEADER]);
        message.extend_from_slice(text);
        message.extend_from_slice(&[0; TAG]);
        sending.keys.seal(0, self.me, &mut message[HEAD..])?;
        Ok(message)
    }

    /// Opens a message: the node it is from, and its text.
    pub(crate) fn open<'a>(&mut self, message: &'a mut [u8]) -> Result<(u32, &'a [u8]), SessionError> {
        let (head, frame) = message.split_first_chunk_mut::<HEAD>().ok_or(SessionError::Short)?;
        let node = u32::from(head[1]);
        if head[0] != 1 || node >= NodeLayout::NODES || node == self.me {
            return Err(SessionError::Malformed);
        }
        let turn = head[4..8].iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
        let mut life = Life::default();
        life.copy_from_slice(&head[8..]);
        let receiving = &mut self.receiving[node as usize];
        match &mut receiving.now {
            Some((now, last, keys)) if (*now, *last) == (life, turn) => keys.open(0, frame)?,
            Some((now, last, _)) if *now == life && turn < *last => return Err(SessionError::Stale),
            _ if receiving.gone.contains(&life) => return Err(SessionError::Stale),
            before => {
                let material = material(&self.secret, (node, life), (self.me, self.life), turn)?;
                let mut keys = keys(Side::Server, &material)?;
                // Nothing changes for a message that anybody may have made
                keys.open(0, frame)?;
                if let Some((former, ..)) = before.replace((life, turn, keys)).filter(|(former, ..)| *former != life) {
                    receiving.gone.insert(former);
                }
            }
        }
        Ok((node, payload(frame)))
    }
}

/// A table of one session.
fn keys(side: Side, material: &Material) -> Result<Box<dyn Sessions>, SessionError> {
    let mut keys = table(Plan { side, secret: Some(Secret::random()?), ..Plan::new(SCHEME, 1) })?;
    keys.admit(0, 0, material)?;
    Ok(keys)
}

/// What keys of messages from one node to another are made of: HKDF with SHA-384.
fn material(secret: &[u8; 32], from: (u32, Life), to: (u32, Life), turn: u32) -> Result<Material, SessionError> {
    let suite = TLS13_AES_256_GCM_SHA384.tls13().ok_or(SessionError::NoRandom)?;
    let salt = [from.1, to.1].concat();
    let expander = suite.hkdf_provider.extract_from_secret(Some(&salt), secret);
    let numbers = [from.0, to.0, turn].map(u32::to_be_bytes).concat();
    let mut bytes = Zeroizing::new([0; Material::LEN]);
    expander.expand_slice(&[b"sealwright fleet ", &numbers], &mut bytes[..]).map_err(|_| SessionError::NoRandom)?;
    Ok(Material::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn node(me: u32) -> Links {
        Links::new(me, Zeroizing::new([7; 32])).unwrap()
    }

    fn meet(a: &mut Links, b: &Links) -> bool {
        a.meet(b.me, b.life()).unwrap()
    }

    #[test]
    fn messages_open_once_and_for_the_life_they_were_sealed_for() {
        let (mut a, mut b) = (node(1), node(2));
        assert_eq!(a.seal(2, b"nobody there").unwrap_err(), SessionError::Unknown);
        assert!(meet(&mut a, &b) && !meet(&mut a, &b));
        let first = a.seal(2, b"first").unwrap();
        assert_eq!(b.open(&mut first.clone()).unwrap(), (1, &b"first"[..]));
        assert_eq!(b.open(&mut first.clone()).unwrap_err(), SessionError::Replayed);
        let mut forged = a.seal(2, b"second").unwrap();
        forged[HEAD + HEADER] ^= 1;
        assert_eq!(b.open(&mut forged).unwrap_err(), SessionError::Forged);
        // B begins another life: neither what was sealed before nor its copy opens
        let mut anew = node(2);
        assert_eq!(anew.open(&mut first.clone()).unwrap_err(), SessionError::Forged);
        assert!(meet(&mut a, &anew));
        let third = a.seal(2, b"third").unwrap();
        assert_eq!(anew.open(&mut third.clone()).unwrap(), (1, &b"third"[..]));
        assert_eq!(b.open(&mut third.clone()).unwrap_err(), SessionError::Forged, "it is not for the old one");
        // And so does a
        let mut other = node(1);
        meet(&mut other, &anew);
        assert_eq!(anew.open(&mut other.seal(2, b"fourth").unwrap()).unwrap(), (1, &b"fourth"[..]));
        assert_eq!(anew.open(&mut a.seal(2, b"of the past").unwrap()).unwrap_err(), SessionError::Stale);
    }

    #[test]
    fn lives_that_come_and_go_never_bring_a_key_back() {
        let (mut a, b, c) = (node(1), node(2), node(2));
        meet(&mut a, &b);
        let before = a.seal(2, b"same").unwrap();
        meet(&mut a, &c);
        meet(&mut a, &b);
        let after = a.seal(2, b"same").unwrap();
        assert_ne!(before[HEAD + HEADER..], after[HEAD + HEADER..]);
        let mut b = b;
        b.open(&mut after.clone()).unwrap();
        assert_eq!(b.open(&mut before.clone()).unwrap_err(), SessionError::Stale, "an older turn");
    }

    #[test]
    fn what_is_no_message_is_refused_and_changes_nothing() {
        let (mut a, mut b) = (node(1), node(2));
        meet(&mut a, &b);
        let good = a.seal(2, b"good").unwrap();
        for length in 0..good.len() {
            assert!(b.open(&mut good[..length].to_vec()).is_err(), "{length}");
        }
        for bit in 0..good.len() * 8 {
            // The two bytes that say nothing
            if !(16..32).contains(&bit) {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(b.open(&mut bad).is_err(), "{bit}");
            }
        }
        assert_eq!(b.open(&mut good.clone()).unwrap(), (1, &b"good"[..]));
    }
}
