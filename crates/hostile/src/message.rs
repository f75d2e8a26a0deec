//! What the targets of modes have in common: parts of an input, long texts, and changes of one byte.

use sealwright::Aead;

/// The next bytes of an input; zeros after its end.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (now, rest) = bytes.split_at(bytes.len().min(N));
    *bytes = rest;
    let mut taken = [0; N];
    taken[..now.len()].copy_from_slice(now);
    taken
}

/// The same text, repeated until it has `len` bytes. The engine's inputs have at most 4 KiB, which is fewer blocks than
/// the last byte of a counter can count. Each repetition differs from the one before, so that no two blocks cancel out.
pub(crate) fn grown(text: &[u8], len: usize) -> Vec<u8> {
    let unit = if text.is_empty() { &[0][..] } else { text };
    let more = (text.len()..len).map(|at| unit[at % unit.len()].wrapping_add((at / unit.len()) as u8));
    text.iter().copied().chain(more).collect()
}

/// What an input says about its text and its fault, in the form that a first byte from 128 on announces.
pub(crate) struct More {
    /// Bytes of the text, if it is shorter.
    pub(crate) len: usize,
    pub(crate) part: u8,
    pub(crate) at: u16,
}

impl More {
    pub(crate) fn take(bytes: &mut &[u8]) -> More {
        let [a, b, part, c, d] = take(bytes);
        More { len: u16::from_be_bytes([a, b]).into(), part, at: u16::from_be_bytes([c, d]) }
    }
}

/// A change of one byte of a message.
pub(crate) struct Fault {
    /// What the byte is XORed with; 0 changes nothing.
    mask: u8,
    /// Nonce, associated data, text or tag; none for a place in text and tag together.
    part: Option<u8>,
    at: usize,
}

impl Fault {
    pub(crate) fn new(mask: u8, at: u8, more: Option<&More>) -> Fault {
        let at = more.map_or(at.into(), |more| more.at.into());
        Fault { mask, part: more.map(|more| more.part % 4), at }
    }

    /// Changes the message, whose tag follows the text; false if that part is empty or nothing is to change.
    pub(crate) fn change(&self, nonce: &mut [u8], ad: &mut [u8], sealed: &mut [u8], tag_len: usize) -> bool {
        let text_len = sealed.len() - tag_len;
        let part = match self.part {
            None => sealed,
            Some(0) => nonce,
            Some(1) => ad,
            Some(2) => &mut sealed[..text_len],
            Some(_) => &mut sealed[text_len..],
        };
        if part.is_empty() || self.mask == 0 {
            return false;
        }
        part[self.at % part.len()] ^= self.mask;
        true
    }

    /// The message is refused once it is changed, and leaves no text.
    pub(crate) fn is_noticed(&self, aead: &dyn Aead, nonce: &[u8], ad: &[u8], sealed: &[u8], what: &str) {
        let (mut nonce, mut ad, mut sealed) = (nonce.to_vec(), ad.to_vec(), sealed.to_vec());
        if !self.change(&mut nonce, &mut ad, &mut sealed, aead.tag_len()) {
            return;
        }
        let text_len = sealed.len() - aead.tag_len();
        let (text, tag) = sealed.split_at_mut(text_len);
        assert!(aead.open_in_place(&nonce, &ad, text, tag).is_err(), "{what}: a fault in part {:?}", self.part);
        assert!(text.iter().all(|&byte| byte == 0), "{what}: a refused text stays");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_grow_and_their_repetitions_differ() {
        assert_eq!(grown(b"abc", 8), b"abcbcdcd");
        assert_eq!(grown(b"abc", 2), b"abc");
        assert_eq!(grown(b"", 3), [0, 1, 2]);
        assert_eq!(grown(&[7; 16], 65_535).len(), 65_535);
    }

    #[test]
    fn faults_reach_every_part() {
        let changed = |part, at| {
            let (mut nonce, mut ad, mut sealed) = ([0; 2], [0; 3], [0; 9]);
            let fault = Fault { mask: 1, part, at };
            assert!(fault.change(&mut nonce, &mut ad, &mut sealed, 4));
            [&nonce[..], &ad, &sealed].concat().iter().position(|&byte| byte == 1).unwrap()
        };
        assert_eq!(
            [(Some(0), 3), (Some(1), 2), (Some(2), 9), (Some(3), 4), (None, 8)].map(|(p, at)| changed(p, at)),
            [1, 4, 9, 10, 13]
        );
        let unchanged = |mask, ad: &mut [u8]| !Fault { mask, part: Some(1), at: 0 }.change(&mut [], ad, &mut [0; 4], 4);
        assert!(unchanged(1, &mut []) && unchanged(0, &mut [0]) && !unchanged(1, &mut [0]));
    }

    /// A cipher that returns every text as it is must be noticed, whatever is changed.
    #[test]
    fn a_fault_that_is_accepted_is_noticed() {
        let aead = sealwright::Suite::Aes128Gcm.aead(&[1; 16]).unwrap();
        let mut sealed = b"attack at dawn".to_vec();
        aead.seal_vec(&[2; 12], b"header", &mut sealed).unwrap();
        for part in [None, Some(0), Some(1), Some(2), Some(3)] {
            let noticed =
                |nonce: &[u8]| Fault { mask: 4, part, at: 1 }.is_noticed(&*aead, nonce, b"header", &sealed, "");
            noticed(&[2; 12]);
            // The change makes this nonce the right one
            if part == Some(0) {
                let mut nonce = [2; 12];
                nonce[1] ^= 4;
                assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| noticed(&nonce))).is_err());
            }
        }
    }
}
