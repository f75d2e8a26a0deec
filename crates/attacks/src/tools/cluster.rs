//! A server with one cluster of two clients: an honest one, and an insider, the attacker.

use sealwright::Block;
use sealwright_session::{Client, Grant, Material, Plan, SessionError, Sessions, Spec, frame, table};

use super::{
    aes::{Rounds, unmix},
    ghash::{ghash, number},
    xor,
};
use crate::attack::Cost;

/// The slots of the honest client and of the insider.
const VICTIM: u32 = 3;
const INSIDER: u32 = 4;

/// The server, its honest client, and what the insider knows.
pub(crate) struct Cluster {
    pub(crate) server: Box<dyn Sessions>,
    pub(crate) victim: Client,
    /// The main key of the way up, as the insider's own grant tells it: under GSCM the whole cluster's.
    main_key: Vec<u8>,
    /// The victim's K2, for reduced runs.
    secret: Option<Block>,
    first: Block,
}

/// What an insider has: its own keys, and frames of the victim.
pub(crate) struct Capture {
    /// The main key of the way up, as the insider's own grant tells it: under GSCM the whole cluster's.
    pub(crate) main_key: Vec<u8>,
    /// A frame whose text the insider knows, with that text.
    pub(crate) known: Option<(Seen, Vec<u8>)>,
    /// Frames of the victim, one number after the other.
    pub(crate) seen: Vec<Seen>,
    /// What the victim sealed in each. They are looked at in the end, to see whether the attacker reads them.
    pub(crate) texts: Vec<Vec<u8>>,
    /// For reduced runs only: the victim's K2, or none if the scheme has none.
    pub(crate) secret: Option<Block>,
}

/// 256 counter blocks that differ in one byte, and their encryptions by the victim's cipher.
pub(crate) struct SquareSet {
    pub(crate) inputs: Vec<Block>,
    pub(crate) outputs: Vec<Block>,
}

impl Capture {
    /// The round keys that the insider knows.
    pub(crate) fn rounds(&self) -> Rounds {
        Rounds::expand(&self.main_key)
    }

    /// The tag masks of 256 consecutive frames, provided that the insider's GHASH key is the victim's too.
    pub(crate) fn of_masks(&self) -> SquareSet {
        let h = number(&self.rounds().encrypt(&[0; 16]));
        SquareSet {
            inputs: self.seen.iter().map(|seen| seen.counter(1)).collect(),
            outputs: self.seen.iter().map(|seen| mask(h, seen).to_be_bytes()).collect(),
        }
    }

    /// Blocks 256 to 511 of the keystream under which the known text was sealed.
    pub(crate) fn of_known_text(&self) -> Option<SquareSet> {
        let (seen, text) = self.known.as_ref()?;
        let stream = xor(&seen.ciphertext, text);
        // The first block of a text has the counter 2.
        let outputs = stream.as_chunks().0.get(254..510)?.to_vec();
        Some(SquareSet { inputs: (256..512).map(|n| seen.counter(n)).collect(), outputs })
    }

    /// For reduced runs only, before MixColumns: the victim's K2, or round key `x` if the scheme has no K2.
    pub(crate) fn secret_column_keys(&self, x: usize) -> Block {
        unmix(&self.secret.unwrap_or(self.rounds().0[x]))
    }
}

/// The secret part of a grant's way up: K2, if the scheme has one.
pub(crate) fn second_key(grant: &Grant) -> Option<Block> {
    grant.spec().clustered().then(|| grant.to_bytes()[56..72].try_into().expect("16 bytes"))
}

/// The main key of a grant's way up.
pub(crate) fn main_key(grant: &Grant) -> Vec<u8> {
    grant.to_bytes()[8..][..grant.spec().key_len()].to_vec()
}

/// The payload of a frame with these data.
fn payload(data: &[u8]) -> Vec<u8> {
    frame::payload(&frame::unsealed(9, data)).to_vec()
}

/// The mask of a tag under a GHASH key.
fn mask(h: u128, seen: &Seen) -> u128 {
    number(&seen.tag) ^ ghash(h, &seen.header, &seen.ciphertext)
}

/// A frame that was seen on the wire.
pub(crate) struct Seen {
    pub(crate) header: [u8; frame::HEADER],
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) tag: Block,
}

impl Seen {
    pub(crate) fn of(sealed: &[u8]) -> Seen {
        let (header, tag) = sealed.split_at(sealed.len() - frame::TAG);
        let (header, text) = header.split_at(frame::HEADER);
        Seen {
            header: header.try_into().expect("a header"),
            ciphertext: text.to_vec(),
            tag: tag.try_into().expect("a tag"),
        }
    }

    /// The packet's number: the IV, in GSCM.
    pub(crate) fn number(&self) -> u64 {
        u64::from_be_bytes(self.header[8..].try_into().expect("eight bytes"))
    }

    /// One of its counter blocks, with 0 for the nonce: an unknown nonce is treated as part of K1.
    pub(crate) fn counter(&self, n: u32) -> Block {
        let mut block = [0; 16];
        block[4..12].copy_from_slice(&self.number().to_be_bytes());
        block[12..].copy_from_slice(&n.to_be_bytes());
        block
    }

    /// The payload, under these round keys.
    pub(crate) fn decrypt(&self, keys: &Rounds) -> Vec<u8> {
        let keystream = (2..).flat_map(|n| keys.encrypt(&self.counter(n)));
        self.ciphertext.iter().zip(keystream).map(|(c, k)| c ^ k).collect()
    }

    /// The frame's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [&self.header[..], &self.ciphertext, &self.tag].concat()
    }
}

impl Cluster {
    /// Admits both. A repeatable run needs a seed.
    pub(crate) fn new(scheme: &str, seed: u8) -> Result<Cluster, SessionError> {
        let spec: Spec = scheme.parse().expect("a scheme");
        let mut server = table(Plan::new(spec, 16))?;
        let material = |slot: u32| Material::from_bytes(&[seed ^ slot as u8; Material::LEN]);
        let victim = server.admit(VICTIM, VICTIM, &material(VICTIM))?;
        let secret = second_key(&victim);
        let told = victim.to_bytes();
        let mut first: Block = told[40..56].try_into().expect("16 bytes");
        first.iter_mut().zip(&told[72..76]).for_each(|(key, nonce)| *key ^= nonce);
        let victim = Client::new(victim);
        let main_key = main_key(&server.admit(INSIDER, INSIDER, &material(INSIDER))?);
        Ok(Cluster { server, victim, main_key, secret, first })
    }

    /// The round keys that the insider knows.
    pub(crate) fn rounds(&self) -> Rounds {
        Rounds::expand(&self.main_key)
    }

    /// The GHASH key that the insider knows.
    pub(crate) fn h(&self) -> u128 {
        number(&self.rounds().encrypt(&[0; 16]))
    }

    /// The mask of a packet's tag, if the insider's GHASH key is the victim's too.
    pub(crate) fn mask(&self, h: u128, seen: &Seen) -> u128 {
        mask(h, seen)
    }

    /// Captures packets of the victim until 256 consecutive ones have numbers that differ only in the last byte.
    pub(crate) fn capture(mut self, cost: &mut Cost) -> Result<Capture, SessionError> {
        let (mut seen, mut texts): (Vec<Seen>, Vec<Vec<u8>>) = Default::default();
        while seen.len() < 256 {
            let data = format!("secret number {}", cost.queries).into_bytes();
            let packet = Seen::of(&self.victim.seal(9, &data)?);
            cost.queries += 1;
            if !seen.is_empty() || packet.number().is_multiple_of(256) {
                texts.push(payload(&data));
                seen.push(packet);
            }
        }
        Ok(Capture { main_key: self.main_key, known: None, seen, texts, secret: self.secret })
    }

    /// A packet with a known text of 510 blocks, and one whose text the insider does not know.
    pub(crate) fn capture_known(mut self, cost: &mut Cost) -> Result<Capture, SessionError> {
        let [known, secret] = [vec![b'.'; 510 * 16], b"a text that nobody has told".to_vec()];
        let [first, second] = [Seen::of(&self.victim.seal(9, &known)?), Seen::of(&self.victim.seal(9, &secret)?)];
        cost.queries += 2;
        Ok(Capture {
            main_key: self.main_key,
            known: Some((first, payload(&known))),
            seen: vec![second],
            texts: vec![payload(&secret)],
            secret: self.secret,
        })
    }

    /// The victim's K1, combined with its nonce, for an attack that starts from it.
    pub(crate) fn leaked_first_key(&self) -> Block {
        self.first
    }

    /// The payload of a frame, if the server accepts it as the victim's.
    pub(crate) fn accepts(&mut self, sealed: &[u8]) -> Option<Vec<u8>> {
        let mut sealed = sealed.to_vec();
        self.server.open(VICTIM, &mut sealed).ok().map(|()| frame::payload(&sealed).to_vec())
    }
}
