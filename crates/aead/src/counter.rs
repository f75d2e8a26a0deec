//! A key with a nonce counter: messages are sealed and opened in order, and callers choose no nonces.

use alloc::boxed::Box;
use core::fmt;

use crate::{
    aead::{Aead, release, text_len},
    error::{KeyLengthError, OpenError, SealError},
    suite::Suite,
    tag::Tag,
};

/// Length of the tags of all suites, in bytes.
const TAG: usize = 16;

/// Nonces of 96 bits: an IV whose low 64 bits are xored with a counter (RFC 8446, section 5.3). No nonce repeats.
struct Nonces {
    /// As a little-endian number. The IV is a secret in TLS and QUIC.
    iv: u128,
    /// The number of the next message.
    count: u64,
}
wipe_on_drop!(Nonces { iv: 0, count: 0 });

impl Nonces {
    /// Counts from 0.
    fn new(iv: &[u8; 12]) -> Self {
        let mut number = [0; 16];
        number[..12].copy_from_slice(iv);
        Nonces { iv: u128::from_le_bytes(number), count: 0 }
    }

    /// The nonce of the next message as a number, or `None` when the counter is exhausted. Callers store it as two
    /// words: a processor stalls if bytes are loaded at once that were stored in different parts.
    #[inline]
    fn current(&self) -> Option<u128> {
        (self.count < u64::MAX).then_some(self.iv ^ (u128::from(self.count.swap_bytes()) << 32))
    }
}

/// The blocks of one message that count towards its key's limit: associated data, text, and one for the tag.
#[inline]
pub(crate) fn blocks(ad: usize, text: usize) -> u64 {
    (ad.div_ceil(16) + text.div_ceil(16)) as u64 + 1
}

/// Seals messages under one key, each with the next nonce.
///
/// **Give a key to one `Sealer` only, and only once**: two sealers that count from 0 under one key use every nonce
/// twice, which reveals the xor of their texts and allows forgeries. For a stored key use
/// [`RandomNonceKey`](crate::RandomNonceKey), or store the counter with the key and continue from it
/// ([`Sealer::starting_at`]). `Sealer` is not `Clone`, because a copy would use nonces twice. A forked process holds
/// such a copy, and so does a process or virtual machine restored from a snapshot: neither may continue to use it.
///
/// | limit under one key | |
/// |---|---|
/// | messages | 2^64 - 1; more are refused |
/// | blocks of 16 bytes in OCB, those of associated data and tags included | 2^48 (RFC 7253, section 5); more are refused |
/// | blocks of text in GCM | 2^48, where an attacker distinguishes ciphertexts from random bytes with probability 2^-33; more are **not** refused |
///
/// Protocols stop much sooner in GCM: TLS 1.3 after 2^24.5 records of 16 KiB, for a probability of 2^-57 (RFC 8446,
/// section 5.5).
///
/// An [`Opener`] refuses forgeries but does not count them. A protocol in which many may arrive must count them itself
/// and change the key in time: QUIC after 2^52 with AES-GCM, 2^36 with ChaCha20-Poly1305 (RFC 9001, section 6.6). In
/// TLS the first forgery ends the connection.
///
/// ```
/// use sealwright::{Opener, Sealer, Suite};
///
/// // Key and IV of one connection, as a handshake makes them: nonces are those of TLS 1.3 and QUIC.
/// let (key, iv) = ([7; 32], [9; 12]);
/// let mut sealer = Sealer::with_iv(Suite::Aes256Gcm, &key, &iv)?;
/// let mut opener = Opener::with_iv(Suite::Aes256Gcm, &key, &iv)?;
/// let mut text = *b"attack at dawn";
/// let tag = sealer.seal_in_place(b"header", &mut text)?;
/// opener.open_in_place(b"header", &mut text, tag.as_ref())?;
/// assert_eq!((&text, sealer.count()), (b"attack at dawn", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sealer {
    // Declared before the key, so that it is dropped first: dropping the key also wipes the stack.
    nonces: Nonces,
    aead: Box<dyn Aead>,
    /// Blocks that the key may still process.
    blocks: u64,
}

/// Opens the messages of a [`Sealer`], in the order in which they were sealed.
///
/// ```
/// use sealwright::{OpenError, Opener, Sealer, Suite};
///
/// let mut sealer = Sealer::new(Suite::Aes256Gcm, &[7; 32])?; // a key of this one connection
/// let mut opener = Opener::new(Suite::Aes256Gcm, &[7; 32])?;
/// let (mut first, mut second) = (*b"one", *b"two");
/// let (first_tag, second_tag) = (sealer.seal_in_place(b"", &mut first)?, sealer.seal_in_place(b"", &mut second)?);
/// opener.open_in_place(b"", &mut first, first_tag.as_ref())?;
/// // A message that comes again is refused, and the next one still opens.
/// assert_eq!(opener.open_in_place(b"", &mut first, first_tag.as_ref()), Err(OpenError));
/// opener.open_in_place(b"", &mut second, second_tag.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Opener {
    nonces: Nonces,
    aead: Box<dyn Aead>,
}

macro_rules! constructors {
    ($type:ident) => {
        impl $type {
            /// Counts from 0; the counter is the nonce.
            ///
            /// # Errors
            /// [`KeyLengthError`] unless the key has the suite's length.
            pub fn new(suite: Suite, key: &[u8]) -> Result<Self, KeyLengthError> {
                Self::with_iv(suite, key, &[0; 12])
            }

            /// Counts from 0; nonces are `iv` xor the counter, as TLS 1.3 (RFC 8446, section 5.3) and QUIC (RFC 9001,
            /// section 5.3) make them.
            ///
            /// # Errors
            /// [`KeyLengthError`] unless the key has the suite's length.
            pub fn with_iv(suite: Suite, key: &[u8], iv: &[u8; 12]) -> Result<Self, KeyLengthError> {
                Ok(Self::under(suite, suite.aead(key)?, Nonces::new(iv)))
            }

            /// Continues from a counter that the caller stored: the number of the next message, from 0. A counter that
            /// is set back repeats nonces, so store a higher one **before** sending the messages that it counts. The
            /// limit on blocks applies from here on: count the blocks of earlier messages yourself.
            ///
            /// ```
            /// use sealwright::{Opener, Sealer, Suite};
            ///
            /// let stored = 1000; // and 2000 is stored now: this run may seal so many
            /// let mut sealer = Sealer::new(Suite::Aes256Gcm, &[7; 32])?.starting_at(stored);
            /// let mut opener = Opener::new(Suite::Aes256Gcm, &[7; 32])?.starting_at(stored);
            /// let mut text = *b"attack at dawn";
            /// let tag = sealer.seal_in_place(b"", &mut text)?;
            /// opener.open_in_place(b"", &mut text, tag.as_ref())?;
            /// assert_eq!(sealer.count(), 1001);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Panics
            /// If it has already counted beyond `count`: nonces would repeat.
            #[must_use]
            pub fn starting_at(mut self, count: u64) -> Self {
                assert!(self.nonces.count <= count, "a counter must not be set back: nonces would repeat");
                self.nonces.count = count;
                self
            }

            /// The number of the next message, from 0.
            pub fn count(&self) -> u64 {
                self.nonces.count
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("count", &self.nonces.count).finish_non_exhaustive()
            }
        }
    };
}
constructors!(Sealer);
constructors!(Opener);

impl Sealer {
    fn under(suite: Suite, aead: Box<dyn Aead>, nonces: Nonces) -> Self {
        Sealer { nonces, aead, blocks: suite.most_blocks().unwrap_or(u64::MAX) }
    }

    /// Encrypts `text` in place and returns the tag over it and `ad`. A message that is refused does not consume a
    /// nonce.
    ///
    /// # Errors
    /// [`SealError::TextTooLong`] and [`SealError::AdTooLong`] beyond the mode's limits; [`SealError::KeyExhausted`]
    /// after 2^64 - 1 messages, and in OCB for a message that would exceed 2^48 blocks. `text` is then unchanged.
    #[doc(alias("encrypt", "aad", "plaintext"))]
    #[inline]
    pub fn seal_in_place(&mut self, ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        self.counted(blocks(ad.len(), text.len()), |aead, nonce| aead.seal_in_place(nonce, ad, text))
    }

    /// Encrypts in place the text at the start of `message` and writes the tag into the rest, like
    /// [`Aead::seal_message`](crate::Aead::seal_message).
    ///
    /// ```
    /// use sealwright::{Opener, Sealer, Suite};
    ///
    /// let mut packet = [0; 14 + 16];
    /// packet[..14].copy_from_slice(b"attack at dawn");
    /// Sealer::new(Suite::Aes256Gcm, &[7; 32])?.seal_message(b"header", &mut packet)?;
    /// let mut opener = Opener::new(Suite::Aes256Gcm, &[7; 32])?;
    /// assert_eq!(opener.open_message(b"header", &mut packet)?, b"attack at dawn");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Sealer::seal_in_place`].
    ///
    /// # Panics
    /// If `message` is shorter than a tag.
    #[doc(alias("encrypt", "packet", "in-place"))]
    #[inline]
    pub fn seal_message(&mut self, ad: &[u8], message: &mut [u8]) -> Result<(), SealError> {
        // Checked before the nonce is counted: a panic after that would consume it.
        let text = text_len(message.len(), TAG);
        self.counted(blocks(ad.len(), text), |aead, nonce| aead.seal_message(nonce, ad, message))
    }

    /// Seals a message of `blocks` blocks under the next nonce.
    #[inline(always)]
    fn counted<T>(
        &mut self,
        blocks: u64,
        seal: impl FnOnce(&dyn Aead, &[u8]) -> Result<T, SealError>,
    ) -> Result<T, SealError> {
        let nonce = self.nonces.current().ok_or(SealError::KeyExhausted)?.to_le_bytes();
        let left = self.blocks.checked_sub(blocks).ok_or(SealError::KeyExhausted)?;
        // Counted first, so that a nonce is not reused if sealing panics half way.
        self.nonces.count += 1;
        let sealed = seal(&*self.aead, &nonce[..12]);
        match sealed {
            Ok(_) => self.blocks = left,
            Err(_) => self.nonces.count -= 1,
        }
        sealed
    }
}

impl Opener {
    fn under(_: Suite, aead: Box<dyn Aead>, nonces: Nonces) -> Self {
        Opener { nonces, aead }
    }

    /// Decrypts `text` in place if it is the next message. A message that is not authentic does not consume a nonce.
    ///
    /// # Errors
    /// [`OpenError`]; `text` is then wiped. After 2^64 - 1 messages, every message is refused.
    #[doc(alias("decrypt", "aad", "ciphertext"))]
    pub fn open_in_place(&mut self, ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        let Some(nonce) = self.nonces.current() else { return release(text, false) };
        self.aead.open_in_place(&nonce.to_le_bytes()[..12], ad, text, tag)?;
        self.nonces.count += 1;
        Ok(())
    }

    /// Decrypts in place the text at the start of `message` if it is the next message; returns the text.
    ///
    /// # Errors
    /// Same as [`Opener::open_in_place`]; a message shorter than a tag contains no text and is left unchanged.
    #[doc(alias("decrypt", "packet", "in-place"))]
    pub fn open_message<'m>(&mut self, ad: &[u8], message: &'m mut [u8]) -> Result<&'m mut [u8], OpenError> {
        let text_len = message.len().checked_sub(self.aead.tag_len()).ok_or(OpenError)?;
        let (text, tag) = message.split_at_mut(text_len);
        self.open_in_place(ad, text, tag)?;
        Ok(text)
    }
}

#[cfg(all(test, feature = "gcm"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sealed::Sealed;

    /// RFC 9001, appendix A.5: `iv` and packet number of a QUIC packet, and the nonce they make.
    #[test]
    fn an_iv_is_xored_as_quic_does() {
        let iv = [0xe0, 0x45, 0x9b, 0x34, 0x74, 0xbd, 0xd0, 0xe4, 0x4a, 0x41, 0xc1, 0x44];
        let nonces = Nonces { count: 654_360_564, ..Nonces::new(&iv) };
        let nonce = [0xe0, 0x45, 0x9b, 0x34, 0x74, 0xbd, 0xd0, 0xe4, 0x6d, 0x41, 0x7e, 0xb0];
        assert_eq!(nonces.current().unwrap().to_le_bytes()[..12], nonce);
    }

    /// Refuses texts longer than eight bytes; the tag is the nonce.
    #[derive(Debug)]
    struct Short;
    impl Sealed for Short {}
    impl Aead for Short {
        fn tag_len(&self) -> usize {
            12
        }
        fn seal_in_place(&self, nonce: &[u8], _: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
            if text.len() > 8 { Err(SealError::TextTooLong) } else { Ok(Tag::new(nonce)) }
        }
        fn open_in_place(&self, _: &[u8], _: &[u8], _: &mut [u8], _: &[u8]) -> Result<(), OpenError> {
            Ok(())
        }
    }

    #[test]
    fn a_refused_message_uses_up_no_nonce() {
        let mut sealer = Sealer { nonces: Nonces { iv: 0, count: 5 }, aead: Box::new(Short), blocks: 3 };
        assert_eq!(sealer.seal_in_place(b"", &mut [0; 9]), Err(SealError::TextTooLong));
        let tag = sealer.seal_in_place(b"", &mut [0; 8]).unwrap();
        assert_eq!((tag.as_ref(), sealer.count()), (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5][..], 6));
        // Two blocks of the three were used, by the one that was sealed.
        assert_eq!(sealer.seal_in_place(b"", &mut [0; 8]), Err(SealError::KeyExhausted));
        assert!(sealer.seal_in_place(b"", &mut []).is_ok());
        assert_eq!((sealer.blocks, sealer.count()), (0, 7));
    }

    #[test]
    fn every_suite_has_tags_of_a_block() {
        assert!(Suite::ALL.iter().all(|suite| suite.tag_len() == TAG));
    }

    /// RFC 7253, section 5: 2^48 blocks under a key, those of associated data included.
    #[cfg(feature = "ocb")]
    #[test]
    fn a_key_of_ocb_ends_at_2_to_the_48_blocks() {
        for &suite in Suite::ALL {
            let mut sealer = Sealer::new(suite, &[7; 32][..suite.key_len()]).unwrap();
            let limited = suite.name().ends_with("-ocb");
            assert_eq!(sealer.blocks, if limited { 1 << 48 } else { u64::MAX }, "{suite}");
            if !limited {
                continue;
            }
            sealer.blocks = 6;
            let (mut text, mut message) = (*b"no room", [7; 33 + 16]);
            assert_eq!(sealer.seal_message(&[0; 33], &mut message), Err(SealError::KeyExhausted), "{suite}");
            assert_eq!((message, sealer.count(), sealer.blocks), ([7; 49], 0, 6), "{suite}");
            sealer.seal_message(&[0; 32], &mut message).unwrap();
            assert_eq!(sealer.seal_in_place(b"", &mut text), Err(SealError::KeyExhausted), "{suite}");
            assert_eq!((&text, sealer.count()), (b"no room", 1), "{suite}");
        }
    }
}
