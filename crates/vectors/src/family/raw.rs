//! Modes that do not authenticate: ECB, CBC with and without padding, CTR.

use super::{Family, Outcome, equal, judge};
use crate::{Case, Expected};
use sealwright::{
    Block, Isa, KeyLength,
    raw::{self, pkcs7_pad, pkcs7_unpad},
};

pub(super) struct Raw;

/// Makes the cipher of a name's first part.
type Make = fn(Isa, &[u8]) -> Result<Box<dyn raw::Raw>, KeyLength>;

/// The cipher and the mode in a name.
fn parts(alg: &str) -> Option<(Make, &str)> {
    let (cipher, mode) = alg.split_once('-')?;
    let make: Make = match cipher {
        "AES" => raw::aes,
        _ => return None,
    };
    // Wycheproof names the padding by the older standard that PKCS#7 extends.
    let mode = if mode == "CBC-PKCS5" { "CBC-PKCS7" } else { mode };
    ["ECB", "CBC", "CBC-PKCS7", "CTR"].contains(&mode).then_some((make, mode))
}

impl Family for Raw {
    fn has(&self, alg: &str) -> bool {
        parts(alg).is_some()
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Some((make, mode)) = parts(&case.alg) else { return Outcome::Skipped };
        let refused = case.expected == Expected::Invalid;
        let Ok(cipher) = make(isa, &case.key) else {
            return if refused { Outcome::Passed } else { Outcome::Failed("the key's length is refused".into()) };
        };
        let result = both_ways(case, mode, &*cipher);
        match (refused, result) {
            (true, Ok(())) => Outcome::Failed("accepted, but must be refused".into()),
            (true, Err(_)) => Outcome::Passed,
            (false, result) => judge(result),
        }
    }
}

/// Encrypts and decrypts, if the lengths allow it.
fn both_ways(case: &Case, mode: &str, cipher: &dyn raw::Raw) -> Result<(), String> {
    let iv = || Block::try_from(&case.nonce[..]).map_err(|_| format!("an IV of {} bytes", case.nonce.len()));
    let whole = |text: &[u8]| match text.len() % 16 {
        0 => Ok(()),
        _ => Err(format!("{} bytes are not whole blocks", text.len())),
    };
    let (mut forth, mut back) = (case.msg.clone(), case.ct.clone());
    match mode {
        "ECB" => {
            whole(&forth).and(whole(&back))?;
            cipher.ecb_encrypt(&mut forth);
            cipher.ecb_decrypt(&mut back);
        }
        "CTR" => {
            cipher.ctr(&iv()?, &mut forth);
            cipher.ctr(&iv()?, &mut back);
        }
        _ => {
            let padded = mode == "CBC-PKCS7";
            if padded {
                pkcs7_pad(&mut forth);
            }
            whole(&forth).and(whole(&back))?;
            cipher.cbc_encrypt(&iv()?, &mut forth);
            cipher.cbc_decrypt(&iv()?, &mut back);
            if padded {
                let length = pkcs7_unpad(&back).map_err(|error| error.to_string())?;
                back.truncate(length);
            }
        }
    }
    equal("ciphertext", &forth, &case.ct).and_then(|()| equal("plaintext", &back, &case.msg))
}
