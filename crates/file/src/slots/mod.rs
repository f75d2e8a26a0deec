//! Slots: one file key, held for several keys, each of which opens the file.
//!
//! A slot holds the file key, sealed under a key of its own (a slot key), which only the holder of one raw key,
//! passphrase or secret key can derive. A slot does not reveal whose it is, except for RSA: see
//! [`format`](mod@crate::format). A MAC under the file key covers the whole header, so that only a holder of the file
//! key can add, remove or change slots; the body does not depend on them, so it does not change.
//!
//! ```
//! use sealwright_file::{Input, Key, KeySource, Output, Recipient, Sealing, Shared, inspect, slots::SlotKind};
//!
//! let recipients = [Recipient::Key(Key::generate(sealwright_file::Suite::Aes256Gcm)?)];
//! let mut sealed = Shared::default();
//! Sealing::for_recipients(&recipients).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
//! if let KeySource::Recipients(slots) = inspect(Input::bytes(sealed.take(), "sealed"))?.preamble.source {
//!     let kinds: Vec<_> = slots.iter().map(|slot| slot.kind()).collect();
//!     assert_eq!(kinds, [&SlotKind::Raw]); // how many of which kind, but not whose
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;
mod wrap;

use std::io::Read;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::Suite;
use sealwright_stream::hkdf_expand;
use sha2::Sha512;
use subtle::ConstantTimeEq;
use wrap::{WRAPPED, unwrap, wrap};
use zeroize::Zeroizing;

use crate::{
    costs::Costs,
    error::{Error, Flaw, KeyKind},
    secret::{Secret, random},
};

/// Bytes of a file key.
pub(crate) const FILE_KEY: usize = 32;
/// Bytes of the salt under a passphrase.
pub const PASSPHRASE_SALT: usize = 16;
/// Bytes of the MAC behind the slots.
pub const MAC: usize = 32;
/// The longest slots and MAC together, in bytes.
pub const MAX_SLOTS: usize = 65_536;
/// A file may have so many slots for passphrases. Each costs a reader with a passphrase an Argon2 run.
pub const MAX_PASSPHRASES: usize = 8;
/// Bytes of an X-Wing encapsulation.
pub(crate) const ENCAPSULATED: usize = 1120;
/// Bytes of a slot's mark.
pub(crate) const MARK: usize = 16;
/// Bytes before a slot's content: type, a zero byte, length.
const SLOT_HEAD: usize = 4;

const RAW: u8 = 1;
const PASSPHRASE: u8 = 2;
const PUBLIC: u8 = 3;
const SSH_ED25519: u8 = 4;
const SSH_RSA: u8 = 5;
/// Lengths of RSA ciphertexts: moduli of 2048 to 8192 bits.
const RSA_LENGTHS: std::ops::RangeInclusive<usize> = 256..=1024;

/// What opens a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlotKind {
    /// A raw key.
    Raw,
    /// A passphrase.
    Passphrase {
        /// What trying one costs.
        costs: Costs,
        /// Its salt.
        salt: [u8; PASSPHRASE_SALT],
    },
    /// A secret key.
    Public {
        /// An encapsulation to its public key.
        encapsulated: Box<[u8; ENCAPSULATED]>,
        /// Tells the holder of the file key which public key it is.
        mark: [u8; 16],
    },
    /// The secret key of an SSH key pair, ed25519.
    SshEd25519 {
        /// As for secret keys.
        mark: [u8; 16],
        /// The sender's share of an X25519 key exchange.
        share: [u8; 32],
    },
    /// The secret key of an SSH key pair, RSA.
    SshRsa {
        /// As for secret keys.
        mark: [u8; 16],
        /// The slot key, encrypted.
        encrypted: Vec<u8>,
    },
    /// A type that this build does not know. It is kept.
    Unknown {
        /// Its type.
        id: u8,
        /// Its content.
        content: Vec<u8>,
    },
}

/// One slot.
///
/// ```
/// use sealwright_file::{Input, Key, KeySource, Output, Recipient, Sealing, Shared, inspect, slots::{Slot, Slots}};
///
/// fn kinds(slots: &Slots) -> Vec<String> {
///     slots.iter().map(|slot: &Slot| format!("{:?}", slot.kind())).collect()
/// }
/// let recipients = [Recipient::Key(Key::generate(sealwright_file::Suite::Aes256Gcm)?)];
/// let mut sealed = Shared::default();
/// Sealing::for_recipients(&recipients).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// if let KeySource::Recipients(slots) = inspect(Input::bytes(sealed.take(), "sealed"))?.preamble.source {
///     assert_eq!(kinds(&slots), ["Raw"]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    kind: SlotKind,
    /// The file key, sealed; empty for unknown types.
    wrapped: Vec<u8>,
}

/// The slots of a file, and the MAC over them.
///
/// ```
/// use sealwright_file::{Input, Key, KeySource, Output, Recipient, Sealing, Shared, inspect, slots::{Slot, Slots}};
///
/// fn kinds(slots: &Slots) -> Vec<String> {
///     slots.iter().map(|slot: &Slot| format!("{:?}", slot.kind())).collect()
/// }
/// let recipients = [Recipient::Key(Key::generate(sealwright_file::Suite::Aes256Gcm)?)];
/// let mut sealed = Shared::default();
/// Sealing::for_recipients(&recipients).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// if let KeySource::Recipients(slots) = inspect(Input::bytes(sealed.take(), "sealed"))?.preamble.source {
///     assert_eq!(kinds(&slots), ["Raw"]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    slots: Vec<Slot>,
    mac: [u8; MAC],
}

/// The part of the preamble that never changes, to which all slots of a file are bound.
pub(crate) type Fixed = [u8; 12];

impl SlotKind {
    /// Its name, as `sealwright inspect --json` and the bindings have it: "raw", "passphrase", "public", "ssh-ed25519",
    /// "ssh-rsa" or "unknown".
    pub fn name(&self) -> &'static str {
        match self {
            SlotKind::Raw => "raw",
            SlotKind::Passphrase { .. } => "passphrase",
            SlotKind::Public { .. } => "public",
            SlotKind::SshEd25519 { .. } => "ssh-ed25519",
            SlotKind::SshRsa { .. } => "ssh-rsa",
            SlotKind::Unknown { .. } => "unknown",
        }
    }

    fn id(&self) -> u8 {
        match self {
            SlotKind::Raw => RAW,
            SlotKind::Passphrase { .. } => PASSPHRASE,
            SlotKind::Public { .. } => PUBLIC,
            SlotKind::SshEd25519 { .. } => SSH_ED25519,
            SlotKind::SshRsa { .. } => SSH_RSA,
            SlotKind::Unknown { id, .. } => *id,
        }
    }

    /// The kind of key that opens the slot; `None` if the slot is of an unknown type.
    pub fn key_kind(&self) -> Option<KeyKind> {
        match self {
            SlotKind::Raw => Some(KeyKind::Raw),
            SlotKind::Passphrase { .. } => Some(KeyKind::Passphrase),
            SlotKind::Public { .. } | SlotKind::SshEd25519 { .. } | SlotKind::SshRsa { .. } => Some(KeyKind::Secret),
            SlotKind::Unknown { .. } => None,
        }
    }

    /// The mark by which the holder of the file key recognises for whom the slot is; `None` for slots without one.
    #[cfg(feature = "public-keys")]
    pub(crate) fn mark(&self) -> Option<&[u8; MARK]> {
        match self {
            SlotKind::Public { mark, .. } | SlotKind::SshEd25519 { mark, .. } | SlotKind::SshRsa { mark, .. } => {
                Some(mark)
            }
            _ => None,
        }
    }

    /// The slot's content before the wrapped file key.
    fn parameters(&self) -> Vec<u8> {
        match self {
            SlotKind::Raw => Vec::new(),
            SlotKind::Passphrase { costs, salt } => costs.to_bytes().into_iter().chain(*salt).collect(),
            SlotKind::Public { encapsulated, mark } => mark.iter().chain(encapsulated.iter()).copied().collect(),
            SlotKind::SshEd25519 { mark, share } => mark.iter().chain(share).copied().collect(),
            SlotKind::SshRsa { mark, encrypted } => mark.iter().chain(encrypted).copied().collect(),
            SlotKind::Unknown { content, .. } => content.clone(),
        }
    }
}

impl Slot {
    /// A slot of `kind` that holds `file_key`, sealed under `slot_key`.
    pub(crate) fn new(kind: SlotKind, slot_key: &Secret, file_key: &Secret, fixed: &Fixed) -> Result<Slot, Error> {
        let wrapped = wrap(slot_key, file_key, fixed, kind.id(), &kind.parameters())?;
        Ok(Slot { kind, wrapped })
    }

    /// What opens it.
    pub fn kind(&self) -> &SlotKind {
        &self.kind
    }

    /// The file key, if `slot_key` is the key of this slot.
    pub(crate) fn open(&self, slot_key: &Secret, fixed: &Fixed) -> Result<Option<Secret>, Error> {
        unwrap(slot_key, &self.wrapped, fixed, self.kind.id(), &self.kind.parameters())
    }

    fn write(&self, to: &mut Vec<u8>) {
        let content = [&self.kind.parameters()[..], &self.wrapped].concat();
        to.extend([self.kind.id(), 0]);
        to.extend((content.len() as u16).to_be_bytes());
        to.extend(content);
    }

    /// Reads the slot at the start of `bytes`; returns it and the bytes after it.
    fn read(bytes: &[u8]) -> Option<(Slot, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<SLOT_HEAD>()?;
        let [id, 0, a, b] = *head else { return None };
        let (content, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes([a, b])))?;
        let slot = if (RAW..=SSH_RSA).contains(&id) {
            let (parameters, wrapped) = content.split_at_checked(content.len().checked_sub(WRAPPED)?)?;
            let kind = match id {
                RAW => parameters.is_empty().then_some(SlotKind::Raw)?,
                PASSPHRASE => {
                    let (costs, salt) = parameters.split_first_chunk::<{ Costs::BYTES }>()?;
                    let costs = Costs::from_bytes(costs);
                    SlotKind::Passphrase { costs: costs.are_possible().then_some(costs)?, salt: salt.try_into().ok()? }
                }
                SSH_ED25519 => {
                    let (mark, share) = parameters.split_first_chunk::<MARK>()?;
                    SlotKind::SshEd25519 { mark: *mark, share: share.try_into().ok()? }
                }
                SSH_RSA => {
                    let (mark, encrypted) = parameters.split_first_chunk::<MARK>()?;
                    let encrypted = RSA_LENGTHS.contains(&encrypted.len()).then(|| encrypted.to_vec())?;
                    SlotKind::SshRsa { mark: *mark, encrypted }
                }
                _ => {
                    let (mark, encapsulated) = parameters.split_first_chunk::<MARK>()?;
                    let encapsulated: [u8; ENCAPSULATED] = encapsulated.try_into().ok()?;
                    SlotKind::Public { encapsulated: Box::new(encapsulated), mark: *mark }
                }
            };
            Slot { kind, wrapped: wrapped.to_vec() }
        } else if id == 0 {
            return None;
        } else {
            Slot { kind: SlotKind::Unknown { id, content: content.to_vec() }, wrapped: Vec::new() }
        };
        Some((slot, rest))
    }
}

impl Slots {
    /// Slots with a MAC under `file_key`.
    ///
    /// # Errors
    /// [`Error::TooManySlots`]; [`Error::NoSlots`] for none.
    pub(crate) fn new(slots: Vec<Slot>, file_key: &Secret, fixed: &Fixed) -> Result<Slots, Error> {
        let mut slots = Slots { slots, mac: [0; MAC] };
        if slots.slots.is_empty() {
            return Err(Error::NoSlots);
        }
        if slots.content().len() + MAC > MAX_SLOTS || slots.passphrases() > MAX_PASSPHRASES {
            return Err(Error::TooManySlots);
        }
        slots.mac = slots.mac_under(file_key, fixed);
        Ok(slots)
    }

    /// The slots, in the order in which they stand in the file.
    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    fn passphrases(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot.kind, SlotKind::Passphrase { .. })).count()
    }

    /// The slots without the MAC.
    fn content(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.slots.iter().for_each(|slot| slot.write(&mut bytes));
        bytes
    }

    /// The encoding of slots and MAC in a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.content();
        bytes.extend(self.mac);
        bytes
    }

    /// Reads `len` bytes of slots and MAC.
    pub(crate) fn read(from: &mut impl Read, len: u32, at: u64) -> Result<Slots, Error> {
        let malformed = || Error::NotAuthentic(Flaw::Slots);
        let len = usize::try_from(len).ok().filter(|len| (MAC + SLOT_HEAD..=MAX_SLOTS).contains(len));
        let mut bytes = vec![0; len.ok_or_else(malformed)?];
        let got = crate::read::fill(from, &mut bytes)?;
        if got < bytes.len() {
            return Err(Error::cut(at + got as u64));
        }
        let (mut rest, mac) = bytes.split_last_chunk::<MAC>().ok_or_else(malformed)?;
        let mut slots = Slots { slots: Vec::new(), mac: *mac };
        while !rest.is_empty() {
            let (slot, after) = Slot::read(rest).ok_or_else(malformed)?;
            slots.slots.push(slot);
            rest = after;
        }
        if slots.passphrases() > MAX_PASSPHRASES { Err(malformed()) } else { Ok(slots) }
    }

    /// Whether the header was written by a holder of `file_key`.
    pub(crate) fn are_authentic(&self, file_key: &Secret, fixed: &Fixed) -> bool {
        bool::from(self.mac_under(file_key, fixed).ct_eq(&self.mac))
    }

    /// The MAC over the whole header: its fixed part, the length of slots and MAC, and the slots.
    fn mac_under(&self, file_key: &Secret, fixed: &Fixed) -> [u8; MAC] {
        let mut key = Zeroizing::new([0; 64]);
        hkdf_expand(file_key, &[b"SEALWRIGHT header MAC v1"], key.as_mut_slice());
        let content = self.content();
        let mut mac = Hmac::<Sha512>::new_from_slice(key.as_slice()).expect("HMAC takes keys of every length");
        mac.update(fixed);
        mac.update(&((content.len() + MAC) as u32).to_be_bytes());
        mac.update(&content);
        let mut out = [0; MAC];
        out.copy_from_slice(&mac.finalize().into_bytes()[..MAC]);
        out
    }
}

/// A new random file key.
pub(crate) fn new_file_key() -> Result<Secret, Error> {
    let mut key = Secret::new(vec![0; FILE_KEY]);
    random(&mut key)?;
    Ok(key)
}

/// The input key of the body, derived from `file_key`.
pub(crate) fn input_key(file_key: &Secret, suite: Suite) -> Secret {
    let mut key = Secret::new(vec![0; suite.key_len()]);
    hkdf_expand(file_key, &[b"SEALWRIGHT input key v1"], &mut key);
    key
}

/// The mark of the slot for `public_key`: only a holder of `file_key` can compute it.
#[cfg(feature = "public-keys")]
pub(crate) fn mark(file_key: &Secret, public_key: &[u8]) -> [u8; MARK] {
    let mut mark = [0; MARK];
    hkdf_expand(file_key, &[b"SEALWRIGHT recipient v1", public_key], &mut mark);
    mark
}
