//! Outputs: a file that appears under its name only when it is complete, or a stream.

mod device;
mod directory;
mod draft;
mod draft_tree;
mod hidden_name;
mod hidden_tree;
mod live;
mod options;
mod remove;
mod shared;
mod whole_disk;

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::{fd::AsFd, unix::fs::FileTypeExt},
    path::{Path, PathBuf},
};

use device::Device;
pub use directory::create_directory;
pub(crate) use directory::{Above, sync_directory};
pub(crate) use draft::{Draft, Placed};
pub(crate) use draft_tree::DraftTree;
pub(crate) use live::is_abandoned;
pub use live::{abandon_all, keep_own};
pub use options::OutputOptions;
pub(crate) use remove::remove_from;
pub use remove::remove_input;
use rustix::{
    fs::{FileType, OFlags, fcntl_getfl},
    io::Errno,
};
pub use shared::Shared;
pub(crate) use whole_disk::WholeDisk;

pub use crate::access::mode_of;
use crate::{
    error::{Error, OutputFault},
    file_id::FileId,
};

/// Where sealed or opened bytes go.
///
/// ```
/// use sealwright_file::{Error, Output, OutputOptions};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("text");
/// Output::file(&path, OutputOptions::default())?.write_all_of(&mut &b"a text"[..])?;
/// assert_eq!(std::fs::read(&path)?, b"a text");
/// // What exists is not replaced, unless `OutputOptions` says so.
/// assert!(matches!(Output::file(&path, OutputOptions::default()), Err(Error::Exists(_))));
/// Output::file(&path, OutputOptions::default().force(true))?.write_all_of(&mut &b"another"[..])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Output {
    pub(crate) to: To,
    pub(crate) name: String,
    /// Permission bits of the output if there is no input file to take them from.
    pub(crate) mode: u32,
    /// Which file this is, if it is standard output and that is redirected to a file.
    redirected: Option<FileId>,
    /// Whether it is a block device.
    on_device: bool,
}

/// Readable and writable by the owner only.
const PRIVATE: u32 = 0o600;

pub(crate) enum To {
    File { path: PathBuf, options: OutputOptions },
    Stream(Box<dyn Write + Send>),
}

impl Output {
    /// The file `path`, which the user named. Devices and named pipes are written as streams; a symbolic link is
    /// followed. [`Output::derived`] is for names that were not chosen.
    ///
    /// # Errors
    /// Those of [`Output::check`]; a device that cannot be opened.
    pub fn file(path: impl AsRef<Path>, options: OutputOptions) -> Result<Output, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let to = match Output::check(path, options)? {
            // The file may have been removed since the check.
            true => To::File { path: fs::canonicalize(path).unwrap_or_else(|_| path.into()), options },
            false => {
                let file = OpenOptions::new().write(true).open(path).map_err(Error::io("open", name.clone()))?;
                if file.metadata().is_ok_and(|meta| meta.file_type().is_block_device()) {
                    let device = Device { file, sync: options.sync };
                    return Ok(Output { on_device: true, ..Output::writer(device, name) });
                }
                To::Stream(Box::new(file))
            }
        };
        Ok(Output { to, name, mode: PRIVATE, redirected: None, on_device: false })
    }

    /// Checks, without opening it, whether `path` can be an output, before any work is done. Returns whether it will be
    /// a regular file, rather than a device or a named pipe.
    ///
    /// # Errors
    /// [`Error::Exists`] and [`Error::BlockDevice`] without `force`; [`Error::BadOutput`] for a name that no file can
    /// have; a directory.
    pub fn check(path: impl AsRef<Path>, options: OutputOptions) -> Result<bool, Error> {
        let path = path.as_ref();
        let failed = |doing, error| Err(Error::Io { doing, place: path.display().to_string(), error });
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => failed("write", io::ErrorKind::IsADirectory.into()),
            Ok(meta) if meta.is_file() => {
                if options.force {
                    Ok(true)
                } else {
                    Err(Error::Exists(path.into()))
                }
            }
            Ok(meta) if meta.file_type().is_block_device() && !options.force => Err(Error::BlockDevice(path.into())),
            Ok(_) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let bad = |why| Err(Error::BadOutput { path: path.into(), why });
                if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
                    return bad(OutputFault::Slash);
                }
                if fs::symlink_metadata(path).is_ok() {
                    return bad(OutputFault::DanglingLink);
                }
                Ok(true)
            }
            Err(error) => failed("create", error),
        }
    }

    /// The file `path`, whose name was derived from another, as `letter.seal` from `letter`. It must be a regular file
    /// or not exist: somebody who can write to the directory could have placed a named pipe, a device or a link there,
    /// to get the text or to have another file replaced.
    ///
    /// # Errors
    /// Those of [`Output::check_derived`].
    pub fn derived(path: impl AsRef<Path>, options: OutputOptions) -> Result<Output, Error> {
        let path = path.as_ref();
        Output::check_derived(path, options)?;
        let name = path.display().to_string();
        Ok(Output {
            to: To::File { path: path.into(), options },
            name,
            mode: PRIVATE,
            redirected: None,
            on_device: false,
        })
    }

    /// Checks whether [`Output::derived`] can write `path`.
    ///
    /// # Errors
    /// [`Error::Exists`] without `force`, whatever exists; with it [`Error::BadOutput`] for what is not a regular file;
    /// a directory.
    pub fn check_derived(path: impl AsRef<Path>, options: OutputOptions) -> Result<(), Error> {
        let path = path.as_ref();
        let failed = |doing, error| Err(Error::Io { doing, place: path.display().to_string(), error });
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => failed("write", io::ErrorKind::IsADirectory.into()),
            Ok(_) if !options.force => Err(Error::Exists(path.into())),
            Ok(meta) if !meta.is_file() => Err(Error::BadOutput { path: path.into(), why: OutputFault::Derived }),
            Err(error) if error.kind() != io::ErrorKind::NotFound => failed("create", error),
            _ => Ok(()),
        }
    }

    /// Whether this is a file that will have a name of its own, not a stream.
    pub fn is_file(&self) -> bool {
        matches!(self.to, To::File { .. })
    }

    /// Standard output, unbuffered.
    ///
    /// # Errors
    /// When it is closed.
    pub fn stdout() -> Result<Output, Error> {
        let failed = Error::io("write", "standard output");
        let open = not_closed(io::stdout()).and_then(|()| io::stdout().as_fd().try_clone_to_owned());
        let file = File::from(open.map_err(failed)?);
        let redirected = file.metadata().ok().filter(fs::Metadata::is_file).map(|meta| FileId::of(&meta));
        Ok(Output { redirected, ..Output::writer(file, "standard output") })
    }

    /// Any writer; `name` is what errors call it.
    pub fn writer(to: impl Write + Send + 'static, name: impl Into<String>) -> Output {
        Output { to: To::Stream(Box::new(to)), name: name.into(), mode: PRIVATE, redirected: None, on_device: false }
    }

    /// Permission bits to use instead of 0600 for a file that [`Output::write_all_of`] writes, or into which an input
    /// is sealed that is not a file itself.
    pub fn mode(self, mode: u32) -> Output {
        Output { mode, ..self }
    }

    /// Writes all that `from` gives, whole or not at all where this is a file, with mode 0600 unless
    /// [told otherwise](Output::mode).
    ///
    /// # Errors
    /// Those of `from` and of writing; an output file then does not appear.
    pub fn write_all_of(self, from: &mut impl Read) -> Result<(), Error> {
        let name = self.name;
        let failed = |error: io::Error| error.downcast().unwrap_or_else(Error::io("write", name.clone()));
        match self.to {
            To::File { path, options } => {
                let draft = Draft::create(&path, options)?;
                io::copy(from, &mut &draft).map_err(failed)?;
                draft.commit(self.mode)
            }
            To::Stream(mut to) => io::copy(from, &mut to).and_then(|_| to.flush()).map_err(failed),
        }
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Refuses to write to the file that is read, [which it is](crate::Input::identity) if it is one; also where
    /// standard output is appended to it. [`Sealing::seal`](crate::Sealing::seal) and
    /// [`Opening::open`](crate::Opening::open) do so by themselves.
    ///
    /// ```
    /// use sealwright_file::{Error, Input, Output, OutputOptions};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("text");
    /// std::fs::write(&path, "a text")?;
    /// let output = Output::file(&path, OutputOptions::default().force(true))?;
    /// assert!(matches!(output.differs_from(Input::open(&path)?.identity()), Err(Error::SameFile(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::SameFile`].
    pub fn differs_from(&self, input: Option<FileId>) -> Result<(), Error> {
        let same = input.zip(self.identity()).is_some_and(|(input, output)| input.same_file(&output));
        let name = || if let To::File { path, .. } = &self.to { path.clone() } else { self.name.clone().into() };
        if same { Err(Error::SameFile(name())) } else { Ok(()) }
    }

    /// The file that is written to or replaced, if there is one.
    pub(crate) fn identity(&self) -> Option<FileId> {
        match &self.to {
            To::File { path, .. } => fs::metadata(path).ok().map(|meta| FileId::of(&meta)),
            To::Stream(_) => self.redirected,
        }
    }

    /// Refuses an output from which a sealed file could not be opened, because its end is not recorded.
    ///
    /// # Errors
    /// [`Error::EndlessOutput`] for a block device.
    pub(crate) fn has_an_end(&self) -> Result<(), Error> {
        if self.on_device { Err(Error::EndlessOutput(self.name.clone().into())) } else { Ok(()) }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({})", self.name)
    }
}

/// Fails if a standard stream was closed when the program began. Rust's runtime then opened /dev/null for it, for
/// reading and writing, so text that is written to it would be lost silently.
pub(crate) fn not_closed(stream: impl AsFd) -> io::Result<()> {
    let meta = rustix::fs::fstat(&stream)?;
    let null = rustix::fs::stat("/dev/null").is_ok_and(|null| null.st_rdev == meta.st_rdev);
    let device = FileType::from_raw_mode(meta.st_mode) == FileType::CharacterDevice;
    if device && null && fcntl_getfl(&stream)? & OFlags::RWMODE == OFlags::RDWR {
        return Err(Errno::BADF.into());
    }
    Ok(())
}
