//! Key pairs on the command line: public keys to seal for, identities to open with.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Error, Key, PublicKey, Recipient, read_identities, read_recipients};
use sealwright_terminal::CommandError;

use crate::{
    error::file_error,
    hint::hint,
    keys::{directory::refuse_directory, prompt},
};

/// For whom files are sealed.
#[derive(Args, Debug)]
pub(crate) struct RecipientArgs {
    /// Seal for the holder of the public KEY, made by `sealwright key new --pair` or an SSH key; can be repeated
    #[arg(short, long = "recipient", value_name = "KEY", help_heading = "Key")]
    recipients: Vec<String>,
    /// Seal for every public key in FILE, one per line; can be repeated
    #[arg(short = 'R', long = "recipients-file", value_name = "FILE", help_heading = "Key")]
    recipients_files: Vec<PathBuf>,
}

/// Whose secret keys open files.
#[derive(Args, Debug)]
pub(crate) struct IdentityArgs {
    /// Open with a secret key in FILE, made by `sealwright key new --pair` or for SSH, or with a raw key; can be
    /// repeated
    #[arg(short, long = "identity", value_name = "FILE", help_heading = "Key")]
    identities: Vec<PathBuf>,
}

impl RecipientArgs {
    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        !self.recipients.is_empty() || !self.recipients_files.is_empty()
    }

    /// The recipients files.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.recipients_files
    }

    /// Reads the recipients that were given.
    pub(crate) fn read(&self) -> Result<Vec<Recipient>, CommandError> {
        public_keys(&self.recipients, &self.recipients_files, "-R FILE takes the keys in a file")
            .map(|keys| keys.into_iter().map(Recipient::PublicKey).collect())
    }
}

impl IdentityArgs {
    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        !self.identities.is_empty()
    }

    /// The identity files.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.identities
    }

    /// Reads the keys in the identity files. The passphrase of a sealed one is asked for.
    pub(crate) fn read(&self) -> Result<Vec<Key>, CommandError> {
        let mut keys = Vec::new();
        for path in &self.identities {
            keys.extend(identities(path)?);
        }
        Ok(keys)
    }
}

/// Reads the keys in one identity file.
pub(crate) fn identities(path: &Path) -> Result<Vec<Key>, CommandError> {
    refuse_directory(path, "an identity file")?;
    let ask = || {
        let passphrase = prompt::passphrase_of(path)?;
        Key::passphrase(passphrase.as_slice()).map_err(|error| IdentityError(file_error(error)))
    };
    read_identities(path, ask).map_err(|error| error.0.about_unless_named(path))
}

/// An error of the library or of the prompt, in the form of the command line.
pub(crate) struct IdentityError(pub(crate) CommandError);

impl From<Error> for IdentityError {
    fn from(error: Error) -> Self {
        // The cost limit for identity files cannot be changed by any option.
        let hint = "`sealwright open --max-cost` decrypts it to a file without a passphrase";
        IdentityError(match error {
            Error::TooCostly { .. } => CommandError::failed(error).hint(hint),
            other => file_error(other),
        })
    }
}

impl From<CommandError> for IdentityError {
    fn from(error: CommandError) -> Self {
        IdentityError(error)
    }
}

/// Public keys given as arguments and in files, without duplicates. `in_file` is the hint if an argument is the name of
/// a file.
pub(crate) fn public_keys(words: &[String], files: &[PathBuf], in_file: &str) -> Result<Vec<PublicKey>, CommandError> {
    let parsed = words.iter().map(|word| {
        word.parse().map_err(|error: Error| {
            let hint = match hint(&error) {
                _ if Path::new(word).is_file() => in_file,
                Some(hint) => hint,
                None => "`sealwright key public -i FILE` prints one",
            };
            // A long argument that is not a public key may be a secret one, so it is not repeated.
            CommandError::usage(error_text(&error)).hint(hint)
        })
    });
    let mut keys: Vec<PublicKey> = parsed.collect::<Result<_, _>>()?;
    for path in files {
        refuse_directory(path, "a file with public keys")?;
        keys.extend(read_recipients(path).map_err(|error| file_error(error).about_unless_named(path))?);
    }
    let mut once: Vec<PublicKey> = Vec::new();
    for key in keys {
        if !once.contains(&key) {
            once.push(key);
        }
    }
    Ok(once)
}

fn error_text(error: &Error) -> String {
    match error {
        Error::BadKey { why, .. } => format!("the recipient cannot be used: {why}"),
        other => other.to_string(),
    }
}
