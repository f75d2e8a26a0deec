//! Windows of a drmemtrace as regions of interest: DynamoRIO's own entries, with markers of windows between them as
//! `-no_split_windows` writes them.
#![allow(clippy::unwrap_used)]

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use sealwright_smp::{
    settings,
    trace::{Summary, Trace},
};

/// Entries of a thread of DynamoRIO's test `threadsig`, in two chunks.
const REAL: &[u8] = include_bytes!("data/threadsig.0.trace.zip");
/// Bytes of an entry.
const ENTRY: usize = 12;

/// The entries of [`REAL`].
fn entries() -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(REAL)).unwrap();
    let mut all = Vec::new();
    for number in 0..archive.len() {
        let chunk = archive.by_index_raw(number).unwrap();
        // The archive's own reader needs features that this crate leaves out
        let (from, size) = (chunk.data_start().unwrap() as usize, chunk.compressed_size() as usize);
        flate2::read::DeflateDecoder::new(&REAL[from..from + size]).read_to_end(&mut all).unwrap();
    }
    all
}

/// A marker of a window: type 28, kind 14.
fn marker(window: u64) -> Vec<u8> {
    [&28u16.to_le_bytes()[..], &14u16.to_le_bytes(), &window.to_le_bytes()].concat()
}

/// Two threads with the same entries, divided at these entries. Each window's marker comes twice, as buffers begin with
/// it.
fn written(folder: &Path, divided: &[(usize, u64)]) -> PathBuf {
    let all = entries();
    let mut out = Vec::new();
    for (number, entry) in all.chunks_exact(ENTRY).enumerate() {
        for (_, window) in divided.iter().filter(|(at, _)| *at == number || *at + 3 == number) {
            out.extend(marker(*window));
        }
        out.extend(entry);
    }
    for thread in 0..2 {
        std::fs::write(folder.join(format!("w.{thread}.trace")), &out).unwrap();
    }
    folder.join("w")
}

fn run(prefix: &Path, windows: &str) -> Result<sealwright_smp::Stats, String> {
    let text = format!("[workload]\ntrace = {prefix:?}\n{windows}");
    settings::run(&text).map(|report| report.stats).map_err(|error| error.to_string())
}

/// An instruction counts once, or once for each reference that it makes; none behind the last reference or new line
/// counts.
fn instructions() -> u64 {
    let (mut all, mut since, mut referred, mut line) = (0, 0, true, None);
    for entry in entries().chunks_exact(ENTRY) {
        let (kind, size) = (u16::from_le_bytes([entry[0], entry[1]]), u16::from_le_bytes([entry[2], entry[3]]));
        let address = u64::from_le_bytes(entry[4..].try_into().unwrap());
        match kind {
            10..=16 | 29 | 31 | 48 | 49 => {
                if kind != 29 && line.replace(address / 64) != Some(address / 64) {
                    all += std::mem::take(&mut since);
                }
                (since, referred) = (since + 1, false);
            }
            0 | 1 => {
                let lines = (address + u64::from(size.max(1)) - 1) / 64 - address / 64 + 1;
                all += std::mem::take(&mut since) + lines - u64::from(!referred);
                referred = true;
            }
            _ => {}
        }
    }
    all
}

#[test]
fn instructions_are_counted_as_the_entries_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = written(folder.path(), &[(10, 0)]);
    let summary = Trace::find(&prefix).unwrap().check(64).unwrap();
    assert_eq!(summary.instructions, 2 * instructions());
    let found = run(&prefix, "").unwrap();
    assert_eq!(found.number("instructions"), summary.instructions as f64);
    // With a bound at the end, the last instruction of each thread is before something
    let bounded = run(&prefix, "windows = 0\n").unwrap();
    assert_eq!(bounded.number("instructions"), summary.instructions as f64 + 2.0);
    assert_eq!(bounded.number("references"), found.number("references"), "bounds are no references");
}

#[test]
fn windows_of_all_threads_are_counted_together() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Trace::find(&written(folder.path(), &[])).unwrap().check(64).unwrap();
    assert_eq!((plain.windows.len(), plain.region), (0, false));
    let trace = Trace::find(&written(folder.path(), &[(10, 0), (200, 1), (400, 5)])).unwrap();
    let Summary { references, windows, region, .. } = trace.check(64).unwrap();
    assert_eq!(windows.iter().map(|it| it.window).collect::<Vec<_>>(), [0, 1, 5]);
    assert!(windows.iter().all(|it| it.references > 20 && it.instructions > 20), "{windows:?}");
    assert_eq!((references, region), (plain.references, false), "markers change nothing else");
    assert_eq!(windows.iter().map(|it| it.references).sum::<u64>(), references);
    let chosen = trace.clone().region("1..4".parse().ok()).check(64).unwrap();
    assert!(chosen.region && chosen.windows == windows);
}

#[test]
fn statistics_are_those_of_the_chosen_windows() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = written(folder.path(), &[(10, 0), (200, 1), (400, 2)]);
    let windows = Trace::find(&prefix).unwrap().check(64).unwrap().windows;
    let whole = run(&prefix, "").unwrap();
    for (chosen, first, last) in [("0", 0, 0), ("1", 1, 1), ("\"1..2\"", 1, 2), ("\"0..9\"", 0, 2)] {
        let found = run(&prefix, &format!("windows = {chosen}\n")).unwrap();
        let least = windows[first..=last].iter().map(|it| it.references).sum::<u64>() as f64;
        // Threads run side by side: while one is in its last window, another may have begun what follows
        let most = least + windows.iter().map(|it| it.references).sum::<u64>() as f64 / 4.0;
        let references = found.number("references");
        assert!((least..most).contains(&references), "{chosen}: {references} of {windows:?}");
        assert!(found.number("cycles") < whole.number("cycles") || last - first == 2, "{chosen}");
        // The run is the same but for which of two processors comes first in the same cycle: these two do the same
        let moved = found.number("cycles_of_run") / whole.number("cycles_of_run") - 1.0;
        assert!(moved.abs() < 0.001, "{chosen}: {moved}");
    }
}

#[test]
fn windows_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = written(folder.path(), &[(10, 0), (200, 1)]);
    let why = run(&prefix, "windows = 7\n").unwrap_err();
    assert!(why.contains("w.0.trace and the other threads: no window 7: there are 0 to 1"), "{why}");
    let prefix = written(folder.path(), &[]);
    let why = run(&prefix, "windows = \"2..3\"\n").unwrap_err();
    assert!(why.contains("no window 2..3: only drmemtrace has windows"), "{why}");
}
