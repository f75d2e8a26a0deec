//! Our types through the ecosystem's traits, beside RustCrypto's own types through the same generic code.
#![cfg(feature = "rustcrypto")]
#![allow(clippy::unwrap_used)]

mod support;

use aead::{
    AeadInOut, Buffer, Nonce, Tag,
    array::{Array, typenum::Unsigned},
    consts::U12,
    inout::InOutBuf,
};
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, KeySizeUser, consts::U16};
use sealwright::compat;
use support::bytes;
use zeroize::ZeroizeOnDrop;

/// The key of `C` made from `seed`.
fn keyed<C: KeyInit>(seed: u64) -> C {
    C::new_from_slice(&bytes(C::key_size(), seed)).unwrap()
}

/// A buffer of its own kind, as protocols without allocation have.
struct Room {
    bytes: [u8; 64],
    len: usize,
}

impl AsRef<[u8]> for Room {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
impl AsMut<[u8]> for Room {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}
impl Buffer for Room {
    fn extend_from_slice(&mut self, other: &[u8]) -> aead::Result<()> {
        let place = self.bytes.get_mut(self.len..self.len + other.len()).ok_or(aead::Error)?;
        place.copy_from_slice(other);
        self.len += other.len();
        Ok(())
    }
    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

/// One text through a generic `AeadInOut`: sealed from buffer to buffer.
fn seal<A: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16>>(n: usize) -> (Vec<u8>, Tag<A>) {
    let (text, ad) = (bytes(n, 2), bytes(n % 50, 3));
    let nonce = Nonce::<A>::try_from(bytes(12, 4).as_slice()).unwrap();
    let mut out = vec![0; n];
    let buffer = InOutBuf::new(&text, &mut out).unwrap();
    let tag = keyed::<A>(1).encrypt_inout_detached(&nonce, &ad, buffer).unwrap();
    (out, tag)
}

fn aead_agrees<Ours, Theirs>()
where
    Ours: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16> + ZeroizeOnDrop,
    Theirs: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16>,
{
    let ours = keyed::<Ours>(1);
    let nonce = Nonce::<Ours>::try_from(bytes(12, 4).as_slice()).unwrap();
    for n in 0..200 {
        let (sealed, tag) = seal::<Ours>(n);
        assert_eq!((&sealed, &tag), (&seal::<Theirs>(n).0, &seal::<Theirs>(n).1), "{n} bytes");

        let ad = bytes(n % 50, 3);
        let mut opened = sealed.clone();
        ours.decrypt_inout_detached(&nonce, &ad, opened.as_mut_slice().into(), &tag).unwrap();
        assert_eq!(opened, bytes(n, 2), "{n} bytes in place");

        let mut out = vec![0xa5; n];
        let mut wrong = tag;
        wrong[n % 16] ^= 4;
        let buffer = InOutBuf::new(&sealed, &mut out).unwrap();
        assert!(ours.decrypt_inout_detached(&nonce, &ad, buffer, &wrong).is_err());
        assert!(out.iter().all(|&b| b == 0), "{n} bytes: what a failed opening leaves");
    }
    let mut room = Room { bytes: [7; 64], len: 40 };
    ours.encrypt_in_place(&nonce, b"header", &mut room).unwrap();
    assert_eq!(room.len, 56);
    ours.decrypt_in_place(&nonce, b"header", &mut room).unwrap();
    assert_eq!(room.as_ref(), [7; 40]);
    room.len = 50;
    assert!(ours.encrypt_in_place(&nonce, b"header", &mut room).is_err(), "no room for the tag");
}

#[test]
fn gcm_agrees() {
    aead_agrees::<compat::Aes128Gcm, aes_gcm::Aes128Gcm>();
    aead_agrees::<compat::Aes256Gcm, aes_gcm::Aes256Gcm>();
    aead_agrees::<compat::AesGcm<compat::Aes192, U12>, aes_gcm::AesGcm<aes::Aes192, U12>>();
    aead_agrees::<compat::AesGcm<compat::Serpent, U12>, aes_gcm::AesGcm<serpent::Serpent, U12>>();
}

#[test]
fn ocb_agrees() {
    aead_agrees::<compat::Ocb3<compat::Aes128>, ocb3::Ocb3<aes::Aes128>>();
    aead_agrees::<compat::Ocb3<compat::Aes192>, ocb3::Ocb3<aes::Aes192>>();
    aead_agrees::<compat::Ocb3<compat::Aes256>, ocb3::Ocb3<aes::Aes256>>();
    aead_agrees::<compat::Ocb3<compat::Serpent>, ocb3::Ocb3<serpent::Serpent>>();
}

/// Sealed messages of every nonce and tag that both sides have.
fn sizes_agree<Ours: KeyInit + AeadInOut, Theirs: KeyInit + AeadInOut>() {
    for n in [0, 1, 16, 40, 100] {
        let text = bytes(n, 2);
        let (mut ours, mut theirs) = (text.clone(), text);
        let nonce = bytes(Ours::NonceSize::USIZE, 4);
        let tag = keyed::<Ours>(1)
            .encrypt_inout_detached(&Nonce::<Ours>::try_from(&nonce[..]).unwrap(), b"ad", (&mut ours[..]).into())
            .unwrap();
        let wanted = keyed::<Theirs>(1)
            .encrypt_inout_detached(&Nonce::<Theirs>::try_from(&nonce[..]).unwrap(), b"ad", (&mut theirs[..]).into())
            .unwrap();
        assert_eq!((ours, &tag[..]), (theirs, &wanted[..]), "{n} bytes, nonces of {}", nonce.len());
    }
}

#[test]
fn other_nonces_and_tags_agree() {
    use aead::consts::{U1, U8, U13, U15, U128};
    use compat::{Aes128, Aes256, AesGcm, Ocb3};
    sizes_agree::<AesGcm<Aes128, U1>, aes_gcm::AesGcm<aes::Aes128, U1>>();
    sizes_agree::<AesGcm<Aes128, U16>, aes_gcm::AesGcm<aes::Aes128, U16>>();
    sizes_agree::<AesGcm<Aes256, U128, U12>, aes_gcm::AesGcm<aes::Aes256, U128, U12>>();
    sizes_agree::<AesGcm<Aes256, U12, U13>, aes_gcm::AesGcm<aes::Aes256, U12, U13>>();
    sizes_agree::<Ocb3<Aes128, U15>, ocb3::Ocb3<aes::Aes128, U15>>();
    sizes_agree::<Ocb3<Aes256, U8, U12>, ocb3::Ocb3<aes::Aes256, U8, U12>>();
    sizes_agree::<Ocb3<Aes256, U12, U8>, ocb3::Ocb3<aes::Aes256, U12, U8>>();
}

/// Keys that only encrypt, or only decrypt.
#[test]
fn one_direction_agrees() {
    fn agree<Enc, Dec, Theirs>()
    where
        Enc: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
        Dec: KeyInit + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
        Theirs: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
    {
        let text = Array::<u8, U16>::try_from(&bytes(16, 3)[..]).unwrap();
        let (mut block, mut wanted) = (text, text);
        keyed::<Enc>(5).encrypt_block(&mut block);
        keyed::<Theirs>(5).encrypt_block(&mut wanted);
        assert_eq!(block, wanted);
        keyed::<Dec>(5).decrypt_block(&mut block);
        assert_eq!(block, text);
    }
    agree::<compat::Aes128Enc, compat::Aes128Dec, aes::Aes128>();
    agree::<compat::Aes192Enc, compat::Aes192Dec, aes::Aes192>();
    agree::<compat::Aes256Enc, compat::Aes256Dec, aes::Aes256>();
}

#[test]
fn serpent_takes_its_three_lengths_of_keys() {
    for len in 0..40 {
        let key = bytes(len, 1);
        let ours = compat::Serpent::new_from_slice(&key);
        assert_eq!(ours.is_ok(), [16, 24, 32].contains(&len), "{len} bytes");
        let Ok(ours) = ours else { continue };
        let (mut block, mut wanted) = (Array::<u8, U16>::default(), Array::<u8, U16>::default());
        ours.encrypt_block(&mut block);
        serpent::Serpent::new_from_slice(&key).unwrap().encrypt_block(&mut wanted);
        assert_eq!(block, wanted, "{len} bytes");
    }
}

fn cipher_agrees<Ours, Theirs>()
where
    Ours: KeyInit + BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + BlockCipherDecrypt + ZeroizeOnDrop,
    Theirs: KeyInit + BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeySizeUser<KeySize = Ours::KeySize>,
{
    let (ours, theirs) = (keyed::<Ours>(5), keyed::<Theirs>(5));
    for n in 0..150 {
        let text: Vec<Array<u8, U16>> =
            bytes(16 * n, 6).chunks_exact(16).map(|block| Array::try_from(block).unwrap()).collect();
        let mut wanted = text.clone();
        theirs.encrypt_blocks(&mut wanted);

        let mut blocks = text.clone();
        ours.encrypt_blocks(&mut blocks);
        assert_eq!(blocks, wanted, "{n} blocks in place");
        ours.decrypt_blocks(&mut blocks);
        assert_eq!(blocks, text, "{n} blocks back");

        let mut out = vec![Array::default(); n];
        ours.encrypt_blocks_b2b(&text, &mut out).unwrap();
        assert_eq!(out, wanted, "{n} blocks from buffer to buffer");
        ours.decrypt_blocks_b2b(&wanted, &mut out).unwrap();
        assert_eq!(out, text, "{n} blocks back from buffer to buffer");

        if let (Some(first), Some(wanted)) = (text.first(), wanted.first()) {
            let mut one = Array::default();
            ours.encrypt_block_b2b(first, &mut one);
            assert_eq!(one, *wanted);
            ours.decrypt_block(&mut one);
            assert_eq!(one, *first);
        }
    }
}

#[test]
fn block_ciphers_agree() {
    cipher_agrees::<compat::Aes128, aes::Aes128>();
    cipher_agrees::<compat::Aes192, aes::Aes192>();
    cipher_agrees::<compat::Aes256, aes::Aes256>();
}

#[test]
fn debug_shows_no_key() {
    let shown = format!("{:?} {:?}", keyed::<compat::Aes256Gcm>(1), keyed::<compat::Aes192>(1));
    assert_eq!(shown, "AesGcm { .. } Aes192 { .. }");
}
