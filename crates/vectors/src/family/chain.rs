//! NIST's Monte Carlo chains (AESAVS, 6.4): a thousand encryptions, each of what came of the ones before.

use super::{Family, Outcome, equal, judge};
use crate::Case;
use sealwright::{Block, Isa, raw};

pub(super) struct MonteCarlo;

/// Links of a chain.
const LINKS: usize = 1000;

impl Family for MonteCarlo {
    fn has(&self, alg: &str) -> bool {
        ["AES-ECB-MCT", "AES-CBC-MCT"].contains(&alg)
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Ok(cipher) = raw::aes(isa, &case.key) else {
            return Outcome::Failed("the key's length is refused".into());
        };
        judge(chain(case, &*cipher))
    }
}

fn chain(case: &Case, cipher: &dyn raw::Raw) -> Result<(), String> {
    let encrypt = case.text("op") == "ENCRYPT";
    let (start, end) = if encrypt { (&case.msg, &case.ct) } else { (&case.ct, &case.msg) };
    let block = |bytes: &[u8]| Block::try_from(bytes).map_err(|_| "a chain takes one block".to_owned());
    let mut input = block(start)?;
    let cbc = case.alg == "AES-CBC-MCT";
    // In CBC a link takes the output of the link before the last; of the first two, the start and the IV.
    let mut iv = if cbc { block(&case.nonce)? } else { [0; 16] };
    let mut before = iv;
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
    equal("end of the chain", &before, end)
}
