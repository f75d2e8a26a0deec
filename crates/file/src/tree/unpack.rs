//! Unpacking the text of a tree to a directory, which gets its name only when all of the text is authentic.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::{fs::OFlags, io::Errno};

use super::{
    manifest::{Entry, EntryKind, Manifest},
    steps,
    writers::{self, Maker},
};
use crate::{
    error::{Error, Flaw},
    output::{DraftTree, WholeDisk, is_abandoned, sync_directory},
};

/// Reads the manifest at the start of a text, such as a [`SealedReader`](crate::SealedReader).
///
/// ```
/// use sealwright_file::{Error, tree::read_manifest};
///
/// assert!(matches!(read_manifest(&mut &b"the text of a single file"[..]), Err(Error::NotATree)));
/// ```
///
/// # Errors
/// [`Error::NotATree`] if the text is something else; [`Error::NotAuthentic`] for a manifest that would leave its tree;
/// reading errors.
pub fn read_manifest(text: &mut impl Read) -> Result<Manifest, Error> {
    Manifest::read(text)
}

/// Unpacks a tree into `directory`, as a directory of its name that does not exist yet.
///
/// ```
/// use sealwright_file::{Content, Input, Key, Opening, Output, Sealing, Shared, tree::{Unpacking, pack}};
///
/// let (from, to) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// std::fs::write(from.path().join("note"), "a text")?;
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// let sealing = Sealing::new(&key).content(Content::Tree);
/// sealing.seal(pack(from.path())?.input, Output::writer(sealed.clone(), "sealed"))?;
///
/// let unpacking = Unpacking::new(to.path());
/// let tree = Opening::new(&key).unpack(Input::bytes(sealed.take(), "sealed"), &unpacking)?;
/// assert_eq!(std::fs::read(tree.join("note"))?, b"a text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Unpacking<'a> {
    /// Where the tree goes.
    pub directory: &'a Path,
    /// The name that it must have: who sealed it has chosen one. `None` takes any.
    pub name: Option<&'a OsStr>,
    /// Give the entries the modes they had; otherwise 0600 and 0700.
    pub preserve: bool,
    /// Sync the new file to disk.
    pub sync: bool,
}

impl<'a> Unpacking<'a> {
    /// Into `directory`, under any name, with modes 0600 and 0700, synced to disk.
    pub fn new(directory: &'a Path) -> Self {
        Unpacking { directory, name: None, preserve: false, sync: true }
    }

    /// Sets the name that the tree must have.
    pub fn name(self, name: impl Into<Option<&'a OsStr>>) -> Self {
        Unpacking { name: name.into(), ..self }
    }

    /// Sets whether the entries get the modes they had.
    pub fn preserve(self, preserve: bool) -> Self {
        Unpacking { preserve, ..self }
    }

    /// Sets whether the new files are synced to disk.
    pub fn sync(self, sync: bool) -> Self {
        Unpacking { sync, ..self }
    }

    /// Unpacks all of `text` under a hidden name, on `threads` threads.
    ///
    /// # Errors
    /// [`Error::OtherName`]; [`Error::Exists`]; those of `text`, reading and writing. Nothing is left then.
    pub(crate) fn run(&self, text: &mut impl Read, threads: usize) -> Result<Unpacked, Error> {
        // If the draft was removed by an interrupt, errors of writing to it only follow from that.
        self.fill(text, threads).map_err(|error| if is_abandoned() { Error::Interrupted } else { error })
    }

    fn fill(&self, text: &mut impl Read, threads: usize) -> Result<Unpacked, Error> {
        let manifest = Manifest::read(text).map_err(|error| match error {
            // The preamble states that the text is a tree.
            Error::NotATree => Error::NotAuthentic(Flaw::Tree),
            other => other,
        })?;
        if let Some(wanted) = self.name.filter(|wanted| *wanted != manifest.name().as_os_str()) {
            return Err(Error::OtherName { name: manifest.name().into(), wanted: wanted.into() });
        }
        let target = self.directory.join(manifest.name());
        if fs::symlink_metadata(&target).is_ok() {
            return Err(Error::Exists(target));
        }
        let draft = DraftTree::create(&target)?;
        let (directories, files): (Vec<_>, Vec<_>) =
            manifest.entries.iter().partition(|entry| entry.kind == EntryKind::Directory);
        // Nothing in the tree matters before the tree has its name. If there are very many files, they are therefore
        // synced together.
        let many = self.sync && files.len() > SYNC_EACH_LIMIT;
        let disk = if many { WholeDisk::of(draft.hidden()) } else { None };
        let making = Making {
            draft: &draft,
            directory: self.directory,
            preserve: self.preserve,
            sync: self.sync && disk.is_none(),
        };
        for entry in &directories {
            let made = steps::make_directory(&place(&draft, &entry.path), 0o700);
            made.map_err(refused("create", &making.named(entry)))?;
        }
        // Threads that wait for the disk need no core.
        let threads = if making.sync && threads > 1 { threads.max(SYNC_THREADS) } else { threads };
        writers::write_all(files.iter().copied(), text, threads.min(files.len()), &making)?;
        // The text must end here. Only reading its end shows that it is complete.
        let mut more = [0];
        if crate::read::fill(text, &mut more)? > 0 {
            return Err(Error::NotAuthentic(Flaw::Tree));
        }
        // Children first: adding an entry changes the modification time of its directory.
        for entry in directories.iter().rev() {
            making.finish(entry)?;
        }
        if let Some(disk) = &disk {
            disk.sync().map_err(failed("write", &target))?;
        }
        let mode = directories.first().filter(|_| self.preserve).map(|root| u32::from(root.mode));
        Ok(Unpacked { draft, target, mode, sync: self.sync })
    }
}

/// The path at which an entry is created. It is inside the draft: the manifest was validated.
fn place(draft: &DraftTree, path: &Path) -> PathBuf {
    draft.hidden().join(path)
}

/// With more files than this, the whole file system is synced once, rather than every file. That also writes what other
/// programs have written to it.
const SYNC_EACH_LIMIT: usize = 64;
/// Threads for files that are synced one by one: the file system's journal commits concurrent syncs together.
const SYNC_THREADS: usize = 16;

/// Creates the entries of a tree.
struct Making<'a> {
    draft: &'a DraftTree,
    /// The directory in which the tree will appear.
    directory: &'a Path,
    preserve: bool,
    /// Whether each file and directory is synced separately.
    sync: bool,
}

impl Making<'_> {
    /// Creates the file of an entry; returns it and its path for errors.
    fn create(&self, entry: &Entry) -> Result<(File, PathBuf), Error> {
        let named = self.named(entry);
        let file = steps::open(&place(self.draft, &entry.path), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, 0o600);
        Ok((file.map_err(refused("create", &named))?, named))
    }

    /// The final path of an entry, for errors: the hidden path will no longer exist when the user reads them.
    fn named(&self, entry: &Entry) -> PathBuf {
        self.directory.join(&entry.path)
    }

    /// Sets mode and modification time of a file.
    fn close(&self, entry: &Entry, file: &File, path: &Path) -> Result<(), Error> {
        let mode = if self.preserve { u32::from(entry.mode) } else { 0o600 };
        file.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of", path))?;
        file.set_modified(time(entry)).map_err(failed("set the time of", path))?;
        if self.sync { file.sync_all().map_err(failed("write", path)) } else { Ok(()) }
    }

    /// Sets mode and modification time of a directory. The outermost one gets its mode only after it was renamed,
    /// because a directory that is not writable cannot be moved.
    fn finish(&self, entry: &Entry) -> Result<(), Error> {
        let directory = steps::open(&place(self.draft, &entry.path), OFlags::RDONLY, 0);
        let path = self.named(entry);
        let directory = directory.map_err(refused("open", &path))?;
        let outermost = entry.path.components().count() == 1;
        let mode = if self.preserve && !outermost { u32::from(entry.mode) } else { 0o700 };
        directory.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of", &path))?;
        directory.set_modified(time(entry)).map_err(failed("set the time of", &path))?;
        if self.sync { sync_directory(&directory, &path) } else { Ok(()) }
    }
}

impl Maker for Making<'_> {
    fn whole(&self, entry: &Entry, content: &[u8]) -> Result<(), Error> {
        let (mut file, path) = self.create(entry)?;
        file.write_all(content).map_err(failed("write", &path))?;
        self.close(entry, &file, &path)
    }

    fn from(&self, entry: &Entry, text: &mut impl Read) -> Result<(), Error> {
        let (mut file, path) = self.create(entry)?;
        if copy(text, &mut file, entry.len, &path)? != entry.len {
            return Err(Error::NotAuthentic(Flaw::Tree));
        }
        self.close(entry, &file, &path)
    }
}

/// A tree that is unpacked but does not have its name yet. If it is dropped without [`Unpacked::commit`], it is
/// removed.
pub(crate) struct Unpacked {
    draft: DraftTree,
    target: PathBuf,
    /// The mode for the outermost directory.
    mode: Option<u32>,
    sync: bool,
}

impl Unpacked {
    /// Gives the tree its name; returns its path.
    pub(crate) fn commit(self) -> Result<PathBuf, Error> {
        self.draft.commit(&self.target, self.mode, self.sync)?;
        Ok(self.target)
    }
}

/// Copies `len` bytes. Errors of `text` are returned unchanged.
fn copy(text: &mut impl Read, to: &mut File, len: u64, path: &Path) -> Result<u64, Error> {
    let mut piece =
        zeroize::Zeroizing::new(vec![0; (256 * 1024).min(usize::try_from(len).unwrap_or(usize::MAX)).max(1)]);
    let mut copied = 0;
    while copied < len {
        let most = piece.len().min(usize::try_from(len - copied).unwrap_or(usize::MAX));
        let got = crate::read::fill(text, &mut piece[..most])?;
        to.write_all(&piece[..got]).map_err(failed("write", path))?;
        copied += got as u64;
        if got < most {
            break;
        }
    }
    Ok(copied)
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(doing, path.display().to_string())
}

fn refused(doing: &'static str, path: &Path) -> impl FnOnce(Errno) -> Error {
    let failed = failed(doing, path);
    move |error| failed(error.into())
}

fn time(entry: &Entry) -> SystemTime {
    let (seconds, nanoseconds) = entry.modified;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    base.and_then(|base| base.checked_add(Duration::from_nanos(nanoseconds.into()))).unwrap_or(SystemTime::UNIX_EPOCH)
}
