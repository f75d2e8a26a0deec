//! How a file fails to be an authentic sealed file.

use std::fmt;

use sealwright_stream::StreamError;

/// How a file fails to be an authentic sealed file, and where.
///
/// ```
/// use sealwright_file::{Error, Flaw, Input, Key, Opening, Output, Sealing, Shared};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let mut sealed = sealed.take();
/// *sealed.last_mut().expect("a tag") ^= 1;
/// let opened = Opening::new(&key).verify(Input::bytes(sealed, "sealed"));
/// assert!(matches!(opened, Err(Error::NotAuthentic(Flaw::Chunk { index: 0, .. }))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It has no bytes at all.
    Empty,
    /// It does not begin with the magic bytes of sealed files.
    Magic,
    /// The text of a sealed directory is not well formed.
    Tree,
    /// The text of a manifest is not well formed.
    List,
    /// It is authentic, but not the file that the manifest lists under its name.
    OtherFile {
        /// What it commits to.
        commitment: [u8; 32],
    },
    /// The signature is not a valid signature by the key that it names.
    Signature,
    /// It is not a signature file.
    SignatureFile,
    /// Padding or signature are not well formed.
    Layout,
    /// The source parameters have the wrong length, in bytes.
    SourceLength(u32),
    /// The armor is not well formed.
    Armor {
        /// The line, from 1.
        line: u64,
    },
    /// The slots are not well formed.
    Slots,
    /// The header or its slots were changed by somebody without the file key.
    Header,
    /// Argon2 parameters outside what Argon2 defines.
    Costs,
    /// It ends early: too few bytes before `offset`, where more must follow.
    Truncated {
        /// The offset at which the file ends.
        offset: u64,
    },
    /// A chunk was changed, cut or moved, or bytes were added.
    Chunk {
        /// Its number, from 0.
        index: u64,
        /// Where it begins in the file.
        offset: u64,
        /// Whether it is the last one, which authenticates the length of the file.
        last: bool,
    },
}

impl Flaw {
    /// What is wrong with a stream that begins at `start` in the file; `None` if the stream is not what is wrong.
    pub(crate) fn of(error: &StreamError, start: u64) -> Option<Flaw> {
        match *error {
            StreamError::Truncated { offset } => Some(Flaw::Truncated { offset: start + offset }),
            StreamError::Chunk { index, offset, last } => Some(Flaw::Chunk { index, offset: start + offset, last }),
            _ => None,
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Empty => write!(f, "it is empty"),
            Flaw::Magic => write!(f, "this is not a sealed file"),
            Flaw::List => write!(f, "its list of names is not well formed"),
            Flaw::OtherFile { .. } => write!(f, "it is not the file that was sealed under this name"),
            Flaw::Signature => write!(f, "the signature is not valid"),
            Flaw::SignatureFile => write!(f, "this is not a file with a signature"),
            Flaw::Layout => write!(f, "its padding or signature is not well formed"),
            Flaw::Tree => write!(f, "its list of files is not well formed"),
            Flaw::SourceLength(n) => {
                write!(f, "the key source has parameters of a wrong length, {n} bytes (at byte 12)")
            }
            Flaw::Armor { line } => write!(f, "the armor is damaged (at line {line})"),
            Flaw::Slots => write!(f, "the key slots are not well formed (from byte 16)"),
            Flaw::Header => write!(f, "the header or its key slots were changed"),
            Flaw::Costs => write!(f, "the Argon2 parameters are not valid (at byte 16)"),
            Flaw::Truncated { offset } => write!(f, "it is truncated: more must follow its end at byte {offset}"),
            Flaw::Chunk { index, offset, last: false } => {
                write!(f, "chunk {index} (at byte {offset}) was changed or moved, or the file was cut or added to")
            }
            Flaw::Chunk { index, offset, last: true } => {
                write!(f, "the last chunk, {index} (at byte {offset}), was changed, or the file was cut or added to")
            }
        }
    }
}
