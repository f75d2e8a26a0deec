//! Detached signatures: a signature in a file of its own, beside the file that it signs.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use crate::{
    error::{Error, Flaw},
    input::Input,
    progress::Work,
    read::fill,
    sign::{self, HASH, KEY_ID, KeyId, SIGNATURE, Signed, SigningKey, VerifyingKey},
};

/// The first line.
const BEGIN: &str = "-----BEGIN SEALWRIGHT SIGNATURE-----";
/// The last line.
const END: &str = "-----END SEALWRIGHT SIGNATURE-----";
/// The version written here.
const VERSION: u8 = 1;
/// The longest comment, in bytes.
const COMMENT: usize = 1024;
/// Bytes that are hashed at once.
const PIECE: usize = 256 * 1024;

/// A signature, as it stands in a file.
///
/// ```
/// use sealwright_file::{Input, Signature, SigningKey, Work, sign_file, verify_file};
///
/// let key = SigningKey::generate()?;
/// let signature = sign_file(&key, Input::bytes(b"a release", "release"), "version 1.2", &Work::default())?;
/// let text = signature.to_text(); // goes beside the file
///
/// let read = Signature::read(text.as_bytes())?;
/// verify_file(&[key.verifying_key().clone()], &read, Input::bytes(b"a release", "release"), &Work::default())?;
/// assert_eq!(read.comment(), "version 1.2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    key: KeyId,
    comment: String,
    signature: Box<[u8; SIGNATURE]>,
}

/// Signs all of `input`, with a comment that is signed as well.
///
/// ```
/// use sealwright_file::{Input, SigningKey, Work, sign_file};
///
/// let key = SigningKey::generate()?;
/// let signature = sign_file(&key, Input::bytes(b"a release", "release"), "", &Work::default())?;
/// assert!(signature.to_text().starts_with("-----BEGIN SEALWRIGHT SIGNATURE-----"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Comment`] for one that is too long or has several lines; [`Error::Changed`]; reading errors.
pub fn sign_file(key: &SigningKey, input: Input, comment: &str, work: &Work) -> Result<Signature, Error> {
    if !is_comment(comment) {
        return Err(Error::Comment);
    }
    let hash = hash(input, work)?;
    let signature = Box::new(key.sign(Signed::Detached { comment }, &hash));
    Ok(Signature { key: key.verifying_key().id(), comment: comment.into(), signature })
}

/// Holds `signature` against all of `input` and the keys of which one may have signed.
///
/// ```
/// use sealwright_file::{Error, Flaw, Input, SigningKey, Work, sign_file, verify_file};
///
/// let (key, work) = (SigningKey::generate()?, Work::default());
/// let signature = sign_file(&key, Input::bytes(b"a release", "release"), "", &work)?;
/// let keys = [key.verifying_key().clone()];
/// let changed = verify_file(&keys, &signature, Input::bytes(b"a Release", "release"), &work);
/// assert!(matches!(changed, Err(Error::NotAuthentic(Flaw::Signature))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::OtherSigner`]; [`Flaw::Signature`]; [`Error::Changed`]; reading errors.
pub fn verify_file(keys: &[VerifyingKey], signature: &Signature, input: Input, work: &Work) -> Result<(), Error> {
    sign::find(keys, &signature.key)?;
    let hash = hash(input, work)?;
    sign::verify(keys, &signature.key, Signed::Detached { comment: &signature.comment }, &hash, &signature.signature)
}

impl Signature {
    /// What was signed beside the file. Believe it only after verifying.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// As text.
    pub fn to_text(&self) -> String {
        let comment = self.comment.as_bytes();
        let length = (comment.len() as u16).to_be_bytes();
        let bytes = [&[VERSION][..], &self.key, &length, comment, self.signature.as_slice()].concat();
        let mut text = format!("{BEGIN}\n");
        for line in bytes.chunks(48) {
            STANDARD.encode_string(line, &mut text);
            text.push('\n');
        }
        text + END + "\n"
    }

    /// Reads a text as [`Signature::to_text`] makes it. There is one way only to write it, apart from line ends.
    ///
    /// # Errors
    /// [`Flaw::SignatureFile`]; reading errors.
    pub fn read(mut from: impl Read) -> Result<Signature, Error> {
        const MAX_LEN: usize = 16 * 1024;
        let mut text = vec![0; MAX_LEN];
        let got = fill(&mut from, &mut text)?;
        // The buffer is full, so that more may follow that was not checked.
        if got == MAX_LEN {
            return Err(Error::NotAuthentic(Flaw::SignatureFile));
        }
        text.truncate(got);
        let text = String::from_utf8(text).ok().map(|text| text.replace("\r\n", "\n"));
        let parsed = text.and_then(|text| Some((Signature::parse(&text)?, text)));
        let canonical = parsed.filter(|(signature, text)| signature.to_text().trim_end() == text.trim_end());
        canonical.map(|(signature, _)| signature).ok_or(Error::NotAuthentic(Flaw::SignatureFile))
    }

    fn parse(text: &str) -> Option<Signature> {
        let body = text.trim_end().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let bytes = STANDARD.decode(body.split('\n').collect::<String>()).ok()?;
        let (&version, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk::<KEY_ID>()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (comment, signature) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let comment = std::str::from_utf8(comment).ok().filter(|comment| is_comment(comment))?;
        let signature = Box::new(<[u8; SIGNATURE]>::try_from(signature).ok()?);
        (version == VERSION).then(|| Signature { key: *key, comment: comment.into(), signature })
    }
}

fn is_comment(comment: &str) -> bool {
    comment.len() <= COMMENT && !comment.chars().any(char::is_control)
}

fn hash(mut input: Input, work: &Work) -> Result<[u8; HASH], Error> {
    let name = input.name().to_owned();
    work.progress.begin(input.len());
    let mut hasher = Sha512::new();
    let mut piece = Zeroizing::new(vec![0; PIECE]);
    let mut from = input.in_order();
    loop {
        work.interrupt.check()?;
        let got = fill(&mut from, &mut piece).map_err(|error| error.of(&name))?;
        hasher.update(&piece[..got]);
        work.progress.advance(got as u64);
        if got < PIECE {
            break;
        }
    }
    drop(from);
    // If the file changed while it was read, what was hashed is a mixture of two versions, which never existed as a
    // file.
    input.is_unchanged()?;
    Ok(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, path::PathBuf, sync::Arc};

    use super::*;
    use crate::progress::Progress;

    /// Changes a file while it is read.
    struct Writes(PathBuf);

    impl Progress for Writes {
        fn advance(&self, _: u64) {
            fs::write(&self.0, vec![1; 2 * PIECE]).unwrap();
        }
    }

    /// Otherwise the hash would be that of a mixture of two versions.
    #[test]
    fn a_file_that_changes_while_it_is_read_is_neither_signed_nor_verified() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let key = SigningKey::generate().unwrap();
        let fresh = || {
            fs::write(&path, vec![0; 2 * PIECE]).unwrap();
            Input::open(&path).unwrap()
        };
        let signature = sign_file(&key, fresh(), "", &Work::default()).unwrap();
        let work = Work::default().progress(Arc::new(Writes(path.clone())));
        let signed = sign_file(&key, fresh(), "", &work);
        assert!(matches!(signed, Err(Error::Changed { .. })), "{signed:?}");
        let verified = verify_file(&[key.verifying_key().clone()], &signature, fresh(), &work);
        assert!(matches!(verified, Err(Error::Changed { .. })), "{verified:?}");
    }
}
