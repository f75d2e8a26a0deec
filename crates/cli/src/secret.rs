//! Keys and passphrases, from wherever the user keeps them.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
};

use sealwright_file::Key;
use sealwright_terminal::{CommandError, os_message};
use zeroize::Zeroizing;

use crate::{
    args::KeySourceArgs,
    descriptor,
    error::file_error,
    line::first_line,
    prompt::{self, Purpose},
};

/// A source was named.
pub(crate) fn named(args: &KeySourceArgs) -> Result<(), CommandError> {
    let KeySourceArgs { key_file, key_fd, passphrase, passphrase_fd, passphrase_command } = args;
    let any = key_file.is_some()
        || key_fd.is_some()
        || *passphrase
        || passphrase_fd.is_some()
        || passphrase_command.is_some();
    if any {
        return Ok(());
    }
    Err(CommandError::usage(
        "no key: name a --key-file, --key-fd, --passphrase, --passphrase-fd or --passphrase-command",
    )
    .hint("`sealwright key new -o my.key` makes a key file; --passphrase asks on the terminal"))
}

/// Reads the one source that was named.
pub(crate) fn key(args: &KeySourceArgs, purpose: Purpose) -> Result<Key, CommandError> {
    named(args)?;
    if let Some(path) = &args.key_file {
        return key_file(path);
    }
    if let Some(number) = args.key_fd {
        return Key::read_from(descriptor::duplicate(number)?, &format!("in file descriptor {number}"))
            .map_err(file_error);
    }
    let passphrase = if let Some(number) = args.passphrase_fd {
        first_line(&mut descriptor::duplicate(number)?, &descriptor::name(number))?
    } else if let Some(command) = &args.passphrase_command {
        from_command(command)?
    } else {
        prompt::passphrase(purpose)?
    };
    Key::passphrase(passphrase.as_slice()).map_err(file_error)
}

/// Whether a source takes standard input, which then cannot also be the text.
pub(crate) fn takes_stdin(args: &KeySourceArgs) -> bool {
    args.key_fd == Some(0) || args.passphrase_fd == Some(0)
}

/// The key in the file at `path`, which nobody but its owner may be able to read.
pub(crate) fn key_file(path: &Path) -> Result<Key, CommandError> {
    Key::read_file(path).map_err(|error| {
        let missing =
            matches!(&error, sealwright_file::Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let failure = file_error(error);
        if missing { failure.hint("`sealwright key new -o FILE` makes a key file") } else { failure }
    })
}

fn from_command(command: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let failed = |what: String| CommandError::failed(format_args!("the passphrase command {what}"));
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        // Standard input may be the text, which is not for the command to read.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("did not start: {}", os_message(&error))))?;
    let mut output = child.stdout.take().ok_or_else(|| failed("has no output".into()))?;
    let line = first_line(&mut output, Path::new("passphrase command"));
    // Read the rest, so that a command that prints more is not killed by a closed pipe
    let _ = io::copy(&mut output, &mut io::sink());
    let status = child.wait().map_err(|error| failed(os_message(&error)))?;
    if !status.success() {
        return Err(failed(format!("failed ({status})")));
    }
    let line = line?;
    if line.is_empty() {
        return Err(failed("printed nothing".into()));
    }
    Ok(line)
}
