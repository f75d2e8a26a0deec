//! Before anything is timed, checks that all implementations compute the same.

use sealwright_measure::random::Random;

use super::{
    error::BenchError,
    peer::sealing::{Peer, Sealing},
    subject::Subject,
    window::Nonces,
};

/// One implementation with a key, and the names in its rows.
pub(super) struct Entrant<'a> {
    /// The peer, which makes further keys; `None` in tests.
    pub(super) peer: Option<&'a dyn Peer>,
    pub(super) implementation: String,
    pub(super) level: String,
    pub(super) sealing: Box<dyn Sealing>,
}

impl<'a> Entrant<'a> {
    /// `peer` with `key`, or `None` if it does not support the subject.
    pub(super) fn new(peer: &'a dyn Peer, subject: Subject, key: &[u8]) -> Option<Entrant<'a>> {
        let sealing = peer.make(subject, key)?;
        Some(Entrant {
            peer: Some(peer),
            implementation: peer.name().to_owned(),
            level: peer.level().to_owned(),
            sealing,
        })
    }

    /// Its name as a candidate of a comparison.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.implementation, self.level)
    }
}

/// Checks that all `entrants` seal the same random text to the same message as the first one, that they open this
/// message, and (if there is a tag) that they refuse it when a bit of the text or of the tag is changed.
pub(super) fn agreement(subject: Subject, bytes: usize, entrants: &[Entrant<'_>]) -> Result<(), BenchError> {
    let Some(first) = entrants.first() else { return Ok(()) };
    let nonces = Nonces::new(subject.nonce_len());
    let nonce = nonces.nonce(5);
    let mut random = Random::new(bytes as u64);
    let mut plain = vec![0; bytes + subject.tag_len()];
    plain[..bytes].fill_with(|| random.bits() as u8);

    let mut expected = plain.clone();
    let disagrees = |entrant: &Entrant<'_>, how: &'static str| {
        Err(BenchError::Disagrees { who: entrant.name(), suite: subject.name(), bytes, how, with: first.name() })
    };
    if first.sealing.seal(nonce, subject.ad(), &mut expected).is_err() {
        return disagrees(first, "does not seal");
    }
    for entrant in entrants {
        let mut message = plain.clone();
        if entrant.sealing.seal(nonce, subject.ad(), &mut message).is_err() {
            return disagrees(entrant, "does not seal");
        }
        if message[..bytes] != expected[..bytes] {
            return disagrees(entrant, "makes another ciphertext");
        }
        if message != expected {
            return disagrees(entrant, "makes another tag");
        }
        let places = [0, bytes / 2, (bytes + subject.tag_len()).saturating_sub(1)];
        for flipped in places.into_iter().filter(|_| subject.tag_len() > 0) {
            let mut forged = message.clone();
            forged[flipped] ^= 1;
            if entrant.sealing.open(nonce, subject.ad(), &mut forged).is_ok() {
                return disagrees(entrant, "opens a forged message");
            }
        }
        if entrant.sealing.open(nonce, subject.ad(), &mut message).is_err() {
            return disagrees(entrant, "does not open an authentic message");
        }
        if message[..bytes] != plain[..bytes] {
            return disagrees(entrant, "opens to another plaintext");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright::Suite;

    use super::{super::peer::sealing::RefusedError, *};

    /// Computes XOR with 0x5a, and the sum of all bytes as tag. The flaws are what a broken peer might do.
    #[derive(Clone, Copy, PartialEq)]
    enum Toy {
        Sound,
        WrongText,
        WrongTag,
        OpensAnything,
        OpensNothing,
        LeavesCiphertext,
    }

    impl Toy {
        fn tag(text: &[u8]) -> [u8; 16] {
            (text.iter().fold(17u128, |sum, &byte| sum.wrapping_mul(257).wrapping_add(u128::from(byte)))).to_be_bytes()
        }
    }

    impl Sealing for Toy {
        fn seal(&self, _: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
            let (text, tag) = message.split_last_chunk_mut::<16>().unwrap();
            text.iter_mut().for_each(|byte| *byte ^= 0x5a);
            text[0] ^= u8::from(*self == Toy::WrongText);
            *tag = Toy::tag(text);
            tag[15] ^= u8::from(*self == Toy::WrongTag);
            Ok(())
        }

        fn open(&self, _: &[u8], _: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
            let (text, tag) = message.split_last_chunk_mut::<16>().unwrap();
            if (*tag != Toy::tag(text) && *self != Toy::OpensAnything) || *self == Toy::OpensNothing {
                return Err(RefusedError);
            }
            if *self != Toy::LeavesCiphertext {
                text.iter_mut().for_each(|byte| *byte ^= 0x5a);
            }
            Ok(())
        }
    }

    fn verdict(toy: Toy) -> Result<(), BenchError> {
        let entrant = |toy, name: &str| Entrant {
            peer: None,
            implementation: name.to_owned(),
            level: "auto".to_owned(),
            sealing: Box::new(toy) as Box<dyn Sealing>,
        };
        agreement(Suite::Aes256Gcm.into(), 100, &[entrant(Toy::Sound, "sound"), entrant(toy, "other")])
    }

    #[test]
    fn agreement_passes() {
        verdict(Toy::Sound).unwrap();
    }

    #[test]
    fn every_flaw_is_named_with_its_peer() {
        for (toy, how) in [
            (Toy::WrongText, "makes another ciphertext"),
            (Toy::WrongTag, "makes another tag"),
            (Toy::OpensAnything, "opens a forged message"),
            (Toy::OpensNothing, "does not open an authentic message"),
            (Toy::LeavesCiphertext, "opens to another plaintext"),
        ] {
            let text = verdict(toy).unwrap_err().to_string();
            assert!(text.contains(how) && text.contains("other auto") && text.contains("aes-256-gcm"), "{text}");
        }
    }
}
