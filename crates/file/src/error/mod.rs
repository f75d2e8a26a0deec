//! What can go wrong with files: where, with which exit code, and what may help.

mod convert;
mod flaw;
mod hint;
mod kinds;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

pub use flaw::Flaw;
pub use kinds::{KeyFault, KeyKind, OutputFault, Unsupported};
use sealwright::{RandomError, Suite};

use crate::{
    costs::{Ceiling, Costs},
    enc::error::EncError,
};

/// Why a file was not sealed, opened, read or written.
///
/// ```
/// use sealwright_file::{Error, Input, Key, Opening, Output, Shared};
///
/// let key = Key::raw([7; 32]);
/// let opened = Opening::new(&key).open(Input::bytes(b"not sealed", "letter"), Output::writer(Shared::default(), "out"));
/// if let Err(error) = opened {
///     eprintln!("{error}");
///     if let Some(hint) = error.hint() {
///         eprintln!("hint: {hint}");
///     }
///     assert_eq!(error.exit_code(), 3);
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {doing} {place}: {error}")]
    Io {
        /// What was being done: "read", "write", "create".
        doing: &'static str,
        /// To which file or stream.
        place: String,
        /// What the system said.
        error: io::Error,
    },
    /// The output exists and may not be replaced.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// Input and output are one file.
    #[error("{} is both input and output", .0.display())]
    SameFile(PathBuf),
    /// The input was written to while it was read.
    #[error("{place} was written to while it was read (it had {before} bytes, then {after})")]
    Changed {
        /// The input.
        place: String,
        /// Its length at the start, in bytes.
        before: u64,
        /// Its length as found later, in bytes.
        after: u64,
    },
    /// The file was to be removed or replaced, but is no longer the one that was read.
    #[error("{} was changed or replaced meanwhile and is kept", .0.display())]
    Replaced(PathBuf),
    /// A file found in a directory is no longer a regular file, or is now reached through a symbolic link.
    #[error("{} is no longer a regular file, or is reached through a symbolic link", .0.display())]
    Moved(PathBuf),
    /// The input was to be removed, but its output might not survive a power failure.
    #[error("{} is kept, because its output is not a file on a disk", .0.display())]
    NotDurable(PathBuf),
    /// The input is to be removed but is a symbolic link.
    #[error("{} is a symbolic link: removing it would not remove the text", .0.display())]
    Link(PathBuf),
    /// The output is a block device.
    #[error("{} is a block device, whose content would be lost", .0.display())]
    BlockDevice(PathBuf),
    /// The output of sealing is a block device.
    #[error("{} is a block device: a sealed file cannot be opened from it, because its end is not recorded", .0.display())]
    EndlessOutput(PathBuf),
    /// A sealed directory does not have the required name.
    #[error("it holds a directory named {}, not {}", .name.display(), .wanted.display())]
    OtherName {
        /// Its name.
        name: PathBuf,
        /// The name that it must have.
        wanted: PathBuf,
    },
    /// No file can have this name.
    #[error("{} cannot be written: {why}", .path.display())]
    BadOutput {
        /// The output.
        path: PathBuf,
        /// What is wrong with it.
        why: OutputFault,
    },
    /// More text than the format can hold.
    #[error("longer than the 4 PiB that one sealed file can hold")]
    TooLong,
    /// A key file cannot be used.
    #[error("key file {place}: {why}")]
    KeyFile {
        /// The key file.
        place: String,
        /// What is wrong with it.
        why: KeyFault,
    },
    /// A key was given in place of the name of a key file; the error does not contain the key.
    #[error("a key was given, which is not shown, in place of the name of the file that holds it")]
    KeyAsName,
    /// The key has a length other than the suite takes.
    #[error("the key has {given} bytes, but {suite} takes {wanted}")]
    KeyLength {
        /// The suite.
        suite: Suite,
        /// Bytes it takes.
        wanted: usize,
        /// Bytes given.
        given: usize,
    },
    /// The file is sealed under a key of another length.
    #[error("wrong key: it has {given} bytes, but {suite} takes {wanted}")]
    OtherKeyLength {
        /// The file's suite.
        suite: Suite,
        /// Bytes it takes.
        wanted: usize,
        /// Bytes given.
        given: usize,
    },
    /// An empty passphrase.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// Argon2 parameters that Argon2 does not allow.
    #[error("Argon2id cannot run with {0}")]
    Costs(Costs),
    /// The file demands more Argon2 work than the ceiling allows; none of it was done.
    #[error("the passphrase would cost {asked}, but at most {ceiling} is allowed")]
    TooCostly {
        /// What the file asks for.
        asked: Costs,
        /// What is allowed.
        ceiling: Ceiling,
    },
    /// A key of another kind is needed, such as a passphrase where a raw key was given.
    #[error("{wanted} is needed, not {given}")]
    KeyKind {
        /// What is needed.
        wanted: KeyKind,
        /// What was given.
        given: KeyKind,
    },
    /// The commitment does not match: another key, passphrase or associated data, or an edited header.
    #[error("wrong {0}, or the header or the associated data was changed")]
    WrongKey(&'static str),
    /// None of the keys given opens a slot.
    #[error("none of the given keys or passphrases opens it")]
    NoneOpens,
    /// A slot opened, but the body is bound to other associated data, or its header was changed.
    #[error("wrong associated data, or the file was changed")]
    WrongContext,
    /// There is nobody to seal for.
    #[error("no key that could open the file would be left")]
    NoSlots,
    /// More slots than a file can have.
    #[error("too many keys: a file holds slots of at most 64 KiB, and for at most 8 passphrases")]
    TooManySlots,
    /// The file has one key, not slots.
    #[error("it was sealed under one key, which cannot be changed")]
    NotForRecipients,
    /// No slot is that of the key to be removed.
    #[error("a key that is to be removed does not open it")]
    NotARecipient,
    /// Who is to be added can open the file already.
    #[error("{0} is a recipient already")]
    ARecipient(String),
    /// The file holds one text, not a directory.
    #[error("it holds one file, not a directory")]
    NotATree,
    /// The file holds a directory, which cannot be opened as one text.
    #[error("it holds a directory")]
    IsATree,
    /// The file is text, which is only read in order.
    #[error("it is armored, and armor is only read as a whole")]
    Armored,
    /// A directory with more entries, or a longer list of them, than a sealed file can have.
    #[error("too many entries: a sealed directory has at most 4194304, and their list at most 1 GiB")]
    TooManyEntries,
    /// The path of a file or directory, whose name this is, is too long for a sealed directory or a manifest of files.
    #[error("the path of {} has {len} bytes, and at most 65535 can be sealed", .name.display())]
    LongPath {
        /// The last part of the path.
        name: PathBuf,
        /// Its length in bytes.
        len: usize,
    },
    /// The name of a file or directory is too long for a sealed directory.
    #[error("the name {} has {len} bytes, and at most 255 can be sealed", .name.display())]
    LongName {
        /// The name.
        name: PathBuf,
        /// Its length in bytes.
        len: usize,
    },
    /// The file is no manifest of files.
    #[error("it holds no manifest of files")]
    NotAList,
    /// The file is a manifest of files, not a file itself.
    #[error("it holds the manifest of the files in its directory")]
    IsAList,
    /// There is no such file in the tree.
    #[error("there is no file {} in it", .0.display())]
    NoEntry(PathBuf),
    /// The file has no signature.
    #[error("it is not signed")]
    NotSigned,
    /// The file is signed, but not by any of the given keys.
    #[error("it is signed by another key, {0}")]
    OtherSigner(String),
    /// Signatures cannot be verified in a part of a file.
    #[error("a part of a file cannot be verified: its signature covers the whole file")]
    SignedPart,
    /// A comment that cannot be signed.
    #[error("a comment has one line of at most 1024 bytes")]
    Comment,
    /// A text is not a key.
    #[error("{place}: {why}")]
    BadKey {
        /// Where it is: a file and a line, or "the key".
        place: String,
        /// What is wrong with it.
        why: KeyFault,
    },
    /// The file is not what was sealed.
    #[error("not authentic: {0}")]
    NotAuthentic(Flaw),
    /// The file is of a kind that this build does not read.
    #[error("unsupported: {0}")]
    Unsupported(Unsupported),
    /// A key or IV that `enc` does not take.
    #[error(transparent)]
    Enc(#[from] EncError),
    /// There is not enough memory for what the passphrase costs.
    #[error("there is not enough memory for Argon2id with {0}")]
    NoMemory(Costs),
    /// The operating system has no random bytes.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Interrupted by the user; nothing is left behind.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The exit code of its class: 1 failed, 2 usage, 3 not authentic, 4 wrong key or passphrase, 130 interrupted.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NotAuthentic(_) | Error::NotSigned => 3,
            Error::WrongKey(_)
            | Error::KeyKind { .. }
            | Error::OtherKeyLength { .. }
            | Error::NoneOpens
            | Error::OtherSigner(_)
            | Error::WrongContext => 4,
            Error::Interrupted => 130,
            Error::SameFile(_)
            | Error::EmptyPassphrase
            | Error::KeyAsName
            | Error::KeyLength { .. }
            | Error::Costs(_)
            | Error::Comment
            | Error::SignedPart => 2,
            Error::Enc(error) => error.exit_code(),
            _ => 1,
        }
    }

    /// The path with which the error's text begins, if it begins with one.
    ///
    /// ```
    /// use sealwright_file::Error;
    ///
    /// let error = Error::Exists("letter.seal".into());
    /// let place = error.place().map(|place| place.display().to_string());
    /// assert_eq!(place.as_deref(), Some("letter.seal"));
    /// assert_eq!(error.to_string(), "letter.seal exists already");
    /// assert!(Error::NotSigned.place().is_none());
    /// ```
    pub fn place(&self) -> Option<&Path> {
        match self {
            Error::Exists(path)
            | Error::SameFile(path)
            | Error::Replaced(path)
            | Error::Moved(path)
            | Error::NotDurable(path)
            | Error::Link(path)
            | Error::BlockDevice(path)
            | Error::EndlessOutput(path)
            | Error::BadOutput { path, .. } => Some(path),
            Error::Changed { place, .. } => Some(Path::new(place)),
            _ => None,
        }
    }

    pub(crate) fn io(doing: &'static str, place: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let place = place.into();
        move |error| Error::Io { doing, place, error }
    }

    /// Refuses a path whose length does not fit into 16 bits.
    pub(crate) fn check_path(path: &Path) -> Result<(), Error> {
        let (name, len) = (path.file_name().unwrap_or_default(), path.as_os_str().len());
        if len > usize::from(u16::MAX) { Err(Error::LongPath { name: name.into(), len }) } else { Ok(()) }
    }

    /// Sets the name of the input in an error from code that did not know it.
    pub(crate) fn of(self, name: &str) -> Error {
        match self {
            Error::Io { doing, place, error } if place == INPUT => Error::Io { doing, place: name.into(), error },
            other => other,
        }
    }

    /// The same for the output.
    pub(crate) fn of_output(self, name: &str) -> Error {
        match self {
            Error::Io { doing, place, error } if place == OUTPUT => Error::Io { doing, place: name.into(), error },
            other => other,
        }
    }

    pub(crate) fn cut(offset: u64) -> Error {
        Error::NotAuthentic(Flaw::Truncated { offset })
    }
}

/// The name in errors for an input whose name is not known yet.
pub(crate) const INPUT: &str = "the input";

/// The same for an output.
pub(crate) const OUTPUT: &str = "the output";
