//! Files as `openssl enc` and `sealwright enc` make them, in memory.

use sealwright_file::enc::{Direction, Enc, EncCipher, EncSecret};

use crate::attack::AttackError;

/// `enc -aes-256-cbc` under a key unknown to the attacker.
pub(crate) struct Service(Enc);

/// The IV, which is public.
pub(crate) const IV: [u8; 16] = *b"a public IV here";

impl Service {
    pub(crate) fn new() -> Result<Service, AttackError> {
        let cipher = EncCipher::all().find(|cipher| cipher.to_string() == "aes-256-cbc").expect("enc has CBC");
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let secret = EncSecret::from_hex(cipher, &hex(b"a key that the attacker has not."), &hex(&IV))?;
        Ok(Service(Enc::new(cipher, secret)))
    }

    pub(crate) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, AttackError> {
        let mut sealed = Vec::new();
        self.0.copy(Direction::Encrypt, &mut &text[..], &mut sealed)?;
        Ok(sealed)
    }

    /// The text, or nothing if the padding is wrong.
    pub(crate) fn decrypt(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.0.copy(Direction::Decrypt, &mut &sealed[..], &mut text).ok().map(|()| text)
    }
}
