//! What errors tell apart: kinds of keys, and what is wrong with keys, outputs and files of other versions.

use std::fmt;

/// The number of the suite chacha20-poly1305, which a build may lack.
pub(super) const CHACHA: u8 = 29;

/// What a file has that this build does not read. These bytes are read before anything is authenticated: either the
/// file is genuine, and another build or a newer version may open it, or they were changed.
///
/// ```
/// use sealwright_file::{Error, Preamble, Unsupported};
///
/// let mut later = *b"\x89SEAL\r\n\x1a\x02\x02\0\0\0\0\0\0";
/// let read = Preamble::read(&mut &later[..]);
/// assert!(matches!(read, Err(Error::Unsupported(Unsupported::Version(2)))));
/// later[8] = 1;
/// assert!(Preamble::read(&mut &later[..]).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// A version that this build does not read.
    Version(u8),
    /// A suite that this build does not have.
    Suite(u8),
    /// A key source that this build does not know.
    KeySource(u8),
    /// A kind of content that this build does not know.
    Content(u8),
    /// It is signed, and this build lacks the feature `signatures`.
    Signed,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Version(v) => write!(f, "format version {v} is unknown (at byte 8)"),
            Unsupported::Suite(CHACHA) => write!(f, "its suite, chacha20-poly1305, is not in this build (at byte 9)"),
            Unsupported::Suite(id) => write!(f, "suite number {id} is unknown (at byte 9)"),
            Unsupported::KeySource(id) => write!(f, "key source {id} is unknown (at byte 10)"),
            Unsupported::Content(id) => write!(f, "content of kind {id} is unknown (at byte 11)"),
            Unsupported::Signed => write!(f, "it is signed, and this build reads no signed files (at byte 11)"),
        }
    }
}

/// A kind of key.
///
/// ```
/// use sealwright_file::{Key, KeyKind, SecretKey};
///
/// let kinds = [Key::raw([7; 32]), Key::passphrase("six words")?, Key::pair(SecretKey::generate()?)].map(|key| key.kind());
/// assert_eq!(kinds, [KeyKind::Raw, KeyKind::Passphrase, KeyKind::Secret]);
/// assert_eq!(KeyKind::Raw.to_string(), "a raw key");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// Random bytes.
    Raw,
    /// A passphrase.
    Passphrase,
    /// The secret key of a pair, of Sealwright or SSH.
    Secret,
    /// The public key of a pair.
    Public,
    /// A signing key.
    Signing,
    /// A verification key.
    Verification,
    /// A private key of SSH, as its text; read, it is [`KeyKind::Secret`].
    Ssh,
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::Raw => "a raw key",
            KeyKind::Passphrase => "a passphrase",
            KeyKind::Secret => "the secret key of a pair",
            KeyKind::Public => "a public key",
            KeyKind::Signing => "a signing key",
            KeyKind::Verification => "a verification key, which is public",
            KeyKind::Ssh => "a private key for SSH",
        })
    }
}

/// Why a key, or a file with keys, cannot be used.
///
/// ```
/// use sealwright_file::{Error, KeyFault, KeyKind, PublicKey, SecretKey};
///
/// let secret = SecretKey::generate()?.to_text();
/// let read = secret.parse::<PublicKey>();
/// assert!(matches!(read, Err(Error::BadKey { why: KeyFault::OtherKind(KeyKind::Secret), .. })));
/// # Ok::<(), sealwright_file::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFault {
    /// Others than its owner may read the file.
    Readable,
    /// It is a key, but of another kind than is needed.
    OtherKind(KeyKind),
    /// A public key in place of a raw one.
    PublicForRaw,
    /// A raw key has another length.
    RawLength,
    /// Anything else, which the text says.
    Other(&'static str),
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyFault::Readable => f.write_str("others may read it"),
            KeyFault::OtherKind(kind) => write!(f, "it is {kind}"),
            KeyFault::PublicForRaw => f.write_str("it is a public key, not a raw one"),
            KeyFault::RawLength => f.write_str("it must hold 16 or 32 bytes, or as many in hex on one line"),
            KeyFault::Other(text) => f.write_str(text),
        }
    }
}

/// Why a file cannot be written.
///
/// ```
/// use sealwright_file::{Error, Output, OutputFault, OutputOptions};
///
/// let checked = Output::check("no such directory/", OutputOptions::default());
/// assert!(matches!(checked, Err(Error::BadOutput { why: OutputFault::Slash, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFault {
    /// It was written before, by this process.
    OwnOutput,
    /// Its name ends with a slash.
    Slash,
    /// It is a symbolic link to nothing.
    DanglingLink,
    /// It is a device, a named pipe or a link, and its name was derived from that of another file.
    Derived,
    /// The directory has no name.
    NoName,
    /// Only the keys of regular files can be changed.
    NotRegular,
}

impl fmt::Display for OutputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputFault::OwnOutput => "it is the same file as another output of this run",
            OutputFault::Slash => "it ends with a slash, but there is no such directory",
            OutputFault::DanglingLink => "it is a symbolic link to a file that does not exist",
            OutputFault::Derived => "it is not a regular file, and its name was derived, not given",
            OutputFault::NoName => "the directory has no name",
            OutputFault::NotRegular => "only regular files can get other keys",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// Such a file may be genuine.
    #[test]
    fn what_a_build_lacks_is_not_told_as_damage() {
        use Unsupported::{Content, KeySource, Signed, Suite, Version};
        for (lacks, text, hint) in [
            (Version(9), "version 9 is unknown", "newer"),
            (Suite(CHACHA), "chacha20-poly1305, is not in this build", "feature `chacha`"),
            (Suite(30), "number 30 is unknown", "newer"),
            (KeySource(7), "source 7", "newer"),
            (Content(9), "kind 9", "newer"),
            (Signed, "it is signed", "feature `signatures`"),
        ] {
            let error = Error::Unsupported(lacks);
            let said = error.to_string();
            assert!(said.contains(text) && !said.contains("authentic") && error.exit_code() == 1, "{said}");
            assert!(error.hint().is_some_and(|said| said.contains(hint) && said.contains("nothing was authenticated")));
        }
    }
}
