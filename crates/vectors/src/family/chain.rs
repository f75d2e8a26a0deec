//! NIST's Monte Carlo chains (AESAVS, 6.4), over any cipher: a thousand encryptions, each of the output of earlier
//! ones. In ECB mode this is also NESSIE's "iterated 1000 times".

use sealwright::{Block, Isa, raw};

use super::{
    compare::{equal, judge, refusal},
    contract::{Family, Outcome},
    raw::Make,
};
use crate::{Case, CaseError, Expected};

pub(super) struct MonteCarlo;

/// The number of encryptions in a chain.
const LINKS: usize = 1000;

/// The cipher in a name, and whether the chain is in CBC mode.
fn parts(alg: &str) -> Option<(Make, bool)> {
    let (cipher, mode) = super::raw::cipher(alg)?;
    match mode {
        "ECB-MCT" => Some((cipher, false)),
        "CBC-MCT" => Some((cipher, true)),
        _ => None,
    }
}

impl Family for MonteCarlo {
    fn has(&self, alg: &str) -> bool {
        parts(alg).is_some()
    }

    fn needs(&self, alg: &str) -> &'static [&'static str] {
        let cbc = matches!(parts(alg), Some((_, true)));
        if cbc { &["key", "nonce", "msg", "ct", "op"] } else { &["key", "msg", "ct", "op"] }
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Some((make, cbc)) = parts(&case.alg) else { return Outcome::Skipped };
        let Ok(cipher) = make(isa, &case.key) else {
            return judge(refusal(case, "the key's length is refused".into()));
        };
        judge(match blocks(case, cbc) {
            Err(what) => refusal(case, what),
            Ok(_) if case.expected == Expected::Invalid => Err("accepted, but must be refused".into()),
            Ok((start, iv, end)) => equal("end of the chain", &chain(case, cbc, &*cipher, start, iv), &end),
        })
    }
}

/// The first block, the IV for CBC, and the expected last block.
fn blocks(case: &Case, cbc: bool) -> Result<(Block, Block, Block), CaseError> {
    let block = |bytes: &[u8]| Block::try_from(bytes).map_err(|_| "a chain takes one block".to_owned());
    let (msg, ct) = (block(&case.msg)?, block(&case.ct)?);
    let iv = if cbc { block(&case.nonce)? } else { [0; 16] };
    match case.text("op") {
        "ENCRYPT" => Ok((msg, iv, ct)),
        "DECRYPT" => Ok((ct, iv, msg)),
        other => Err(format!("op is '{other}', not ENCRYPT or DECRYPT").into()),
    }
}

/// Computes the last block of the chain.
fn chain(case: &Case, cbc: bool, cipher: &dyn raw::Raw, start: Block, mut iv: Block) -> Block {
    let encrypt = case.text("op") == "ENCRYPT";
    // In CBC, the input is the output of the encryption before the previous one; at first the start block, then the IV.
    let (mut input, mut before) = (start, iv);
    for _ in 0..LINKS {
        let mut output = input;
        match (cbc, encrypt) {
            (false, true) => cipher.ecb_encrypt(&mut output),
            (false, false) => cipher.ecb_decrypt(&mut output),
            (true, true) => cipher.cbc_encrypt(&iv, &mut output),
            (true, false) => cipher.cbc_decrypt(&iv, &mut output),
        }
        if cbc {
            iv = if encrypt { output } else { input };
            input = before;
            before = output;
        } else {
            input = output;
            before = output;
        }
    }
    before
}
