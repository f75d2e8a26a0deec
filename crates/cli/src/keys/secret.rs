//! Keys and passphrases, from all the sources that options name.

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
        directory::refuse_directory,
        line::first_line,
        pairs::{IdentityArgs, RecipientArgs},
        prompt::{self, Purpose},
    },
};

/// The maximum number of bytes that are read after the first line of a passphrase command's output.
const REST: u64 = 64 << 10;
/// The hint if a passphrase command gave no passphrase.
const RUN_IT: &str = "run it in a shell: it must print the passphrase on its first line and end with exit code 0";
/// The signal that ends a program whose output is no longer read.
const SIGPIPE: i32 = 13;

/// The hint if there is no key to seal with.
pub(crate) const NEW_KEY: &str = "`sealwright key new -o FILE` makes a key file";
/// The hint if there is no key to open with.
const WHICH_KEY: &str = "`sealwright inspect FILE` tells which kind of key opens it";
/// Alternatives to a prompt.
const INSTEAD: &str = "in scripts use --key-file, --passphrase-fd or --passphrase-command";

/// Checks that a key was given. `pair` is the option for a key of a pair, and whether it was given.
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

/// Whether a passphrase was given.
pub(crate) fn passphrase_named(args: &KeySourceArgs) -> bool {
    args.passphrase || args.passphrase_fd.is_some() || args.passphrase_command.is_some()
}

/// All keys that may open a file: identities and key files first, then the passphrase.
pub(crate) fn keys(args: &KeySourceArgs, identity: &IdentityArgs) -> Result<Vec<Key>, CommandError> {
    named(args, ("--identity", identity.any()))?;
    let mut keys = identity.read()?;
    keys.extend(own_keys(args, Purpose::Open)?);
    Ok(keys)
}

/// The key or the recipients to seal with.
#[derive(Debug)]
pub(crate) enum SealWith {
    Key(Key),
    Recipients(Vec<Recipient>),
}

impl SealWith {
    /// Whether a file with this content contains a key that opens the sealed files.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        match self {
            SealWith::Key(key) => key.is_in(text),
            SealWith::Recipients(recipients) => recipients.iter().any(|recipient| recipient.is_in(text)),
        }
    }

    /// Whether the secret key of a pair opens the sealed files.
    pub(crate) fn has_pairs(&self) -> bool {
        let is_pair = |recipient: &Recipient| !matches!(recipient, Recipient::Key(_));
        matches!(self, SealWith::Recipients(recipients) if recipients.iter().any(is_pair))
    }
}

/// A single key, or recipients if there are several or one is a public key.
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

/// The raw keys and the passphrase that were given.
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

/// The key in the file at `path`, which only its owner may be able to read. `missing` is the hint if there is no such
/// file.
pub(crate) fn key_file(path: &Path, missing: Option<&str>) -> Result<Key, CommandError> {
    refuse_directory(path, "a key file")?;
    Key::read_file(path).map_err(|error| {
        let not_there =
            matches!(&error, sealwright_file::Error::Io { error, .. } if error.kind() == io::ErrorKind::NotFound);
        // The hint for `-` is another one.
        file_error(error).hints(missing.filter(|_| not_there && path.as_os_str() != "-"))
    })
}

/// The first line of a command's output.
pub(crate) fn from_command(command: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let failed = |what: String| CommandError::failed(format_args!("the passphrase command {what}"));
    interrupt::learn_of_ends().map_err(|error| failed(format!("was not started: {}", os_message(&error))))?;
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        // Standard input may be the text, which the command must not read.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("did not start: {}", os_message(&error))))?;
    let mut output = child.stdout.take().ok_or_else(|| failed("has no output".into()))?;
    let line = first_line(&mut output, Path::new("passphrase command"));
    // The rest of its output is read, so that a closed pipe does not kill the command, but only up to a limit. The end
    // of the pipe is not waited for, because a background process that the command started may keep it open.
    let closed = Arc::new(AtomicBool::new(false));
    if line.is_ok() {
        let told = Arc::clone(&closed);
        let rest = move || {
            let read = io::copy(&mut io::Read::take(&mut output, REST), &mut io::sink());
            told.store(read.is_ok_and(|read| read == REST), Ordering::SeqCst);
            drop(output);
        };
        // If no thread can be started, the pipe is closed at once.
        if thread::Builder::new().spawn(rest).is_err() {
            closed.store(true, Ordering::SeqCst);
        }
    } else {
        drop(output);
    }
    let status = child.wait().map_err(|error| {
        // If its exit status is unknown, the output may be only a part of the passphrase, so it is not used.
        failed(format!("may have failed: its exit status is not known ({})", os_message(&error)))
            .hint("use --passphrase-fd, or --passphrase, which asks on the terminal")
    })?;
    let line = line?;
    let by_pipe = status.signal() == Some(SIGPIPE) || status.code() == Some(128 + SIGPIPE);
    if !(status.success() || by_pipe && closed.load(Ordering::SeqCst)) {
        return Err(failed(format!("failed ({status})")).hint(RUN_IT));
    }
    if line.is_empty() {
        return Err(failed("printed nothing".into()).hint(RUN_IT));
    }
    Ok(line)
}
