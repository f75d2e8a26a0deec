//! A task: what is read, and what is written.

use std::path::{Path, PathBuf};

use sealwright_file::Found;
use sealwright_terminal::CommandError;

use crate::{identity::identity, names::not_seal};

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard input or standard output.
    Stream,
    File(PathBuf),
    /// Below this directory, with the names inside a sealed directory.
    Inside(PathBuf),
}

/// The error for a sealed file whose name gives no output name and that is not a directory.
pub(crate) fn no_output(input: &Place) -> CommandError {
    match input {
        Place::File(path) => not_seal(path),
        _ => CommandError::usage("-C: standard input is one file and has no name").hint("use -o OUT"),
    }
}

impl Place {
    /// Its name in messages.
    pub(crate) fn name<'a>(&'a self, stream: &'a str) -> &'a Path {
        match self {
            Place::Stream | Place::Inside(_) => Path::new(stream),
            Place::File(path) => path,
        }
    }

    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        if let Place::File(path) = self { identity(path) } else { None }
    }
}

/// One input and its output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileTask {
    pub(crate) input: Place,
    pub(crate) output: Place,
    /// Whether the input is a directory that becomes one sealed file.
    pub(crate) tree: bool,
    /// Its place in the manifest, if a directory is processed file by file.
    pub(crate) listed: Option<Listed>,
    /// The input, if it was found in a directory: then it is opened and removed without following links.
    pub(crate) found: Option<Found>,
    /// Length of the input in bytes, if known; for progress only.
    pub(crate) bytes: Option<u64>,
}

impl FileTask {
    /// A task of which nothing else is known.
    pub(crate) fn new(input: Place, output: Place) -> FileTask {
        FileTask { input, output, tree: false, listed: None, found: None, bytes: None }
    }
}

/// A file's place in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Listed {
    /// The number of the directory among [`Plan::roots`].
    pub(crate) root: usize,
    /// The name of the sealed file, relative to the root.
    pub(crate) path: PathBuf,
}
