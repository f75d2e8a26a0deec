//! Wiping of secrets when they are dropped.

use alloc::vec::Vec;

#[cfg(any(feature = "gcm", feature = "ocb"))]
use crate::simd::Isa;

/// Wipes the stack when it is dropped: a type that holds a key has one as its last field. The modes have it; bare block
/// ciphers do not, because their owner may have many of them. A mode of your own should have one.
///
/// ```
/// use sealwright::{Isa, block::{CleanStack, aes::Aes128}};
///
/// struct Mode {
///     cipher: Aes128, // wipes itself
///     _stack: CleanStack, // wipes what kernels left below: the last field, as fields are dropped in their order
/// }
/// let mode = Mode { cipher: Aes128::new(Isa::best(), &[7; 16]), _stack: CleanStack };
/// assert_eq!(size_of_val(&mode), size_of::<Aes128>());
/// # let _ = mode.cipher;
/// ```
///
/// A secret that was in a register may also be in a dead stack frame: compilers spill round keys, and a key that is
/// moved to the heap was on the stack before. Without this type, a test found about fifty round keys on the stack after
/// an AES-GCM key was dropped. Callees' frames lie below the frame of their caller, and so below the one that drops the
/// key: overwriting `BYTES` bytes below it wipes them. The default exceeds the frames of every kernel of one key.
/// Without the feature `std` nothing is overwritten: the stack may be smaller than that.
#[derive(Clone, Debug)]
pub struct CleanStack<const BYTES: usize = { 16 << 10 }>;

impl<const BYTES: usize> Drop for CleanStack<BYTES> {
    #[inline]
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        clean_stack::<BYTES>();
    }
}

/// The same, sized by instruction-set level: kernels with AES instructions keep less than the default on the stack, and
/// overwriting all of it would take as long as sealing a few short messages.
#[cfg(any(feature = "gcm", feature = "ocb"))]
#[derive(Clone, Debug)]
pub(crate) struct CleanStackOf {
    /// KiB to overwrite. It takes few values, each of which has its own function.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    kib: u8,
}

#[cfg(any(feature = "gcm", feature = "ocb"))]
impl CleanStackOf {
    /// For a key that is constructed by value: moving it leaves copies, which lie deeper.
    pub(crate) fn moved() -> Self {
        CleanStackOf { kib: 16 }
    }

    /// For a key that is constructed in place.
    #[cfg_attr(not(feature = "std"), allow(unused_variables))]
    pub(crate) fn in_place(isa: Isa) -> Self {
        #[cfg(feature = "std")]
        let kib = (isa.kernel_frames() >> 10) as u8;
        #[cfg(not(feature = "std"))]
        let kib = 16;
        CleanStackOf { kib }
    }

    /// For the key of one message, which is constructed in place and whose owner wipes the stack when dropped.
    #[cfg(feature = "gcm")]
    pub(crate) fn by_owner() -> Self {
        CleanStackOf { kib: 0 }
    }
}

#[cfg(any(feature = "gcm", feature = "ocb"))]
impl Drop for CleanStackOf {
    #[inline]
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        match self.kib {
            0 => {}
            1..=8 => clean_stack::<0x2000>(),
            _ => clean_stack::<0x4000>(),
        }
    }
}

#[cfg(feature = "std")]
#[inline(never)]
fn clean_stack<const BYTES: usize>() {
    let stack = [0u8; BYTES];
    zeroize::optimization_barrier(&stack);
}

/// Overwrites a buffer that is about to be freed.
pub(crate) fn wipe(text: &mut [u8]) {
    text.fill(0);
    zeroize::optimization_barrier(text);
}

/// Reserves `more` bytes behind a secret text. The memory that is freed holds neither this text nor an earlier one.
pub(crate) fn room(text: &mut Vec<u8>, more: usize) {
    if text.capacity() - text.len() < more {
        let mut longer = Vec::with_capacity(text.len() + more);
        longer.extend_from_slice(text);
        wipe_whole(text);
        *text = longer;
    }
}

/// Overwrites all memory of a vector: behind its end there may be an earlier text.
fn wipe_whole(text: &mut Vec<u8>) {
    text.resize(text.capacity(), 0);
    wipe(text);
}

/// Overwrites what is behind the end of a vector.
pub(crate) fn wipe_rest(text: &mut Vec<u8>) {
    let len = text.len();
    text.resize(text.capacity(), 0);
    wipe(&mut text[len..]);
    text.truncate(len);
}

/// The same for texts that are appended one after the other: capacity doubles, so that few copies are made.
pub(crate) fn grow(texts: &mut Vec<u8>, more: usize) {
    if texts.capacity() - texts.len() < more {
        room(texts, more.max(texts.len()));
    }
}

/// Implements `Zeroize`, `Drop` and `ZeroizeOnDrop` for a type by assigning zero to each of its secret fields.
///
/// `zeroize` clears arrays of bytes with one volatile store per byte. An assignment compiles to stores of whole
/// registers, and the barrier keeps the compiler from removing it: it takes a fifteenth of the time for an AES-GCM key.
///
/// With `only`, without `Zeroize`: a type that can be used directly would go on under a key of zeros.
macro_rules! wipe_on_drop {
    (only $type:ident $(<const $n:ident>)? { $($field:tt: $zero:expr),* $(,)? }) => {
        impl $(<const $n: usize>)? $type $(<$n>)? {
            #[inline]
            pub(crate) fn clear(&mut self) {
                $(self.$field = $zero;)*
                zeroize::optimization_barrier(self);
            }
        }
        impl $(<const $n: usize>)? Drop for $type $(<$n>)? {
            #[inline]
            fn drop(&mut self) {
                self.clear();
            }
        }
        impl $(<const $n: usize>)? zeroize::ZeroizeOnDrop for $type $(<$n>)? {}
    };
    ($type:ident $(<const $n:ident>)? { $($field:tt: $zero:expr),* $(,)? }) => {
        impl $(<const $n: usize>)? zeroize::Zeroize for $type $(<$n>)? {
            #[inline]
            fn zeroize(&mut self) {
                $(self.$field = $zero;)*
                zeroize::optimization_barrier(self);
            }
        }
        impl $(<const $n: usize>)? Drop for $type $(<$n>)? {
            #[inline]
            fn drop(&mut self) {
                zeroize::Zeroize::zeroize(self);
            }
        }
        impl $(<const $n: usize>)? zeroize::ZeroizeOnDrop for $type $(<$n>)? {}
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regression: only what was before the end was wiped.
    #[test]
    fn the_whole_vector_is_wiped() {
        let mut text = vec![0xa5; 100];
        text.clear();
        wipe_whole(&mut text);
        assert!(text.len() >= 100 && text.len() == text.capacity() && text.iter().all(|&byte| byte == 0));
    }
}
