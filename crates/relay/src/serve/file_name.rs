//! The names of files in a configuration. By mistake, one may be a key, which no error may repeat.

use std::path::{Path, PathBuf};

use crate::serve::config_error::ValueError;

/// Prefixes of secret keys as text.
const KEY_PREFIXES: [&str; 2] = ["SEAL-SECRET-KEY-1", "SEAL-SIGNING-KEY-1"];
/// With fewer characters after the prefix, a word is more likely a file name than a part of a key.
const MIN_KEY_CHARACTERS: usize = 16;
/// Numbers of hexadecimal digits of the keys that ciphers take.
const KEY_DIGITS: [usize; 3] = [32, 48, 64];

/// The path of a file that a configuration in `folder` names; an error if the value looks like a key, which later errors
/// would show.
pub(crate) fn file_within(folder: &Path, setting: &'static str, name: PathBuf) -> Result<PathBuf, ValueError> {
    let text = name.to_string_lossy();
    // Several lines are the content of a file
    if text.contains('\n') || is_key(text.trim()) {
        return Err(ValueError::NoFileName(setting));
    }
    Ok(folder.join(name))
}

/// Whether a line is a secret key or the start of a file with one: the rule of `sealwright_file::key::is_key`, which is
/// in a crate that relays do not contain.
fn is_key(line: &str) -> bool {
    let digits = KEY_DIGITS.contains(&line.len()) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = KEY_PREFIXES.iter().any(|prefix| match line.split_at_checked(prefix.len()) {
        Some((start, rest)) => {
            start.eq_ignore_ascii_case(prefix) && rest.len() >= MIN_KEY_CHARACTERS && !rest.contains(['.', '/'])
        }
        None => false,
    });
    digits || text || line.starts_with("-----BEGIN ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same arguments are keys for the verbs that take files and for the files of the relay.
    #[test]
    fn what_is_a_key_for_sealed_files_is_one_here() {
        let text = |prefix: &str| format!("{prefix}{}", "qpzry9x8gf2tvdw0s3jn54khce6mua7l");
        let digits = |len: usize| "0aF9".repeat(len / 4);
        for (value, is_key) in [
            (text("SEAL-SECRET-KEY-1"), true),
            (text("seal-secret-key-1"), true),
            (text(" Seal-Signing-Key-1"), true),
            (text("SEAL-SIGNING-KEY-1qq-!"), true),
            (text("# Public key: seal1qq\nSEAL-SECRET-KEY-1"), true),
            (digits(32), true),
            (digits(48), true),
            (digits(64) + "\n", true),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl".to_owned(), true),
            (digits(40), false),
            (format!("./{}", digits(64)), false),
            ("seal-secret-key-1".to_owned(), false),
            ("seal-secret-key-1.id.of.the.build.machine".to_owned(), false),
            ("seal-signing-key-1/of/the/build/machine".to_owned(), false),
            ("relay.key".to_owned(), false),
        ] {
            assert_eq!(sealwright_file::key::is_key(value.as_ref()), is_key, "{value:?} for sealed files");
            let named = file_within(Path::new(""), "tls.key", value.clone().into());
            assert_eq!(matches!(named, Err(ValueError::NoFileName("tls.key"))), is_key, "{value:?}");
            assert!(named.is_ok_and(|path| path.to_str() == Some(&value)) != is_key, "{value:?}");
        }
    }
}
