//! Associated data: authenticated with the text, but not stored in the file.

use sealwright_terminal::CommandError;

use crate::{args::AdArgs, keys::directory::refuse_directory, protected_inputs::refuse_keys_as_names};

/// The associated data, which is empty by default.
pub(crate) fn read(args: &AdArgs) -> Result<Vec<u8>, CommandError> {
    match (&args.ad, &args.ad_file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(path)) => {
            refuse_keys_as_names([path])?;
            refuse_directory(path, "a file with associated data")?;
            std::fs::read(path).map_err(|error| CommandError::io(path, &error))
        }
        (None, None) => Ok(Vec::new()),
    }
}
