//! GCM and OCB with the RustCrypto traits, for every cipher, nonce length and tag length.

use core::{fmt, marker::PhantomData};

#[cfg(feature = "ocb")]
use aead::array::typenum::{IsLess, True};
use aead::{
    AeadCore, AeadInOut, Key, KeyInit, KeySizeUser, TagPosition,
    array::{ArraySize, typenum::NonZero},
    consts::{U4, U8, U12, U13, U14, U15, U16},
};
use cipher::{InOutBuf, InvalidLength};
use zeroize::ZeroizeOnDrop;

#[cfg(feature = "serpent")]
use super::Serpent;
use super::{Aes128, Aes192, Aes256};
use crate::{
    aead::Aead as _,
    block::{BlockCipher, aes},
    error::SealError,
    ghash::Clmul,
    mode::gcm::Gcm,
    sealed::Sealed,
    simd::Isa,
    tag::Tag,
};
#[cfg(feature = "ocb")]
use crate::{
    block::{Inverse, aes::BothWays},
    mode::ocb::{Ocb, TagLen},
};

/// A cipher that can be used with [`AesGcm`].
///
/// ```
/// use sealwright::compat::{Aes128, AesGcm, GcmCipher, aead::{self, AeadCore, consts::U12}};
///
/// fn tag_bytes<C: GcmCipher>() -> usize {
///     <<AesGcm<C, U12> as AeadCore>::TagSize as aead::array::typenum::Unsigned>::USIZE
/// }
/// assert_eq!(tag_bytes::<Aes128>(), 16);
/// ```
pub trait GcmCipher: KeySizeUser + Sealed {
    /// The cipher as GCM uses it.
    type Forward: BlockCipher + Clone + ZeroizeOnDrop;
    /// Expands a key.
    ///
    /// # Errors
    /// [`InvalidLength`] for a length that the cipher does not accept.
    fn forward(isa: Isa, key: &[u8]) -> Result<Self::Forward, InvalidLength>;
}

/// A cipher that can be used with [`Ocb3`].
///
/// ```
/// use sealwright::compat::{Aes128, Ocb3, OcbCipher, aead::{self, AeadCore}};
///
/// fn tag_bytes<C: OcbCipher>() -> usize {
///     <<Ocb3<C> as AeadCore>::TagSize as aead::array::typenum::Unsigned>::USIZE
/// }
/// assert_eq!(tag_bytes::<Aes128>(), 16);
/// ```
#[cfg(feature = "ocb")]
pub trait OcbCipher: KeySizeUser + Sealed {
    /// The cipher as OCB uses it.
    type BothWays: Inverse + Clone + ZeroizeOnDrop;
    /// Expands a key.
    ///
    /// # Errors
    /// [`InvalidLength`] for a length that the cipher does not accept.
    fn both_ways(isa: Isa, key: &[u8]) -> Result<Self::BothWays, InvalidLength>;
}

macro_rules! ciphers {
    ($($name:ident, $keys:literal;)*) => {$(
        impl Sealed for $name {}
        impl GcmCipher for $name {
            type Forward = aes::$name;
            fn forward(isa: Isa, key: &[u8]) -> Result<Self::Forward, InvalidLength> {
                Ok(aes::$name::new(isa, key.try_into().map_err(|_| InvalidLength)?))
            }
        }
        #[cfg(feature = "ocb")]
        impl OcbCipher for $name {
            type BothWays = BothWays<$keys>;
            fn both_ways(isa: Isa, key: &[u8]) -> Result<Self::BothWays, InvalidLength> {
                Ok(BothWays::<$keys>::new(isa, key.try_into().map_err(|_| InvalidLength)?))
            }
        }
    )*};
}
ciphers! { Aes128, 11; Aes192, 13; Aes256, 15; }

#[cfg(feature = "serpent")]
impl Sealed for Serpent {}
#[cfg(feature = "serpent")]
impl GcmCipher for Serpent {
    type Forward = crate::block::serpent::Serpent;
    fn forward(_: Isa, key: &[u8]) -> Result<Self::Forward, InvalidLength> {
        crate::block::serpent::Serpent::new(key).map_err(|_| InvalidLength)
    }
}
#[cfg(all(feature = "serpent", feature = "ocb"))]
impl OcbCipher for Serpent {
    type BothWays = crate::block::serpent::Serpent;
    fn both_ways(isa: Isa, key: &[u8]) -> Result<Self::BothWays, InvalidLength> {
        Self::forward(isa, key)
    }
}

/// A nonce length of GCM, in bytes: any but 0.
///
/// ```compile_fail
/// use sealwright::compat::{Aes128, AesGcm, aead::{KeyInit, consts::U0}};
///
/// let cipher = AesGcm::<Aes128, U0>::new(&[7; 16].into());
/// ```
///
/// ```
/// use sealwright::compat::{Aes128, AesGcm, aead::{KeyInit, consts::U16}};
///
/// let cipher = AesGcm::<Aes128, U16>::new(&[7; 16].into());
/// ```
pub trait GcmNonce: ArraySize {}
impl<N: ArraySize + NonZero> GcmNonce for N {}

/// A nonce length of OCB, in bytes: 1 to 15.
///
/// ```compile_fail
/// use sealwright::compat::{Aes128, Ocb3, aead::{KeyInit, consts::U16}};
///
/// let cipher = Ocb3::<Aes128, U16>::new(&[7; 16].into());
/// ```
///
/// ```
/// use sealwright::compat::{Aes128, Ocb3, aead::{KeyInit, consts::U15}};
///
/// let cipher = Ocb3::<Aes128, U15>::new(&[7; 16].into());
/// ```
#[cfg(feature = "ocb")]
pub trait OcbNonce: ArraySize {}
#[cfg(feature = "ocb")]
impl<N: ArraySize + NonZero + IsLess<U16, Output = True>> OcbNonce for N {}

/// A tag length of GCM, in bytes: 12 to 16, or 4 and 8 for protocols within the limits of SP 800-38D, appendix C.
///
/// ```
/// use sealwright::compat::{Aes128, AesGcm, aead::{self, AeadInOut, KeyInit, consts::{U12, U13}}};
///
/// let cipher = AesGcm::<Aes128, U12, U13>::new(&[7; 16].into()); // tags of 104 bits
/// let tag = cipher.encrypt_inout_detached(&[1; 12].into(), b"header", (&mut [][..]).into())?;
/// assert_eq!(tag.len(), 13);
/// # Ok::<(), aead::Error>(())
/// ```
pub trait GcmTag: ArraySize + Sealed {}
/// A tag length of OCB, in bytes: 8, 12 or 16.
///
/// ```
/// use sealwright::compat::{Aes128, Ocb3, aead::{self, AeadInOut, KeyInit, consts::{U8, U12}}};
///
/// let cipher = Ocb3::<Aes128, U12, U8>::new(&[7; 16].into()); // tags of 64 bits
/// let tag = cipher.encrypt_inout_detached(&[1; 12].into(), b"header", (&mut [][..]).into())?;
/// assert_eq!(tag.len(), 8);
/// # Ok::<(), aead::Error>(())
/// ```
#[cfg(feature = "ocb")]
pub trait OcbTag: ArraySize + Sealed {
    /// The length.
    #[doc(hidden)]
    const LEN: TagLen;
}

macro_rules! tags {
    ($($size:ident)*) => {$(
        impl Sealed for $size {}
        impl GcmTag for $size {}
    )*};
}
tags!(U4 U8 U12 U13 U14 U15 U16);
#[cfg(feature = "ocb")]
impl OcbTag for U8 {
    const LEN: TagLen = TagLen::T8;
}
#[cfg(feature = "ocb")]
impl OcbTag for U12 {
    const LEN: TagLen = TagLen::T12;
}
#[cfg(feature = "ocb")]
impl OcbTag for U16 {
    const LEN: TagLen = TagLen::T16;
}

/// GCM over the cipher `C` ([`Aes128`], [`Aes192`], [`Aes256`], `Serpent`), with nonces of `N` bytes, 1 or more, and
/// tags of `T`.
///
/// ```
/// use sealwright::compat::{Aes256Gcm, aead::{self, Aead, KeyInit}};
///
/// let cipher = Aes256Gcm::new(&[7; 32].into());
/// let message = cipher.encrypt(&[1; 12].into(), &b"attack at dawn"[..])?;
/// assert_eq!(cipher.decrypt(&[1; 12].into(), &message[..])?, b"attack at dawn");
/// # Ok::<(), aead::Error>(())
/// ```
pub struct AesGcm<C: GcmCipher, N, T = U16> {
    mode: Gcm<C::Forward, Clmul>,
    sizes: PhantomData<fn() -> (N, T)>,
}

/// AES-128-GCM with nonces of 96 bits and tags of 128.
pub type Aes128Gcm = AesGcm<Aes128, U12>;
/// AES-256-GCM with nonces of 96 bits and tags of 128.
pub type Aes256Gcm = AesGcm<Aes256, U12>;

/// OCB3 over the cipher `C` ([`Aes128`], [`Aes192`], [`Aes256`], `Serpent`), with nonces of `N` bytes, 1 to 15, and
/// tags of `T`.
///
/// ```
/// use sealwright::compat::{Aes128, Ocb3, aead::{self, AeadInOut, KeyInit}};
///
/// let cipher = Ocb3::<Aes128>::new(&[7; 16].into());
/// let mut text = *b"attack at dawn";
/// let tag = cipher.encrypt_inout_detached(&[1; 12].into(), b"header", (&mut text[..]).into())?;
/// cipher.decrypt_inout_detached(&[1; 12].into(), b"header", (&mut text[..]).into(), &tag)?;
/// assert_eq!(&text, b"attack at dawn");
/// # Ok::<(), aead::Error>(())
/// ```
#[cfg(feature = "ocb")]
pub struct Ocb3<C: OcbCipher, N = U12, T = U16> {
    mode: Ocb<C::BothWays>,
    sizes: PhantomData<fn() -> (N, T)>,
}

/// Seals the text, which is first copied to the buffer's output. On failure, an output other than the input is wiped,
/// so that it holds no plaintext.
fn sealed(
    mut buffer: InOutBuf<'_, '_, u8>,
    seal: impl FnOnce(&mut [u8]) -> Result<Tag, SealError>,
) -> aead::Result<Tag> {
    let apart = buffer.get_in().as_ptr() != buffer.get_out().as_ptr();
    let text = buffer.into_out_with_copied_in();
    seal(text).map_err(|_| {
        if apart {
            text.fill(0);
        }
        aead::Error
    })
}

/// The traits of a mode, for the type of its key.
macro_rules! mode {
    ($name:ident, $cipher:ident, $nonce:ident, $tag:ident, |$isa:ident, $key:ident| $new:expr) => {
        impl<C: $cipher, N, T> Clone for $name<C, N, T> {
            fn clone(&self) -> Self {
                $name { mode: self.mode.clone(), sizes: PhantomData }
            }
        }

        impl<C: $cipher, N, T> fmt::Debug for $name<C, N, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // Round keys and values derived from them wipe themselves.
        impl<C: $cipher, N, T> ZeroizeOnDrop for $name<C, N, T> {}

        impl<C: $cipher, N, T> KeySizeUser for $name<C, N, T> {
            type KeySize = C::KeySize;
        }

        impl<C: $cipher, N: $nonce, T: $tag> KeyInit for $name<C, N, T> {
            fn new(key: &Key<Self>) -> Self {
                Self::new_from_slice(key).expect("a key of the key size")
            }

            fn new_from_slice($key: &[u8]) -> Result<Self, InvalidLength> {
                let $isa = Isa::best();
                Ok($name { mode: $new, sizes: PhantomData })
            }
        }

        impl<C: $cipher, N: $nonce, T: $tag> AeadCore for $name<C, N, T> {
            type NonceSize = N;
            type TagSize = T;
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl<C: $cipher, N: $nonce, T: $tag> AeadInOut for $name<C, N, T> {
            /// As the trait specifies. If the message is refused, an output other than the input is wiped, because it
            /// already holds the plaintext.
            fn encrypt_inout_detached(
                &self,
                nonce: &aead::Nonce<Self>,
                ad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> aead::Result<aead::Tag<Self>> {
                let tag = sealed(buffer, |text| self.mode.seal_in_place(nonce, ad, text))?;
                aead::Tag::<Self>::try_from(tag.as_ref()).map_err(|_| aead::Error)
            }

            /// As the trait specifies. If the tag is not valid, the output of `buffer` is wiped.
            fn decrypt_inout_detached(
                &self,
                nonce: &aead::Nonce<Self>,
                ad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &aead::Tag<Self>,
            ) -> aead::Result<()> {
                let text = buffer.into_out_with_copied_in();
                self.mode.open_in_place(nonce, ad, text, tag).map_err(|_| aead::Error)
            }
        }
    };
}
mode!(AesGcm, GcmCipher, GcmNonce, GcmTag, |isa, key| Gcm::with_tag_bytes(isa, C::forward(isa, key)?, T::USIZE));
#[cfg(feature = "ocb")]
mode!(Ocb3, OcbCipher, OcbNonce, OcbTag, |isa, key| Ocb::new(isa, C::both_ways(isa, key)?, T::LEN));

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_refused_text_is_not_in_another_buffer() {
        let refuse = |_: &mut [u8]| Err(SealError::TextTooLong);
        let (text, mut out) = (*b"attack at dawn", [1; 14]);
        assert!(sealed(InOutBuf::new(&text, &mut out).unwrap(), refuse).is_err());
        assert_eq!(out, [0; 14]);
        let mut in_place = text;
        assert!(sealed((&mut in_place[..]).into(), refuse).is_err());
        assert_eq!(in_place, text, "the caller's own text stays");
        let tag = sealed(InOutBuf::new(&text, &mut out).unwrap(), |_| Ok(Tag::new(&[2; 4])));
        assert_eq!((tag.unwrap(), out), (Tag::new(&[2; 4]), text));
    }
}
