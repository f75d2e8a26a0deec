//! Keys and passphrases, from wherever the user keeps them.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sealwright_file::Key;
use sealwright_terminal::{CommandError, os_message};
use zeroize::Zeroizing;

use crate::{args::KeySourceArgs, error::file_error, prompt};

/// The most a passphrase may have, in bytes: a line, not a file given by mistake.
const LONGEST: usize = 4096;

/// What a passphrase is for. Sealing with a mistyped one loses the file, so sealing asks twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Seal,
    Open,
}

/// Reads the one source that was named.
pub(crate) fn key(args: &KeySourceArgs, purpose: Purpose) -> Result<Key, CommandError> {
    if let Some(path) = &args.key_file {
        return key_file(path);
    }
    if let Some(number) = args.key_fd {
        return Key::read_from(descriptor(number)?, &format!("in file descriptor {number}")).map_err(file_error);
    }
    let passphrase = if let Some(number) = args.passphrase_fd {
        first_line(&mut descriptor(number)?, &descriptor_name(number))?
    } else if let Some(command) = &args.passphrase_command {
        from_command(command)?
    } else if args.passphrase {
        prompt::passphrase(purpose)?
    } else {
        return Err(CommandError::usage(
            "no key: name a --key-file, --key-fd, --passphrase, --passphrase-fd or --passphrase-command",
        )
        .hint("`sealwright key new -o my.key` makes a key file; --passphrase asks on the terminal"));
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

/// The first line of a source, without its end.
pub(crate) fn first_line(source: &mut impl Read, name: &Path) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    // Room for all of it: growing would leave a copy behind
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST + 2));
    let mut byte = Zeroizing::new([0; 1]);
    // Byte by byte: what follows the line belongs to whoever reads the descriptor next
    while line.len() <= LONGEST {
        match source.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CommandError::io(name, &error)),
        }
    }
    if line.len() > LONGEST {
        return Err(CommandError::failed(format_args!("no passphrase has more than {LONGEST} bytes")).about(name));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

fn from_command(command: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let failed = |what: String| CommandError::failed(format_args!("the passphrase command {what}"));
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
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

/// An inherited descriptor, opened anew by its name: taking it by number would need unsafe code.
pub(crate) fn descriptor(number: u32) -> Result<File, CommandError> {
    let name = descriptor_name(number);
    File::open(&name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CommandError::failed(format_args!("file descriptor {number} is not open"))
            .hint(format_args!("in a shell: sealwright ... {number}< FILE")),
        _ => CommandError::io(&name, &error),
    })
}

pub(crate) fn descriptor_name(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{number}"))
}
