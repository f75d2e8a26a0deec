//! Fuzz target for the journal. Whatever the file contains, either it is refused with an error that names it, or the
//! interrupted run continues with exactly the studies that ended in it. What is then recorded can be read again.

use std::{fs, path::Path};

use sealwright_measure::Record;

use super::{Entry, Journal, Kept, NAME, Run};
use crate::study::Options;

const STUDIES: [&str; 4] = ["files", "messages", "bus", ""];

fn run(program: &str) -> Run {
    Run { program: program.into(), sealwright: None, machine: "m".into(), quick: true, budget: None }
}

/// Writes a journal to `folder` and opens it. The first byte decides whether the rest is the file's content or a
/// sequence of valid and damaged lines in any order.
pub fn fuzz(folder: &Path, bytes: &[u8]) {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let (text, expected) = if how & 1 == 0 { (bytes.to_vec(), None) } else { lines(bytes) };
    let path = folder.join(format!("{NAME}.jsonl"));
    fs::write(&path, text).expect("the folder can be written");
    let options = Options { quick: true, results: folder.to_owned(), fresh: how & 2 != 0, ..Options::default() };
    let open = || Journal::of(&options, run("ours"));
    let journal = match open() {
        Ok(journal) => journal,
        Err(error) => {
            assert!(error.to_string().contains("journal.jsonl") && expected.is_none(), "{error}");
            return;
        }
    };
    let kept = |journal: &Journal| journal.kept.as_ref().map(names);
    if let Some(expected) = expected {
        assert_eq!(kept(&journal), expected.filter(|_| !options.fresh));
    }
    for study in STUDIES {
        let _ = (journal.took(study), journal.results(study));
    }
    let before = kept(&journal).unwrap_or_default();
    journal.ended("sessions", 2.5).expect("the journal can be written");
    let again = Journal::of(&Options { fresh: false, ..options.clone() }, run("ours")).expect("it was read before");
    assert_eq!(kept(&again), Some([before, vec!["sessions".into()]].concat()));
    assert!(again.took("sessions").is_some_and(|took| took.as_secs_f64() == 2.5));
    again.done().expect("the journal can be written");
    assert!(open().expect("it was read before").kept.is_none());
}

fn names(kept: &Kept) -> Vec<String> {
    kept.studies.iter().map(|(name, _)| name.clone()).collect()
}

/// Makes a journal with one line for each byte, and computes what must be kept of it.
fn lines(bytes: &[u8]) -> (Vec<u8>, Option<Option<Vec<String>>>) {
    let now = sealwright_measure::machine::now();
    let line = |date: &str, result| {
        let record = Record { schema: sealwright_measure::SCHEMA, date: date.to_owned(), result };
        serde_json::to_vec(&record).expect("an entry")
    };
    let (mut text, mut kept): (Vec<u8>, Option<Kept>) = (Vec::new(), None);
    for &byte in bytes {
        let study = STUDIES[usize::from(byte >> 3) % STUDIES.len()];
        let (quick, seconds) = (byte & 0x80 == 0, f64::from(byte));
        let ended = Entry::Ended { study: study.into(), quick, seconds, document: None };
        match byte & 7 {
            0 => {
                kept = Some(Kept { begun: now.clone(), studies: Vec::new() });
                text.extend(line(&now, Entry::Begun(run("ours"))));
            }
            1 => {
                kept = None;
                text.extend(line(&now, Entry::Begun(run("theirs"))));
            }
            2 => {
                kept = None;
                text.extend(line("2020-01-01T00:00:00Z", Entry::Begun(run("ours"))));
            }
            3 => {
                kept = None;
                text.extend(line(&now, Entry::Done));
            }
            // Cut off by a crash, or written by an older program
            4 => text.extend(&line(&now, ended)[..usize::from(byte >> 3)]),
            5 => text.extend(br#"{"schema":1,"date":"","result":{}}"#),
            _ => {
                if let Some(kept) = &mut kept {
                    kept.studies.push((study.into(), None));
                }
                text.extend(line(&now, ended));
            }
        }
        text.push(b'\n');
    }
    (text, Some(kept.map(|kept| names(&kept))))
}
