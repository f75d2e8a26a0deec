//! One piece of work: what is read, and what is written.

use std::path::{Path, PathBuf};

use sealwright_file::Found;
use sealwright_terminal::CommandError;

use crate::{identity::identity, names::not_seal};

/// Where bytes come from or go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard input or standard output.
    Stream,
    File(PathBuf),
    /// The names that a sealed directory has inside, below this directory.
    Inside(PathBuf),
}

/// Why a sealed file that is no directory has no output.
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
    /// Its place in the manifest of a directory that is worked on file by file.
    pub(crate) listed: Option<Listed>,
    /// The input, where it was found in a directory: it is opened and removed as that.
    pub(crate) found: Option<Found>,
    /// Bytes of input, where they can be known; for progress only.
    pub(crate) bytes: Option<u64>,
}

impl FileTask {
    /// One input and its output, and nothing known besides.
    pub(crate) fn new(input: Place, output: Place) -> FileTask {
        FileTask { input, output, tree: false, listed: None, found: None, bytes: None }
    }
}

/// A file's place in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Listed {
    /// The number of the directory among [`Plan::roots`].
    pub(crate) root: usize,
    /// The name of the sealed file in it.
    pub(crate) path: PathBuf,
}
