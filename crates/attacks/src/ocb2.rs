//! OCB2: one sealed message is enough to forge another (Inoue and Minematsu, 2018). OCB3 is not affected.
//!
//! This project has no OCB2, so the weak target is OCB2 as its paper has it, over this project's AES.

use sealwright::{
    Isa,
    mode::ocb::{TagLen, by_key},
    raw,
};

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::xor,
};

pub(crate) const ATTACK: Attack = Attack {
    name: "ocb2-forgery",
    title: "An OCB2 message is forged after one chosen plaintext",
    knows: "the ciphertext and the tag of one plaintext that the attacker chose",
    stopped_by: "OCB3 (RFC 7253), which masks the last block in another way",
    page: "ocb.md",
    figure: Axes { spent: "questions", gained: "forgeries accepted" },
    run,
};

type Block = [u8; 16];

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    let key = b"a key that the attacker has not.";
    log.trial(Target::Weak, "AES-256-OCB2", |cost| {
        let ocb2 = Ocb2(raw::aes(Isa::best(), key)?);
        let nonce = [9; 16];
        forge(|text| Ok(ocb2.seal(&nonce, text)), |text, tag| ocb2.open(&nonce, text, tag), cost)
    })?;
    log.trial(Target::Strong, "AES-256-OCB3", |cost| {
        let ocb3 = by_key(Isa::best(), key, TagLen::T16)?;
        let nonce = [9; 12];
        forge(
            |text| {
                let mut text = text.to_vec();
                let tag = ocb3.seal_in_place(&nonce, &[], &mut text)?;
                Ok((text, tag.as_ref().try_into().expect("16 bytes")))
            },
            |text, tag| {
                let mut text = text.to_vec();
                ocb3.open_in_place(&nonce, &[], &mut text, tag).ok().map(|()| text)
            },
            cost,
        )
    })
}

fn forge(
    seal: impl FnOnce(&[u8]) -> Result<(Vec<u8>, Block), AttackError>,
    open: impl FnOnce(&[u8], &Block) -> Option<Vec<u8>>,
    cost: &mut Cost,
) -> Result<(bool, String), AttackError> {
    let length = 128u128.to_be_bytes();
    let second = *b"any second block";
    let (sealed, _) = seal(&[length, second].concat())?;
    let forged = xor(&sealed[..16], &length);
    let tag: Block = xor(&sealed[16..], &second).try_into().expect("16 bytes");
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 2, "xor of a block", 64);
    Ok(match open(&forged, &tag) {
        Some(_) => (true, "a message of one block that nobody sealed is accepted".into()),
        None => (false, "the forged message is refused".into()),
    })
}

/// OCB2 (Rogaway, 2004) for whole blocks, without associated data.
struct Ocb2(Box<dyn raw::Raw>);

fn double(x: u128) -> u128 {
    (x << 1) ^ ((x >> 127) * 0x87)
}

impl Ocb2 {
    fn encipher(&self, x: u128) -> u128 {
        let mut block = x.to_be_bytes();
        self.0.ecb_encrypt(&mut block);
        u128::from_be_bytes(block)
    }

    fn decipher(&self, x: u128) -> u128 {
        let mut block = x.to_be_bytes();
        self.0.ecb_decrypt(&mut block);
        u128::from_be_bytes(block)
    }

    /// Encrypts or decrypts a text; returns the result and the tag.
    fn apply(&self, nonce: &Block, text: &[u8], seal: bool) -> (Vec<u8>, Block) {
        let blocks: Vec<u128> = text.as_chunks().0.iter().map(|block| u128::from_be_bytes(*block)).collect();
        let mut offset = self.encipher(u128::from_be_bytes(*nonce));
        let (mut sum, mut out) = (0, Vec::new());
        for (i, &block) in blocks.iter().enumerate() {
            offset = double(offset);
            if i + 1 < blocks.len() {
                let other = offset ^ if seal { self.encipher(block ^ offset) } else { self.decipher(block ^ offset) };
                sum ^= if seal { block } else { other };
                out.push(other);
            } else {
                let pad = self.encipher(128 ^ offset);
                let ciphertext = if seal { block ^ pad } else { block };
                sum ^= ciphertext ^ pad;
                out.push(block ^ pad);
            }
        }
        let tag = self.encipher(sum ^ offset ^ double(offset));
        (out.iter().flat_map(|block| block.to_be_bytes()).collect(), tag.to_be_bytes())
    }

    fn seal(&self, nonce: &Block, text: &[u8]) -> (Vec<u8>, Block) {
        self.apply(nonce, text, true)
    }

    fn open(&self, nonce: &Block, text: &[u8], tag: &Block) -> Option<Vec<u8>> {
        let (text, ours) = self.apply(nonce, text, false);
        (ours == *tag).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use sealwright::{Isa, raw};

    use super::Ocb2;

    #[test]
    fn what_is_sealed_opens_and_what_is_changed_does_not() {
        let ocb2 = Ocb2(raw::aes(Isa::best(), &[1; 16]).expect("a key"));
        let text = [7; 48];
        let (mut sealed, tag) = ocb2.seal(&[2; 16], &text);
        assert_eq!(ocb2.open(&[2; 16], &sealed, &tag).as_deref(), Some(&text[..]));
        sealed[20] ^= 1;
        assert_eq!(ocb2.open(&[2; 16], &sealed, &tag), None);
    }
}
