//! A file before it has its name: written, synced, then named in one step that never replaces another unasked.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, ErrorKind, IoSlice, Write},
    num::NonZeroU64,
    os::{
        fd::AsRawFd,
        unix::fs::{OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{Advice, AtFlags, CWD, Mode, OFlags, RenameFlags, fadvise, linkat, openat, renameat_with},
    io::Errno,
};

use super::{
    directory::{Above, parent},
    live::{Live, hidden_name, live},
    options::OutputOptions,
};
use crate::error::Error;

/// A file being written. Dropped without [`Draft::commit`], it is gone; where the file system can make files without a
/// name it is gone even if the process is killed.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// Its name for now, if it has one.
    temp: Option<PathBuf>,
    target: PathBuf,
    options: OutputOptions,
    /// Bytes written so far.
    written: AtomicU64,
}

/// After so many bytes written, the disk is told to begin.
const BATCH: u64 = 16 << 20;

impl Draft {
    /// Creates a file without a name in the directory of `target`, for its owner only; or `.NAME.xxxxxx` where the file
    /// system cannot.
    pub(crate) fn create(target: &Path, options: OutputOptions) -> Result<Draft, Error> {
        // The registry is held while the file appears: an interrupt in between must not miss it.
        let mut live = live();
        if live.closed {
            return Err(Error::Interrupted);
        }
        let (file, temp) = match unnamed(parent(target)) {
            Some(file) => (file, None),
            None => hidden(target).map(|(file, temp)| (file, Some(temp)))?,
        };
        live.paths.extend(temp.clone());
        Ok(Draft { file, temp, target: target.into(), options, written: AtomicU64::new(0) })
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether the disk has room for `len` bytes that no file system can squeeze, so that a full one says so before the
    /// work and not after it. Nothing is taken: `fallocate` would fill all of a tmpfs with zeros first, on one core, and
    /// that took as long as sealing did.
    pub(crate) fn room_for(&self, len: u64) -> Result<(), Error> {
        let Ok(disk) = rustix::fs::fstatvfs(&self.file) else { return Ok(()) };
        // Some blocks are kept for root alone.
        let free = if rustix::process::geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
        // A file system without limits counts no blocks.
        if disk.f_blocks > 0 && free.saturating_mul(disk.f_frsize) < len {
            let full = Errno::NOSPC.into();
            return Err(Error::Io { doing: "write", place: self.target.display().to_string(), source: full });
        }
        Ok(())
    }

    /// Notes that `len` bytes were written, up to offset `end`. Now and then the disk is set to work on what is there, so
    /// that syncing at the end does not have to wait for all of it.
    pub(crate) fn wrote(&self, end: u64, len: u64) {
        let before = self.written.fetch_add(len, Ordering::Relaxed);
        if self.options.sync && before / BATCH != (before + len) / BATCH {
            // Told that pages are not needed any more, Linux begins to write them. Only a hint: nothing rests on it.
            let from = end.saturating_sub(BATCH + len);
            let _ = fadvise(&self.file, from, NonZeroU64::new(end - from), Advice::DontNeed);
        }
    }

    /// Gives the file its permission bits and its name.
    pub(crate) fn commit(self, mode: u32) -> Result<(), Error> {
        self.commit_if(mode, || Ok(()))
    }

    /// The same if `may` says so, which is asked as late as can be.
    pub(crate) fn commit_if(mut self, mode: u32, may: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let name = self.target.display().to_string();
        let failed = |doing| Error::io(doing, name.clone());
        self.file.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of"))?;
        if self.options.sync {
            self.file.sync_all().map_err(failed("write"))?;
        }
        let above = self.options.sync.then(|| Above::of(&self.target)).transpose()?;
        {
            // An interrupt takes all drafts or finds this one named.
            let mut live = live();
            if live.closed {
                return Err(Error::Interrupted);
            }
            may()?;
            live.may_replace(&self.target)?;
            match self.take_name(&mut live) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(Error::Exists(self.target.clone()));
                }
                other => other.map_err(failed("name"))?,
            }
            live.wrote(&self.file);
        }
        above.map_or(Ok(()), |above| above.sync(&self.file, &self.target))
    }

    /// Gives the file its name.
    fn take_name(&mut self, live: &mut Live) -> io::Result<()> {
        let Some(temp) = &self.temp else {
            let source = own_path(&self.file);
            let link = |to: &Path| linkat(CWD, &source, CWD, to, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from);
            return match link(&self.target) {
                // A link cannot replace: the file gets a hidden name first. It is whole already.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && self.options.force => {
                    let temp = hidden_name(&self.target).map_err(io::Error::other)?;
                    link(&temp)?;
                    fs::rename(&temp, &self.target).inspect_err(|_| drop(fs::remove_file(&temp)))
                }
                other => other,
            };
        };
        if self.options.force {
            fs::rename(temp, &self.target)?
        } else {
            rename_new(temp, &self.target)?
        }
        live.paths.retain(|path| path != temp);
        self.temp = None;
        Ok(())
    }
}

/// A file in `directory` that has no name, if the file system makes such files and they can be named later.
fn unnamed(directory: &Path) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(0o600)).ok()?);
    // Without /proc there would be no way to name it.
    own_path(&file).exists().then_some(file)
}

/// The name under which the system knows an open file.
fn own_path(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Creates `.NAME.xxxxxx` beside `target`.
fn hidden(target: &Path) -> Result<(File, PathBuf), Error> {
    let mut last = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..16 {
        let temp = hidden_name(target)?;
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&temp) {
            Ok(file) => return Ok((file, temp)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    Err(Error::Io { doing: "create", place: target.display().to_string(), source: last })
}

/// In order, from the start.
impl Write for &Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let len = (&self.file).write_vectored(parts)? as u64;
        self.wrote(self.written.load(Ordering::Relaxed) + len, len);
        Ok(len as usize)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a draft from a place on, without moving its position.
pub(crate) struct Placed<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) at: u64,
}

impl Write for Placed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = rustix::io::pwritev(&self.draft.file, parts, self.at)?;
        self.at += written as u64;
        self.draft.wrote(self.at, written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(temp) = self.temp.take() {
            let mut live = live();
            let _ = fs::remove_file(&temp);
            live.paths.retain(|path| *path != temp);
        }
    }
}

/// Renames without replacing: in one step where the file system can, else by a second link, else by taking the name
/// first with an empty file.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        other => return Ok(other?),
    }
    match fs::hard_link(from, to) {
        Ok(()) => return fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    fs::rename(from, to).inspect_err(|_| drop(fs::remove_file(to)))
}
