//! What the server sends to a new client.

use core::fmt;

use sealwright::block::CleanStack;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    material::{Flow, hidden},
    spec::Spec,
};

hidden!(Grant);

/// What the server sends to a new client: everything that it needs to seal and open. It contains the keys: send it
/// through TLS only.
///
/// ```
/// use sealwright_session::{Client, Grant, Material, Plan, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// let grant = relay.admit(7, 7, &Material::random()?)?;
/// let mut bytes = grant.to_bytes(); // through TLS
/// let received = Grant::from_bytes(&mut bytes).expect("a scheme of this build");
/// assert_eq!(Client::new(received).session(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Grant {
    pub(crate) spec: Spec,
    pub(crate) session: u32,
    pub(crate) epoch: u16,
    /// In a box, because moving it by value, for example through a queue, leaves copies behind.
    pub(crate) flows: Box<[Flow; 2]>,
}

// Each flow wipes itself; the rest is not secret.
impl ZeroizeOnDrop for Grant {}

impl Grant {
    /// Length of a grant in bytes.
    pub const LEN: usize = 8 + 2 * 76;

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// How many times the session's keys were replaced.
    pub fn epoch(&self) -> u16 {
        self.epoch
    }

    /// The scheme.
    pub fn spec(&self) -> Spec {
        self.spec
    }

    /// The grant's bytes, for this client only. Read them once and never store them: two clients made from them would
    /// use the same nonces.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::LEN]> {
        // Wipes the stack on return: a key exchange left the material there, below the frame of the code that sends the
        // grant.
        let _stack: CleanStack = CleanStack;
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        bytes[..2].copy_from_slice(&self.spec.id().to_be_bytes());
        bytes[2..4].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.session.to_be_bytes());
        for (bytes, flow) in bytes[8..].chunks_exact_mut(76).zip(self.flows.iter()) {
            bytes[..32].copy_from_slice(&flow.key);
            bytes[32..64].copy_from_slice(flow.secondary.as_flattened());
            bytes[64..68].copy_from_slice(&flow.prefix);
            bytes[68..].copy_from_slice(&flow.base.to_be_bytes());
        }
        bytes
    }

    /// Parses a grant and wipes the bytes, so that no second client is made from them. `None` if the scheme is unknown
    /// to this build, or if packet numbers would wrap before the keys are exhausted.
    pub fn from_bytes(bytes: &mut [u8; Self::LEN]) -> Option<Self> {
        let grant = Self::read(bytes);
        bytes.zeroize();
        grant
    }

    fn read(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let mut grant = Grant {
            spec: Spec::from_id(u16::from_be_bytes([bytes[0], bytes[1]]))?,
            epoch: u16::from_be_bytes([bytes[2], bytes[3]]),
            session: u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            flows: Default::default(),
        };
        for (bytes, flow) in bytes[8..].chunks_exact(76).zip(grant.flows.iter_mut()) {
            flow.key.copy_from_slice(&bytes[..32]);
            flow.secondary.as_flattened_mut().copy_from_slice(&bytes[32..64]);
            flow.prefix.copy_from_slice(&bytes[64..68]);
            let mut base = [0; 8];
            base.copy_from_slice(&bytes[68..]);
            flow.base = u64::from_be_bytes(base);
        }
        // A key encrypts at most 2^32 blocks and a packet has at least one, so there are at most 2^32 packets.
        let counts = |flow: &Flow| flow.base.checked_add(u64::from(u32::MAX)).is_some();
        grant.flows.iter().all(counts).then_some(grant)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn grant(bases: [u64; 2]) -> Grant {
        let mut flows = Box::<[Flow; 2]>::default();
        for ((i, flow), base) in (1..).zip(flows.iter_mut()).zip(bases) {
            flow.key = [i; 32];
            flow.secondary = [[16 + i; 16], [32 + i; 16]];
            flow.prefix = [48 + i; 4];
            flow.base = base;
        }
        Grant { spec: "gcm-on64-256".parse().unwrap(), session: 0x0102_0304, epoch: 0x0506, flows }
    }

    #[test]
    fn bytes_are_where_the_format_says() {
        let grant = grant([0x0102_0304_0506_0708, 9]);
        let bytes = grant.to_bytes();
        let flow = |i: u8, base: [u8; 8]| [&[i; 32][..], &[16 + i; 16], &[32 + i; 16], &[48 + i; 4], &base].concat();
        let head = [0x85, 0, 5, 6, 1, 2, 3, 4];
        let wanted = [&head[..], &flow(1, [1, 2, 3, 4, 5, 6, 7, 8]), &flow(2, [0, 0, 0, 0, 0, 0, 0, 9])].concat();
        assert_eq!(bytes[..], wanted);
        let mut read = bytes.clone();
        let again = Grant::from_bytes(&mut read).unwrap();
        assert_eq!(*read, [0; Grant::LEN], "they serve once");
        assert!(Grant::from_bytes(&mut read).is_none(), "what was never filled is no grant");
        assert_eq!((again.session(), again.epoch(), again.spec()), (0x0102_0304, 0x0506, grant.spec));
        assert_eq!(again.to_bytes(), bytes);
        let mut unknown = bytes;
        unknown[0] = 0x7f;
        assert!(Grant::from_bytes(&mut unknown).is_none());
    }

    /// A relay's grant is untrusted input: packet numbers that wrap would repeat nonces of another epoch.
    #[test]
    fn numbers_that_would_wrap_are_refused() {
        let last = u64::MAX - u64::from(u32::MAX);
        for (bases, may) in
            [([last, last], true), ([last + 1, 0], false), ([0, last + 1], false), ([u64::MAX, 0], false)]
        {
            assert_eq!(Grant::from_bytes(&mut grant(bases).to_bytes()).is_some(), may, "{bases:x?}");
        }
        let mut client = crate::Client::new(Grant::from_bytes(&mut grant([last, last]).to_bytes()).unwrap());
        client.seal(1, b"a packet").unwrap();
    }
}
