//! AES-GCM in pieces: counter and hash are kept between them.

use alloc::{boxed::Box, sync::Arc};
use core::fmt;

use super::{
    Gcm, MAX_TEXT, TagLen,
    hash::Hash,
    kernel::{Fused, first_counter, lengths},
    limits,
};
use crate::{
    block::{
        BlockCipher,
        aes::{Aes128, Aes256, Key},
    },
    error::{KeyLengthError, SealError},
    ghash::{Clmul, Ghash},
    mode::ctr::Counter32,
    pieces::{InPieces, Kept, Pieces},
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Outlined, Reg, Simd},
    tag::{Tag, Whole},
};

/// Like [`by_key`](super::by_key), for keys whose messages may also be sealed in pieces.
///
/// ```
/// use sealwright::{Aead, InPieces, Isa, Pieces, mode::gcm::{TagLen, pieces_by_key}};
///
/// let key = pieces_by_key(Isa::best(), &[7; 16], TagLen::T16)?;
/// let mut text = vec![1; 100_000];
/// let mut message = key.clone().begin(&[1; 12], b"header")?;
/// for piece in text.chunks_mut(4096) { // of any length
///     message.seal(piece)?;
/// }
/// let tag = message.finish();
/// key.open_in_place(&[1; 12], b"header", &mut text, tag.as_ref())?;
/// assert_eq!(text, vec![1; 100_000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeyLengthError`] unless the key has 16 or 32 bytes, or 24 with the feature `aes192`.
// Inlined, so that only programs that call it contain its code.
#[inline]
pub fn pieces_by_key(isa: Isa, key: &[u8], tag_len: TagLen) -> Result<Arc<dyn InPieces>, KeyLengthError> {
    Ok(match Key::new(key)? {
        Key::Aes128(key) => Kept::of(isa, tag_len, |isa| Aes128::new(isa, key)),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => Kept::of(isa, tag_len, |isa| crate::block::aes::Aes192::new(isa, key)),
        Key::Aes256(key) => Kept::of(isa, tag_len, |isa| Aes256::new(isa, key)),
    })
}

impl<C: BlockCipher + 'static> Kept<Gcm<C, Clmul>> {
    /// `expand` makes the cipher. A separate function, so that what it leaves on the stack lies no deeper than what is
    /// wiped with the key.
    #[inline(never)]
    fn of(isa: Isa, tag_len: TagLen, expand: impl FnOnce(Isa) -> C) -> Arc<dyn InPieces> {
        Arc::new(Kept(Box::new(Gcm::new(isa, expand(isa), tag_len))))
    }
}

impl<C: BlockCipher + 'static> InPieces for Kept<Gcm<C, Clmul>> {
    fn begin(self: Arc<Self>, nonce: &[u8], ad: &[u8]) -> Result<Box<dyn Pieces>, SealError> {
        limits(nonce.len() as u64, ad.len() as u64, 0)?;
        let state = self.0.isa.run(Begin { ghash: &self.0.ghash, nonce, ad });
        Ok(Box::new(Message { state, nonce: nonce.len(), ad: ad.len(), text: 0, key: self }))
    }
}

/// What is kept between two pieces.
#[derive(Clone)]
struct State {
    /// J0 of SP 800-38D, 7.1.
    first: Block,
    /// The next counter block.
    counter: Block,
    /// The hash of all complete blocks.
    hash: Block,
    /// The keystream of an incomplete block, and its ciphertext so far, followed by zeros.
    keystream: Block,
    ciphertext: Block,
}
wipe_on_drop!(State { first: [0; 16], counter: [0; 16], hash: [0; 16], keystream: [0; 16], ciphertext: [0; 16] });

#[derive(Clone)]
struct Message<C> {
    key: Arc<Kept<Gcm<C, Clmul>>>,
    state: State,
    /// Bytes of the nonce, of the associated data, and of the text so far. No padding, for the reason given at
    /// [`Kept`].
    nonce: usize,
    ad: usize,
    text: u64,
}

impl<C> Message<C> {
    /// Bytes of the incomplete block.
    fn within(&self) -> usize {
        (self.text % 16) as usize
    }
}

impl<C> fmt::Debug for Message<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("key", &self.key).field("text", &self.text).finish_non_exhaustive()
    }
}

impl<C: BlockCipher> Sealed for Message<C> {}
impl<C: BlockCipher + 'static> Pieces for Message<C> {
    fn seal(&mut self, piece: &mut [u8]) -> Result<(), SealError> {
        let len = piece.len() as u64;
        if len > MAX_TEXT - self.text {
            return Err(SealError::TextTooLong);
        }
        let within = self.within();
        let (front, rest) = piece.split_at_mut(if within == 0 { 0 } else { piece.len().min(16 - within) });
        let State { keystream, ciphertext, .. } = &mut self.state;
        for ((byte, key), kept) in front.iter_mut().zip(&keystream[within..]).zip(&mut ciphertext[within..]) {
            *byte ^= key;
            *kept = *byte;
        }
        self.text += len;
        let whole = within + front.len() == 16;
        if whole || !rest.is_empty() {
            let Gcm { isa, cipher, ghash, .. } = &*self.key.0;
            isa.run(Piece { cipher, ghash, state: &mut self.state, public: self.nonce == 12, whole, text: rest });
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Tag {
        let Gcm { isa, cipher, ghash, tag_len, .. } = &*self.key.0;
        // In pieces, a text may be longer than the address space.
        let lengths = (u128::from_be_bytes(lengths(self.ad, 0)) | u128::from(8 * self.text)).to_be_bytes();
        isa.run(Finish { cipher, ghash, state: &self.state, partial: self.within() > 0, lengths }).tag(*tag_len)
    }

    fn duplicate(&self) -> Box<dyn Pieces> {
        Box::new(Message { key: self.key.clone(), state: self.state.clone(), ..*self })
    }
}

/// A hash that continues from `hash`.
#[inline(always)]
fn resumed<'a, S: Simd>(simd: S, ghash: &'a Clmul, hash: &Block) -> Hash<'a, Clmul, S> {
    let mut resumed = Hash::new(simd, ghash);
    resumed.sum = ghash.resume(simd, hash);
    resumed
}

struct Begin<'a> {
    ghash: &'a Clmul,
    nonce: &'a [u8],
    ad: &'a [u8],
}

impl Kernel for Begin<'_> {
    type Output = State;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> State {
        let first = first_counter::<S, Clmul>(simd, self.ghash, self.nonce);
        let mut hash = Hash::new(simd, self.ghash);
        hash.all(self.ad);
        let hash = self.ghash.finish(simd, &hash.sum).first_block();
        State { first, counter: plus(&first, 1), hash, keystream: [0; 16], ciphertext: [0; 16] }
    }
}

/// The counter after `blocks` more blocks (inc32 of SP 800-38D, 6.2).
#[inline(always)]
fn plus(counter: &Block, blocks: usize) -> Block {
    let counter = u128::from_be_bytes(*counter);
    let low = (counter as u32).wrapping_add(blocks as u32);
    (counter >> 32 << 32 | u128::from(low)).to_be_bytes()
}

/// The next part of the text, starting at a block boundary.
struct Piece<'a, C> {
    cipher: &'a C,
    ghash: &'a Clmul,
    state: &'a mut State,
    /// Whether the counter is not secret.
    public: bool,
    /// Whether the previous block is now complete and must be hashed.
    whole: bool,
    text: &'a mut [u8],
}

impl<C: BlockCipher> Kernel for Piece<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        if S::AES {
            return self.sealed::<S, W>(simd);
        }
        // One function for all key sizes, as for whole texts.
        let cipher = self.cipher.sliced(simd);
        let Piece { ghash, state, public, whole, text, .. } = self;
        simd.outlined(Sliced(Piece { cipher: &cipher, ghash, state, public, whole, text }));
    }
}

/// The kernel as a separate function.
struct Sliced<'a, C>(Piece<'a, C>);

impl<S: Simd, C: BlockCipher> Outlined<S> for Sliced<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        self.0.sealed::<S, 8>(simd);
    }
}

impl<C: BlockCipher> Piece<'_, C> {
    #[inline(always)]
    fn sealed<S: Simd, const W: usize>(self, simd: S) {
        let Piece { cipher, ghash, state, public, whole, text } = self;
        let (mut hash, mut before) = (resumed(simd, ghash, &state.hash), usize::from(whole));
        let mut counter = Counter32::new(simd, &state.counter, 0, public);
        state.counter = plus(&state.counter, text.len().div_ceil(16));
        let (bulk, rest) = text.split_at_mut(text.len() / (W * S::Reg::BYTES) * (W * S::Reg::BYTES));
        if !bulk.is_empty() {
            if whole {
                hash.all(&state.ciphertext);
                before = 0;
            }
            let (blocks, nothing) = (bulk.len() / 16, &[]);
            let mut fused = Fused::<C, Clmul, true> { cipher, ghash, nonce: nothing, ad: nothing, text: bulk };
            fused.bulk::<S, W, false>(simd, &mut hash, &mut counter, nothing, 0..16 * blocks, &mut { blocks });
        }
        for few in rest.chunks_mut(4 * S::Reg::BYTES) {
            let mut keystream: [S::Reg; 4] = counter.take(simd);
            cipher.encrypt(simd, &mut keystream);
            for (key, text) in keystream.iter().zip(few.chunks_mut(S::Reg::BYTES)) {
                (*key ^ simd.load_partial(text)).store_partial(text);
            }
            if !few.len().is_multiple_of(16) {
                let last = few.len() / 16;
                let mut blocks = [[0; 16]; 4];
                keystream[last / S::Reg::BLOCKS].store(blocks.as_flattened_mut());
                state.keystream = blocks[last % S::Reg::BLOCKS];
            }
        }
        let (blocks, end) = rest.as_chunks::<16>();
        let group = before + blocks.len();
        if group > 0 {
            // In one group, which is reduced once.
            hash.open(group);
            if before > 0 {
                hash.single(simd.first(&state.ciphertext), 1);
            }
            hash.bytes::<false>(blocks.as_flattened());
            hash.close();
        }
        state.hash = ghash.finish(simd, &hash.sum).first_block();
        state.ciphertext = [0; 16];
        state.ciphertext[..end.len()].copy_from_slice(end);
    }
}

/// Hashes a last block that may be incomplete, and the lengths; returns the tag.
struct Finish<'a, C> {
    cipher: &'a C,
    ghash: &'a Clmul,
    state: &'a State,
    partial: bool,
    lengths: Block,
}

impl<C: BlockCipher> Kernel for Finish<'_, C> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        let mut hash = resumed(simd, self.ghash, &self.state.hash);
        if self.partial {
            hash.all(&self.state.ciphertext);
        }
        hash.all(&self.lengths);
        let mut first = [simd.first(&self.state.first)];
        self.cipher.encrypt(simd, &mut first);
        Whole::of((self.ghash.finish(simd, &hash.sum) ^ first[0]).first_block())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: a message is told that so much of it went through already.
    #[test]
    fn a_text_ends_at_the_limit() {
        let isa = Isa::best();
        let key = Arc::new(Kept(Box::new(Gcm::new(isa, Aes128::new(isa, &[7; 16]), TagLen::T16))));
        let state = isa.run(Begin { ghash: &key.0.ghash, nonce: &[1; 12], ad: b"" });
        let mut message = Message { key, state, nonce: 12, ad: 0, text: MAX_TEXT - 5 };
        let mut piece = *b"pieces";
        assert_eq!(message.seal(&mut piece), Err(SealError::TextTooLong));
        assert_eq!(&piece, b"pieces");
        assert_eq!(message.seal(&mut piece[..5]), Ok(()));
        assert_eq!(message.seal(&mut [0]), Err(SealError::TextTooLong));
        assert_eq!(message.text, MAX_TEXT);
    }
}
