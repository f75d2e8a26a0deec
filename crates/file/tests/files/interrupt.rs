//! Interrupted jobs leave nothing behind, and return `Error::Interrupted`.

use std::{
    fs,
    io::{self, Read},
    sync::mpsc,
};

use sealwright_file::{Error, Input, Interrupt, Opening, Output, Sealing, output::abandon_all};

use crate::support::*;

const LONG: usize = 12 << 20;

#[test]
fn every_way_leaves_nothing() {
    let dir = Dir::new();
    let text = text(LONG);
    let plain = dir.write("plain", &text);
    let key = key256();
    let whole = dir.write("sealed", &sealed(&text));
    for threads in [1, 2] {
        for (from_stream, to_stream) in [(false, false), (false, true), (true, false), (true, true)] {
            for opening in [false, true] {
                let interrupt = Interrupt::default();
                let raised = interrupt.clone();
                let mut work = At::work(3 << 20, threads, move || raised.raise());
                work.interrupt = interrupt;
                let path = if opening { &whole } else { &plain };
                let input =
                    if from_stream { Input::bytes(fs::read(path).unwrap(), "s") } else { Input::open(path).unwrap() };
                let out = sealwright_file::Shared::default();
                let output = if to_stream {
                    Output::writer(out.clone(), "memory")
                } else {
                    Output::file(dir.path("out"), place()).unwrap()
                };
                let done = if opening {
                    Opening::new(&key).work(work).open(input, output)
                } else {
                    Sealing::new(&key).work(work).seal(input, output)
                };
                let error = done.expect_err("it was interrupted");
                assert!(matches!(error, Error::Interrupted) && error.exit_code() == 130, "{error}");
                assert!(out.clone().take().len() < LONG);
                assert_eq!(dir.names(), ["plain", "sealed"]);
            }
        }
    }
}

/// A reader that returns a few bytes, then blocks forever, like a pipe whose writer sleeps.
struct Sleepy(mpsc::Receiver<()>, usize);

impl Read for Sleepy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1 == 0 {
            let _ = self.0.recv();
            return Ok(0);
        }
        let n = buffer.len().min(self.1);
        self.1 -= n;
        Ok(n)
    }
}

/// As on SIGINT: existing drafts are removed, no new one is created, and none gets its name.
#[test]
fn abandoning_all() {
    let dir = Dir::new();
    child("interrupt::abandon_child", "", dir.0.path());
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
#[ignore = "ends all jobs of its process: run as a child by abandoning_all"]
fn abandon_child() {
    let Some(dir) = given_dir() else { return };
    let (wake, asleep) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let out = dir.join("out");
    let job = std::thread::spawn(move || {
        let key = key256();
        let output = Output::file(&out, place()).unwrap();
        let work = At::work(1 << 20, 1, move || begun.send(()).unwrap());
        Sealing::new(&key).work(work).seal(Input::reader(Sleepy(asleep, 5 << 20), "sleepy"), output)
    });
    let drafts = || fs::read_dir(&dir).unwrap().count();
    begins.recv().unwrap();
    abandon_all();
    assert_eq!(drafts(), 0);
    wake.send(()).unwrap();
    assert!(matches!(job.join().unwrap(), Err(Error::Interrupted)));
    let key = key256();
    let late = Sealing::new(&key).seal(Input::bytes(b"text", "t"), Output::file(dir.join("late"), place()).unwrap());
    assert!(matches!(late, Err(Error::Interrupted)));
    assert_eq!(drafts(), 0);
}
