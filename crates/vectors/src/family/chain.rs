//! NIST's Monte Carlo chains (AESAVS, 6.4): a thousand encryptions, each of what came of the ones before.

use super::{Family, Outcome, equal, judge};
use crate::{Case, Expected};
use sealwright::{Block, Isa, raw};

pub(super) struct MonteCarlo;

/// Links of a chain.
const LINKS: usize = 1000;

impl Family for MonteCarlo {
    fn has(&self, alg: &str) -> bool {
        ["AES-ECB-MCT", "AES-CBC-MCT"].contains(&alg)
    }

    fn needs(&self, alg: &str) -> &'static [&'static str] {
        let cbc = alg == "AES-CBC-MCT";
        if cbc { &["key", "nonce", "msg", "ct", "op"] } else { &["key", "msg", "ct", "op"] }
    }

    fn run(&self, case: &Case, isa: Isa) -> Outcome {
        let Ok(cipher) = raw::aes(isa, &case.key) else {
            return judge(refusal(case, "the key's length is refused".into()));
        };
        judge(match blocks(case) {
            Err(what) => refusal(case, what),
            Ok(_) if case.expected == Expected::Invalid => Err("accepted, but must be refused".into()),
            Ok((start, iv, end)) => equal("end of the chain", &chain(case, &*cipher, start, iv), &end),
        })
    }
}

/// A refusal is what an invalid case asks for.
fn refusal(case: &Case, what: String) -> Result<(), String> {
    if case.expected == Expected::Invalid { Ok(()) } else { Err(what) }
}

/// The block that a chain starts with, the IV of CBC, and the block at its end.
fn blocks(case: &Case) -> Result<(Block, Block, Block), String> {
    let block = |bytes: &[u8]| Block::try_from(bytes).map_err(|_| "a chain takes one block".to_owned());
    let (msg, ct) = (block(&case.msg)?, block(&case.ct)?);
    let iv = if case.alg == "AES-CBC-MCT" { block(&case.nonce)? } else { [0; 16] };
    match case.text("op") {
        "ENCRYPT" => Ok((msg, iv, ct)),
        "DECRYPT" => Ok((ct, iv, msg)),
        other => Err(format!("op is '{other}', not ENCRYPT or DECRYPT")),
    }
}

/// The block at the end of the chain.
fn chain(case: &Case, cipher: &dyn raw::Raw, start: Block, mut iv: Block) -> Block {
    let (cbc, encrypt) = (case.alg == "AES-CBC-MCT", case.text("op") == "ENCRYPT");
    // In CBC a link takes the output of the link before the last; of the first two, the start and the IV.
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
