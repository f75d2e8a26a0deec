//! The bytes before the body: magic, version, suite, and where the key comes from.

use std::io::Read;

use sealwright::Suite;

use crate::{
    costs::Costs,
    error::{Error, Flaw, INPUT},
};

/// How every sealed file begins. Not text; notices newline translation and stripped high bits.
pub const MAGIC: [u8; 8] = [0x89, b'S', b'E', b'A', b'L', 0x0d, 0x0a, 0x1a];
/// The version written here.
pub const VERSION: u8 = 1;
/// Bytes before the source parameters.
pub const FIXED: usize = 16;
/// The longest source parameters that any version 1 file may have, in bytes.
pub const MAX_PARAMS: u32 = 4096;
/// Bytes of the salt under a passphrase.
pub const PASSPHRASE_SALT: usize = 16;

const RAW: u8 = 0;
const PASSPHRASE: u8 = 1;
const PASSPHRASE_PARAMS: usize = 12 + PASSPHRASE_SALT;

/// What a sealed file says of itself before any secret is needed. Nothing in it is secret, all of it is authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// Cipher, mode and lengths.
    pub suite: Suite,
    /// Where the input key comes from.
    pub source: KeySource,
}

/// Where a sealed file's input key comes from.
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
}

impl KeySource {
    /// What the user must bring: "a raw key" or "a passphrase".
    pub fn wants(&self) -> &'static str {
        match self {
            KeySource::Raw => "a raw key",
            KeySource::Passphrase { .. } => "a passphrase",
        }
    }
}

impl Preamble {
    /// Its bytes in the file. There is one way only to write a preamble.
    pub fn to_bytes(&self) -> Vec<u8> {
        let params = match &self.source {
            KeySource::Raw => Vec::new(),
            KeySource::Passphrase { costs, salt } => {
                let numbers = [costs.memory_kib, costs.passes, costs.lanes];
                numbers.iter().flat_map(|n| n.to_be_bytes()).chain(*salt).collect()
            }
        };
        let source = match self.source {
            KeySource::Raw => RAW,
            KeySource::Passphrase { .. } => PASSPHRASE,
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend([VERSION, self.suite.id(), source, 0]);
        bytes.extend((params.len() as u32).to_be_bytes());
        bytes.extend(params);
        bytes
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
        let [.., version, suite, source, reserved, a, b, c, d] = fixed;
        let length = u32::from_be_bytes([a, b, c, d]);
        let flaw = |flaw| Err(Error::NotAuthentic(flaw));
        if version != VERSION {
            return flaw(Flaw::Version(version));
        }
        let Some(suite) = Suite::from_id(suite) else { return flaw(Flaw::Suite(suite)) };
        if reserved != 0 {
            return flaw(Flaw::Reserved(reserved));
        }
        let source = match source {
            RAW if length == 0 => KeySource::Raw,
            PASSPHRASE if length as usize == PASSPHRASE_PARAMS => read_passphrase(from)?,
            RAW | PASSPHRASE => return flaw(Flaw::SourceLength(length)),
            other => return flaw(Flaw::KeySource(other)),
        };
        Ok(Preamble { suite, source })
    }
}

fn read_passphrase(from: &mut impl Read) -> Result<KeySource, Error> {
    let mut params = [0; PASSPHRASE_PARAMS];
    let got = fill(from, &mut params)?;
    if got < params.len() {
        return Err(Error::cut((FIXED + got) as u64));
    }
    let number = |at: usize| params[at..at + 4].iter().fold(0, |n, &byte| n << 8 | u32::from(byte));
    let costs = Costs { memory_kib: number(0), passes: number(4), lanes: number(8) };
    if !costs.are_possible() {
        return Err(Error::NotAuthentic(Flaw::Costs));
    }
    let mut salt = [0; PASSPHRASE_SALT];
    salt.copy_from_slice(&params[12..]);
    Ok(KeySource::Passphrase { costs, salt })
}

/// Reads until `buffer` is full or the input ends; returns how much came.
pub(crate) fn fill(from: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> Result<usize, Error> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // A reader of ours may have one of our errors to tell.
            Err(error) => return Err(error.downcast().unwrap_or_else(Error::io("read", INPUT))),
        }
    }
    Ok(got)
}
