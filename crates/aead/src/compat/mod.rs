//! The RustCrypto traits (feature `rustcrypto`): [`aead::AeadInOut`] for this crate's GCM and OCB, and
//! [`cipher::BlockCipherEncrypt`] and [`cipher::BlockCipherDecrypt`] for its AES and Serpent, so that protocols written
//! for RustCrypto's types can use these instead. The crates of the traits are re-exported: [`aead`] and [`cipher`].
//!
//! | RustCrypto | here |
//! |---|---|
//! | `aes::{Aes128, Aes192, Aes256}`, and each with `Enc` or `Dec` at its end | the same names |
//! | `aes_gcm::{AesGcm, Aes128Gcm, Aes256Gcm}`, nonces of any length | the same names |
//! | `ocb3::Ocb3`, nonces of 6 to 15 bytes, tags of 8, 12 or 16 | [`Ocb3`] (feature `ocb`), nonces of 1 to 15 bytes |
//! | `serpent::Serpent` | `Serpent` (feature `serpent`) |
//!
//! There is one difference from RustCrypto's types: if a tag is not valid, the buffer is set to zero, where theirs may
//! keep the ciphertext.
//!
//! All types run at [`Isa::best`]. Keys are wiped when dropped. Messages are not counted: use a GCM key for at most
//! 2^32, unless every nonce has 96 bits and comes from a counter (SP 800-38D, 8.3), and an OCB key for at most 2^48
//! blocks (RFC 7253, section 5).
//!
//! ```
//! use sealwright::compat::{Aes128, AesGcm, aead::{self, AeadInOut, KeyInit, consts::U16}};
//!
//! type LongNonces = AesGcm<Aes128, U16>;
//! let cipher = LongNonces::new(&[7; 16].into());
//! let mut text = *b"attack at dawn";
//! let tag = cipher.encrypt_inout_detached(&[1; 16].into(), b"header", (&mut text[..]).into())?;
//! cipher.decrypt_inout_detached(&[1; 16].into(), b"header", (&mut text[..]).into(), &tag)?;
//! assert_eq!(&text, b"attack at dawn");
//! # Ok::<(), aead::Error>(())
//! ```

mod modes;

use core::fmt;

pub use ::{aead, cipher};
use cipher::{
    AlgorithmName, Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, InOutBuf, InvalidLength, Key, KeyInit,
    KeySizeUser, ParBlocks, ParBlocksSizeUser,
    array::Array,
    consts::{U16, U24, U32, U64},
};
#[cfg(feature = "ocb")]
pub use modes::Ocb3;
pub use modes::{Aes128Gcm, Aes256Gcm, AesGcm, GcmCipher, GcmNonce, GcmTag};
#[cfg(feature = "ocb")]
pub use modes::{OcbCipher, OcbNonce, OcbTag};
use zeroize::ZeroizeOnDrop;

#[cfg(feature = "serpent")]
use crate::block::serpent;
use crate::{
    Isa,
    block::{
        BlockCipher, CleanStack, Inverse,
        aes::{self, BothWays},
    },
    mode::ecb,
};

/// A cipher as a RustCrypto mode uses it, up to 64 blocks at a time: one batch of the widest level.
struct Backend<'a, C> {
    isa: Isa,
    cipher: &'a C,
}

impl<C> BlockSizeUser for Backend<'_, C> {
    type BlockSize = U16;
}

impl<C> ParBlocksSizeUser for Backend<'_, C> {
    type ParBlocksSize = U64;
}

impl<C: BlockCipher> Backend<'_, C> {
    fn forward(&self, blocks: &mut [Array<u8, U16>]) {
        ecb::encrypt(self.isa, self.cipher, Array::slice_as_flattened_mut(blocks));
    }
}

impl<C: Inverse> Backend<'_, C> {
    fn backward(&self, blocks: &mut [Array<u8, U16>]) {
        ecb::decrypt(self.isa, self.cipher, Array::slice_as_flattened_mut(blocks));
    }
}

impl<C: BlockCipher> BlockCipherEncBackend for Backend<'_, C> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        self.forward(core::slice::from_mut(block.into_out_with_copied_in()));
    }
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.forward(blocks.into_out_with_copied_in());
    }
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.forward(blocks.into_out_with_copied_in());
    }
}

impl<C: Inverse> BlockCipherDecBackend for Backend<'_, C> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        self.backward(core::slice::from_mut(block.into_out_with_copied_in()));
    }
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.backward(blocks.into_out_with_copied_in());
    }
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.backward(blocks.into_out_with_copied_in());
    }
}

/// A type around the cipher `$inner`, with the traits that every block cipher has.
macro_rules! block_cipher {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $key_size:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            isa: Isa,
            cipher: $inner,
            _stack: CleanStack,
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // The round keys wipe themselves.
        impl ZeroizeOnDrop for $name {}

        impl KeySizeUser for $name {
            type KeySize = $key_size;
        }

        impl BlockSizeUser for $name {
            type BlockSize = U16;
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

macro_rules! encrypts {
    ($name:ident) => {
        impl BlockCipherEncrypt for $name {
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                f.call(&Backend { isa: self.isa, cipher: &self.cipher });
            }
        }
    };
}

macro_rules! decrypts {
    ($name:ident) => {
        impl BlockCipherDecrypt for $name {
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
                f.call(&Backend { isa: self.isa, cipher: &self.cipher });
            }
        }
    };
}

/// AES with one key length: in both directions, and in each alone.
macro_rules! aes {
    ($bits:literal, $both:ident, $enc:ident, $dec:ident, $inner:ty, $keys:literal, $key_size:ident) => {
        block_cipher! {
            #[doc = concat!("AES-", $bits, " in both directions.")]
            $both, BothWays<$keys>, $key_size
        }
        encrypts!($both);
        decrypts!($both);
        impl KeyInit for $both {
            fn new(key: &Key<Self>) -> Self {
                let isa = Isa::best();
                $both { isa, cipher: BothWays::<$keys>::new(isa, key.as_ref()), _stack: CleanStack }
            }
        }
        block_cipher! {
            #[doc = concat!("AES-", $bits, ", encryption alone: half the round keys.")]
            $enc, $inner, $key_size
        }
        encrypts!($enc);
        impl KeyInit for $enc {
            fn new(key: &Key<Self>) -> Self {
                let isa = Isa::best();
                $enc { isa, cipher: <$inner>::new(isa, key.as_ref()), _stack: CleanStack }
            }
        }
        block_cipher! {
            #[doc = concat!("AES-", $bits, ", decryption alone.")]
            $dec, BothWays<$keys>, $key_size
        }
        decrypts!($dec);
        impl KeyInit for $dec {
            fn new(key: &Key<Self>) -> Self {
                let isa = Isa::best();
                $dec { isa, cipher: BothWays::<$keys>::new(isa, key.as_ref()), _stack: CleanStack }
            }
        }
    };
}

aes!("128", Aes128, Aes128Enc, Aes128Dec, aes::Aes128, 11, U16);
aes!("192", Aes192, Aes192Enc, Aes192Dec, aes::Aes192, 13, U24);
aes!("256", Aes256, Aes256Enc, Aes256Dec, aes::Aes256, 15, U32);

#[cfg(feature = "serpent")]
block_cipher! {
    /// Serpent in both directions. Like RustCrypto's type it has a `KeySize` of 16 bytes, and accepts keys of 16, 24 or
    /// 32 bytes from a slice (`new_from_slice`).
    Serpent, serpent::Serpent, U16
}
#[cfg(feature = "serpent")]
encrypts!(Serpent);
#[cfg(feature = "serpent")]
decrypts!(Serpent);
#[cfg(feature = "serpent")]
impl KeyInit for Serpent {
    fn new(key: &Key<Self>) -> Self {
        Self::new_from_slice(key).expect("Serpent takes keys of 16 bytes")
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        let cipher = serpent::Serpent::new(key).map_err(|_| InvalidLength)?;
        Ok(Serpent { isa: Isa::best(), cipher, _stack: CleanStack })
    }
}
