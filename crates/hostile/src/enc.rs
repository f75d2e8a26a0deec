//! Files of `openssl enc`.

use aes::cipher::consts::U12;
use aes_gcm::AesGcm;
use sealwright::Block;
use sealwright_file::enc::{Armor, Direction, Enc, EncAlgorithm, EncCipher, EncMode, EncSecret, Kdf, Salt};

use crate::{
    raw_modes::Cipher,
    referees::{by, cipher},
};

/// Each byte of the keys and IVs that are given in hexadecimal.
const BYTE: u8 = 0x5c;
const TAG: usize = 16;

/// Takes arbitrary bytes as input of `enc -d`, with and without base64: there is a result or an error. Encrypted data
/// decrypts. For AES under a given key, both directions are compared with RustCrypto.
pub(crate) fn enc(bytes: &[u8]) {
    let Some((&[choice, how], bytes)) = bytes.split_first_chunk() else { return };
    let ciphers: Vec<EncCipher> = EncCipher::all().collect();
    let cipher = ciphers[usize::from(choice) % ciphers.len()];
    let hex = |len: usize| format!("{BYTE:02x}").repeat(len);
    let given = how & 1 == 0;
    let secret = match given {
        true => EncSecret::from_hex(cipher, &hex(cipher.key_len()), &hex(cipher.iv_len())).expect("the digits fit"),
        false => EncSecret::passphrase("p", Kdf::Legacy { digest: Default::default() }, Salt::Header),
    };
    let armor = [Armor::None, Armor::Lines, Armor::OneLine][usize::from(how >> 1) % 3];
    let padding = how & 128 == 0;
    let enc = Enc::new(cipher, secret).armor(armor).padding(padding);
    let run = |direction, bytes: &[u8]| {
        let mut out = Vec::new();
        enc.copy(direction, &mut &bytes[..], &mut out).map(|()| out)
    };
    let (decrypted, encrypted) = (run(Direction::Decrypt, bytes), run(Direction::Encrypt, bytes));
    if let Ok(encrypted) = &encrypted {
        assert_eq!(run(Direction::Decrypt, encrypted).expect("what was encrypted decrypts"), bytes);
    }
    if given && armor == Armor::None && cipher.algorithm() == EncAlgorithm::Aes {
        let referee = Referee::new(cipher, padding);
        assert_eq!(decrypted.ok(), referee.decrypted(bytes), "{cipher} decrypted");
        assert_eq!(encrypted.ok(), referee.encrypted(bytes), "{cipher} encrypted");
    }
}

/// The same by RustCrypto's AES.
struct Referee {
    aes: Cipher,
    key: Vec<u8>,
    mode: EncMode,
    padding: bool,
}

impl Referee {
    fn new(cipher: EncCipher, padding: bool) -> Referee {
        let key = vec![BYTE; cipher.key_len()];
        Referee { aes: Cipher::new(false, &key), key, mode: cipher.mode(), padding }
    }

    fn decrypted(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let chained = self.mode == EncMode::Cbc;
        match self.mode {
            EncMode::Cbc | EncMode::Ecb => {
                let (blocks, []) = bytes.as_chunks::<16>() else { return None };
                let mut before = [BYTE; 16];
                let mut text = Vec::new();
                for block in blocks {
                    let plain = (self.aes.decrypt)(*block);
                    text.extend(
                        plain.iter().zip(before).map(|(byte, before)| if chained { byte ^ before } else { *byte }),
                    );
                    before = *block;
                }
                if !self.padding {
                    return Some(text);
                }
                let more = usize::from(*text.last()?);
                let (text, pad) = text.split_at(text.len().checked_sub(more).filter(|_| (1..=16).contains(&more))?);
                pad.iter().all(|&byte| usize::from(byte) == more).then(|| text.to_vec())
            }
            EncMode::Gcm => {
                let (ciphertext, _) = bytes.split_at_checked(bytes.len().checked_sub(TAG)?)?;
                let mut counter: Block = [BYTE; 16];
                counter[12..].copy_from_slice(&2_u32.to_be_bytes());
                let text = self.aes.counted(&counter, ciphertext);
                (self.gcm(&text) == bytes).then_some(text)
            }
            EncMode::Cfb => Some(self.fed_back(bytes, |from, _| from)),
            _ => self.encrypted(bytes),
        }
    }

    fn encrypted(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self.mode {
            EncMode::Cbc if self.padding => {
                let more = 16 - text.len() % 16;
                Some(self.aes.chain(&[BYTE; 16], &[text, &vec![more as u8; more]].concat()))
            }
            EncMode::Cbc => text.len().is_multiple_of(16).then(|| self.aes.chain(&[BYTE; 16], text)),
            EncMode::Ctr => Some(self.aes.counted(&[BYTE; 16], text)),
            EncMode::Cfb => Some(self.fed_back(text, |_, to| to)),
            // Of the pad, from what is XORed in and what comes out
            EncMode::Ofb => Some(
                self.fed_back(text, |from, to| (u128::from_ne_bytes(from) ^ u128::from_ne_bytes(to)).to_ne_bytes()),
            ),
            EncMode::Gcm => Some(self.gcm(text)),
            _ => None,
        }
    }

    /// Block by block, XORed with the encryption of what `fed` makes of the block before and what came of it.
    fn fed_back(&self, bytes: &[u8], fed: impl Fn(Block, Block) -> Block) -> Vec<u8> {
        let mut before = [BYTE; 16];
        let blocks = bytes.chunks(16).flat_map(|bytes| {
            let pad = (self.aes.encrypt)(before);
            let (mut from, mut to) = ([0; 16], pad);
            from[..bytes.len()].copy_from_slice(bytes);
            to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
            before = fed(from, to);
            to.into_iter().take(bytes.len())
        });
        blocks.collect()
    }

    fn gcm(&self, text: &[u8]) -> Vec<u8> {
        let nonce = [BYTE; 12];
        match self.key.len() {
            16 => by(AesGcm::<_, U12>::from(cipher::<aes::Aes128>(&self.key)), &nonce, &[], text),
            24 => by(AesGcm::<_, U12>::from(cipher::<aes::Aes192>(&self.key)), &nonce, &[], text),
            _ => by(AesGcm::<_, U12>::from(cipher::<aes::Aes256>(&self.key)), &nonce, &[], text),
        }
    }
}
