//! The ecosystem's traits, feature `rustcrypto`: [`aead::AeadInOut`] over our GCM, and [`cipher::BlockCipherEncrypt`]
//! and [`cipher::BlockCipherDecrypt`] over our AES, so that protocols written for RustCrypto's types take ours.
//!
//! All run at [`Isa::best`]. Keys are wiped when dropped.

use core::fmt;

use aead::{AeadCore, AeadInOut, TagPosition, consts::U12};
use cipher::{
    Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, InOutBuf, Key, KeyInit, KeySizeUser, ParBlocks,
    ParBlocksSizeUser,
    array::Array,
    consts::{U16, U24, U32, U64},
};
use zeroize::ZeroizeOnDrop;

use crate::{
    Isa,
    aead::Aead as _,
    block::aes::{self, BothWays},
    ghash::Clmul,
    mode::{
        ecb,
        gcm::{Gcm, TagLen},
    },
};

macro_rules! gcm {
    ($(#[$doc:meta])* $name:ident, $aes:ident, $key_size:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Gcm<aes::$aes, Clmul>);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // Round keys and powers of h each wipe themselves.
        impl ZeroizeOnDrop for $name {}

        impl KeySizeUser for $name {
            type KeySize = $key_size;
        }

        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                let isa = Isa::best();
                $name(Gcm::new(isa, aes::$aes::new(isa, key.as_ref()), TagLen::T16))
            }
        }

        impl AeadCore for $name {
            type NonceSize = U12;
            type TagSize = U16;
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl AeadInOut for $name {
            fn encrypt_inout_detached(
                &self,
                nonce: &aead::Nonce<Self>,
                ad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> aead::Result<aead::Tag<Self>> {
                let text = buffer.into_out_with_copied_in();
                let tag = self.0.seal_in_place(nonce, ad, text).map_err(|_| aead::Error)?;
                aead::Tag::<Self>::try_from(tag.as_ref()).map_err(|_| aead::Error)
            }

            /// As the trait has it; what `buffer` writes to is wiped if the tag does not hold.
            fn decrypt_inout_detached(
                &self,
                nonce: &aead::Nonce<Self>,
                ad: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &aead::Tag<Self>,
            ) -> aead::Result<()> {
                let text = buffer.into_out_with_copied_in();
                self.0.open_in_place(nonce, ad, text, tag).map_err(|_| aead::Error)
            }
        }
    };
}

gcm! {
    /// AES-128-GCM with nonces of 96 bits and tags of 128.
    Aes128Gcm, Aes128, U16
}
gcm! {
    /// AES-256-GCM with nonces of 96 bits and tags of 128.
    Aes256Gcm, Aes256, U32
}

macro_rules! block_cipher {
    ($(#[$doc:meta])* $name:ident, $keys:literal, $key_size:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            isa: Isa,
            cipher: BothWays<$keys>,
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // The round keys of both directions wipe themselves.
        impl ZeroizeOnDrop for $name {}

        impl $name {
            /// Encrypts blocks in place.
            fn forward(&self, blocks: &mut [Array<u8, U16>]) {
                ecb::encrypt(self.isa, &self.cipher, Array::slice_as_flattened_mut(blocks));
            }

            /// Decrypts blocks in place.
            fn backward(&self, blocks: &mut [Array<u8, U16>]) {
                ecb::decrypt(self.isa, &self.cipher, Array::slice_as_flattened_mut(blocks));
            }
        }

        impl KeySizeUser for $name {
            type KeySize = $key_size;
        }

        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                let isa = Isa::best();
                $name { isa, cipher: BothWays::<$keys>::new(isa, key.as_ref()) }
            }
        }

        impl BlockSizeUser for $name {
            type BlockSize = U16;
        }

        impl BlockCipherEncrypt for $name {
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                f.call(&Backend(self));
            }
        }

        impl BlockCipherDecrypt for $name {
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
                f.call(&Backend(self));
            }
        }

        impl BlockCipherEncBackend for Backend<'_, $name> {
            fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
                self.0.forward(core::slice::from_mut(block.into_out_with_copied_in()));
            }
            fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                self.0.forward(blocks.into_out_with_copied_in());
            }
            fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.0.forward(blocks.into_out_with_copied_in());
            }
        }

        impl BlockCipherDecBackend for Backend<'_, $name> {
            fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
                self.0.backward(core::slice::from_mut(block.into_out_with_copied_in()));
            }
            fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                self.0.backward(blocks.into_out_with_copied_in());
            }
            fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.0.backward(blocks.into_out_with_copied_in());
            }
        }
    };
}

/// A cipher lent to a mode of the ecosystem, which hands over up to 64 blocks at a time: one batch of the widest level.
struct Backend<'a, C>(&'a C);

impl<C> BlockSizeUser for Backend<'_, C> {
    type BlockSize = U16;
}

impl<C> ParBlocksSizeUser for Backend<'_, C> {
    type ParBlocksSize = U64;
}

block_cipher! {
    /// AES-128 in both directions.
    Aes128, 11, U16
}
block_cipher! {
    /// AES-192 in both directions.
    Aes192, 13, U24
}
block_cipher! {
    /// AES-256 in both directions.
    Aes256, 15, U32
}
