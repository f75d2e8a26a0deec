//! Files that are not vectors, or malformed: the result is an error that names the place, never a panic, never a pass.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::{fs, io::Write, path::Path};

use sealwright_vectors::check_file;
use support::{check_bytes, counts, every_level, with};

#[test]
fn errors_name_the_place() {
    let good = with("comment", r#""x""#);
    for (text, place) in [
        (format!("{good}\n\n{{"), "line 3: not a JSON object"),
        (format!("{good}\n[]"), "line 2: not a JSON object"),
        (format!("{good}\n{good}{good}"), "line 2: not a JSON object"),
        (format!("{good}\n{{}}"), "line 2: no alg"),
        (format!("{good}\n{}", with("ct", r#""0""#)), "line 2: ct"),
        (format!("{good}\n{}", with("ct", r#""zz""#)), "line 2: ct"),
        (format!("{good}\n{}", with("ct", r#""0é""#)), "line 2: ct"),
        (format!("{good}\n{}", with("ct", "7")), "line 2: ct"),
        (format!("{good}\n{}", with("ct", "null")), "line 2: no ct"),
        (format!("{good}\n{}", with("msg", "null")), "line 2: no msg"),
        (format!("{good}\n{}", with("key", "null")), "line 2: no key"),
        (format!("{good}\n{}", with("tag", "null")), "line 2: no tag"),
        (format!("{good}\n{}", with("nonce", "null")), "line 2: no nonce"),
        (format!("{good}\n{}", with("result", r#""good""#)), "line 2: result"),
        (format!("{good}\n{}", with("result", "null")), "line 2: no result"),
        (format!("{good}\n{}", with("taglen", "-8")), "line 2: taglen"),
        (format!("{good}\n{}", with("taglen", r#""128""#)), "line 2: taglen"),
        (format!("{good}\n{}", with("taglen", "1e3")), "line 2: taglen"),
        ("{\"algorithm\":\"AES-GCM\",\n\"testGroups\":[{}]}".into(), "group 1: no tests"),
        ("{\"algorithm\":\"AES-GCM\",\n\"testGroups\":[{\"tests\":[3]}]}".into(), "group 1: a test is not an object"),
        ("{\"algorithm\":\"AES-GCM\",\n\"testGroups\":[{\"tests\":[{\"tcId\":9}]}]}".into(), "tcId 9: no result"),
        ("{\"algorithm\":\"AES-GCM\",\n\"testGroups\":[{\"tests\":[}]}".into(), "line 2"),
        ("{\n\"algorithm\":\"AES-GCM\"}".into(), "no testGroups"),
        ("{\"testGroups\":[],\n\"testGroups\":[]}".into(), "line 2: \"testGroups\" stands twice in one object"),
        ("{\"testGroups\":[{\"tests\":[{\"a\":1,\n\"a\":1}]}]}".into(), "line 2: \"a\" stands twice"),
        (format!("{good}\n{}", good.replacen('{', "{\"key\":\"00\",", 1)), "line 2: \"key\" stands twice"),
        (format!("{}\n{good}", good.replacen('{', "{\"key\":\"00\",", 1)), "line 1: \"key\" stands twice"),
        (format!("{good}\n{}", with("iv", r#""000000000000000000000000""#)), "line 2: nonce and iv are two names"),
        (format!("{good}\n{}", with("iv", r#""00""#)), "line 2: nonce and iv are two names"),
        ("{\"numberOfTests\":1,\n\"testGroups\":[{\"tests\":[]}]}".into(), "numberOfTests is 1, but there are 0 tests"),
        ("{\"numberOfTests\":\"0\",\n\"testGroups\":[]}".into(), "numberOfTests is \"0\", but there are 0 tests"),
        (format!("{good}\n{{\"a\":[{}0]}}", "{\"\":0},".repeat(200_000)), "line 2: it has more small values than"),
        (
            format!("{{\"testGroups\":[\n{}0]}}", "[{\"a\":[]}],".repeat(200_000)),
            "line 2: it has more small values than",
        ),
        ("nonsense".into(), "line 1"),
        ("[".repeat(100_000), "line 1"),
        (String::new(), "line 1"),
        ("\n\n  \n".into(), "line"),
    ] {
        let error = check_bytes(&text).unwrap_err().to_string();
        assert!(error.contains(place), "{:?}: {error}", &text[..text.len().min(200)]);
    }
}

#[test]
fn a_nonce_may_be_called_iv() {
    let iv = with("iv", r#""000000000000000000000000""#);
    for nonce in ["\"nonce\":null", "\"other\":1"] {
        let line = iv.replace("\"nonce\":\"000000000000000000000000\"", nonce);
        assert!(line != iv && line.contains(nonce), "{line}");
        assert_eq!(counts(&check_bytes(line).unwrap()), (1, 0, 0), "{nonce}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let good = with("comment", r#""x""#).into_bytes();
    for (bytes, place) in [
        ([&good[..], b"\n\xff\xfe{}"].concat(), "line 2: not UTF-8"),
        (vec![0; 10_000], "line 1"),
        (vec![0xff; 10_000], ""),
        ([b"{\n".as_slice(), &[0xff]].concat(), ""),
    ] {
        let error = check_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
    assert!(check_file(Path::new("/no/such/file"), &every_level(), &mut |_| {}).is_err());
    assert!(check_file(&std::env::temp_dir(), &every_level(), &mut |_| {}).is_err(), "a directory");
}

/// Failures before the malformed case are reported.
#[test]
fn failures_come_as_they_are_found() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{}\n{{", with("tag", r#""00""#))).unwrap();
    let mut seen = 0;
    check_file(file.path(), &every_level(), &mut |_| seen += 1).unwrap_err();
    assert_eq!(seen, 1);
}

#[test]
fn lines_may_be_blank_or_long() {
    let good = with("comment", r#""x""#);
    let long = with("comment", &format!("{:?}", "x".repeat(3 << 20)));
    for text in [format!("\n \n{good}\n\n"), format!("{good}\r\n"), long.clone(), format!("{long}\n\n")] {
        assert_eq!(counts(&check_bytes(&text).unwrap()), (1, 0, 0), "{:?}", &text[..20]);
    }
    assert_eq!(counts(&check_bytes(format!("{long}\n{good}\n{long}")).unwrap()), (3, 0, 0));
}

#[test]
fn lines_without_end_take_no_memory_without_end() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", with("comment", r#""x""#)).unwrap();
    // A sparse file, which takes no space on disk.
    file.as_file().set_len(8 << 30).unwrap();
    let error = check_file(file.path(), &every_level(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("line 2: the line is longer than 8 MiB"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(8 << 30).unwrap();
    let error = check_file(file.path(), &every_level(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("at most 64 MiB"), "{error}");
}

/// Names from a file are shortened, and a million different names do not get a count each.
#[test]
fn reasons_are_few() {
    let lines: String = (0..500).map(|i| with("alg", &format!("\"{i}{}\"", "x".repeat(100))) + "\n").collect();
    let report = check_bytes(lines).unwrap();
    assert_eq!(counts(&report), (0, 0, 500));
    assert!(report.reasons.len() <= 101, "{}", report.reasons.len());
    assert!(report.reasons.keys().all(|reason| reason.len() < 60));
    assert_eq!(report.reasons.values().sum::<usize>(), 500);
}

/// A pipe cannot be rewound.
#[cfg(unix)]
#[test]
fn pipes_are_read() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(with("comment", r#""x""#).as_bytes()).unwrap();
    drop(writer);
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    if Path::new(&path).exists() {
        assert_eq!(counts(&check_file(Path::new(&path), &every_level(), &mut |_| {}).unwrap()), (1, 0, 0));
    }
}
