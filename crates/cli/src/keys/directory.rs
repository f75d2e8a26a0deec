//! Directories that are named where a file is needed.

use std::path::Path;

use sealwright_terminal::CommandError;

/// Refuses a directory in place of a file with keys: the system's message would not say what the file is for.
pub(crate) fn refuse_directory(path: &Path, wanted: &str) -> Result<(), CommandError> {
    if !path.is_dir() {
        return Ok(());
    }
    Err(CommandError::failed(format_args!("is a directory, and {wanted} is needed"))
        .about(path)
        .hint("name a file in it"))
}
