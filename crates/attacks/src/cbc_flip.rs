//! CBC without a tag: a changed ciphertext decrypts to a changed text.

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{
        cbc_hmac::CbcHmac,
        enc::Service,
        sealed::{self, HEADER},
        xor,
    },
};

pub(crate) const ATTACK: Attack = Attack {
    name: "cbc-flip",
    title: "A word in an `enc -aes-256-cbc` file is replaced by another one, and nobody notices",
    knows: "a ciphertext, and the word at one place in its plaintext",
    stopped_by: "authentication: sealed files, or CBC with HMAC",
    page: "cbc.md",
    figure: Axes { spent: "changed files", gained: "accepted" },
    run,
};

const TEXT: &[u8; 48] = b"user=mallory;note=................;role=guest;..";
/// The offset of the word: in the block after the one that is garbled.
const AT: usize = 40;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "sealwright enc -d -aes-256-cbc", |cost| {
        let service = Service::new()?;
        let file = flip(&service.encrypt(TEXT)?, AT - 16, cost);
        Ok::<_, AttackError>(verdict(service.decrypt(&file)))
    })?;
    log.trial(Target::Strong, "AES-128-CBC with HMAC", |cost| {
        let service = CbcHmac::new();
        let message = flip(&service.seal(TEXT)?, AT - 16, cost);
        Ok::<_, AttackError>(verdict(service.open(&message)))
    })?;
    log.trial(Target::Strong, "sealwright open", |cost| {
        let key = [0x31; 32];
        // A sealed file is encrypted in counter mode: the word itself is changed.
        let file = flip(&sealed::seal(&key, TEXT)?, HEADER + AT, cost);
        Ok(verdict(sealed::open(&key, &file)))
    })
}

/// XORs the difference of the two words into five bytes.
fn flip(file: &[u8], at: usize, cost: &mut Cost) -> Vec<u8> {
    let mut file = file.to_vec();
    let change = xor(b"guest", b"admin");
    file[at..].iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 1, "xor of a word", 48);
    file
}

fn verdict(text: Option<Vec<u8>>) -> (bool, String) {
    match text {
        Some(text) if text[AT..].starts_with(b"admin") => (true, "it decrypts to \"role=admin\"".into()),
        Some(_) => (true, "a changed file is accepted, and decrypts to something else".into()),
        None => (false, "the changed file is refused".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_look_at_its_tag_would_fall() -> Result<(), AttackError> {
        let service = CbcHmac::new();
        let message = flip(&service.seal(TEXT)?, AT - 16, &mut Cost::default());
        let (fallen, words) = verdict(service.open_without_tag(&message));
        assert!(fallen && words.contains("role=admin"), "{words}");
        let key = [0x31; 32];
        let file = flip(&sealed::seal(&key, TEXT)?, HEADER + AT, &mut Cost::default());
        let (fallen, words) = verdict(Some(sealed::open_without_tag(&key, &file)?));
        assert!(fallen && words.contains("role=admin"), "{words}");
        Ok(())
    }
}
