//! What a client is told of its session.

use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{
    material::{Flow, hidden},
    spec::Spec,
};

hidden!(Grant);

/// What a client is told of its session: all it needs to seal and open. It holds the keys: send it through TLS only.
///
/// ```
/// use sealwright_session::{Client, Grant, Material, Plan, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// let grant = relay.admit(7, 7, &Material::random()?)?;
/// let bytes = grant.to_bytes(); // through TLS
/// let received = Grant::from_bytes(&bytes).expect("a scheme of this build");
/// assert_eq!(Client::new(&received).session(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Grant {
    pub(crate) spec: Spec,
    pub(crate) session: u32,
    pub(crate) epoch: u16,
    pub(crate) flows: [Flow; 2],
}

// Each flow wipes itself; the rest is not secret.
impl ZeroizeOnDrop for Grant {}

impl Grant {
    /// Bytes of a grant.
    pub const LEN: usize = 8 + 2 * 76;

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// How many times the session's keys were made anew.
    pub fn epoch(&self) -> u16 {
        self.epoch
    }

    /// The scheme.
    pub fn spec(&self) -> Spec {
        self.spec
    }

    /// The grant's bytes.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::LEN]> {
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        bytes[..2].copy_from_slice(&self.spec.id().to_be_bytes());
        bytes[2..4].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.session.to_be_bytes());
        for (bytes, flow) in bytes[8..].chunks_exact_mut(76).zip(&self.flows) {
            bytes[..32].copy_from_slice(&flow.key);
            bytes[32..64].copy_from_slice(flow.secondary.as_flattened());
            bytes[64..68].copy_from_slice(&flow.prefix);
            bytes[68..].copy_from_slice(&flow.base.to_be_bytes());
        }
        bytes
    }

    /// Reads a grant; none if it is of a scheme unknown here.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let mut grant = Grant {
            spec: Spec::from_id(u16::from_be_bytes([bytes[0], bytes[1]]))?,
            epoch: u16::from_be_bytes([bytes[2], bytes[3]]),
            session: u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            flows: Default::default(),
        };
        for (bytes, flow) in bytes[8..].chunks_exact(76).zip(&mut grant.flows) {
            flow.key.copy_from_slice(&bytes[..32]);
            flow.secondary.as_flattened_mut().copy_from_slice(&bytes[32..64]);
            flow.prefix.copy_from_slice(&bytes[64..68]);
            let mut base = [0; 8];
            base.copy_from_slice(&bytes[68..]);
            flow.base = u64::from_be_bytes(base);
        }
        Some(grant)
    }
}
