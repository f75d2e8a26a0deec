//! Which file a name stands for.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

/// What tells two names of one file: device and inode. Pipes and devices may be read and written at once.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// The same of a directory.
pub(crate) fn directory(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Whether there is anything of this name, be it a link to nothing.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
