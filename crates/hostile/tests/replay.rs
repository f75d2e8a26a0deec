//! Replays the corpora of the fuzz targets without a fuzzing engine, so that findings of fuzzing stay tested.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::Duration,
};

use sealwright_hostile::{TARGETS, planted, referees, run};
use sealwright_measure::clock::{Clock, ThreadCpu};
use sealwright_transcripts::skipped;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_input_of_every_corpus() {
    let mut wrong = Vec::new();
    let (mut inputs, mut slowest) = (0, (Duration::ZERO, String::new()));
    for target in TARGETS {
        let folder = fuzz().join("corpus").join(target.name);
        let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no corpus", target.name);
        for file in files {
            let bytes = fs::read(&file).unwrap();
            inputs += 1;
            let (name, start) = (format!("{}: {}", target.name, file.file_name().unwrap().display()), ThreadCpu.now());
            if catch_unwind(AssertUnwindSafe(|| run(target.name, &bytes))).is_err() {
                wrong.push(name.clone());
            }
            slowest = slowest.max((ThreadCpu.now() - start, name));
        }
    }
    eprintln!("{inputs} inputs of {} targets; the slowest: {slowest:?}", TARGETS.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_function_has_a_fuzz_target_and_each_corpus_a_function() {
    let functions: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let mut targets = names(&fuzz().join("targets"));
    assert!(targets.remove("planted"), "the fault that shows that the engine works");
    assert_eq!(targets, functions);
    assert_eq!(names(&fuzz().join("corpus")), functions);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in functions {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name} is not in fuzz/Cargo.toml");
        let source = fs::read_to_string(fuzz().join(format!("targets/{name}.rs"))).unwrap();
        assert!(source.contains(&format!("run(\"{name}\", ")), "{name} runs another function");
    }
}

/// Who judges the modes beside RustCrypto and AWS-LC depends on what is installed, and is told.
#[test]
fn referees_in_c_are_here_or_named() {
    let (here, absent) = referees();
    here.iter().for_each(|library| eprintln!("referee: {} {}", library.name(), library.version()));
    // The other releases take part only if somebody names their folders.
    for library in absent.iter().filter(|library| !library.name.ends_with("-other")) {
        skipped(format_args!("{} is no referee: {}", library.name, library.why));
    }
    // Two releases of ipsec-mb and of OpenSSL, libgcrypt and Botan.
    assert_eq!(here.len() + absent.len(), 6);
}

/// The fault is where the documents say, so that the engine has something to find.
#[test]
fn the_planted_fault() {
    let input = |len: u8, last: u8| [&[len, 0xa7, 0x1e, 0xd5, 0x3c][..], &[last]].concat();
    assert!(catch_unwind(|| planted(&input(1, 99))).is_err());
    for other in [input(2, 99), input(1, 98), vec![], vec![1], vec![1, 2, 3, 4, 5, 99]] {
        planted(&other);
    }
}

/// A broken promise must be seen, else the replay proves nothing: this target does not exist.
#[test]
#[should_panic(expected = "a target of this name")]
fn a_target_that_does_not_exist() {
    run("no such target", b"");
}
