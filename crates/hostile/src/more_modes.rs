//! Compares modes that are not suites with other implementations: raw modes, other lengths of tags and nonces, AES-192,
//! CBC-HMAC, AES-GCM-SIV, XAES.

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt,
    consts::{U1, U6, U8, U12, U13, U15, U16, U32},
};
use aes_gcm::{
    AeadInOut, Aes256Gcm, AesGcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use hmac::{Hmac, Mac};
use ocb3::Ocb3;
use sealwright::{
    Aead, Block, Isa,
    mode::{cbc_hmac, cbc_many::Chain, gcm, gcm_siv, ocb, xaes::Xaes256Gcm},
    raw::{self, Raw},
};
use sha2::Sha256;

/// The parameters in an input. Keys, nonces and texts are the rest of its bytes.
struct Case {
    /// The levels that seal and open.
    one: Isa,
    other: Isa,
    tag: u8,
    nonce_len: u8,
    cut: u8,
    /// What is XORed into which byte of ciphertext and tag.
    fault: (u8, u8),
    key: [u8; 64],
    nonce: [u8; 32],
    ad: Vec<u8>,
    text: Vec<u8>,
}

/// The next bytes of an input; zeros after its end.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (now, rest) = bytes.split_at(bytes.len().min(N));
    *bytes = rest;
    let mut taken = [0; N];
    taken[..now.len()].copy_from_slice(now);
    taken
}

impl Case {
    /// Bytes of the key, of those that AES takes, or Serpent.
    fn key(&self, choice: u8) -> &[u8] {
        &self.key[..[16, 24, 32][usize::from(choice) % 3]]
    }

    /// Whole blocks of the text.
    fn blocks(&self) -> Vec<u8> {
        self.text[..self.text.len() / 16 * 16].to_vec()
    }
}

/// One of RustCrypto's block ciphers under a key.
pub(crate) struct Cipher {
    pub(crate) encrypt: Box<dyn Fn(Block) -> Block>,
    pub(crate) decrypt: Box<dyn Fn(Block) -> Block>,
}

impl Cipher {
    fn of<C>(key: &[u8]) -> Cipher
    where
        C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + KeyInit + Clone + 'static,
    {
        let cipher = C::new_from_slice(key).unwrap();
        let inverse = cipher.clone();
        let encrypt = Box::new(move |block: Block| {
            let mut block = Array::from(block);
            cipher.encrypt_block(&mut block);
            block.into()
        });
        let decrypt = Box::new(move |block: Block| {
            let mut block = Array::from(block);
            inverse.decrypt_block(&mut block);
            block.into()
        });
        Cipher { encrypt, decrypt }
    }

    pub(crate) fn new(serpent: bool, key: &[u8]) -> Cipher {
        match (serpent, key.len()) {
            (true, _) => Cipher::of::<serpent::Serpent>(key),
            (false, 16) => Cipher::of::<aes::Aes128>(key),
            (false, 24) => Cipher::of::<aes::Aes192>(key),
            (false, _) => Cipher::of::<aes::Aes256>(key),
        }
    }

    pub(crate) fn chain(&self, iv: &Block, text: &[u8]) -> Vec<u8> {
        let mut before = *iv;
        let blocks = text.as_chunks::<16>().0.iter().flat_map(|block| {
            before = (self.encrypt)(xor(before, *block));
            before
        });
        blocks.collect()
    }

    pub(crate) fn counted(&self, counter: &Block, text: &[u8]) -> Vec<u8> {
        let first = u128::from_be_bytes(*counter);
        let pads = (0..).flat_map(|at: u128| (self.encrypt)(first.wrapping_add(at).to_be_bytes()));
        text.iter().zip(pads).map(|(byte, pad)| byte ^ pad).collect()
    }
}

fn xor(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// ECB, CBC and CTR, whole and in parts, one text and several side by side.
fn raw_modes(case: &Case, serpent: bool) {
    let key = case.key(case.tag);
    let make = |isa| if serpent { raw::serpent(isa, key) } else { raw::aes(isa, key) }.unwrap();
    let (one, other): (Box<dyn Raw>, Box<dyn Raw>) = (make(case.one), make(case.other));
    let cipher = Cipher::new(serpent, key);
    let iv: Block = *case.nonce.first_chunk().unwrap();
    let (text, blocks) = (&case.text, case.blocks());
    let what = format!("{} at {} and {}", if serpent { "Serpent" } else { "AES" }, case.one, case.other);
    let of_each = |each: &dyn Fn(Block) -> Block| -> Vec<u8> {
        blocks.as_chunks::<16>().0.iter().flat_map(|block| each(*block)).collect()
    };

    let mut out = blocks.clone();
    one.ecb_encrypt(&mut out);
    assert_eq!(out, of_each(&cipher.encrypt), "ECB of {what}");
    other.ecb_decrypt(&mut out);
    assert_eq!(out, blocks, "ECB of {what}");
    other.ecb_decrypt(&mut out);
    assert_eq!(out, of_each(&cipher.decrypt), "ECB of {what}");

    let chained = cipher.chain(&iv, &blocks);
    let mut out = blocks.clone();
    one.cbc_encrypt(&iv, &mut out);
    assert_eq!(out, chained, "CBC of {what}");
    other.cbc_decrypt(&iv, &mut out);
    assert_eq!(out, blocks, "CBC of {what}");
    // Chains of several lengths side by side, each with its IV
    let len = 16 * (1 + usize::from(case.cut) % 9);
    let ivs = (0..).map(|at: u128| u128::from_be_bytes(iv).wrapping_mul(at + 1).to_be_bytes());
    let expected: Vec<u8> =
        blocks.chunks(len).zip(ivs.clone()).flat_map(|(text, iv)| cipher.chain(&iv, text)).collect();
    let mut chains: Vec<_> = out.chunks_mut(len).zip(ivs).map(|(text, iv)| Chain { iv, text }).collect();
    other.cbc_encrypt_many(&mut chains);
    assert_eq!(out, expected, "CBC of {what}, chains of {len} bytes");

    let counted = cipher.counted(&iv, text);
    let mut out = text.clone();
    one.ctr(&iv, &mut out);
    assert_eq!(out, counted, "CTR of {what}");
    let (first, second) = out.split_at_mut(text.len().min(usize::from(case.cut) * 16));
    let mut counter = iv;
    other.ctr(&counter, first);
    raw::advance(&mut counter, (first.len() / 16) as u64);
    other.ctr(&counter, second);
    assert_eq!(&out, text, "CTR of {what}, in parts");
}

/// Ciphertext and tag are `theirs`; the other level opens them, in pieces and from one buffer to another, and refuses a
/// fault.
fn agree(case: &Case, aeads: [Box<dyn Aead>; 2], nonce: &[u8], text: &[u8], theirs: &[u8], what: &str) {
    let [sealing, opening] = aeads;
    let (one, other, ad) = (case.one, case.other, &case.ad[..]);
    let mut sealed = text.to_vec();
    sealing.seal_vec(nonce, ad, &mut sealed).unwrap();
    assert_eq!(sealed, theirs, "{what} at {one}");
    let (ciphertext, tag) = theirs.split_at(text.len());
    let mut pieces = ciphertext.to_vec();
    let (a, b) = pieces.split_at_mut(text.len().min(case.cut.into()));
    opening.open_scattered(nonce, ad, &mut [a, b], tag).unwrap();
    assert_eq!(pieces, text, "{what} at {other}, in pieces");
    let mut out = vec![0xa5; text.len()];
    opening.open_to(nonce, ad, ciphertext, tag, &mut out).unwrap();
    assert_eq!(out, text, "{what} sealed at {one}, opened at {other}");
    let (fault, at) = case.fault;
    if fault != 0 {
        let at = usize::from(at) % sealed.len();
        sealed[at] ^= fault;
        let (ciphertext, tag) = sealed.split_at_mut(text.len());
        assert!(opening.open_in_place(nonce, ad, ciphertext, tag).is_err(), "{what} at {other}: a fault");
        assert!(ciphertext.iter().all(|&byte| byte == 0), "{what} at {other}: a refused text stays");
    }
}

/// Ciphertext and tag by one of RustCrypto's types.
pub(crate) fn by<A: AeadInOut>(aead: A, nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let nonce = Array::try_from(nonce).unwrap();
    let tag = aead.encrypt_inout_detached(&nonce, ad, InOutBuf::from(out.as_mut_slice())).unwrap();
    out.extend_from_slice(&tag);
    out
}

/// RustCrypto's Serpent takes several lengths of key, its modes take but one.
pub(crate) fn cipher<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(key).unwrap()
}

/// Any length of key, of nonce and of tag. A short tag is the beginning of the whole one.
fn any_gcm(case: &Case, serpent: bool) {
    macro_rules! theirs {
        ($cipher:ty, $nonce:expr, $key:expr; $($n:literal $size:ident),*) => {
            match $nonce.len() {
                $($n => by(AesGcm::<_, $size>::from(cipher::<$cipher>($key)), $nonce, &case.ad, &case.text),)*
                n => unreachable!("no nonce of {n} bytes"),
            }
        };
        ($cipher:ty, $nonce:expr, $key:expr) => {
            theirs!($cipher, $nonce, $key; 1 U1, 8 U8, 12 U12, 13 U13, 16 U16, 32 U32)
        };
    }
    let key = if serpent { &case.key[..32] } else { case.key(case.tag) };
    let nonce = &case.nonce[..[12, 1, 8, 13, 16, 32][usize::from(case.nonce_len) % 6]];
    let mut theirs = match (serpent, key.len()) {
        (true, _) => theirs!(serpent::Serpent, nonce, key),
        (false, 16) => theirs!(aes::Aes128, nonce, key),
        (false, 24) => theirs!(aes::Aes192, nonce, key),
        (false, _) => theirs!(aes::Aes256, nonce, key),
    };
    use gcm::{ShortTagLen as Short, TagLen::*};
    let (tags, short) = ([T16, T15, T14, T13, T12], [Short::T8, Short::T4]);
    let choice = usize::from(case.tag / 3) % (tags.len() + short.len());
    let aeads = [case.one, case.other].map(|isa| match (serpent, tags.get(choice)) {
        (true, tag) => gcm::serpent_by_key(isa, key, tag.copied().unwrap_or_default()).unwrap(),
        (false, Some(&tag)) => gcm::by_key(isa, key, tag).unwrap(),
        (false, None) => gcm::short_tag_by_key(isa, key, short[choice - tags.len()]).unwrap(),
    });
    theirs.truncate(case.text.len() + aeads[0].tag_len());
    let what = format!("GCM, key of {}, nonce of {}, tag of {}", key.len(), nonce.len(), aeads[0].tag_len());
    agree(case, aeads, nonce, &case.text, &theirs, &what);
}

/// The length of a tag is part of what OCB makes a nonce of.
fn any_ocb(case: &Case, serpent: bool) {
    macro_rules! theirs {
        ($cipher:ty, $key:expr; $($at:literal $nonce:ident $tag:ident $n:literal $len:ident),*) => {
            match usize::from(case.nonce_len) % 6 {
                $($at => {
                    let nonce = &case.nonce[..$n];
                    let aead = Ocb3::<_, $nonce, $tag>::from(cipher::<$cipher>($key));
                    (nonce, ocb::TagLen::$len, by(aead, nonce, &case.ad, &case.text))
                })*
                _ => unreachable!(),
            }
        };
        ($cipher:ty, $key:expr) => {
            theirs!($cipher, $key; 0 U12 U16 12 T16, 1 U6 U16 6 T16, 2 U15 U16 15 T16,
                3 U12 U12 12 T12, 4 U12 U8 12 T8, 5 U8 U12 8 T12)
        };
    }
    let key = if serpent { &case.key[..32] } else { case.key(case.tag) };
    let (nonce, tag, theirs) = match (serpent, key.len()) {
        (true, _) => theirs!(serpent::Serpent, key),
        (false, 16) => theirs!(aes::Aes128, key),
        (false, 24) => theirs!(aes::Aes192, key),
        (false, _) => theirs!(aes::Aes256, key),
    };
    let by_key = if serpent { ocb::serpent_by_key } else { ocb::by_key };
    let aeads = [case.one, case.other].map(|isa| by_key(isa, key, tag).unwrap());
    let what = format!("OCB, key of {}, nonce of {}, tag of {}", key.len(), nonce.len(), tag as usize);
    agree(case, aeads, nonce, &case.text, &theirs, &what);
}

fn siv(case: &Case) {
    let key = if case.tag & 1 == 0 { &case.key[..16] } else { &case.key[..32] };
    let nonce = &case.nonce[..12];
    let theirs = match key.len() {
        16 => by(Aes128GcmSiv::new_from_slice(key).unwrap(), nonce, &case.ad, &case.text),
        _ => by(Aes256GcmSiv::new_from_slice(key).unwrap(), nonce, &case.ad, &case.text),
    };
    let aeads = [case.one, case.other].map(|isa| gcm_siv::by_key(isa, key).unwrap());
    agree(case, aeads, nonce, &case.text, &theirs, "GCM-SIV");
}

/// Written from the specification, with RustCrypto's AES and AES-GCM.
fn xaes(case: &Case) {
    let (key, nonce) = (&case.key[..32], &case.nonce[..24]);
    let cipher = Cipher::new(false, key);
    let l = u128::from_be_bytes((cipher.encrypt)([0; 16]));
    let subkey = l << 1 ^ if l >> 127 == 1 { 0x87 } else { 0 };
    let derived = [1, 2].map(|number| {
        let mut message = [0, number, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        message[4..].copy_from_slice(&nonce[..12]);
        (cipher.encrypt)(xor(message, subkey.to_be_bytes()))
    });
    let theirs = by(Aes256Gcm::new_from_slice(&derived.concat()).unwrap(), &nonce[12..], &case.ad, &case.text);
    let aeads =
        [case.one, case.other].map(|isa| Box::new(Xaes256Gcm::new(isa, key.try_into().unwrap())) as Box<dyn Aead>);
    agree(case, aeads, nonce, &case.text, &theirs, "XAES");
}

/// Written from RFC 7518, 5.2.2.1, with RustCrypto's AES and HMAC.
fn chained_and_hashed(case: &Case) {
    let key = if case.tag & 1 == 0 { &case.key[..32] } else { &case.key[..64] };
    let iv: Block = *case.nonce.first_chunk().unwrap();
    let (mac_key, cipher_key) = key.split_at(key.len() / 2);
    let blocks = case.blocks();
    let mut theirs = Cipher::new(false, cipher_key).chain(&iv, &blocks);
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(mac_key).unwrap();
    for part in [&case.ad[..], &iv, &theirs, &(8 * case.ad.len() as u64).to_be_bytes()] {
        mac.update(part);
    }
    let aeads = [case.one, case.other].map(|isa| cbc_hmac::by_key(isa, key).unwrap());
    theirs.extend_from_slice(&mac.finalize().into_bytes()[..aeads[0].tag_len()]);
    agree(case, aeads, &iv, &blocks, &theirs, "CBC-HMAC");
}

/// The input selects a mode, its lengths, two levels, a way to split the text and a fault, and contains key, nonce,
/// associated data and text. All other implementations of the mode agree, and so do both levels.
pub(crate) fn more_modes(bytes: &[u8]) {
    let Some((&[mode, levels, tag, nonce_len, cut, fault, fault_at], mut rest)) = bytes.split_first_chunk() else {
        return;
    };
    let all = Isa::available();
    let [one, other] = [levels & 15, levels >> 4].map(|level| all[usize::from(level) % all.len()]);
    let ad_len = usize::from(u16::from_be_bytes(take(&mut rest)));
    let (key, nonce) = (take(&mut rest), take(&mut rest));
    let (ad, text) = rest.split_at(rest.len().min(ad_len));
    let (ad, text) = (ad.to_vec(), text.to_vec());
    let case = Case { one, other, tag, nonce_len, cut, fault: (fault, fault_at), key, nonce, ad, text };
    match mode % 9 {
        0 => raw_modes(&case, false),
        1 => raw_modes(&case, true),
        2 => any_gcm(&case, false),
        3 => any_gcm(&case, true),
        4 => any_ocb(&case, false),
        5 => any_ocb(&case, true),
        6 => siv(&case),
        7 => xaes(&case),
        _ => chained_and_hashed(&case),
    }
}
