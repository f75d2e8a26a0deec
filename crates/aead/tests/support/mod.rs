//! What tests of several modes share.
#![allow(dead_code, reason = "each test takes what it needs")]

use aes::{
    Aes128, Aes192, Aes256,
    cipher::{Array, BlockCipherEncrypt, KeyInit},
};
use sealwright::Aead;

/// Bytes without a pattern that a mistake of 16 or 64 would repeat.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

/// Seals, opens and fails to open one text, inside a larger buffer at `offset` whose other bytes must stay; `theirs` is
/// the ciphertext and tag it must become.
pub(crate) fn agree(
    aead: &dyn Aead,
    nonce: &[u8],
    ad: &[u8],
    text: &[u8],
    theirs: &(Vec<u8>, Vec<u8>),
    offset: usize,
    what: &str,
) {
    let (ciphertext, tag) = theirs;
    let mut buffer = vec![0xa5; text.len() + 256];
    let place = offset..offset + text.len();
    buffer[place.clone()].copy_from_slice(text);

    let ours = aead.seal_in_place(nonce, ad, &mut buffer[place.clone()]).unwrap();
    assert!(buffer[place.clone()] == *ciphertext, "{what}: ciphertext");
    assert_eq!(ours.as_ref(), tag, "{what}: tag");
    aead.open_in_place(nonce, ad, &mut buffer[place.clone()], tag).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(buffer[place.clone()] == *text, "{what}: plaintext");

    buffer[place.clone()].copy_from_slice(ciphertext);
    let mut wrong = tag.clone();
    wrong[text.len() % tag.len()] ^= 1 << (text.len() % 8);
    assert!(aead.open_in_place(nonce, ad, &mut buffer[place.clone()], &wrong).is_err(), "{what}: a wrong tag");
    assert!(buffer[place.clone()].iter().all(|&b| b == 0), "{what}: text after a wrong tag");
    buffer[place].fill(0xa5);
    assert!(buffer.iter().all(|&b| b == 0xa5), "{what}: bytes outside the text");
}

/// OCB sealing as RFC 7253, section 4, says it, a block at a time: ciphertext and tag.
pub(crate) fn slow_ocb(
    cipher: &dyn Fn([u8; 16]) -> [u8; 16],
    tag_len: usize,
    nonce: &[u8],
    ad: &[u8],
    text: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let encrypt = |x: u128| u128::from_be_bytes(cipher(x.to_be_bytes()));
    let double = |x: u128| (x << 1) ^ if x >> 127 == 1 { 0x87 } else { 0 };
    let block = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
    let padded = |bytes: &[u8]| {
        let mut block = [0; 16];
        block[..bytes.len()].copy_from_slice(bytes);
        block[bytes.len()] = 0x80;
        u128::from_be_bytes(block)
    };
    let star = encrypt(0);
    let dollar = double(star);
    let mut l = vec![double(dollar)];
    for i in 0..62 {
        l.push(double(l[i]));
    }

    let (mut sum, mut offset) = (0, 0);
    for (i, chunk) in ad.chunks(16).enumerate() {
        if chunk.len() == 16 {
            offset ^= l[(i + 1).trailing_zeros() as usize];
            sum ^= encrypt(block(chunk) ^ offset);
        } else {
            offset ^= star;
            sum ^= encrypt(padded(chunk) ^ offset);
        }
    }

    let formatted = ((tag_len as u128 * 8 % 128) << 121) | (1 << (8 * nonce.len())) | {
        nonce.iter().fold(0, |n, &byte| (n << 8) | u128::from(byte))
    };
    let bottom = formatted % 64;
    let top = encrypt(formatted - bottom);
    let stretch: Vec<bool> = (0..128)
        .map(|bit| top >> (127 - bit) & 1 == 1)
        .chain((0..64).map(|bit| (top >> (127 - bit) ^ top >> (127 - bit - 8)) & 1 == 1))
        .collect();
    let mut offset = (0..128).fold(0, |x, bit| (x << 1) | u128::from(stretch[bit + bottom as usize]));

    let (mut checksum, mut out) = (0, Vec::new());
    for (i, chunk) in text.chunks(16).enumerate() {
        if chunk.len() == 16 {
            offset ^= l[(i + 1).trailing_zeros() as usize];
            out.extend((offset ^ encrypt(block(chunk) ^ offset)).to_be_bytes());
            checksum ^= block(chunk);
        } else {
            offset ^= star;
            let pad = encrypt(offset).to_be_bytes();
            out.extend(chunk.iter().zip(pad).map(|(x, pad)| x ^ pad));
            checksum ^= padded(chunk);
        }
    }
    let tag = encrypt(checksum ^ offset ^ dollar) ^ sum;
    (out, tag.to_be_bytes()[..tag_len].to_vec())
}

/// A block encrypted by RustCrypto's AES.
pub(crate) fn aes_block(key: &[u8]) -> Box<dyn Fn([u8; 16]) -> [u8; 16]> {
    fn of<C: KeyInit + BlockCipherEncrypt + 'static>(key: &[u8]) -> Box<dyn Fn([u8; 16]) -> [u8; 16]> {
        let cipher = C::new_from_slice(key).unwrap();
        Box::new(move |block| {
            let mut out = Array::try_from(block.as_slice()).unwrap();
            cipher.encrypt_block(&mut out);
            out.as_slice().try_into().unwrap()
        })
    }
    match key.len() {
        16 => of::<Aes128>(key),
        24 => of::<Aes192>(key),
        _ => of::<Aes256>(key),
    }
}

/// GHASH as SP 800-38D, 6.3 and 6.4, says it, of whole blocks.
pub(crate) fn slow_ghash(h: [u8; 16], blocks: &[u8]) -> u128 {
    let h = u128::from_be_bytes(h);
    blocks.chunks(16).fold(0, |sum, block| {
        let x = sum ^ u128::from_be_bytes(block.try_into().unwrap());
        let (mut product, mut power) = (0, h);
        for bit in (0..128).rev() {
            product ^= if x >> bit & 1 == 1 { power } else { 0 };
            power = (power >> 1) ^ if power & 1 == 1 { 0xe1 << 120 } else { 0 };
        }
        product
    })
}

/// Associated data and ciphertext as GHASH takes them: filled up with zero, and both lengths.
pub(crate) fn hashed(ad: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    for part in [ad, ciphertext] {
        blocks.extend(part);
        blocks.resize(blocks.len().next_multiple_of(16), 0);
    }
    blocks.extend((ad.len() as u64 * 8).to_be_bytes());
    blocks.extend((ciphertext.len() as u64 * 8).to_be_bytes());
    blocks
}

/// GCM sealing as SP 800-38D, 7.1, says it, a block at a time: ciphertext and 16 bytes of tag.
pub(crate) fn slow_gcm(
    cipher: &dyn Fn([u8; 16]) -> [u8; 16],
    h: [u8; 16],
    nonce: &[u8],
    ad: &[u8],
    text: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let first = match nonce.len() {
        12 => u128::from_be_bytes([nonce, &[0, 0, 0, 1]].concat().try_into().unwrap()),
        _ => slow_ghash(h, &hashed(&[], nonce)),
    };
    let counted = |i: u32| cipher((first >> 32 << 32 | u128::from((first as u32).wrapping_add(i))).to_be_bytes());
    let mut ciphertext = Vec::new();
    for (i, chunk) in text.chunks(16).enumerate() {
        ciphertext.extend(chunk.iter().zip(counted(i as u32 + 1)).map(|(x, pad)| x ^ pad));
    }
    let tag = slow_ghash(h, &hashed(ad, &ciphertext)) ^ u128::from_be_bytes(counted(0));
    (ciphertext, tag.to_be_bytes().to_vec())
}

/// The nonce of 16 bytes whose counter starts at `first`: GHASH of one block and a length can be solved for the block.
pub(crate) fn nonce_for(h: [u8; 16], first: u128) -> [u8; 16] {
    let times = |x: u128, y: u128| slow_ghash(y.to_be_bytes(), &x.to_be_bytes());
    // In a field of 2^128 elements, h^(2^128 - 2) is the inverse of h: all bits of the exponent are set but the last.
    let (mut inverse, mut square) = (1 << 127, u128::from_be_bytes(h));
    for _ in 1..128 {
        square = times(square, square);
        inverse = times(inverse, square);
    }
    let length = u128::from_be_bytes(hashed(&[], &[0; 16])[16..].try_into().unwrap());
    times(times(first, inverse) ^ length, inverse).to_be_bytes()
}
