//! Names of files that are not complete yet.

use std::{
    ffi::{OsStr, OsString},
    io::ErrorKind,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::directory::parent;
use crate::{error::Error, secret::random};

/// A fresh hidden name beside `target`.
pub(super) fn hidden_name(target: &Path) -> Result<PathBuf, Error> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let name = target.file_name().ok_or_else(|| Error::Io {
        doing: "create",
        place: target.display().to_string(),
        error: ErrorKind::InvalidFilename.into(),
    })?;
    let mut fresh = [0; 6];
    random(&mut fresh)?;
    let mut hidden = OsString::from(".");
    // Names can have 255 bytes; this leaves room for the dots and the letters. A UTF-8 character is not split, because
    // some file systems refuse that.
    let name = name.as_bytes();
    let mut len = name.len().min(240);
    while name.get(len).is_some_and(|byte| byte & 0xc0 == 0x80) && len > 237 {
        len -= 1;
    }
    hidden.push(OsStr::from_bytes(&name[..len]));
    hidden.push(".");
    hidden.push(fresh.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect::<String>());
    Ok(parent(target).join(hidden))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_hidden_name_ends_between_characters() {
        for (name, kept) in [("n".repeat(250), 240), (format!("a{}", "日".repeat(80)), 238), ("é".repeat(120), 240)] {
            let hidden = hidden_name(Path::new(&name)).unwrap();
            let hidden = hidden.file_name().unwrap().to_str().expect("a text stays one");
            assert_eq!(hidden.len(), 1 + kept + 1 + 6, "{hidden}");
            assert!(hidden[1..].starts_with(&name[..kept]), "{hidden}");
        }
    }
}
