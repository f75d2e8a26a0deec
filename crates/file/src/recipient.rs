//! Whom a file is sealed for.

use crate::{
    costs::Costs,
    error::Error,
    key::Key,
    secret::Secret,
    slots::{Fixed, Slot},
};
#[cfg(feature = "public-keys")]
use crate::{key::PublicKey, slots::mark};

/// Whom a file is sealed for. A file can have several recipients, each of which opens it alone.
///
/// ```
/// use sealwright_file::{Input, Key, Opening, Output, Recipient, SecretKey, Sealing, Shared};
///
/// let (alice, backup) = (SecretKey::generate()?, Key::generate(sealwright_file::Suite::Aes256Gcm)?);
/// let recipients = [Recipient::PublicKey(alice.public_key()), Recipient::Key(backup)];
/// let mut sealed = Shared::default();
/// Sealing::for_recipients(&recipients).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// Opening::new(&Key::pair(alice)).verify(Input::bytes(sealed.take(), "sealed"))?; // with one of the two
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Recipient {
    /// Whoever has this raw key or passphrase.
    Key(Key),
    /// Whoever has the secret key.
    #[cfg(feature = "public-keys")]
    PublicKey(PublicKey),
}

impl Recipient {
    /// Whether a file with this content holds the raw key or the secret key that opens files sealed for this recipient.
    pub fn is_in(&self, text: &[u8]) -> bool {
        match self {
            Recipient::Key(key) => key.is_in(text),
            #[cfg(feature = "public-keys")]
            Recipient::PublicKey(key) => key.secret_is_in(text),
        }
    }

    /// A new slot with `file_key` for this recipient.
    pub(crate) fn slot(&self, file_key: &Secret, costs: Costs, fixed: &Fixed) -> Result<Slot, Error> {
        match self {
            Recipient::Key(key) => {
                let (kind, slot_key) = key.for_slot(costs)?;
                Slot::new(kind, &slot_key, file_key, fixed)
            }
            #[cfg(feature = "public-keys")]
            Recipient::PublicKey(key) => {
                let (kind, slot_key) = key.encapsulate(mark(file_key, &key.to_bytes()))?;
                Slot::new(kind, &slot_key, file_key, fixed)
            }
        }
    }
}
