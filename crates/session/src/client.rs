//! The client's end of one session.

use core::fmt;

use sealwright::{Aead, Block, Isa, Suite, block::CleanStack, mode::multi_key::Schedule};
use zeroize::Zeroize;

use crate::{
    error::SessionError,
    frame::{self, FrameKind, HEADER, Header},
    ghash::Hash,
    grant::Grant,
    material::{Direction, Flow},
    packet::{Keyed, Packet, blocks},
    replay::Ring,
    scheme::{INVARIANT, Stream},
    spec::SchemeKind,
};

/// The keys of one direction. Boxed, because moving a client, as a growing vector does, would leave copies behind.
enum Keys {
    /// None: in the clear.
    Clear,
    /// Standard AES-GCM, with the powers of its GHASH key.
    Own(Box<dyn Aead>),
    /// The round keys of a cluster, two of which are replaced by this client's, and the GHASH key.
    Replaced(Box<(Schedule, Block)>),
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Keys::Replaced(keys) = self {
            keys.1.zeroize();
        }
    }
}

impl Keys {
    fn new(isa: Isa, grant: &Grant, flow: &Flow) -> Keys {
        let spec = grant.spec;
        let key = &flow.key[..spec.key_len()];
        if spec.kind == SchemeKind::Clear {
            return Keys::Clear;
        }
        let Some(second) = spec.second() else {
            let suite = if key.len() == 16 { Suite::Aes128Gcm } else { Suite::Aes256Gcm };
            return Keys::Own(suite.aead_at(isa, key).expect(INVARIANT));
        };
        let shared = Schedule::expand(isa, key).expect(INVARIANT);
        let schedule = shared.clone().replaced(0, &flow.secondary[0]).replaced(second, &flow.secondary[1]);
        let h = if spec.hashes_by_cluster() { shared.hash_key(isa) } else { schedule.hash_key(isa) };
        Keys::Replaced(Box::new((schedule, h)))
    }

    /// Seals a packet; returns the tag, which is zero without encryption.
    fn seal(&self, isa: Isa, packet: Packet<'_>) -> Block {
        match self {
            Keys::Clear => [0; 16],
            Keys::Own(key) => {
                let Packet { nonce, ad, text } = packet;
                let tag = key.seal_in_place(nonce, ad, text).expect(INVARIANT);
                tag.as_ref().try_into().expect(INVARIANT)
            }
            Keys::Replaced(keys) => keyed(keys).seal(isa, packet),
        }
    }

    /// Opens a packet; if the tag does not match, the text is wiped.
    fn open(&self, isa: Isa, packet: Packet<'_>, tag: &Block) -> bool {
        match self {
            Keys::Clear => {
                let genuine = *tag == [0; 16];
                if !genuine {
                    packet.text.fill(0);
                }
                genuine
            }
            Keys::Own(key) => key.open_in_place(packet.nonce, packet.ad, packet.text, tag).is_ok(),
            Keys::Replaced(keys) => keyed(keys).open(isa, packet, tag),
        }
    }
}

fn keyed(keys: &(Schedule, Block)) -> Keyed<'_> {
    Keyed { schedule: keys.0.clone(), hash: Hash::WithKey(&keys.1) }
}

/// One direction, with its keys ready.
struct DirectionKeys {
    keys: Keys,
    stream: Stream,
    blocks: u32,
    packets: u32,
}

impl DirectionKeys {
    fn new(isa: Isa, grant: &Grant, flow: &Flow) -> Self {
        let stream = Stream { prefix: flow.prefix, base: flow.base };
        DirectionKeys { keys: Keys::new(isa, grant, flow), stream, blocks: 0, packets: 0 }
    }
}

/// The client's end of a session: seals data for other clients, sent through the relay, and opens data from them.
///
/// ```
/// use sealwright_session::{Client, Material, Plan, Spec, frame, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse::<Spec>()?, 1000))?;
/// let [mut alice, mut bob] = [7, 8].map(|slot| {
///     // The grant travels within TLS.
///     let grant = relay.admit(slot, slot, &Material::random().unwrap()).unwrap();
///     Client::new(grant)
/// });
/// let mut frame = alice.seal(8, b"hello, bob")?;
///
/// relay.open(7, &mut frame)?;
/// let (to, _) = frame::address(frame::payload(&frame)).unwrap();
/// frame[16..20].copy_from_slice(&7u32.to_be_bytes()); // bob is to know whom it is from
/// relay.seal(to, to, &mut frame)?;
///
/// assert_eq!(bob.open(&mut frame)?, (7, &b"hello, bob"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Client {
    isa: Isa,
    session: u32,
    epoch: u16,
    up: DirectionKeys,
    down: DirectionKeys,
    highest: u32,
    seen: Box<[u8; Client::RING_BYTES]>,
    _stack: CleanStack,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("session", &self.session).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

impl Client {
    /// Bytes of the replay ring: a window of 8,184 packets.
    const RING_BYTES: usize = 1024;

    /// A new session. It consumes the grant, because two clients made from one would use the same nonces. So would a
    /// forked process, and one restored from a snapshot of itself or of its virtual machine.
    pub fn new(grant: Grant) -> Self {
        Self::at(Isa::best(), grant)
    }

    /// The same, at a level of your choice.
    ///
    /// ```
    /// use sealwright_session::{Client, Isa, Material, Plan, table};
    ///
    /// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
    /// let mut client = Client::at("portable".parse::<Isa>()?, relay.admit(7, 7, &Material::random()?)?);
    /// relay.open(7, &mut client.seal(8, b"hello")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(isa: Isa, grant: Grant) -> Self {
        let [up, down] =
            Direction::BOTH.map(|direction| DirectionKeys::new(isa, &grant, &grant.flows[direction as usize]));
        Client {
            isa,
            session: grant.session,
            epoch: grant.epoch,
            up,
            down,
            highest: 0,
            seen: Box::new(Ring::new()),
            _stack: CleanStack,
        }
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// How many of 2^32 blocks the keys may still encrypt, in the direction that has fewer left.
    pub fn blocks_left(&self) -> u64 {
        u64::from(u32::MAX - self.up.blocks.max(self.down.blocks))
    }

    /// Seals data for the client `to`; returns the frame.
    ///
    /// # Errors
    /// [`SessionError::Oversize`], [`SessionError::Exhausted`].
    #[doc(alias("encrypt", "plaintext"))]
    pub fn seal(&mut self, to: u32, data: &[u8]) -> Result<Vec<u8>, SessionError> {
        if data.len() > frame::MAX_PAYLOAD - frame::ADDRESS {
            return Err(SessionError::Oversize);
        }
        // Checked before the frame is made, so that a refused frame leaves no copy of the data.
        let up = &mut self.up;
        up.blocks = up.blocks.checked_add(blocks(frame::ADDRESS + data.len())).ok_or(SessionError::Exhausted)?;
        let mut frame = frame::unsealed(to, data);
        let (ad, text, tag) = frame::parts(&mut frame)?;
        up.packets += 1;
        let seq = up.stream.base + u64::from(up.packets);
        let phase = (self.epoch & 15) as u8;
        *ad = Header { kind: FrameKind::Data, phase, len: text.len() as u16, session: self.session, seq }.write();
        *tag = up.keys.seal(self.isa, Packet { nonce: &up.stream.nonce(seq), ad, text });
        Ok(frame)
    }

    /// Opens a frame in place; returns the sender's session and the data.
    ///
    /// # Errors
    /// [`SessionError`]; the plaintext is then not in the frame.
    #[doc(alias("decrypt", "ciphertext"))]
    pub fn open<'a>(&mut self, frame: &'a mut [u8]) -> Result<(u32, &'a [u8]), SessionError> {
        let (ad, text, tag) = frame::parts(frame)?;
        let header = Header::read(ad).map_err(|_| SessionError::Malformed)?;
        if usize::from(header.len) != text.len() {
            return Err(SessionError::Short);
        }
        if header.session != self.session {
            return Err(SessionError::Unknown);
        }
        if u16::from(header.phase) != self.epoch & 15 {
            return Err(SessionError::Stale);
        }
        let down = &mut self.down;
        let n = u32::try_from(header.seq.wrapping_sub(down.stream.base)).map_err(|_| SessionError::Stale)?;
        if !self.seen.is_new(self.highest, n) {
            return Err(SessionError::Replayed);
        }
        let after = down.blocks.checked_add(blocks(text.len())).ok_or(SessionError::Exhausted)?;
        let packet = Packet { nonce: &down.stream.nonce(header.seq), ad, text };
        let genuine = down.keys.open(self.isa, packet, tag);
        if !genuine {
            return Err(SessionError::Forged);
        }
        down.blocks = after;
        self.highest = self.seen.mark(self.highest, n);
        let text = HEADER..frame.len() - frame::TAG;
        if text.len() < frame::ADDRESS {
            // Authentic, but not a frame from a relay: its plaintext is not returned.
            frame[text].fill(0);
            return Err(SessionError::Short);
        }
        frame::address(&frame[text]).ok_or(SessionError::Short)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Material, Plan, table};

    #[test]
    fn a_client_whose_keys_are_used_up_seals_nothing() {
        let mut relay = table(Plan::new("gcm-on64".parse().unwrap(), 4)).unwrap();
        let mut client = Client::new(relay.admit(1, 1, &Material::random().unwrap()).unwrap());
        client.up.blocks = u32::MAX - 2;
        // An address of 4 bytes, and a tag's block.
        assert_eq!(client.seal(1, &[7; 13]), Err(SessionError::Exhausted));
        assert_eq!((client.up.blocks, client.up.packets), (u32::MAX - 2, 0), "what is refused takes nothing");
        let mut last = client.seal(1, &[7; 12]).unwrap();
        assert_eq!((client.blocks_left(), client.seal(1, b"")), (0, Err(SessionError::Exhausted)));
        relay.open(1, &mut last).unwrap();
    }

    #[test]
    fn what_is_refused_in_the_clear_is_not_read_either() {
        let mut relay = table(Plan::new("clear".parse().unwrap(), 4)).unwrap();
        let mut client = Client::new(relay.admit(1, 1, &Material::random().unwrap()).unwrap());
        let (mut up, mut down) = (client.seal(1, b"a stranger's").unwrap(), frame::unsealed(1, b"a stranger's"));
        relay.seal(1, 1, &mut down).unwrap();
        for frame in [&mut up, &mut down] {
            *frame.last_mut().unwrap() ^= 1;
        }
        assert_eq!(relay.open(1, &mut up), Err(SessionError::Forged));
        assert_eq!(client.open(&mut down), Err(SessionError::Forged));
        assert!([up, down].iter().all(|frame| frame::payload(frame).iter().all(|&byte| byte == 0)));
    }
}
