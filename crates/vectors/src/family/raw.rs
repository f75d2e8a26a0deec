//! Modes that do not authenticate: ECB, CBC with and without padding, CTR.

use sealwright::{
    Block, Isa, KeyLengthError,
    raw::{self, pkcs7_pad, pkcs7_unpad},
};

use super::{
    compare::{equal, judge, refusal},
    contract::{Family, Outcome},
};
use crate::{Case, CaseError, Expected};

pub(super) struct Raw;

/// Makes the cipher in the first part of a name.
pub(super) type Make = fn(Isa, &[u8]) -> Result<Box<dyn raw::Raw>, KeyLengthError>;

/// The cipher in the first part of a name, and the rest of the name.
pub(super) fn cipher(alg: &str) -> Option<(Make, &str)> {
    let (cipher, rest) = alg.split_once('-')?;
    match cipher {
        "AES" => Some((raw::aes, rest)),
        "Serpent" => Some((raw::serpent, rest)),
        _ => None,
    }
}

/// The cipher and the mode in a name.
fn parts(alg: &str) -> Option<(Make, &str)> {
    let (make, mode) = cipher(alg)?;
    // Wycheproof uses the name of the older standard that PKCS#7 extends.
    let mode = if mode == "CBC-PKCS5" { "CBC-PKCS7" } else { mode };
    ["ECB", "CBC", "CBC-PKCS7", "CTR"].contains(&mode).then_some((make, mode))
}

impl Family for Raw {
    fn has(&self, alg: &str) -> bool {
        parts(alg).is_some()
    }

    fn needs(&self, alg: &str) -> &'static [&'static str] {
        let ecb = matches!(parts(alg), Some((_, "ECB")));
        if ecb { &["key", "msg", "ct"] } else { &["key", "nonce", "msg", "ct"] }
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Some((make, mode)) = parts(&case.alg) else { return Outcome::Skipped };
        let Ok(cipher) = make(isa, &case.key) else {
            return judge(refusal(case, "the key's length is refused".into()));
        };
        let encrypted = encrypt(case, mode, &*cipher);
        let decrypted = decrypt(case, mode, &*cipher);
        match (case.expected, encrypted, decrypted) {
            (Expected::Valid, Err(what), _) | (Expected::Valid, _, Err(what)) => Outcome::Failed(what),
            // Only a length or the padding can be refused, because these modes do not authenticate.
            (Expected::Invalid, Ok(_), Ok(_)) => Outcome::Failed("accepted, but must be refused".into()),
            (_, Ok(ct), Ok(msg)) => {
                judge(equal("ciphertext", &ct, &case.ct).and_then(|()| equal("plaintext", &msg, &case.msg)))
            }
            (_, _, _) => Outcome::Passed,
        }
    }
}

fn iv(case: &Case) -> Result<Block, CaseError> {
    Block::try_from(&case.nonce[..]).map_err(|_| format!("an IV of {} bytes", case.nonce.len()).into())
}

fn whole_blocks(text: &[u8]) -> Result<(), CaseError> {
    if text.len().is_multiple_of(16) {
        Ok(())
    } else {
        Err(format!("{} bytes are not whole blocks", text.len()).into())
    }
}

/// The ciphertext, or the reason for a refusal.
fn encrypt(case: &Case, mode: &str, cipher: &dyn raw::Raw) -> Result<Vec<u8>, CaseError> {
    let mut text = case.msg.clone();
    if mode == "CTR" {
        cipher.ctr(&iv(case)?, &mut text);
        return Ok(text);
    }
    if mode == "CBC-PKCS7" {
        pkcs7_pad(&mut text);
    }
    whole_blocks(&text)?;
    match mode {
        "ECB" => cipher.ecb_encrypt(&mut text),
        _ => cipher.cbc_encrypt(&iv(case)?, &mut text),
    }
    Ok(text)
}

/// The plaintext, or the reason for a refusal.
fn decrypt(case: &Case, mode: &str, cipher: &dyn raw::Raw) -> Result<Vec<u8>, CaseError> {
    let mut text = case.ct.clone();
    if mode == "CTR" {
        cipher.ctr(&iv(case)?, &mut text);
        return Ok(text);
    }
    whole_blocks(&text)?;
    match mode {
        "ECB" => cipher.ecb_decrypt(&mut text),
        _ => cipher.cbc_decrypt(&iv(case)?, &mut text),
    }
    if mode == "CBC-PKCS7" {
        let length = pkcs7_unpad(&text).map_err(|error| error.to_string())?;
        text.truncate(length);
    }
    Ok(text)
}
