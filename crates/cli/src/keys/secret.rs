//! Keys and passphrases, from wherever the user keeps them.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use sealwright_file::{Key, Recipient};
use sealwright_terminal::{CommandError, interrupt, os_message};
use zeroize::Zeroizing;

use crate::{
    args::KeySourceArgs,
    error::file_error,
    keys::{
        descriptor,
        line::first_line,
        pairs::{IdentityArgs, RecipientArgs},
        prompt::{self, Purpose},
    },
};

/// How much of what a passphrase command prints after the first line is read, in bytes.
const REST: u64 = 64 << 10;
/// The signal that ends a program whose output nobody reads.
const SIGPIPE: i32 = 13;

/// What helps where there is no key to seal with.
pub(crate) const NEW_KEY: &str = "`sealwright key new -o FILE` makes a key file";
/// What helps where there is none that opens.
const WHICH_KEY: &str = "`sealwright inspect FILE` tells which kind of key opens it";
/// What else gives a passphrase.
const INSTEAD: &str = "in scripts use --key-file, --passphrase-fd or --passphrase-command";

/// A key was named, in whatever way. `pair` is the option that names one of a pair, and whether it was given.
pub(crate) fn named(args: &KeySourceArgs, pair: (&str, bool)) -> Result<(), CommandError> {
    if pair.1 || !args.key_file.is_empty() || args.key_fd.is_some() || passphrase_named(args) {
        return Ok(());
    }
    let seals = pair.0 == "--recipient";
    let pair = if cfg!(feature = "public-keys") { format!("{}, ", pair.0) } else { String::new() };
    Err(CommandError::usage(format_args!(
        "no key: name {pair}--key-file, --key-fd, --passphrase, --passphrase-fd or --passphrase-command"
    ))
    .hint(match seals {
        true => "`sealwright key new -o my.key` makes a key file; --passphrase asks on the terminal",
        false => WHICH_KEY,
    }))
}

/// Whether a passphrase was named.
pub(crate) fn passphrase_named(args: &KeySourceArgs) -> bool {
    args.passphrase || args.passphrase_fd.is_some() || args.passphrase_command.is_some()
}

/// Everything that may open a file: identities and key files, then the passphrase.
pub(crate) fn keys(args: &KeySourceArgs, identity: &IdentityArgs) -> Result<Vec<Key>, CommandError> {
    named(args, ("--identity", identity.any()))?;
    let mut keys = identity.read()?;
    keys.extend(own_keys(args, Purpose::Open)?);
    Ok(keys)
}

/// What to seal files with.
#[derive(Debug)]
pub(crate) enum SealWith {
    Key(Key),
    Recipients(Vec<Recipient>),
}

impl SealWith {
    /// Whether a file with this content holds a key that opens the sealed files.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        match self {
            SealWith::Key(key) => key.is_in(text),
            SealWith::Recipients(recipients) => recipients.iter().any(|recipient| recipient.is_in(text)),
        }
    }

    /// Whether secret keys of pairs open what is sealed.
    pub(crate) fn has_pairs(&self) -> bool {
        let is_pair = |recipient: &Recipient| !matches!(recipient, Recipient::Key(_));
        matches!(self, SealWith::Recipients(recipients) if recipients.iter().any(is_pair))
    }
}

/// One key, or recipients where there are several or a pair.
pub(crate) fn seal_with(args: &KeySourceArgs, recipients: &RecipientArgs) -> Result<SealWith, CommandError> {
    named(args, ("--recipient", recipients.any()))?;
    let mut all = recipients.read()?;
    let mut keys = own_keys(args, Purpose::Seal)?;
    if all.is_empty() && keys.len() == 1 {
        return Ok(SealWith::Key(keys.remove(0)));
    }
    all.extend(keys.into_iter().map(Recipient::Key));
    Ok(SealWith::Recipients(all))
}

/// The raw keys and the passphrase that were named.
fn own_keys(args: &KeySourceArgs, purpose: Purpose) -> Result<Vec<Key>, CommandError> {
    let missing = if purpose == Purpose::Seal { NEW_KEY } else { WHICH_KEY };
    let mut keys = args.key_file.iter().map(|path| key_file(path, Some(missing))).collect::<Result<Vec<_>, _>>()?;
    if let Some(number) = args.key_fd {
        let name = format!("in file descriptor {number}");
        keys.push(Key::read_from(descriptor::duplicate(number)?, &name).map_err(file_error)?);
    }
    let passphrase = if let Some(number) = args.passphrase_fd {
        first_line(&mut descriptor::duplicate(number)?, &descriptor::name(number))?
    } else if let Some(command) = &args.passphrase_command {
        from_command(command)?
    } else if args.passphrase {
        prompt::passphrase(purpose, INSTEAD)?
    } else {
        return Ok(keys);
    };
    keys.push(Key::passphrase(passphrase.as_slice()).map_err(file_error)?);
    Ok(keys)
}

/// The key in the file at `path`, which nobody but its owner may be able to read. `missing` helps where there is none.
pub(crate) fn key_file(path: &Path, missing: Option<&str>) -> Result<Key, CommandError> {
    Key::read_file(path).map_err(|error| {
        let not_there =
            matches!(&error, sealwright_file::Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        file_error(error).hints(missing.filter(|_| not_there))
    })
}

/// The first line that a command prints.
pub(crate) fn from_command(command: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let failed = |what: String| CommandError::failed(format_args!("the passphrase command {what}"));
    interrupt::learn_of_ends().map_err(|error| failed(format!("was not started: {}", os_message(&error))))?;
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        // Standard input may be the text, which is not for the command to read.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("did not start: {}", os_message(&error))))?;
    let mut output = child.stdout.take().ok_or_else(|| failed("has no output".into()))?;
    let line = first_line(&mut output, Path::new("passphrase command"));
    // What else it prints is read, so that a closed pipe does not kill it; but not for ever. Nor is the end of the pipe
    // waited for, which what was started in the background may hold open.
    let closed = Arc::new(AtomicBool::new(false));
    if line.is_ok() {
        let told = Arc::clone(&closed);
        let rest = move || {
            let read = io::copy(&mut io::Read::take(&mut output, REST), &mut io::sink());
            told.store(read.is_ok_and(|read| read == REST), Ordering::SeqCst);
            drop(output);
        };
        // Without a thread the pipe is closed at once
        if thread::Builder::new().spawn(rest).is_err() {
            closed.store(true, Ordering::SeqCst);
        }
    } else {
        drop(output);
    }
    let status = child.wait().map_err(|error| {
        // What it printed may be a part of a passphrase: who does not know that it succeeded does not take it.
        failed(format!("may have failed: its exit status is not known ({})", os_message(&error)))
            .hint("use --passphrase-fd, or --passphrase, which asks on the terminal")
    })?;
    let line = line?;
    let by_pipe = status.signal() == Some(SIGPIPE) || status.code() == Some(128 + SIGPIPE);
    if !(status.success() || by_pipe && closed.load(Ordering::SeqCst)) {
        return Err(failed(format!("failed ({status})")));
    }
    if line.is_empty() {
        return Err(failed("printed nothing".into()));
    }
    Ok(line)
}
