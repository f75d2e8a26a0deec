//! The bytes before the body: magic, version, suite, and where the key comes from.

use std::io::Read;

use sealwright::Suite;

use crate::{
    costs::Costs,
    error::{Error, Flaw},
    layout::Layout,
    read::fill,
    slots::{Fixed, PASSPHRASE_SALT, Slots},
};

/// How every sealed file begins. Not text; notices newline translation and stripped high bits.
pub const MAGIC: [u8; 8] = [0x89, b'S', b'E', b'A', b'L', 0x0d, 0x0a, 0x1a];
/// The version written here.
pub const VERSION: u8 = 1;
/// Bytes before the source parameters.
pub const FIXED: usize = 16;

const RAW: u8 = 0;
const PASSPHRASE: u8 = 1;
const RECIPIENTS: u8 = 2;
const PASSPHRASE_PARAMS: usize = Costs::BYTES + PASSPHRASE_SALT;

/// What a sealed file says of itself before any secret is needed. Nothing in it is secret, all of it is authenticated.
///
/// ```
/// use sealwright_file::{Content, KeySource, Preamble};
///
/// let preamble = Preamble { suite: sealwright::Suite::Aes256Gcm, layout: Content::Bytes.into(), source: KeySource::Raw };
/// let bytes = preamble.to_bytes();
/// assert_eq!(Preamble::read(&mut &bytes[..])?, preamble);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// Cipher, mode and lengths.
    pub suite: Suite,
    /// How the text is laid out.
    pub layout: Layout,
    /// Where the input key comes from.
    pub source: KeySource,
}

/// Where a sealed file's input key comes from.
///
/// ```
/// use sealwright_file::{Costs, KeySource};
///
/// let source = KeySource::Passphrase { costs: Costs::default(), salt: [7; 16] };
/// assert_eq!((source.wants(), KeySource::Raw.wants()), ("a passphrase", "a raw key"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// The user holds the key itself.
    Raw,
    /// Argon2id of a passphrase.
    Passphrase {
        /// Its parameters.
        costs: Costs,
        /// Its salt.
        salt: [u8; PASSPHRASE_SALT],
    },
    /// A file key in slots, each of which opens with a key of its own.
    Recipients(Slots),
}

impl KeySource {
    /// What the user must bring: "a raw key", "a passphrase" or "one of its keys".
    pub fn wants(&self) -> &'static str {
        match self {
            KeySource::Raw => "a raw key",
            KeySource::Passphrase { .. } => "a passphrase",
            KeySource::Recipients(_) => "one of its keys",
        }
    }

    fn id(&self) -> u8 {
        match self {
            KeySource::Raw => RAW,
            KeySource::Passphrase { .. } => PASSPHRASE,
            KeySource::Recipients(_) => RECIPIENTS,
        }
    }
}

impl Preamble {
    /// Its bytes in the file. There is one way only to write a preamble.
    pub fn to_bytes(&self) -> Vec<u8> {
        let params = match &self.source {
            KeySource::Raw => Vec::new(),
            KeySource::Passphrase { costs, salt } => costs.to_bytes().into_iter().chain(*salt).collect(),
            KeySource::Recipients(slots) => slots.to_bytes(),
        };
        let mut bytes = fixed(self.suite, self.layout, self.source.id()).to_vec();
        bytes.extend((params.len() as u32).to_be_bytes());
        bytes.extend(params);
        bytes
    }

    /// Its first bytes, which never change.
    #[cfg(feature = "signatures")]
    pub(crate) fn fixed(&self) -> Fixed {
        fixed(self.suite, self.layout, self.source.id())
    }

    /// The part that the body's keys depend on: all of it, or where there are slots what stays when slots change.
    pub(crate) fn context(&self) -> Vec<u8> {
        match self.source {
            KeySource::Recipients(_) => recipients_fixed(self.suite, self.layout).to_vec(),
            _ => self.to_bytes(),
        }
    }

    /// Reads a preamble and not a byte more.
    ///
    /// # Errors
    /// [`Error::NotAuthentic`] with the field that is not as version 1 has it; reading errors.
    pub fn read(from: &mut impl Read) -> Result<Preamble, Error> {
        let mut fixed = [0; FIXED];
        let got = fill(from, &mut fixed)?;
        if got == 0 || fixed[..got.min(8)] != MAGIC[..got.min(8)] {
            return Err(Error::NotAuthentic(Flaw::Magic));
        }
        if got < FIXED {
            return Err(Error::cut(got as u64));
        }
        let [.., version, suite, source, layout, a, b, c, d] = fixed;
        let length = u32::from_be_bytes([a, b, c, d]);
        let flaw = |flaw| Err(Error::NotAuthentic(flaw));
        if version != VERSION {
            return flaw(Flaw::Version(version));
        }
        let Some(suite) = Suite::from_id(suite) else { return flaw(Flaw::Suite(suite)) };
        let known = |layout: &Layout| cfg!(feature = "signatures") || !layout.signed;
        let Some(layout) = Layout::from_byte(layout).filter(known) else { return flaw(Flaw::Content(layout)) };
        let source = match source {
            RAW if length == 0 => KeySource::Raw,
            PASSPHRASE if length as usize == PASSPHRASE_PARAMS => read_passphrase(from)?,
            RECIPIENTS => KeySource::Recipients(Slots::read(from, length, FIXED as u64)?),
            RAW | PASSPHRASE => return flaw(Flaw::SourceLength(length)),
            other => return flaw(Flaw::KeySource(other)),
        };
        Ok(Preamble { suite, layout, source })
    }
}

/// The bytes that every preamble begins with.
fn fixed(suite: Suite, layout: Layout, source: u8) -> Fixed {
    let mut fixed = [0; 12];
    fixed[..8].copy_from_slice(&MAGIC);
    fixed[8..].copy_from_slice(&[VERSION, suite.id(), source, layout.to_byte()]);
    fixed
}

/// The bytes that a preamble with slots begins with: what slots and body are bound to.
pub(crate) fn recipients_fixed(suite: Suite, layout: Layout) -> Fixed {
    fixed(suite, layout, RECIPIENTS)
}

fn read_passphrase(from: &mut impl Read) -> Result<KeySource, Error> {
    let mut params = [0; PASSPHRASE_PARAMS];
    let got = fill(from, &mut params)?;
    if got < params.len() {
        return Err(Error::cut((FIXED + got) as u64));
    }
    let (mut costs, mut salt) = ([0; Costs::BYTES], [0; PASSPHRASE_SALT]);
    costs.copy_from_slice(&params[..Costs::BYTES]);
    salt.copy_from_slice(&params[Costs::BYTES..]);
    let costs = Costs::from_bytes(&costs);
    if !costs.are_possible() {
        return Err(Error::NotAuthentic(Flaw::Costs));
    }
    Ok(KeySource::Passphrase { costs, salt })
}
