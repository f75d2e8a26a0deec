//! ECB, CBC and CTR of AES at every level, against SP 800-38A written down over RustCrypto's block cipher; PKCS#7.
#![allow(clippy::unwrap_used)]

mod support;

use sealwright::{
    Isa,
    raw::{self, Chain, advance, pkcs7_pad, pkcs7_unpad},
};
use support::{aes_block, bytes};

fn xor(x: &[u8], y: &[u8]) -> [u8; 16] {
    core::array::from_fn(|i| x[i] ^ y[i])
}

#[test]
fn ecb_and_cbc_of_every_number_of_blocks() {
    for key in [bytes(16, 1), bytes(24, 2), bytes(32, 3)] {
        let slow = aes_block(&key);
        let (text, iv) = (bytes(16 * 70, 4), bytes(16, 5));
        let (mut ecb, mut cbc, mut before) = (Vec::new(), Vec::new(), iv.clone());
        for block in text.chunks(16) {
            ecb.extend(slow(block.try_into().unwrap()));
            before = slow(xor(block, &before)).to_vec();
            cbc.extend(&before);
        }
        let iv = iv[..].try_into().unwrap();
        for isa in Isa::available() {
            let aes = raw::aes(isa, &key).unwrap();
            assert_eq!(format!("{aes:?}"), format!("Cipher {{ isa: {isa:?}, .. }}"));
            for blocks in 0..=70 {
                let what = format!("{isa}, {} bytes of key, {blocks} blocks", key.len());
                // Off every boundary of registers.
                let mut buffer = vec![0xa5; 16 * blocks + 8];
                let place = 3..3 + 16 * blocks;
                let mut turn = |from: &[u8], run: &dyn Fn(&mut [u8]), to: &[u8], how: &str| {
                    buffer[place.clone()].copy_from_slice(&from[..16 * blocks]);
                    run(&mut buffer[place.clone()]);
                    assert!(buffer[place.clone()] == to[..16 * blocks], "{what}: {how}");
                    assert!(buffer[..3] == [0xa5; 3] && buffer[place.end..] == [0xa5; 5], "{what}: {how}, outside");
                };
                turn(&text, &|text| aes.ecb_encrypt(text), &ecb, "ECB encryption");
                turn(&ecb, &|text| aes.ecb_decrypt(text), &text, "ECB decryption");
                turn(&text, &|text| aes.cbc_encrypt(iv, text), &cbc, "CBC encryption");
                turn(&cbc, &|text| aes.cbc_decrypt(iv, text), &text, "CBC decryption");
            }
        }
    }
}

#[test]
fn cbc_goes_on_from_its_last_block() {
    for isa in Isa::available() {
        let aes = raw::aes(isa, &[3; 16]).unwrap();
        let (text, iv) = (bytes(16 * 40, 4), [9; 16]);
        let mut whole = text.clone();
        aes.cbc_encrypt(&iv, &mut whole);
        for cut in [16, 160, 512] {
            let (mut start, mut end) = (text[..cut].to_vec(), text[cut..].to_vec());
            aes.cbc_encrypt(&iv, &mut start);
            let last = start.last_chunk().unwrap();
            aes.cbc_encrypt(last, &mut end);
            assert_eq!([start.clone(), end.clone()].concat(), whole, "{isa}: cut at {cut}");
            aes.cbc_decrypt(last, &mut end);
            assert_eq!(end, text[cut..], "{isa}: cut at {cut}, back");
        }
    }
}

#[test]
fn many_cbc_chains_are_each_as_one_alone() {
    for isa in Isa::available() {
        let aes = raw::aes(isa, &[3; 32]).unwrap();
        for count in [0, 1, 2, 7, 8, 15, 16, 17, 40] {
            // Lengths that end at different times, and some that are nothing.
            let texts: Vec<_> = (0..count).map(|i| bytes(16 * (i * 23 % 71), i as u64)).collect();
            let mut many = texts.clone();
            let ivs: Vec<[u8; 16]> = (0..count).map(|i| [i as u8; 16]).collect();
            let mut chains: Vec<_> = many.iter_mut().zip(&ivs).map(|(text, iv)| Chain { iv: *iv, text }).collect();
            aes.cbc_encrypt_many(&mut chains);
            for (i, ((mut alone, iv), together)) in texts.into_iter().zip(ivs).zip(many).enumerate() {
                aes.cbc_encrypt(&iv, &mut alone);
                assert!(alone == together, "{isa}: chain {i} of {count}");
            }
        }
    }
}

/// Texts in the same lines of a cache are read and written four blocks at a time, where registers are wide. Nothing
/// between them is touched.
#[test]
fn cbc_chains_that_share_lines_of_the_cache_are_each_as_one_alone() {
    const APART: usize = 4096;
    for isa in Isa::available() {
        for cipher in [raw::aes(isa, &[3; 16]).unwrap(), raw::serpent(isa, &[3; 32]).unwrap()] {
            // As many as are needed, fewer, and more than go at once; some of lengths that leave blocks behind sixteen
            // and behind four.
            for (count, blocks) in [(9, 1), (16, 3), (16, 94), (19, 37), (8, 50), (17, 256)] {
                let space = bytes(APART * count, 5);
                let len = |i: usize| 16 * (blocks - i * 3 % blocks.min(7));
                let mut many = space.clone();
                let texts = many.chunks_mut(APART).enumerate().map(|(i, text)| &mut text[..len(i)]);
                let mut chains: Vec<_> = texts.zip(0..).map(|(text, i)| Chain { iv: [i; 16], text }).collect();
                cipher.cbc_encrypt_many(&mut chains);
                let mut wanted = space;
                for (i, text) in wanted.chunks_mut(APART).enumerate() {
                    cipher.cbc_encrypt(&[i as u8; 16], &mut text[..len(i)]);
                }
                assert!(many == wanted, "{isa}: {count} of {blocks}");
            }
        }
    }
}

#[test]
fn ctr_of_every_length_and_over_every_carry() {
    let key = bytes(32, 3);
    let slow = aes_block(&key);
    // Starts that carry out of 8, 32, 64 and 128 bits within a few blocks, and out of 8 bits in the middle of later
    // registers.
    let starts = [0, 0xfe, 0x1f6, 0x1d8, u128::from(u32::MAX) - 5, u128::from(u64::MAX) - 66, u128::MAX - 3, u128::MAX];
    for isa in Isa::available() {
        let aes = raw::aes(isa, &key).unwrap();
        for start in starts {
            let pad: Vec<u8> = (0..70).flat_map(|i| slow(start.wrapping_add(i).to_be_bytes())).collect();
            for n in 0..=pad.len() {
                let mut text = bytes(n, n as u64);
                let theirs: Vec<u8> = text.iter().zip(&pad).map(|(x, pad)| x ^ pad).collect();
                aes.ctr(&start.to_be_bytes(), &mut text);
                assert!(text == theirs, "{isa}: {n} bytes from {start:x}");
            }
            let mut counter = start.to_be_bytes();
            advance(&mut counter, 40);
            let mut rest = vec![0; 16 * 30];
            aes.ctr(&counter, &mut rest);
            assert!(rest == pad[16 * 40..], "{isa}: going on from {start:x}");
        }
    }
    let mut counter = u128::MAX.to_be_bytes();
    advance(&mut counter, u64::MAX);
    assert_eq!(counter, u128::from(u64::MAX - 1).to_be_bytes());
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for len in (0..=64).filter(|len| ![16, 24, 32].contains(len)) {
        assert_eq!(raw::aes(Isa::best(), &vec![1; len]).map(|_| ()).unwrap_err().given(), len);
    }
}

#[test]
fn padding_comes_off_as_it_went_on() {
    for n in 0..70 {
        let mut text = bytes(n, 1);
        pkcs7_pad(&mut text);
        assert!(text.len() > n && text.len() <= n + 16 && text.len().is_multiple_of(16));
        assert_eq!(pkcs7_unpad(&text), Ok(n));
    }
}

/// Every last byte, and every byte of the padding wrong.
#[test]
fn only_pkcs7_is_padding() {
    for last in 0..=u8::MAX {
        let text: Vec<u8> = [[7; 16], [last; 16]].concat();
        let wanted = (1..=16).contains(&last).then(|| 32 - usize::from(last));
        assert_eq!(pkcs7_unpad(&text).ok(), wanted, "last byte {last}");
        for wrong in 0..15 {
            let mut text = text.clone();
            text[16 + wrong] ^= 0x80;
            let hit = wanted.is_some_and(|len| 16 + wrong >= len);
            assert_eq!(pkcs7_unpad(&text).ok(), wanted.filter(|_| !hit), "last byte {last}, byte {wrong} changed");
        }
    }
    for n in [0, 1, 15, 17, 31] {
        assert!(pkcs7_unpad(&vec![1; n]).is_err(), "{n} bytes");
    }
    assert_eq!(pkcs7_unpad(&[]).unwrap_err().to_string(), "bad padding");
}
