//! AES-GCM from one buffer to another: a long text is read from one buffer and written to the other, without a copy.
//!
//! The kernel and the type are separate. An in-place kernel with a check for a second buffer made short messages up to
//! a quarter slower, and if the general type had these kernels, every program would contain them.

use alloc::boxed::Box;
use core::fmt;

use super::{
    Gcm, TagLen,
    hash::Hash,
    kernel::{Fused, Last, Walk, first_counter, lengths},
    limits,
};
use crate::{
    aead::{Aead, release, same_length},
    block::{
        BlockCipher,
        aes::{Aes128, Aes256, Key},
    },
    error::{KeyLengthError, OpenError, SealError},
    ghash::{Clmul, Ghash},
    mode::ctr::Counter32,
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Reg, Simd},
    tag::Tag,
};

/// Like [`by_key`](super::by_key), for programs that seal from one buffer to another: [`Aead::seal_to`] and
/// [`Aead::open_to`] read a long text in place instead of copying it first. Everything else is the same.
///
/// ```
/// use sealwright::{Isa, mode::gcm::{TagLen, across_by_key}};
///
/// let aead = across_by_key(Isa::best(), &[7; 32], TagLen::T16)?;
/// let (text, mut sealed, mut back) = (vec![1; 300_000], vec![0; 300_000], vec![0; 300_000]);
/// let tag = aead.seal_to(&[1; 12], b"header", &text, &mut sealed)?;
/// aead.open_to(&[1; 12], b"header", &sealed, tag.as_ref(), &mut back)?;
/// assert_eq!(back, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] unless the key has 16 or 32 bytes, or 24 with the feature `aes192`.
// Inlined, so that only programs that call it contain its code.
#[inline]
pub fn across_by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Box<dyn Aead>, KeyLengthError> {
    Ok(match Key::new(key)? {
        Key::Aes128(key) => Box::new(Apart(Gcm::<_, Clmul>::new(isa, Aes128::new(isa, key), tag_len))),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => {
            Box::new(Apart(Gcm::<_, Clmul>::new(isa, crate::block::aes::Aes192::new(isa, key), tag_len)))
        }
        Key::Aes256(key) => Box::new(Apart(Gcm::<_, Clmul>::new(isa, Aes256::new(isa, key), tag_len))),
    })
}

/// A key for texts that go from one buffer to another.
struct Apart<C>(Gcm<C, Clmul>);

impl<C: BlockCipher> Apart<C> {
    fn across<const SEAL: bool>(
        &self,
        nonce: &[u8],
        ad: &[u8],
        source: &[u8],
        text: &mut [u8],
    ) -> Result<Tag, SealError> {
        same_length(source, text);
        if source.len() < LONG {
            // The copy costs less than the second kernel's code.
            text.copy_from_slice(source);
            return Ok(self.0.whole::<SEAL>(nonce, ad, text)?.tag(self.0.tag_len));
        }
        limits(nonce.len() as u64, ad.len() as u64, source.len() as u64)?;
        let Gcm { cipher, ghash, .. } = &self.0;
        let fused = Fused::<C, Clmul, SEAL> { cipher, ghash, nonce, ad, text };
        let tag = self.0.isa.run(Across { fused, source });
        Ok(Tag::of_block(&tag, self.0.tag_len))
    }
}

impl<C> fmt::Debug for Apart<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<C: BlockCipher> Sealed for Apart<C> {}
impl<C: BlockCipher> Aead for Apart<C> {
    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn seal_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8]) -> Result<Tag, SealError> {
        self.0.seal_in_place(nonce, ad, text)
    }

    fn open_in_place(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), OpenError> {
        self.0.open_in_place(nonce, ad, text, tag)
    }

    fn seal_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], out: &mut [u8]) -> Result<Tag, SealError> {
        self.across::<true>(nonce, ad, text, out).inspect_err(|_| out.fill(0))
    }

    fn open_to(&self, nonce: &[u8], ad: &[u8], text: &[u8], tag: &[u8], out: &mut [u8]) -> Result<(), OpenError> {
        let genuine = self.across::<false>(nonce, ad, text, out).is_ok_and(|ours| ours.matches(tag));
        release(out, genuine)
    }
}

/// Shorter texts are copied first, then sealed or opened in place.
const LONG: usize = 1024;

/// Seals (or opens) `source`, a long text, into the text of `fused`; returns the tag, 16 bytes.
struct Across<'a, C, G, const SEAL: bool> {
    fused: Fused<'a, C, G, SEAL>,
    source: &'a [u8],
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Kernel for Across<'_, C, G, SEAL> {
    type Output = Block;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(mut self, simd: S) -> Block {
        if !S::AES {
            // A copy takes no time compared with bitsliced AES.
            self.fused.text.copy_from_slice(self.source);
            return (&mut self.fused).run::<S, W>(simd).block();
        }
        if const { W * S::Reg::BLOCKS + 3 <= G::GROUP } { self.bulk::<S, W>(simd) } else { self.bulk::<S, 8>(simd) }
    }
}

impl<C: BlockCipher, G: Ghash, const SEAL: bool> Across<'_, C, G, SEAL> {
    #[inline(always)]
    fn bulk<S: Simd, const W: usize>(self, simd: S) -> Block {
        let Across { mut fused, source } = self;
        let first = first_counter::<S, G>(simd, fused.ghash, fused.nonce);
        let lengths = lengths(fused.ad.len(), source.len());
        let (mut hash, public) = (Hash::new(simd, fused.ghash), fused.nonce.len() == 12);
        hash.all(fused.ad);
        let mut walk = Walk { simd, hash, counter: Counter32::new(simd, &first, 1, public), at: 0 };
        let batch = const { W * S::Reg::BYTES };
        let bulk = source.len() / batch * batch;
        let mut to_hash = source.len().div_ceil(16) + 1;
        fused.bulk::<S, W, true>(simd, &mut walk.hash, &mut walk.counter, source, 0..bulk, &mut to_hash);
        walk.at = bulk;
        // The rest is shorter than a batch.
        fused.text[bulk..].copy_from_slice(&source[bulk..]);
        fused.rest(&mut walk, to_hash);
        Last { fused, walk, lengths: &lengths, first: &first }.tag()
    }
}
