//! Detects a key that was given in place of the name of its file: errors repeat file names, but must not repeat a key.

use std::path::Path;

use crate::error::Error;

/// Prefixes of secret keys as text, in upper case.
const PREFIXES: [&[u8]; 2] = [b"SEAL-SECRET-KEY-1", b"SEAL-SIGNING-KEY-1"];
/// The start of SSH private keys and of PEM files.
const PEM: &[u8] = b"-----BEGIN ";
/// Numbers of hexadecimal digits of the keys that ciphers take.
const DIGITS: [usize; 3] = [32, 48, 64];
/// With fewer characters after the prefix, a word is more likely a file name than a part of a key.
const MIN_KEY_CHARS: usize = 16;

/// Whether an argument that should be a file name is a secret key itself, or the content of a file with one: then no
/// message may repeat it. A file with such a name can be given with `./` before it.
///
/// ```
/// use sealwright_file::{SecretKey, key::is_key};
///
/// let secret = SecretKey::generate()?;
/// assert!(is_key(secret.to_text().as_ref()) && is_key(secret.to_identity().as_ref()));
/// assert!(is_key("000102030405060708090a0b0c0d0e0f".as_ref()));
/// assert!(!is_key("./000102030405060708090a0b0c0d0e0f".as_ref()) && !is_key("my.id".as_ref()));
/// # Ok::<(), sealwright_file::Error>(())
/// ```
pub fn is_key(name: &Path) -> bool {
    let lines = name.as_os_str().as_encoded_bytes().split(|&byte| byte == b'\n');
    lines.map(<[u8]>::trim_ascii).any(|line| {
        let digits = DIGITS.contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
        digits || line.starts_with(PEM) || PREFIXES.iter().any(|prefix| is_text(line, prefix))
    })
}

/// Whether the line starts with the prefix, in either case, and continues unlike a file name: without `.` and `/`.
fn is_text(line: &[u8], prefix: &[u8]) -> bool {
    let Some((start, rest)) = line.split_at_checked(prefix.len()) else { return false };
    start.eq_ignore_ascii_case(prefix) && rest.len() >= MIN_KEY_CHARS && !rest.iter().any(|byte| b"./".contains(byte))
}

/// The name of the key file at `path` for errors. `path` must not be a key itself.
pub(crate) fn place_of(path: &Path) -> Result<String, Error> {
    if is_key(path) { Err(Error::KeyAsName) } else { Ok(path.display().to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_names() {
        let digits = |len: usize| "0aF9".repeat(len / 4);
        let text = |prefix: &str| format!("{prefix}{}", "qpzry9x8gf2tvdw0s3jn54khce6mua7l");
        for key in [
            digits(32),
            digits(48),
            digits(64) + "\n",
            text("SEAL-SECRET-KEY-1"),
            text("seal-secret-key-1"),
            text(" Seal-Signing-Key-1"),
            text("# Public key: seal1qq\nSEAL-SECRET-KEY-1"),
            // With a character that no key contains.
            text("SEAL-SIGNING-KEY-1qq-!"),
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl".into(),
        ] {
            assert!(is_key(key.as_ref()), "{key}");
            assert!(matches!(place_of(key.as_ref()), Err(Error::KeyAsName)));
        }
        for name in [
            String::new(),
            digits(40),
            digits(60) + "x.id",
            format!("./{}", digits(64)),
            text("seal1"),
            text("seal-secret-key-2"),
            "seal-secret-key-1".into(),
            "seal-secret-key-1.id.of.the.build.machine".into(),
            "seal-signing-key-1/of/the/build/machine".into(),
            "my.id".into(),
        ] {
            assert!(!is_key(name.as_ref()), "{name}");
            assert_eq!(place_of(name.as_ref()).ok(), Some(name));
        }
    }
}
