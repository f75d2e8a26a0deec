//! The file key sealed under a slot key, also with C2SP chunked encryption, which commits to its key. A slot therefore
//! opens under one key only, and a wrong key is detected without decrypting the body.

use sealwright::{Isa, Suite};
use sealwright_stream::{
    ChunkCipher, StreamError,
    chunk::{HEADER, TAG},
};

use super::{FILE_KEY, Fixed};
use crate::{error::Error, secret::Secret};

/// Bytes of a wrapped file key.
pub(super) const WRAPPED: usize = HEADER + FILE_KEY + TAG;

const LABEL: &[u8] = b"SEALWRIGHT slot v1";

/// Seals `file_key` under `slot_key`, bound to the type and the parameters of the slot.
pub(super) fn wrap(
    slot_key: &Secret,
    file_key: &Secret,
    fixed: &Fixed,
    id: u8,
    parameters: &[u8],
) -> Result<Vec<u8>, Error> {
    let context: [&[u8]; 4] = [LABEL, fixed, &[id], parameters];
    let (cipher, header) = ChunkCipher::create(Suite::Aes256Gcm, Isa::best(), slot_key, &context)?;
    // Full capacity from the start: growing would leave an unwiped copy of the file key behind.
    let mut wrapped = Vec::with_capacity(WRAPPED);
    wrapped.extend_from_slice(&header);
    wrapped.extend_from_slice(file_key);
    wrapped.resize(WRAPPED, 0);
    cipher.seal_chunk(0, &mut wrapped[HEADER..], FILE_KEY);
    Ok(wrapped)
}

/// Opens the file key; `None` if `slot_key` is the key of another slot.
pub(super) fn unwrap(
    slot_key: &Secret,
    wrapped: &[u8],
    fixed: &Fixed,
    id: u8,
    parameters: &[u8],
) -> Result<Option<Secret>, Error> {
    let Some((header, sealed)) = wrapped.split_first_chunk::<HEADER>() else { return Ok(None) };
    let context: [&[u8]; 4] = [LABEL, fixed, &[id], parameters];
    let cipher = match ChunkCipher::open(Suite::Aes256Gcm, Isa::best(), slot_key, header, &context) {
        Err(StreamError::WrongKey) => return Ok(None),
        other => other?,
    };
    let mut file_key = Secret::new(sealed.to_vec());
    match cipher.open_chunk(0, &mut file_key) {
        // The commitment is correct, but the rest of the slot was changed.
        Err(_) => Ok(None),
        Ok(()) => {
            file_key.truncate(FILE_KEY);
            Ok(Some(file_key))
        }
    }
}
