//! From a passphrase to a key.

use argon2::{Algorithm, Argon2, Block, Version};
use zeroize::{Zeroize, Zeroizing};

use crate::{costs::Costs, error::Error, secret::Secret};

/// Argon2id of `passphrase`, `len` bytes.
pub(crate) fn argon2id(costs: Costs, passphrase: &[u8], salt: &[u8], len: usize) -> Result<Secret, Error> {
    let params = costs.params(len).ok_or(Error::Costs(costs))?;
    let mut memory = Memory(Vec::new());
    memory.0.try_reserve_exact(params.block_count()).map_err(|_| Error::NoMemory(costs))?;
    memory.0.resize(params.block_count(), Block::default());
    let mut key = Zeroizing::new(vec![0; len]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(passphrase, salt, &mut key, &mut memory.0)
        .map_err(|_| Error::Costs(costs))?;
    Ok(key)
}

/// Argon2's memory: what is left in it tells whether a guessed passphrase is right, at a fraction of the cost.
struct Memory(Vec<Block>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}
