//! The bytes of `openssl enc`, for exchanging data with what already speaks them. Not authenticated: prefer sealing.
//!
//! AES in CBC and CTR mode gives and takes exactly what OpenSSL 3 does. Two of its habits are refused rather than
//! copied: hex keys that are too short (it fills them with zeros) or too long (it cuts them), both in silence.
//!
//! AES-GCM, which `openssl enc` refuses, is an extension: the ciphertext with its 16-byte tag behind it, under a key and
//! a 12-byte IV given in hex. The whole text is held in memory, at most [`GCM_LIMIT`] bytes, and nothing of it is
//! written before the tag holds. The IV must never serve twice under one key. Seal instead: it chooses its own nonces,
//! takes files of any length and commits to the key.

mod armor;
mod cipher;
pub(crate) mod error;
mod secret;
mod stream;

use std::io::{Read, Write};

pub use armor::Armor;
pub use cipher::{EncCipher, EncMode};
pub use error::EncError;
use sealwright::Isa;
pub use secret::{Digest, EncSecret, Kdf, Salt};

use crate::{
    error::Error,
    input::{Cursored, From, Input},
    output::{Draft, Output, To},
    progress::Work,
};

/// The longest text that GCM encrypts or decrypts here, in bytes: it is held in memory until the tag is known.
pub const GCM_LIMIT: usize = 1 << 30;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `enc -e`.
    Encrypt,
    /// `enc -d`.
    Decrypt,
}

/// How to encrypt or decrypt.
#[derive(Clone, Debug)]
pub struct Enc {
    /// Cipher and mode.
    pub cipher: EncCipher,
    /// Key and IV, or a passphrase.
    pub secret: EncSecret,
    /// Base64 around the ciphertext.
    pub armor: Armor,
    /// PKCS#7 padding in CBC mode. Without it the text must be whole blocks.
    pub padding: bool,
    /// Instruction set to use.
    pub isa: Isa,
    /// Progress and interrupt; one thread is used.
    pub work: Work,
}

impl Enc {
    /// Padded, without base64, with the best instructions.
    pub fn new(cipher: EncCipher, secret: EncSecret) -> Enc {
        Enc { cipher, secret, armor: Armor::None, padding: true, isa: Isa::best(), work: Work::default() }
    }

    /// Encrypts or decrypts all of `input`. An output file gets the input file's permission bits when encrypting, 0600
    /// when decrypting, and does not appear if anything fails; a stream has by then what came before.
    ///
    /// # Errors
    /// [`Error::Enc`] for what is wrong with key, padding or tag; reading and writing errors.
    pub fn run(&self, direction: Direction, input: Input, output: Output) -> Result<(), Error> {
        output.differs_from(input.identity())?;
        self.work.progress.begin(input.len());
        let mode = input.mode().filter(|_| direction == Direction::Encrypt).unwrap_or(0o600);
        let (name, to_name) = (input.name.clone(), output.name.clone());
        let whole;
        let mut from: Box<dyn Read + Send> = match input.from {
            From::File { file, .. } => {
                whole = file;
                Box::new(Cursored { file: &whole, at: 0 })
            }
            From::Stream(from) => from,
        };
        let done = match output.to {
            To::File { path, place } => {
                let draft = Draft::create(&path, place)?;
                self.copy(direction, &mut from, &mut &draft).and_then(|()| draft.commit(mode))
            }
            To::Stream(mut to) => self.copy(direction, &mut from, &mut to),
        };
        done.map_err(|error| error.of(&name).of_output(&to_name))
    }

    /// Encrypts or decrypts from `from` to its end into `to`, holding no more than a few hundred KiB but for GCM.
    ///
    /// # Errors
    /// As [`Enc::run`].
    pub fn copy(&self, direction: Direction, from: &mut impl Read, to: &mut impl Write) -> Result<(), Error> {
        match direction {
            Direction::Encrypt => {
                let mut to = armor::Encoder::new(to, self.armor);
                self.encrypt(from, &mut to)?;
                to.finish()
            }
            Direction::Decrypt => self.decrypt(&mut armor::Decoder::new(from, self.armor), to),
        }
    }
}
