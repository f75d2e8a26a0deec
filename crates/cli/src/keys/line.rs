//! Reading a secret from the first line of a source.

use std::{
    io::{self, Read},
    path::Path,
};

use sealwright_terminal::CommandError;
use zeroize::Zeroizing;

/// The maximum length of a passphrase in bytes, to detect a file that was given by mistake.
const MAX_PASSPHRASE_LEN: usize = 4096;

/// The first line of a source, without its line end.
pub(crate) fn first_line(source: &mut impl Read, name: &Path) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let (mut line, _) = up_to_line_feed(source, name)?;
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

/// The option of `openssl enc` that a passphrase is for: the two end the line differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpensslOption {
    /// Everything before the line feed, including a carriage return.
    Pass,
    /// The same without carriage returns at the end.
    Kfile,
}

/// The first line of a source as `openssl enc` reads it. Lines of which OpenSSL would silently use only a part are
/// refused, because the rest of the secret would be ignored.
pub(crate) fn openssl_line(
    source: &mut impl Read,
    name: &Path,
    option: OpensslOption,
) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let (mut line, ended) = up_to_line_feed(source, name)?;
    let longest = match option {
        OpensslOption::Pass => 1023,
        OpensslOption::Kfile => 127,
    };
    while option == OpensslOption::Kfile && line.last() == Some(&b'\r') {
        line.pop();
    }
    // For -pass an empty line is an empty passphrase, but an empty file is an error.
    if line.is_empty() && (option == OpensslOption::Kfile || !ended) {
        return Err(CommandError::failed("there is no passphrase").about(name).hint("the first line must hold it"));
    }
    if line.len() > longest {
        let what = format!("the line has {} bytes, of which openssl enc reads only the first {longest}", line.len());
        return Err(CommandError::failed(what).about(name).hint(match option {
            OpensslOption::Pass => "shorten the line to that, as `head -c 1023` does",
            OpensslOption::Kfile => "-pass takes 1023; for what -kfile encrypted, cut the line as `head -c 127` does",
        }));
    }
    if line.contains(&0) {
        let what = "the line has a zero byte, where openssl enc ends the passphrase";
        return Err(CommandError::failed(what).about(name).hint("use a passphrase without it, or -K or -keyfile"));
    }
    Ok(line)
}

/// The bytes before the first line feed, and whether there is one.
fn up_to_line_feed(source: &mut impl Read, name: &Path) -> Result<(Zeroizing<Vec<u8>>, bool), CommandError> {
    // Full capacity from the start: growing would leave an unwiped copy behind.
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_PASSPHRASE_LEN + 2));
    let mut byte = Zeroizing::new([0; 1]);
    // Read byte by byte, because what follows the line belongs to the next reader of the descriptor.
    while line.len() <= MAX_PASSPHRASE_LEN {
        match source.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => return Ok((line, true)),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CommandError::io(name, &error)),
        }
    }
    if line.len() > MAX_PASSPHRASE_LEN {
        return Err(
            CommandError::failed(format_args!("no passphrase has more than {MAX_PASSPHRASE_LEN} bytes")).about(name)
        );
    }
    Ok((line, false))
}
