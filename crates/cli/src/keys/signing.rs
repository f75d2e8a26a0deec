//! Signing keys and verification keys on the command line.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Key, SigningKey, VerifyingKey, read_signing_key, read_verifying_keys};
use sealwright_terminal::CommandError;

use crate::{
    error::file_error,
    keys::{directory::refuse_directory, pairs::IdentityError, prompt},
};

/// Who must have signed.
#[derive(Args, Debug)]
pub(crate) struct SignerArgs {
    /// Accept only what the holder of a verification key in FILE signed; can be repeated
    #[arg(long, value_name = "FILE", help_heading = "Signature")]
    signer: Vec<PathBuf>,
}

impl SignerArgs {
    /// The files with verification keys.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.signer
    }

    /// Reads the verification keys in them.
    pub(crate) fn read(&self) -> Result<Vec<VerifyingKey>, CommandError> {
        verifying_keys(&self.signer)
    }
}

/// Reads the verification keys in `files`.
pub(crate) fn verifying_keys(files: &[PathBuf]) -> Result<Vec<VerifyingKey>, CommandError> {
    let mut keys = Vec::new();
    for path in files {
        refuse_directory(path, "a file with verification keys")?;
        keys.extend(read_verifying_keys(path).map_err(|error| file_error(error).about_unless_named(path))?);
    }
    Ok(keys)
}

/// Reads the signing key in the file at `path`. The passphrase of a sealed one is asked for.
pub(crate) fn signing_key(path: &Path) -> Result<SigningKey, CommandError> {
    refuse_directory(path, "the file of a signing key")?;
    let ask = || {
        let passphrase = prompt::passphrase_of(path)?;
        Key::passphrase(passphrase.as_slice()).map_err(|error| IdentityError(file_error(error)))
    };
    read_signing_key(path, ask).map_err(|error| error.0.about_unless_named(path))
}
