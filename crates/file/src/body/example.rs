//! The worked example of `docs/FORMAT.md`, computed again, so that the document stays correct.

use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, chunk::SALT, hkdf_expand};

use super::Body;
use crate::{
    Content, Costs, Input, Key, KeySource, Opening, Output, Preamble, Sealing, Shared, key::argon2id, secret::Secret,
    slots::PASSPHRASE_SALT,
};

const PAGE: &str = include_str!("../../FORMAT.md");

/// Bytes in rows of 16, as the document prints them.
fn rows(bytes: &[u8]) -> String {
    let row = |row: &[u8]| row.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    let rows = bytes.chunks(16).enumerate().map(|(i, bytes)| format!("{:04x}  {}\n", 16 * i, row(bytes)));
    rows.collect()
}

/// The example, built from its parts: key 00..1f, salt 40..57, text "A tiny sealed file.\n", ad "greeting".
fn seal_example(preamble: &Preamble, key: &Key, input_key: &Secret) -> Vec<u8> {
    let salt: [u8; SALT] = std::array::from_fn(|i| 0x40 + i as u8);
    let mut sealed = Shared::default();
    let sealing = Sealing::new(key).suite(preamble.suite).ad(b"greeting");
    let mut header = preamble.to_bytes();
    let context: [&[u8]; 2] = [&header, b"greeting"];
    let (cipher, begin) =
        ChunkCipher::create_with_salt(preamble.suite, Isa::best(), input_key, &salt, &context).unwrap();
    let body = Body::new(cipher, &begin, header.len() as u64);
    header.extend(begin);
    let text = Input::bytes(b"A tiny sealed file.\n", "text");
    sealing.seal_body(&body, &header, text, Output::writer(sealed.clone(), "memory")).unwrap();
    sealed.take()
}

/// The output of HKDF-Expand for the example, before it is split into key, base nonce and commitment.
fn derived(preamble: &Preamble, input_key: &[u8], len: usize) -> Vec<u8> {
    let salt: [u8; SALT] = std::array::from_fn(|i| 0x40 + i as u8);
    let name = preamble.suite.aead_name().as_bytes();
    let mut out = vec![0; len];
    let label = b"c2sp.org/chunked-encryption@v1+";
    hkdf_expand(input_key, &[label, name, &[0], &salt, &preamble.to_bytes(), b"greeting"], &mut out);
    out
}

fn assert_on_page(bytes: &[u8]) {
    let rows = rows(bytes);
    assert!(PAGE.contains(&rows), "docs/FORMAT.md does not print\n{rows}");
}

#[test]
fn raw_key() {
    let bytes: Vec<u8> = (0..32).collect();
    let preamble = Preamble { suite: Suite::Aes256Gcm, layout: Content::Bytes.into(), source: KeySource::Raw };
    assert_on_page(&derived(&preamble, &bytes, 32 + 12 + 32));
    raw_key_with(Suite::Aes256Gcm);
    raw_key_with(Suite::Serpent256Ocb);
}

/// The example under a raw key is in the document, and opens.
fn raw_key_with(suite: Suite) {
    let bytes: Vec<u8> = (0..32).collect();
    let key = Key::raw(bytes.clone());
    let preamble = Preamble { suite, layout: Content::Bytes.into(), source: KeySource::Raw };
    let sealed = seal_example(&preamble, &key, &Secret::new(bytes));
    assert_on_page(&sealed);
    let mut text = Shared::default();
    let opening = Opening::new(&key).ad(b"greeting");
    opening.open(Input::bytes(sealed, "example"), Output::writer(text.clone(), "memory")).unwrap();
    assert_eq!(text.take(), b"A tiny sealed file.\n");
}

#[test]
fn passphrase() {
    let salt: [u8; PASSPHRASE_SALT] = std::array::from_fn(|i| 0x60 + i as u8);
    let costs = Costs { memory_kib: 64, passes: 3, lanes: 4 };
    let key = Key::passphrase("correct horse").unwrap();
    let preamble = Preamble {
        suite: Suite::Aes128Gcm,
        layout: Content::Bytes.into(),
        source: KeySource::Passphrase { costs, salt },
    };
    let input_key = argon2id(costs, b"correct horse", &salt, 16).unwrap();
    assert_on_page(&input_key);
    let sealed = seal_example(&preamble, &key, &input_key);
    assert_on_page(&sealed);
    let mut text = Shared::default();
    let opening = Opening::new(&key).ad(b"greeting");
    opening.open(Input::bytes(sealed, "example"), Output::writer(text.clone(), "memory")).unwrap();
    assert_eq!(text.take(), b"A tiny sealed file.\n");
}
