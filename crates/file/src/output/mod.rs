//! Where bytes go: a file that appears under its name only when it is whole, or a stream.

mod draft;
mod place;
mod shared;

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::fd::AsFd,
    path::{Path, PathBuf},
};

pub use draft::abandon_all;
pub(crate) use draft::{Draft, Placed};
pub use place::Place;
pub use shared::Shared;

use crate::{
    error::Error,
    identity::{Identity, Summary},
};

/// Where sealed or opened bytes go.
pub struct Output {
    pub(crate) to: To,
    pub(crate) name: String,
}

pub(crate) enum To {
    File { path: PathBuf, place: Place },
    Stream(Box<dyn Write + Send>),
}

impl Output {
    /// The file `path`. Devices and named pipes are written as streams; a symbolic link is followed.
    ///
    /// # Errors
    /// [`Error::Exists`] without `force`; a directory; a device that cannot be opened.
    pub fn file(path: &Path, place: Place) -> Result<Output, Error> {
        let name = path.display().to_string();
        let to = match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                return Err(Error::Io { doing: "write", place: name, source: io::ErrorKind::IsADirectory.into() });
            }
            Ok(meta) if meta.is_file() => {
                if !place.force {
                    return Err(Error::Exists(path.into()));
                }
                To::File { path: fs::canonicalize(path).map_err(Error::io("find", name.clone()))?, place }
            }
            Ok(_) => {
                // A device or a named pipe. Opening a socket fails.
                let file = OpenOptions::new().write(true).open(path).map_err(Error::io("open", name.clone()))?;
                To::Stream(Box::new(file))
            }
            Err(_) => To::File { path: path.into(), place },
        };
        Ok(Output { to, name })
    }

    /// Standard output, unbuffered.
    ///
    /// # Errors
    /// When it is closed.
    pub fn stdout() -> Result<Output, Error> {
        let fd = io::stdout().as_fd().try_clone_to_owned().map_err(Error::io("write", "standard output"))?;
        Ok(Output::writer(File::from(fd), "standard output"))
    }

    /// Any writer; `name` is what errors call it.
    pub fn writer(to: impl Write + Send + 'static, name: impl Into<String>) -> Output {
        Output { to: To::Stream(Box::new(to)), name: name.into() }
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// [`Error::SameFile`] if this is the file that is read.
    pub(crate) fn differs_from(&self, input: Option<Identity>) -> Result<(), Error> {
        let To::File { path, .. } = &self.to else { return Ok(()) };
        match fs::metadata(path) {
            Ok(meta) if input.is_some_and(|input| input.same_file(&Identity::of(&meta))) => {
                Err(Error::SameFile(path.clone()))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({})", self.name)
    }
}

/// Removes the input of a job that is done: `seal --remove`.
///
/// # Errors
/// [`Error::Replaced`] if `path` is no longer the file that was read, or was written since; what the system says.
pub fn remove_input(path: &Path, done: &Summary) -> Result<(), Error> {
    let place = path.display().to_string();
    let meta = fs::metadata(path).map_err(Error::io("remove", place.clone()))?;
    if done.input != Some(Identity::of(&meta)) {
        return Err(Error::Replaced(path.into()));
    }
    fs::remove_file(path).map_err(Error::io("remove", place))
}
