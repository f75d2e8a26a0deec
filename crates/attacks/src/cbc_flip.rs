//! CBC without a tag: a changed ciphertext decrypts to a changed text.

use crate::{
    attack::{Attack, AttackError, Axes, Cost, Log, Size, Target},
    tools::{enc::Service, sealed, xor},
};

pub(crate) const ATTACK: Attack = Attack {
    name: "cbc-flip",
    title: "A word in an `enc -aes-256-cbc` file is replaced by another, and nobody notices",
    knows: "a ciphertext, and the word that stands in it",
    stopped_by: "authentication: sealed files, or CBC with HMAC",
    page: "cbc.md",
    figure: Axes { spent: "changed files", gained: "accepted" },
    run,
};

const TEXT: &[u8; 48] = b"user=mallory;note=................;role=guest;..";
/// Where the word stands: in the block behind the one that is destroyed.
const AT: usize = 40;

fn run(log: &mut Log, _: Size) -> Result<(), AttackError> {
    log.trial(Target::Weak, "sealwright enc -d -aes-256-cbc", |cost| {
        let service = Service::new()?;
        let file = flip(&service.encrypt(TEXT)?, 0, cost);
        Ok::<_, AttackError>(verdict(service.decrypt(&file)))
    })?;
    log.trial(Target::Strong, "sealwright open", |cost| {
        let key = [0x31; 32];
        let file = sealed::seal(&key, TEXT)?;
        let file = flip(&file, file.len() - TEXT.len() - 16, cost);
        Ok(verdict(sealed::open(&key, &file)))
    })
}

/// Changes the block before the word by what the word shall change by.
fn flip(file: &[u8], body: usize, cost: &mut Cost) -> Vec<u8> {
    let mut file = file.to_vec();
    let change = xor(b"guest", b"admin");
    file[body + AT - 16..].iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
    (cost.queries, cost.steps, cost.step, cost.memory) = (1, 1, "xor of a word", 48);
    file
}

fn verdict(text: Option<Vec<u8>>) -> (bool, String) {
    match text {
        Some(text) if text[AT..].starts_with(b"admin") => (true, "it decrypts to \"role=admin\"".into()),
        Some(_) => (false, "it decrypts to something else".into()),
        None => (false, "the changed file is refused".into()),
    }
}
