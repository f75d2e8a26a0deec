//! One line with a secret.

use std::{
    io::{self, Read},
    path::Path,
};

use sealwright_terminal::CommandError;
use zeroize::Zeroizing;

/// The most a passphrase may have, in bytes: a line, not a file given by mistake.
const LONGEST: usize = 4096;

/// The first line of a source, without its end.
pub(crate) fn first_line(source: &mut impl Read, name: &Path) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    // Room for all of it: growing would leave a copy behind.
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST + 2));
    let mut byte = Zeroizing::new([0; 1]);
    // Byte by byte: what follows the line belongs to whoever reads the descriptor next.
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
