//! AES-OCB in pieces: offset and checksum are kept between them.

use alloc::{boxed::Box, sync::Arc};
use core::fmt;

use super::{
    MAX_BYTES, Ocb, TagLen,
    kernel::{Fused, end_bit},
    limits,
    offsets::{Offsets, Walk},
};
use crate::{
    aead::Aead,
    block::{
        BlockCipher, Inverse,
        aes::{BothWays, Key},
    },
    error::{KeyLengthError, SealError},
    pieces::{InPieces, Kept, Pieces},
    sealed::Sealed,
    simd::{Block, Isa, Kernel, Outlined, Reg, Simd},
    tag::{Tag, Whole},
};

/// Like [`by_key`](super::by_key), for keys whose messages may also be sealed in pieces.
///
/// ```
/// use sealwright::{Aead, InPieces, Isa, Pieces, mode::ocb::{TagLen, pieces_by_key}};
///
/// let key = pieces_by_key(Isa::best(), &[7; 16], TagLen::T16)?;
/// let mut text = vec![1; 100_000];
/// let mut message = key.clone().begin(&[1; 12], b"header")?;
/// for piece in text.chunks_mut(4096) { // whole blocks, but for the last
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
        Key::Aes128(key) => Arc::new(Kept(Ocb::<BothWays<11>>::boxed(isa, key, tag_len))),
        #[cfg(feature = "aes192")]
        Key::Aes192(key) => Arc::new(Kept(Ocb::<BothWays<13>>::boxed(isa, key, tag_len))),
        Key::Aes256(key) => Arc::new(Kept(Ocb::<BothWays<15>>::boxed(isa, key, tag_len))),
    })
}

impl<C: BlockCipher + Inverse + 'static> InPieces for Kept<Ocb<C>> {
    fn begin(self: Arc<Self>, nonce: &[u8], ad: &[u8]) -> Result<Box<dyn Pieces>, SealError> {
        let nonce = self.0.nonce_block(nonce).ok_or(SealError::NonceLength)?;
        limits(MAX_BYTES, ad.len() as u64, 0)?;
        let Ocb { isa, cipher, offsets, .. } = &*self.0;
        let state = isa.run(Begin(Fused { cipher, offsets, nonce, ad, text: &mut [], source: None }));
        Ok(Box::new(Message { state, text: 0, key: self }))
    }
}

/// Blocks between two stored offsets.
const RUN: usize = 64;

/// What is kept between two pieces.
#[derive(Clone)]
struct State {
    /// HASH of the associated data (RFC 7253, 4.1).
    hash: Block,
    /// The offset of the last block whose number is a multiple of `RUN`.
    base: Block,
    /// The offset of the last block.
    offset: Block,
    checksum: Block,
}
wipe_on_drop!(State { hash: [0; 16], base: [0; 16], offset: [0; 16], checksum: [0; 16] });

#[derive(Clone)]
struct Message<C> {
    key: Arc<Kept<Ocb<C>>>,
    state: State,
    /// Bytes of text so far. No padding, for the reason given at [`Kept`].
    text: u64,
}

impl<C> fmt::Debug for Message<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("key", &self.key).field("text", &self.text).finish_non_exhaustive()
    }
}

impl<C: BlockCipher> Sealed for Message<C> {}
impl<C: BlockCipher + Inverse + 'static> Pieces for Message<C> {
    fn seal(&mut self, piece: &mut [u8]) -> Result<(), SealError> {
        if piece.is_empty() {
            return Ok(());
        }
        // A piece that ended with a partial block was the last one.
        if !self.text.is_multiple_of(16) {
            return Err(SealError::PartialBlock);
        }
        let len = piece.len() as u64;
        if len > MAX_BYTES - self.text {
            return Err(SealError::TextTooLong);
        }
        let Ocb { isa, cipher, offsets, .. } = &*self.key.0;
        isa.run(Piece { cipher, offsets, state: &mut self.state, blocks: self.text / 16, text: piece });
        self.text += len;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Tag {
        let Ocb { isa, cipher, offsets, .. } = &*self.key.0;
        isa.run(Finish { cipher, offsets, state: &self.state }).tag(self.key.tag_len())
    }

    fn duplicate(&self) -> Box<dyn Pieces> {
        Box::new(Message { key: self.key.clone(), state: self.state.clone(), ..*self })
    }
}

struct Begin<'a, C>(Fused<'a, C, true>);

impl<C: BlockCipher + Inverse> Kernel for Begin<'_, C> {
    type Output = State;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> State {
        let (hash, first) = self.0.start::<S, W>(simd);
        State { hash: hash.fold().first_block(), base: first, offset: first, checksum: [0; 16] }
    }
}

/// The next part of the text, after `blocks` blocks.
struct Piece<'a, C> {
    cipher: &'a C,
    offsets: &'a Offsets,
    state: &'a mut State,
    blocks: u64,
    text: &'a mut [u8],
}

impl<C: BlockCipher + Inverse> Kernel for Piece<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) {
        if S::AES {
            return self.sealed::<S, W>(simd);
        }
        // One function for all key sizes, as for whole texts.
        let cipher = self.cipher.sliced_both_ways(simd);
        let Piece { offsets, state, blocks, text, .. } = self;
        simd.outlined(Sliced(Piece { cipher: &cipher, offsets, state, blocks, text }));
    }
}

/// The kernel as a separate function.
struct Sliced<'a, C>(Piece<'a, C>);

impl<S: Simd, C: BlockCipher + Inverse> Outlined<S> for Sliced<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        self.0.sealed::<S, 8>(simd);
    }
}

impl<C: BlockCipher + Inverse> Piece<'_, C> {
    #[inline(always)]
    fn sealed<S: Simd, const W: usize>(mut self, simd: S) {
        let mut checksum = simd.first(&self.state.checksum);
        while self.text.len() >= 16 {
            let within = (self.blocks % RUN as u64) as usize;
            let runs = if within == 0 { self.text.len() / (16 * RUN) } else { 0 };
            let few = (self.text.len() / 16).min(RUN - within);
            let blocks = if runs > 0 { RUN * runs } else { few.min(8 * S::Reg::BLOCKS) };
            let (now, later) = core::mem::take(&mut self.text).split_at_mut(16 * blocks);
            checksum = checksum
                ^ if runs > 0 {
                    self.runs::<S, W>(simd, now)
                } else if blocks <= 4 * S::Reg::BLOCKS {
                    self.few::<S, 4>(simd, now)
                } else {
                    self.few::<S, 8>(simd, now)
                };
            self.blocks += blocks as u64;
            self.text = later;
        }
        if !self.text.is_empty() {
            checksum = checksum ^ self.end(simd);
        }
        self.state.checksum = checksum.fold().first_block();
    }

    /// Whole runs; returns the checksum of their plaintext, to be folded.
    #[inline(always)]
    fn runs<S: Simd, const W: usize>(&mut self, simd: S, text: &mut [u8]) -> S::Reg {
        let mut walk = Walk::from(simd, self.offsets, simd.splat(&self.state.base), self.blocks);
        let Piece { cipher, offsets, .. } = *self;
        let mut fused = Fused::<C, true> { cipher, offsets, nonce: [0; 16], ad: &[], text, source: None };
        let (checksum, _) = fused.bulk::<S, W>(simd, &mut walk);
        self.state.base = walk.after(0).first_block();
        self.state.offset = self.state.base;
        checksum
    }

    /// A part of a run, at most `N` registers; returns its checksum, to be folded.
    #[inline(always)]
    fn few<S: Simd, const N: usize>(&mut self, simd: S, text: &mut [u8]) -> S::Reg {
        let (lanes, blocks) = (S::Reg::BLOCKS, text.len() / 16);
        let within = (self.blocks % RUN as u64) as usize;
        let base = simd.splat(&self.state.base);
        let last = self.offsets.of(&self.state.base, self.blocks + blocks as u64);
        let (mut offsets, mut x, mut checksum) = ([base; N], [simd.zero(); N], simd.zero());
        for (i, text) in text.chunks(S::Reg::BYTES).enumerate() {
            let block = simd.load_partial(text);
            checksum = checksum ^ block;
            // The offset of a run's last block is not in the table.
            let offset = base ^ self.offsets.row(simd, within + i * lanes);
            offsets[i] = offset.replace_lane((blocks - 1).wrapping_sub(i * lanes), simd.splat(&last));
            x[i] = block ^ offsets[i];
        }
        self.cipher.encrypt(simd, &mut x);
        for (i, text) in text.chunks_mut(S::Reg::BYTES).enumerate() {
            (x[i] ^ offsets[i]).store_partial(text);
        }
        self.state.offset = last;
        if within + blocks == RUN {
            self.state.base = last;
        }
        checksum
    }

    /// A last block that is incomplete.
    #[inline(always)]
    fn end<S: Simd>(&mut self, simd: S) -> S::Reg {
        let offset = simd.first(&self.state.offset) ^ simd.first(&self.offsets.star);
        self.state.offset = offset.first_block();
        let block = simd.load_partial(self.text);
        let mut pad = [offset];
        self.cipher.encrypt(simd, &mut pad);
        (block ^ pad[0]).keep(self.text.len()).store_partial(self.text);
        block ^ end_bit(simd, self.text.len())
    }
}

struct Finish<'a, C> {
    cipher: &'a C,
    offsets: &'a Offsets,
    state: &'a State,
}

impl<C: BlockCipher> Kernel for Finish<'_, C> {
    type Output = Whole;

    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S) -> Whole {
        let State { hash, offset, checksum, .. } = self.state;
        let mut tag = [simd.first(checksum) ^ simd.first(offset) ^ simd.first(&self.offsets.dollar)];
        self.cipher.encrypt(simd, &mut tag);
        Whole::of((tag[0] ^ simd.first(hash)).first_block())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text is that long: a message is told that so much of it went through already.
    #[test]
    fn a_text_ends_at_the_limit() {
        let key = Arc::new(Kept(Ocb::<BothWays<11>>::boxed(Isa::best(), &[7; 16], TagLen::T16)));
        let state = State { hash: [0; 16], base: [0; 16], offset: [0; 16], checksum: [0; 16] };
        let mut message = Message { key, state, text: MAX_BYTES - 16 };
        let mut piece = [7; 17];
        assert_eq!(message.seal(&mut piece), Err(SealError::TextTooLong));
        assert_eq!(piece, [7; 17]);
        assert_eq!(message.seal(&mut piece[..16]), Ok(()));
        assert_eq!(message.seal(&mut piece), Err(SealError::TextTooLong));
        assert_eq!(message.text, MAX_BYTES);
    }
}
