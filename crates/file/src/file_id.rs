//! The identity of a file, and the summary of what was done with it.

use std::{
    fs::{File, Metadata},
    os::unix::fs::MetadataExt,
};

use rustix::fs::Stat;
use sealwright::Suite;
use sealwright_stream::chunk::COMMITMENT;

use crate::error::Error;

/// The commitment of a sealed file: bytes that no other sealed file has.
pub type Commitment = [u8; COMMITMENT];

/// The identity and state of a file, independent of its name: device, inode, number of names, length, and the times of
/// the last change to its content and to its metadata. A program cannot set back the latter.
///
/// ```
/// use sealwright_file::Input;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("text");
/// std::fs::write(&path, "a text")?;
/// let before = Input::open(&path)?.identity();
/// std::fs::write(&path, "another text")?;
/// assert_ne!(Input::open(&path)?.identity(), before); // it was changed meanwhile
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
    names: u64,
    len: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileId {
    pub(crate) fn of(meta: &Metadata) -> FileId {
        FileId {
            device: meta.dev(),
            inode: meta.ino(),
            names: meta.nlink(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The same from the metadata of an entry in an open directory.
    #[allow(clippy::unnecessary_cast, reason = "numbers of names are shorter on some machines")]
    pub(crate) fn of_stat(stat: &Stat) -> FileId {
        FileId {
            device: stat.st_dev,
            inode: stat.st_ino,
            names: stat.st_nlink as u64,
            len: stat.st_size as u64,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether `now` is the same file with unchanged content. If some of its names (hard links) were removed, which
    /// also changes the time of the last metadata change, that time is not compared.
    pub(crate) fn is_still(&self, now: &FileId) -> bool {
        let as_if = FileId { names: self.names, changed: self.changed, ..*now };
        if now.names < self.names { as_if == *self } else { now == self }
    }

    /// Fails if `file` was written to since this state was taken; `name` is its name in errors.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(crate) fn still(&self, file: &File, name: &str) -> Result<(), Error> {
        let now = FileId::of(&file.metadata().map_err(Error::io("read", name))?);
        let changed = || Error::Changed { place: name.into(), before: self.len, after: now.len };
        if self.is_still(&now) { Ok(()) } else { Err(changed()) }
    }

    /// Whether both are the same file, even if its content has changed.
    pub(crate) fn same_file(&self, other: &FileId) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The result of sealing, opening or verifying a file.
///
/// ```
/// use sealwright_file::{Input, Key, Output, Sealing, Shared};
///
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let done = Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(Shared::default(), "sealed"))?;
/// assert_eq!((done.text, done.durable, done.input), (6, false, None));
/// println!("{} bytes with {}", done.sealed, done.suite);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of text.
    pub text: u64,
    /// Bytes of the sealed file.
    pub sealed: u64,
    /// The suite.
    pub suite: Suite,
    /// Which file was read, if it was one.
    pub input: Option<FileId>,
    /// Whether the output is on the disk under its name: a regular file, synced together with its directory.
    pub durable: bool,
    /// The commitment of the file.
    pub commitment: Commitment,
    /// For a signed file that was opened, the id of the signing key. The signature was verified only if signers were
    /// given.
    pub signer: Option<[u8; 16]>,
}
