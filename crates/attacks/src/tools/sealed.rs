//! Sealed files in memory: the strong targets of attacks on files.

use std::io::Cursor;

use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared};

use super::hkdf;
use crate::attack::AttackError;

/// Bytes before the text, under a raw key: the preamble, the salt and the commitment.
pub(crate) const HEADER: usize = PREAMBLE + SALT + 32;
const PREAMBLE: usize = 16;
const SALT: usize = 24;

/// A sealed file.
pub(crate) fn seal(key: &[u8], text: &[u8]) -> Result<Vec<u8>, AttackError> {
    let mut sealed = Shared::default();
    let input = Input::reader(Cursor::new(text.to_vec()), "text");
    Sealing::new(&Key::raw(key)).seal(input, Output::writer(sealed.clone(), "sealed"))?;
    Ok(sealed.take())
}

/// The text of a sealed file, if it opens.
pub(crate) fn open(key: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Shared::default();
    let input = Input::reader(Cursor::new(sealed.to_vec()), "sealed");
    Opening::new(&Key::raw(key)).open(input, Output::writer(text.clone(), "text")).ok()?;
    Some(text.take())
}

/// Keys derived from an input key and a file's header (docs/FORMAT.md, "Body"), as anybody with the key can.
#[derive(Clone, Copy)]
pub(crate) struct Derived {
    /// The key and the nonce of the first chunk.
    pub(crate) chunk: ([u8; 32], [u8; 12]),
    pub(crate) commitment: [u8; 32],
}

impl Derived {
    /// From an input key, and a file that gives preamble and salt.
    pub(crate) fn new(key: &[u8; 32], file: &[u8]) -> Derived {
        let (preamble, salt) = file[..PREAMBLE + SALT].split_at(PREAMBLE);
        let info = [b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0", salt, preamble].concat();
        let all: [u8; 76] = hkdf::expand(key, &info);
        let part = |from: usize| all[from..].first_chunk().expect("32 bytes");
        Derived { chunk: (*part(0), *all[32..].first_chunk().expect("12 bytes")), commitment: *part(44) }
    }

    /// A file of one chunk with the preamble and the salt of `file`, which commits to this key.
    pub(crate) fn file(&self, file: &[u8], chunk: &[u8]) -> Vec<u8> {
        [&file[..PREAMBLE + SALT], &self.commitment, chunk].concat()
    }
}

/// Decrypts a file of one chunk without checking its tag.
#[cfg(test)]
pub(crate) fn open_without_tag(key: &[u8; 32], file: &[u8]) -> Result<Vec<u8>, AttackError> {
    use sealwright::{Isa, raw};
    let (key, nonce) = Derived::new(key, file).chunk;
    let mut text = file[HEADER..file.len() - 16].to_vec();
    let cipher = raw::aes(Isa::best(), &key)?;
    for (chunk, n) in text.chunks_mut(16).zip(2u32..) {
        let mut stream = [&nonce[..], &n.to_be_bytes()].concat();
        cipher.ecb_encrypt(&mut stream);
        chunk.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream);
    }
    Ok(text)
}

/// Whether a file of one chunk would open without the check of its commitment.
#[cfg(test)]
pub(crate) fn opens_without_commitment(key: &[u8; 32], file: &[u8]) -> Result<bool, AttackError> {
    use sealwright::{
        Isa,
        mode::gcm::{TagLen, by_key},
    };
    let (key, nonce) = Derived::new(key, file).chunk;
    let Some((text, tag)) = file[HEADER..].split_last_chunk::<16>() else { return Ok(false) };
    Ok(by_key(Isa::best(), &key, TagLen::T16)?.open_in_place(&nonce, &[], &mut text.to_vec(), tag).is_ok())
}
