//! Whether two names are the same file.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

/// Device and inode of a file; `None` for pipes and devices, which may be read and written at once.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// The same for a directory.
pub(crate) fn directory(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Whether something has this name, even a dangling symbolic link.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
