//! Tests the runner: it must report every change to a vector. A runner that never fails would be worthless.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::collections::HashSet;

use sealwright::Isa;
use sealwright_vectors::Options;
use serde_json::Value;
use support::{check, check_bytes, counts, every_level, ours, tests, with, wycheproofs};

/// Fields whose bytes determine a result.
const BYTES: &[&str] =
    &["key", "iv", "nonce", "aad", "msg", "ct", "tag", "entropy", "pers", "out", "k1", "k2", "seed", "ct_sha256"];

/// The best level only, because the runner is under test, not the levels.
fn best() -> Options {
    Options::at(vec![Isa::best()])
}

/// The value of a hexadecimal field with one bit of the first byte flipped, unless it is empty.
fn flip(value: &Value) -> Option<Value> {
    let digits = value.as_str().filter(|digits| digits.len() >= 2)?;
    let byte = u8::from_str_radix(&digits[..2], 16).ok()?;
    Some(format!("{:02x}{}", byte ^ 0x20, &digits[2..]).into())
}

/// A test's number as in failures.
fn place(test: &Value) -> String {
    format!("tcId {}", test["tcId"])
}

/// Applies `change` to the valid tests of `text`; returns the document and the tests that were changed.
fn changed(text: &str, change: impl Fn(&mut Value) -> bool) -> (String, HashSet<String>) {
    let mut document: Value = serde_json::from_str(text).unwrap();
    let valid = tests(&mut document).filter(|test| test["result"] == "valid");
    let places = valid.filter_map(|test| change(test).then(|| place(test))).collect();
    (document.to_string(), places)
}

#[test]
fn a_bit_of_any_field_is_noticed() {
    for (name, text) in ours().into_iter().chain(wycheproofs()) {
        let mut noticed = HashSet::new();
        for &field in BYTES {
            let (text, places) = changed(&text, |test| match test.get(field).and_then(flip) {
                Some(flipped) => {
                    test[field] = flipped;
                    true
                }
                None => false,
            });
            let (_, failures) = check(&name, &text, &best());
            let failed: HashSet<String> = failures.into_iter().map(|failure| failure.place).collect();
            assert_eq!(failed, places, "{name}: a bit of {field}");
            noticed.extend(places.iter().map(|_| field));
        }
        assert!(noticed.len() >= 2, "{name}: only {noticed:?} were changed");
    }
}

#[test]
fn what_is_valid_cannot_pass_as_invalid() {
    for (name, text) in ours().into_iter().chain(wycheproofs()) {
        let (text, places) = changed(&text, |test| {
            test["result"] = "invalid".into();
            true
        });
        let (report, failures) = check(&name, &text, &best());
        assert!(!places.is_empty(), "{name} has no valid test");
        let failed: HashSet<String> = failures.into_iter().map(|failure| failure.place).collect();
        assert_eq!(failed, places, "{name}: {report}");
    }
}

#[test]
fn what_is_invalid_cannot_pass_as_valid() {
    for (name, text) in wycheproofs() {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let mut invalid = HashSet::new();
        for test in tests(&mut document).filter(|test| test["result"] == "invalid") {
            test["result"] = "valid".into();
            invalid.insert(place(test));
        }
        assert!(invalid.len() > 20, "{name} has only {} forgeries", invalid.len());
        let (_, failures) = check(&name, &document.to_string(), &best());
        assert_eq!(failures.into_iter().map(|failure| failure.place).collect::<HashSet<_>>(), invalid, "{name}");
    }
}

#[test]
fn each_field_of_a_line_counts() {
    for (field, value, wanted) in [
        ("comment", r#""as it is""#, (1, 0, 0)),
        ("ct", r#""0388dace60b6a392f328c2b971b2fe79""#, (0, 1, 0)),
        ("ct", r#""0388dace60b6a392f328c2b971b2fe""#, (0, 1, 0)),
        ("msg", r#""00000000000000000000000000000001""#, (0, 1, 0)),
        ("tag", r#""ab6e47d42cec13bdf53a67b21257bdde""#, (0, 1, 0)),
        ("tag", r#""ab6e47d42cec13bdf53a67b21257bd""#, (0, 1, 0)),
        ("taglen", "120", (0, 1, 0)),
        ("aad", r#""00""#, (0, 1, 0)),
        ("nonce", r#""000000000000000000000001""#, (0, 1, 0)),
        ("nonce", r#""""#, (0, 1, 0)),
        ("key", r#""00000000000000000000000000000001""#, (0, 1, 0)),
        ("key", r#""0000""#, (0, 1, 0)),
        ("result", r#""invalid""#, (0, 1, 0)),
        ("alg", r#""AES-XYZ""#, (0, 0, 1)),
        ("taglen", "24", (0, 0, 1)),
    ] {
        assert_eq!(counts(&check_bytes(with(field, value)).unwrap()), wanted, "{field} = {value}");
    }
}

/// No key has this length, so no valid case can have it.
#[cfg(feature = "chacha")]
#[test]
fn a_key_that_no_algorithm_takes_is_noticed() {
    for alg in ["CHACHA20-POLY1305", "XCHACHA20-POLY1305", "AES-GCM", "AES-GCM-SIV", "XAES-256-GCM", "AES-OCB"] {
        let mut line: Value = serde_json::from_str(&with("key", r#""00""#)).unwrap();
        line["alg"] = alg.into();
        for (result, wanted) in [("valid", (0, 1, 0)), ("invalid", (1, 0, 0)), ("acceptable", (1, 0, 0))] {
            line["result"] = result.into();
            assert_eq!(counts(&check_bytes(line.to_string()).unwrap()), wanted, "{alg}, {result}");
        }
    }
}

/// Committing suites have a single tag length.
#[test]
fn the_tag_length_of_committing_suites_counts() {
    let documents = ours();
    let (_, text) = documents.iter().find(|(name, _)| name.ends_with("committing.json")).unwrap();
    for (bits, wanted) in [(384, (1, 0, 0)), (128, (0, 0, 1)), (376, (0, 0, 1))] {
        let mut document: Value = serde_json::from_str(text).unwrap();
        let mut test = tests(&mut document).find(|test| test["result"] == "valid").unwrap().clone();
        test["taglen"] = bits.into();
        assert_eq!(counts(&check_bytes(test.to_string()).unwrap()), wanted, "{bits} bits");
        if bits != 384 {
            test["result"] = "invalid".into();
            assert_eq!(counts(&check_bytes(test.to_string()).unwrap()), (1, 0, 0), "{bits} bits are refused");
        }
    }
}

/// Correct tags of a length for which the key is not configured, and lengths that no key can have.
#[test]
fn tags_of_other_lengths_are_refused() {
    let line = |taglen: &str, digits: usize| {
        let mut line: Value = serde_json::from_str(&with("taglen", taglen)).unwrap();
        line["tag"] = "ab6e47d42cec13bdf53a67b21257bddf"[..digits].into();
        line["result"] = "invalid".into();
        line.to_string()
    };
    for digits in (0..32).step_by(2) {
        assert_eq!(counts(&check_bytes(line("128", digits)).unwrap()), (1, 0, 0), "{digits} digits of 128 bits");
    }
    for taglen in ["0", "8", "24", "88", "127", "136", "18446744073709551615"] {
        assert_eq!(counts(&check_bytes(line(taglen, 32)).unwrap()), (1, 0, 0), "taglen {taglen}");
    }
    for (taglen, digits) in [("120", 30), ("112", 28), ("104", 26), ("96", 24), ("64", 16), ("32", 8)] {
        let refused = check_bytes(line(taglen, digits)).unwrap();
        assert_eq!(counts(&refused), (0, 1, 0), "the tag of {taglen} bits is right, so nothing may say it is invalid");
    }
}

#[test]
fn a_failure_names_what_and_where_and_every_level_once() {
    let mut document: Value = serde_json::from_str(r#"{"algorithm":"AES-GCM","testGroups":[{"tests":[]}]}"#).unwrap();
    let mut test: Value = serde_json::from_str(&with("tag", r#""ab6e47d42cec13bdf53a67b21257bdde""#)).unwrap();
    test["tcId"] = 7.into();
    document["testGroups"][0]["tests"] = vec![test].into();
    let (report, failures) = check("some file", &document.to_string(), &every_level());
    assert_eq!(counts(&report), (0, 1, 0), "a case counts once");
    let line = failures[0].to_string();
    for part in ["some file", "tcId 7", "AES-GCM", "GCM specification, case 2"].into_iter() {
        assert!(line.contains(part), "{line}");
    }
    for isa in Isa::available() {
        assert_eq!(line.matches(isa.name()).count(), 1, "{line}");
    }
    assert!(!line.contains('\n'), "{line}");
}

#[test]
fn without_a_level_nothing_passes() {
    let (name, text) = &ours()[0];
    let (report, _) = check(name, text, &Options::at(vec![]));
    assert_eq!((report.passed, report.failed), (0, 0));
    assert!(report.skipped > 0, "{report}");
}
