//! CBC with a padding oracle, which tells whether the padding is right (Vaudenay, 2002).

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        cbc_hmac::CbcHmac,
        enc::{IV, Service},
        sealed::{self, HEADER},
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "cbc-padding",
    title: "A service that decrypts `enc -aes-256-cbc` files and reports success or failure lets anybody decrypt them",
    knows: "a ciphertext, its IV, and for each ciphertext of its own whether the service accepts the padding",
    stopped_by: "authentication before decryption: sealed files, or CBC with HMAC",
    page: "cbc.md",
    figure: Axes { spent: "questions", gained: "bytes read" },
    run,
};

const TEXT: &[u8] = b"meet me at the old mill at midnight, alone";

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "sealwright enc -d -aes-256-cbc", |cost| {
        let service = Service::new()?;
        let file = service.encrypt(TEXT)?;
        let mut oracle = |forged: &[u8]| service.decrypt(forged).is_some();
        let text = read(&[&IV[..], &file].concat(), &mut oracle, cost);
        Ok::<_, AttackError>(verdict(text))
    })?;
    log.trial(Target::Strong, "AES-128-CBC with HMAC", |cost| {
        let service = CbcHmac::new();
        let message = service.seal(TEXT)?;
        Ok::<_, AttackError>(against_cbc_hmac(&message, |iv, forged| service.open_with(iv, forged).is_some(), cost))
    })?;
    log.trial(Target::Strong, "sealwright open", |cost| {
        let key = [0x31; 32];
        let file = sealed::seal(&key, TEXT)?;
        // The same queries with the body of a sealed file, whose last blocks are replaced.
        let (header, body) = file.split_at(HEADER);
        let mut yes = 0;
        let mut oracle = |forged: &[u8]| {
            let opens = sealed::open(&key, &[header, forged].concat()).is_some();
            yes += u32::from(opens);
            opens
        };
        let text = read(&body[..body.len() / 16 * 16], &mut oracle, cost);
        Ok(authenticated(yes, text))
    })
}

/// The same queries, each with the message's own tag appended.
fn against_cbc_hmac(message: &[u8], opens: impl Fn(&[u8; 16], &[u8]) -> bool, cost: &mut Cost) -> (bool, String) {
    let (body, tag) = message.split_at(message.len() - 16);
    let mut yes = 0;
    let mut oracle = |forged: &[u8]| {
        let Some((iv, block)) = forged.split_first_chunk() else { return false };
        let opens = opens(iv, &[block, tag].concat());
        yes += u32::from(opens);
        opens
    };
    let text = read(&[&IV[..], body].concat(), &mut oracle, cost);
    authenticated(yes, text)
}

/// With a tag, each accepted query is a forgery, whether or not it reveals anything.
fn authenticated(yes: u32, text: Option<Vec<u8>>) -> (bool, String) {
    let (read, words) = verdict(text);
    (yes > 0, if yes > 0 && !read { format!("{yes} changed messages are accepted") } else { words })
}

fn verdict(text: Option<Vec<u8>>) -> (bool, String) {
    match text {
        Some(text) if text.starts_with(TEXT) => {
            (true, format!("read: \"{}\"", String::from_utf8_lossy(&text[..TEXT.len()])))
        }
        Some(_) => (false, "a wrong text was read".into()),
        None => (false, "all 256 values of a byte were tried, and none was accepted".into()),
    }
}

/// Decrypts all blocks but the first, which serves as the IV; returns the text with its padding.
fn read(blocks: &[u8], oracle: &mut impl FnMut(&[u8]) -> bool, cost: &mut Cost) -> Option<Vec<u8>> {
    (cost.step, cost.memory) = ("questions", 64);
    let blocks = blocks.as_chunks::<16>().0;
    let mut text = Vec::new();
    cost.gained(0.0);
    for (done, pair) in blocks.windows(2).enumerate() {
        text.extend(xor(&decrypt(&pair[1], done, oracle, cost)?, &pair[0]));
    }
    Some(text)
}

/// The block cipher's decryption of a block, found from its last byte to its first, after `done` blocks.
fn decrypt(block: &[u8; 16], done: usize, oracle: &mut impl FnMut(&[u8]) -> bool, cost: &mut Cost) -> Option<[u8; 16]> {
    let mut plain = [0; 16];
    for at in (0..16).rev() {
        let padding = 16 - at as u8;
        let found = (0..=255u8).find(|&guess| {
            let mut before = plain.map(|byte| byte ^ padding);
            before[..at].fill(0xa5);
            before[at] = guess;
            let mut ask = |before: [u8; 16]| {
                cost.queries += 1;
                cost.steps += 1;
                oracle(&[before, *block].concat())
            };
            // The last byte may have completed a longer padding by chance: then a change of the byte before it matters.
            ask(before)
                && (at < 15 || {
                    before[14] ^= 1;
                    ask(before)
                })
        });
        let known = 16 * done as u32 + 15 - at as u32;
        let Some(found) = found else {
            cost.gained(known);
            return None;
        };
        cost.gained(known + 1);
        plain[at] = found ^ padding;
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_looks_at_the_padding_first_would_fall() -> Result<(), AttackError> {
        let service = CbcHmac::new();
        let message = service.seal(TEXT)?;
        let opens = |iv: &[u8; 16], forged: &[u8]| service.read_without_tag(iv, forged).is_some();
        let (fallen, words) = against_cbc_hmac(&message, opens, &mut Cost::default());
        assert!(fallen && words.starts_with("read: "), "{words}");
        Ok(())
    }
}
