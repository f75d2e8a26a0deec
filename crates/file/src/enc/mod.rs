//! The bytes of `openssl enc`, for exchanging data with what already speaks them. Not authenticated: prefer sealing.
//!
//! AES in CBC, CFB, OFB and CTR mode, and ChaCha20, give and take exactly what OpenSSL 3 does. AES in ECB mode and
//! triple DES are only decrypted. Two of its habits are refused rather than copied: hex keys that are too short (it
//! fills them with zeros) or too long (it cuts them), both in silence.
//!
//! AES-GCM, which `openssl enc` refuses, is an extension: the ciphertext with its 16-byte tag behind it, under a key
//! and a 12-byte IV given in hex. A text has at most [`GCM_LIMIT`] bytes. It is encrypted piece by piece; decrypting
//! holds all of it in memory and writes nothing before the tag holds. The IV must never serve twice under one key. Seal
//! instead: it chooses its own nonces, takes files of any length and commits to the key.
//!
//! ```
//! use sealwright_file::{Input, Output, Shared, enc::{Armor, Direction, Enc, EncSecret, Kdf, Salt}};
//!
//! // What `openssl enc -aes-256-cbc -pbkdf2 -a` does.
//! let secret = EncSecret::passphrase("a passphrase", Kdf::default(), Salt::Header);
//! let mut enc = Enc::new("aes-256-cbc".parse()?, secret);
//! enc.armor = Armor::Lines;
//! let mut encrypted = Shared::default();
//! let moved = enc.run(Direction::Encrypt, Input::bytes(b"a text", "text"), Output::writer(encrypted.clone(), "out"))?;
//! let encrypted = encrypted.take();
//! assert_eq!((&encrypted[..10], moved.read), (&b"U2FsdGVkX1"[..], 6)); // `Salted__` in base64
//!
//! let mut text = Shared::default();
//! enc.run(Direction::Decrypt, Input::bytes(encrypted, "in"), Output::writer(text.clone(), "text"))?;
//! assert_eq!(text.take(), b"a text");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod armor;
mod blocks;
mod cipher;
pub(crate) mod error;
mod secret;
mod stream;
#[cfg(all(test, feature = "enc-more"))]
mod tests;

use std::{
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

pub use armor::Armor;
pub use cipher::{EncAlgorithm, EncCipher, EncMode};
pub use error::EncError;
use sealwright::Isa;
pub use secret::{Digest, EncSecret, Kdf, Salt};
use zeroize::Zeroizing;

use crate::{
    error::Error,
    input::{Cursored, From, Input},
    output::{Draft, Output, To},
    progress::Work,
};

/// The longest text that GCM encrypts or decrypts here, in bytes: decrypting holds it in memory until the tag is
/// verified.
pub const GCM_LIMIT: usize = 1 << 30;

/// Which way.
///
/// ```
/// use sealwright_file::enc::{Direction, Enc, EncSecret};
///
/// let cipher = "aes-128-ctr".parse()?;
/// let enc = Enc::new(cipher, EncSecret::from_hex(cipher, &"07".repeat(16), &"01".repeat(16))?);
/// let (mut encrypted, mut text) = (Vec::new(), Vec::new());
/// enc.copy(Direction::Encrypt, &mut &b"a text"[..], &mut encrypted)?;
/// enc.copy(Direction::Decrypt, &mut &encrypted[..], &mut text)?;
/// assert_eq!(text, b"a text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `enc -e`.
    Encrypt,
    /// `enc -d`.
    Decrypt,
}

/// What a passphrase and a salt became.
///
/// ```
/// use sealwright_file::enc::{Direction, Enc, EncSecret, Kdf, Salt};
///
/// // What `openssl enc -P` prints.
/// let secret = EncSecret::passphrase("a passphrase", Kdf::default(), Salt::Given([1; 8]));
/// let derived = Enc::new("aes-256-cbc".parse()?, secret).derive(Direction::Encrypt, &mut &b""[..])?;
/// assert_eq!((derived.salt, derived.key.len(), derived.iv.len()), (Some([1; 8]), 32, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Derived {
    /// The salt, if there is one.
    pub salt: Option<[u8; 8]>,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
    /// The IV.
    pub iv: Vec<u8>,
}

/// What is called with the salt, the key and the IV before the first byte is written: `-p`.
///
/// ```
/// use sealwright_file::enc::{Enc, EncSecret, Kdf, Salt, OnDerived};
///
/// let enc = Enc::new("aes-256-cbc".parse()?, EncSecret::passphrase("a passphrase", Kdf::default(), Salt::Header))
///     .on_derived(OnDerived::new(|derived| eprintln!("salt {:02x?}", derived.salt)));
/// # Ok::<(), sealwright_file::enc::EncError>(())
/// ```
#[derive(Clone)]
pub struct OnDerived(Arc<dyn Fn(&Derived) + Send + Sync>);

impl OnDerived {
    /// Calls `what` before the first byte is written.
    pub fn new(what: impl Fn(&Derived) + Send + Sync + 'static) -> OnDerived {
        OnDerived(Arc::new(what))
    }

    fn call(&self, derived: &Derived) {
        (self.0)(derived);
    }
}

impl fmt::Debug for OnDerived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnDerived")
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").finish_non_exhaustive()
    }
}

/// How much was read and written, in bytes.
///
/// ```
/// use sealwright_file::{Input, Output, Shared, enc::{Direction, Enc, EncSecret}};
///
/// let cipher = "aes-128-cbc".parse()?;
/// let enc = Enc::new(cipher, EncSecret::from_hex(cipher, &"07".repeat(16), &"01".repeat(16))?);
/// let to = Output::writer(Shared::default(), "out");
/// let moved = enc.run(Direction::Encrypt, Input::bytes(b"a text", "text"), to)?;
/// assert_eq!((moved.read, moved.written), (6, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transferred {
    /// Bytes of input.
    pub read: u64,
    /// Bytes of output.
    pub written: u64,
}

/// Counts the bytes that pass through.
struct Counted<T> {
    inner: T,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.bytes += got as u64;
        Ok(got)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let got = self.inner.write(bytes)?;
        self.bytes += got as u64;
        Ok(got)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// How to encrypt or decrypt.
///
/// ```
/// use sealwright_file::enc::{Direction, Enc, EncSecret};
///
/// let cipher = "aes-128-ctr".parse()?;
/// let enc = Enc::new(cipher, EncSecret::from_hex(cipher, &"07".repeat(16), &"01".repeat(16))?);
/// let (mut encrypted, mut text) = (Vec::new(), Vec::new());
/// enc.copy(Direction::Encrypt, &mut &b"a text"[..], &mut encrypted)?;
/// enc.copy(Direction::Decrypt, &mut &encrypted[..], &mut text)?;
/// assert_eq!(text, b"a text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Enc {
    /// Cipher and mode.
    pub cipher: EncCipher,
    /// Key and IV, or a passphrase.
    pub secret: EncSecret,
    /// Base64 around the ciphertext.
    pub armor: Armor,
    /// PKCS#7 padding in CBC and ECB mode. Without it the text must be whole blocks.
    pub padding: bool,
    /// What is called with the salt, the key and the IV.
    pub on_derived: Option<OnDerived>,
    /// Instruction set to use.
    pub isa: Isa,
    /// Progress and interrupt; one thread is used.
    pub work: Work,
}

impl Enc {
    /// Padded, without base64, with the best instructions.
    pub fn new(cipher: EncCipher, secret: EncSecret) -> Enc {
        let (armor, padding) = (Armor::None, true);
        Enc { cipher, secret, armor, padding, on_derived: None, isa: Isa::best(), work: Work::default() }
    }

    /// Sets whether the ciphertext is in base64.
    pub fn armor(self, armor: Armor) -> Self {
        Enc { armor, ..self }
    }

    /// Sets whether the text is padded in CBC and ECB mode.
    pub fn padding(self, padding: bool) -> Self {
        Enc { padding, ..self }
    }

    /// Sets what is called with the salt, the key and the IV.
    pub fn on_derived(self, on_derived: impl Into<Option<OnDerived>>) -> Self {
        Enc { on_derived: on_derived.into(), ..self }
    }

    /// Sets the instruction set to use.
    pub fn isa(self, isa: Isa) -> Self {
        Enc { isa, ..self }
    }

    /// Sets progress and interrupt.
    pub fn work(self, work: Work) -> Self {
        Enc { work, ..self }
    }

    /// Encrypts or decrypts all of `input`. An output file gets the input file's permission bits when encrypting, 0600
    /// when decrypting, and does not appear if anything fails; a stream has by then what came before.
    ///
    /// # Errors
    /// [`Error::Enc`] for what is wrong with key, padding or tag, and for more than GCM takes; reading and writing
    /// errors.
    pub fn run(&self, direction: Direction, input: Input, output: Output) -> Result<Transferred, Error> {
        output.differs_from(input.identity())?;
        let known = input.len();
        self.work.progress.begin(known);
        let mode = input.mode().filter(|_| direction == Direction::Encrypt).unwrap_or(0o600);
        let (name, to_name) = (input.name.clone(), output.name.clone());
        let whole;
        let from: Box<dyn Read + Send> = match input.from {
            From::File { file, .. } => {
                whole = file;
                Box::new(Cursored { file: &whole, at: 0 })
            }
            From::Stream(from) => from,
        };
        let mut from = Counted { inner: from, bytes: 0 };
        let done = match output.to {
            To::File { path, options } => {
                let draft = Draft::create(&path, options)?;
                let mut to = Counted { inner: &draft, bytes: 0 };
                let done = self.copy_known(direction, &mut from, known, &mut to).map(|()| to.bytes);
                done.and_then(|written| draft.commit(mode).map(|()| written))
            }
            To::Stream(to) => {
                let mut to = Counted { inner: to, bytes: 0 };
                self.copy_known(direction, &mut from, known, &mut to).map(|()| to.bytes)
            }
        };
        let written = done.map_err(|error| error.of(&name).of_output(&to_name))?;
        Ok(Transferred { read: from.bytes, written })
    }

    /// The salt, key and IV that would be used, and nothing else: `-P`. Of `from` only a salt is read.
    ///
    /// # Errors
    /// As [`Enc::run`].
    pub fn derive(&self, direction: Direction, from: &mut impl Read) -> Result<Derived, Error> {
        let salt = match direction {
            Direction::Encrypt => self.secret.fresh_salt()?.0,
            Direction::Decrypt => self.written_salt(&mut armor::Decoder::new(from, self.armor))?,
        };
        let (key, iv) = self.secret.derive(self.cipher, salt)?;
        Ok(Derived { salt, key, iv })
    }

    /// Encrypts or decrypts from `from` to its end into `to`, holding no more than a few hundred KiB, except to decrypt
    /// with GCM, which holds the whole text.
    ///
    /// # Errors
    /// As [`Enc::run`].
    pub fn copy(&self, direction: Direction, from: &mut impl Read, to: &mut impl Write) -> Result<(), Error> {
        self.copy_known(direction, from, None, to)
    }

    /// The same. `known` is the number of bytes in `from`, if it is known.
    fn copy_known(
        &self,
        direction: Direction,
        from: &mut impl Read,
        known: Option<u64>,
        to: &mut impl Write,
    ) -> Result<(), Error> {
        match direction {
            Direction::Encrypt => {
                let mut to = armor::Encoder::new(to, self.armor);
                self.encrypt(from, known, &mut to)?;
                to.finish()
            }
            Direction::Decrypt => self.decrypt(&mut armor::Decoder::new(from, self.armor), known, to),
        }
    }
}
