//! The sources of keys: what client and server agree on, and what only the server knows.

use core::fmt;

use sealwright::{Block, Isa, mode::multi_key::Schedule};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::SessionError;

/// One of the two directions of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the client to the server.
    Up = 0,
    /// From the server to the client.
    Down = 1,
}

impl Direction {
    pub(crate) const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];
}

/// Which end of its sessions a table represents.
///
/// ```
/// use sealwright_session::{Plan, Side};
///
/// let clients = Plan::new("gcm-on64".parse()?, 1000).side(Side::Client); // a thousand clients in one program
/// assert_eq!(Side::default(), Side::Server);
/// # Ok::<(), sealwright_session::UnknownSchemeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The server's end.
    #[default]
    Server,
    /// The clients' ends, for a load generator.
    Client,
}

impl Side {
    /// The directions in which this end receives and sends.
    pub(crate) fn directions(self) -> [Direction; 2] {
        match self {
            Side::Server => [Direction::Up, Direction::Down],
            Side::Client => [Direction::Down, Direction::Up],
        }
    }
}

/// The secret from which both ends of a session derive their keys: random, or from a key exchange between them. Wiped
/// when dropped.
///
/// For each direction 32 bytes of key, 8 of IV and 4 of nonce; a scheme uses what it needs.
///
/// ```
/// use sealwright_session::Material;
///
/// let exported = [7; Material::LEN]; // of a TLS connection: `export_keying_material`
/// let material = Material::from_bytes(&exported);
/// let without_tls = Material::random()?;
/// # Ok::<(), sealwright_session::SessionError>(())
/// ```
#[derive(Clone)]
// In a box, because moving it by value, for example through a queue, leaves copies behind.
pub struct Material(Box<[u8; Material::LEN]>);

impl Drop for Material {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
impl ZeroizeOnDrop for Material {}

impl Material {
    /// Its length in bytes.
    pub const LEN: usize = 88;

    /// New material from the operating system's random source.
    ///
    /// # Errors
    /// [`SessionError::NoRandomness`] if the random source fails.
    pub fn random() -> Result<Self, SessionError> {
        let mut material = Material(Box::new([0; Self::LEN]));
        getrandom::fill(&mut *material.0).map_err(|_| SessionError::NoRandomness)?;
        Ok(material)
    }

    /// The output of a key exchange, such as the exporter of TLS (RFC 8446, 7.5). It must never be used twice.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let mut material = Material(Box::new([0; Self::LEN]));
        material.0.copy_from_slice(bytes);
        material
    }

    /// The key of one direction, of at most 32 bytes.
    pub(crate) fn key(&self, direction: Direction) -> &[u8] {
        &self.0[32 * direction as usize..][..32]
    }

    /// The IV of one direction. Its highest bit is zero, so that it never wraps during the life of a key.
    pub(crate) fn iv(&self, direction: Direction) -> u64 {
        let mut iv = [0; 8];
        iv.copy_from_slice(&self.0[64 + 8 * direction as usize..][..8]);
        u64::from_be_bytes(iv) >> 1
    }

    /// The nonce of one direction.
    pub(crate) fn nonce(&self, direction: Direction) -> [u8; 4] {
        let mut nonce = [0; 4];
        nonce.copy_from_slice(&self.0[80 + 4 * direction as usize..][..4]);
        nonce
    }
}

/// The secret of a server, from which it derives keys that clients do not contribute. Wiped when dropped.
///
/// ```
/// use sealwright_session::{Plan, Secret, table};
///
/// let plan = Plan::new("gcm-derived".parse()?, 1000).secret(Secret::random()?);
/// assert_eq!(table(plan)?.memory().record, 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
// In a box, like `Material`.
pub struct Secret(Box<[u8; 32]>);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
impl ZeroizeOnDrop for Secret {}

impl Secret {
    /// A new secret from the operating system's random source.
    ///
    /// # Errors
    /// [`SessionError::NoRandomness`] if the random source fails.
    pub fn random() -> Result<Self, SessionError> {
        let mut secret = Secret(Box::new([0; 32]));
        getrandom::fill(&mut *secret.0).map_err(|_| SessionError::NoRandomness)?;
        Ok(secret)
    }

    /// A known secret: for a load generator that acts as the clients of a table.
    pub fn from_bytes(mut bytes: [u8; 32]) -> Self {
        let secret = Secret(Box::new(bytes));
        bytes.zeroize();
        secret
    }

    /// The AES-256 key schedule of this secret, for counter mode.
    pub(crate) fn schedule(&self, isa: Isa) -> Schedule {
        Schedule::expand(isa, &self.0[..]).expect("a secret has 32 bytes")
    }
}

macro_rules! hidden {
    ($($type:ident),*) => {
        $(impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        })*
    };
}
pub(crate) use hidden;
hidden!(Material, Secret, Flow);

/// The counter block whose encryption is key number `j` of a client (the paper's counter mode, 2.3).
pub(crate) fn counter(purpose: u8, of: u32, epoch: u32, direction: Direction, j: u8) -> Block {
    let mut block = [0; 16];
    block[0] = purpose;
    block[1] = direction as u8;
    block[2] = j;
    block[4..8].copy_from_slice(&of.to_be_bytes());
    block[8..12].copy_from_slice(&epoch.to_be_bytes());
    block
}

/// The purposes of keys made by counter mode, so that no two of them use the same counter block.
pub(crate) mod purpose {
    pub(crate) const DERIVED: u8 = 1;
    pub(crate) const SECONDARY: u8 = 2;
    pub(crate) const CLUSTER: u8 = 3;
}

/// One direction of a session, as known to both ends.
#[derive(Clone, Default)]
pub(crate) struct Flow {
    /// The key, or the cluster's main key: 16 bytes of it, or all 32.
    pub(crate) key: [u8; 32],
    /// K1 and K2 of AES2S.
    pub(crate) secondary: [Block; 2],
    /// The first 4 bytes of each nonce.
    pub(crate) prefix: [u8; 4],
    /// The number of the packet before the first.
    pub(crate) base: u64,
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.key.zeroize();
        self.secondary.zeroize();
        self.prefix.zeroize();
        self.base.zeroize();
    }
}
impl ZeroizeOnDrop for Flow {}
