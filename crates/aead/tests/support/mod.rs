//! What tests of several modes share.
#![allow(dead_code, reason = "each test takes what it needs")]

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
