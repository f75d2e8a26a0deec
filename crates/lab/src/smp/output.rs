//! Output files, which are written atomically.

use std::{io::Write, path::Path};

use sealwright_smp::output::beside;
use sealwright_terminal::CommandError;

/// Writes a file atomically. An existing file is replaced only if `replace` is set; otherwise it is an error.
pub(super) fn whole(path: &Path, text: &str, replace: bool) -> Result<(), CommandError> {
    let failed = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(path),
        _ => CommandError::io(path, error),
    };
    let mut file = beside(path).map_err(|error| CommandError::io(path, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    let kept = file.end(|file| if replace { file.persist(path) } else { file.persist_noclobber(path) });
    kept.map(drop).map_err(|error| failed(&error.error))
}

/// The error for an output file that exists already.
pub(super) fn exists(path: &Path) -> CommandError {
    CommandError::failed("exists already").about(path).hint("--force replaces it")
}
