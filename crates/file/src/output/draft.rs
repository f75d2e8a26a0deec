//! Output files before they have their name: written, synced, then named atomically, without replacing another file
//! unless `force` is set.

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
    hidden_name::hidden_name,
    live::{Live, live},
    options::OutputOptions,
};
use crate::error::Error;

/// A file that is being written. If it is dropped without [`Draft::commit`], it is removed. Where the file system
/// supports unnamed files (`O_TMPFILE`), nothing is left even if the process is killed.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// Its temporary name, if it has one.
    temp: Option<PathBuf>,
    target: PathBuf,
    options: OutputOptions,
    /// Bytes written so far.
    written: AtomicU64,
}

/// Writeback is requested whenever this many more bytes were written.
const BATCH: u64 = 16 << 20;

impl Draft {
    /// Creates an unnamed file in the directory of `target`, with mode 0600; or `.NAME.xxxxxx` if the file system does
    /// not support unnamed files.
    pub(crate) fn create(target: &Path, options: OutputOptions) -> Result<Draft, Error> {
        // The registry stays locked until the file is in it, so that an interrupt cannot miss the file.
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

    /// Fails if the disk has no room for `len` bytes, so that a full disk is reported before the work. Sealed bytes
    /// cannot be compressed. Nothing is allocated: on tmpfs, `fallocate` fills the whole file with zeros on one core,
    /// which takes as long as sealing it.
    pub(crate) fn room_for(&self, len: u64) -> Result<(), Error> {
        let Ok(disk) = rustix::fs::fstatvfs(&self.file) else { return Ok(()) };
        // Some blocks are reserved for root.
        let free = if rustix::process::geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
        // A file system without a size limit reports no blocks.
        if disk.f_blocks > 0 && free.saturating_mul(disk.f_frsize) < len {
            let full = Errno::NOSPC.into();
            return Err(Error::Io { doing: "write", place: self.target.display().to_string(), error: full });
        }
        Ok(())
    }

    /// Records that `len` bytes were written, up to offset `end`. From time to time writeback is started, so that the
    /// sync at the end does not have to write everything.
    pub(crate) fn wrote(&self, end: u64, len: u64) {
        let before = self.written.fetch_add(len, Ordering::Relaxed);
        if self.options.sync && before / BATCH != (before + len) / BATCH {
            // With this advice Linux starts writeback. It is only a hint; correctness does not depend on it.
            let from = end.saturating_sub(BATCH + len);
            let _ = fadvise(&self.file, from, NonZeroU64::new(end - from), Advice::DontNeed);
        }
    }

    /// Gives the file its permission bits and its name.
    pub(crate) fn commit(self, mode: u32) -> Result<(), Error> {
        self.commit_if(mode, || Ok(()))
    }

    /// The same, unless `may` returns an error. It is called as late as possible.
    pub(crate) fn commit_if(mut self, mode: u32, may: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let name = self.target.display().to_string();
        let failed = |doing| Error::io(doing, name.clone());
        self.file.set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of"))?;
        if self.options.sync {
            self.file.sync_all().map_err(failed("write"))?;
        }
        let above = self.options.sync.then(|| Above::of(&self.target)).transpose()?;
        {
            // An interrupt either removes this draft before it has its name, or finds it named.
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
                // A link cannot replace a file, so the file is linked under a hidden name and then renamed. It is
                // already complete.
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

/// An unnamed file in `directory`, if the file system supports such files and they can be named later.
fn unnamed(directory: &Path) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(0o600)).ok()?);
    // It can be named only through /proc.
    own_path(&file).exists().then_some(file)
}

/// A path by which an open file can be linked.
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
    Err(Error::Io { doing: "create", place: target.display().to_string(), error: last })
}

/// Writes in order, from the start.
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

/// Writes a draft from a given offset on, without moving the file's position.
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

/// Renames without replacing: atomically if the file system supports that, otherwise with a hard link, otherwise by
/// first creating an empty file of the new name.
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
