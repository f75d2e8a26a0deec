//! DynamoRIO's drmemtrace: packed entries of 12 bytes (type 2, size 2, address 8, little-endian), one file a thread.
//!
//! Types are those of DynamoRIO's `trace_entry.h`, version 7 of the format. The reader uses loads, stores, instructions
//! of every kind, and the markers of traced functions: with `-record_function` of
//! `pthread_mutex_lock|1&pthread_mutex_unlock|1&pthread_barrier_wait|1` in that order (identifiers 0, 1, 2), locks and
//! barriers are simulated. Markers of windows divide a trace, and can bound its region of interest. Everything else
//! (encodings, prefetches, other markers) is ignored.

use std::{
    collections::BTreeMap,
    io::{self, Read},
};

use super::{BATCH, GapError, Stepper, Windows, read_whole};
use crate::access::{Access, Operation, Source, SourceError, Window};

const READ: u16 = 0;
const WRITE: u16 = 1;
const HEADER: u16 = 25;
const FOOTER: u16 = 26;
const MARKER: u16 = 28;
/// A repeated instruction, which is not fetched again.
const NO_FETCH: u16 = 29;
/// The last type of entry that is accepted, with room for types of later versions.
const LAST: u16 = 63;

/// Whether entries of a type are instructions: other ones, jumps, calls and returns, system calls, and conditional
/// jumps taken or not taken.
fn instruction(kind: u16) -> bool {
    matches!(kind, 10..=16 | 31 | 48 | 49)
}

const FUNCTION: u16 = 4;
const ARGUMENT: u16 = 6;
/// Marker with the number of the window that begins or continues here.
const WINDOW: u16 = 14;
/// The most windows that a trace may have.
const MOST_WINDOWS: usize = 1 << 16;

/// The traced functions by identifier, from 0: `-record_function` must name them in this order.
const FUNCTIONS: [(&str, Operation); 3] = [
    ("pthread_mutex_lock", Operation::Lock),
    ("pthread_mutex_unlock", Operation::Unlock),
    ("pthread_barrier_wait", Operation::Barrier),
];

/// Reads a thread's entries as accesses of a processor.
pub struct Drmemtrace {
    input: Box<dyn Read>,
    name: String,
    stepper: Stepper,
    function: Option<u64>,
    entries: u64,
    line: u64,
    fetched: Option<u64>,
    /// Whether the footer has been read: anything after it is ignored.
    ended: bool,
    /// The windows that are the region of interest, and whether the current one is among them.
    chosen: Option<Windows>,
    inside: bool,
    window: Option<u64>,
    windows: BTreeMap<u64, Window>,
}

impl std::fmt::Debug for Drmemtrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drmemtrace").field("name", &self.name).field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl Drmemtrace {
    /// Reads uncompressed entries of thread `thread` for lines of `line` bytes; `name` is for messages.
    pub fn new(input: Box<dyn Read>, name: &str, line: usize, thread: usize) -> Drmemtrace {
        Drmemtrace {
            input,
            name: name.to_owned(),
            stepper: Stepper::new(line, thread),
            function: None,
            entries: 0,
            line: line as u64,
            fetched: None,
            ended: false,
            chosen: None,
            inside: false,
            window: None,
            windows: BTreeMap::new(),
        }
    }

    /// The same trace with these windows, if any, as its region of interest.
    #[must_use]
    pub fn region(self, chosen: Option<Windows>) -> Drmemtrace {
        Drmemtrace { chosen, ..self }
    }

    /// A marker of window `id`. Each buffer of the recording starts with one, so most of them do not begin a window.
    fn window(&mut self, id: u64, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        if self.window.replace(id) != Some(id) {
            if self.windows.len() == MOST_WINDOWS {
                return Err(self.wrong(format_args!("more than {MOST_WINDOWS} windows")));
            }
            self.windows.entry(id).or_insert(Window { window: id, references: 0, instructions: 0 });
            let inside = self.chosen.is_some_and(|chosen| chosen.contains(id));
            self.bound(inside, steps).map_err(|error| self.wrong(error))?;
        }
        Ok(())
    }

    /// The region of interest begins or ends here, or neither.
    fn bound(&mut self, inside: bool, steps: &mut Vec<Access>) -> Result<(), GapError> {
        if std::mem::replace(&mut self.inside, inside) != inside {
            let kind = if inside { Operation::RegionBegin } else { Operation::RegionEnd };
            self.stepper.synchronise(steps, kind, 0, 0)?;
        }
        Ok(())
    }

    /// Counts an entry for the current window.
    fn count(&mut self, kind: u16, references: usize) {
        if let Some(window) = self.window.and_then(|id| self.windows.get_mut(&id)) {
            window.references += references as u64;
            window.instructions += u64::from(instruction(kind) || kind == NO_FETCH);
        }
    }

    /// The footer: the trace is complete, provided that the decompressor reaches its own end and its checksums match.
    fn footer(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        self.ended = true;
        self.bound(false, steps).map_err(|error| self.wrong(error))?;
        io::copy(&mut self.input, &mut io::sink()).map_err(|error| self.wrong(error))?;
        Ok(())
    }

    fn wrong(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: entry {}: {what}", self.name, self.entries))
    }

    fn entry(&mut self, bytes: [u8; 12], steps: &mut Vec<Access>) -> Result<(), SourceError> {
        let [a, b, c, d, rest @ ..] = bytes;
        let (kind, size, address) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u64::from_le_bytes(rest));
        if self.entries == 1 && kind != HEADER {
            return Err(self.wrong("not a final drmemtrace: it does not begin with a header"));
        }
        let before = steps.len();
        match kind {
            READ | WRITE => {
                if size > 4096 {
                    return Err(self.wrong(format_args!("a reference of {size} bytes")));
                }
                let kind = if kind == READ { Operation::Load } else { Operation::Store };
                self.stepper.reference(steps, kind, address, u64::from(size));
            }
            kind if instruction(kind) => {
                self.stepper.instruction().map_err(|error| self.wrong(error))?;
                // A fetch for each new line of instructions
                let line = address / self.line;
                if self.fetched.replace(line) != Some(line) {
                    self.stepper.reference(steps, Operation::Fetch, address, 1);
                }
            }
            NO_FETCH => self.stepper.instruction().map_err(|error| self.wrong(error))?,
            MARKER if size == WINDOW => {
                return self.window(address, steps);
            }
            MARKER if size == FUNCTION => self.function = Some(address),
            MARKER if size == ARGUMENT => {
                let function = self.function.take().and_then(|id| FUNCTIONS.get(usize::try_from(id).ok()?));
                if let Some((_, kind)) = function {
                    self.stepper.synchronise(steps, *kind, address, 0).map_err(|error| self.wrong(error))?;
                }
                return Ok(());
            }
            kind if kind <= LAST => {}
            kind => return Err(self.wrong(format_args!("entries of type {kind} do not exist"))),
        }
        self.count(kind, steps.len() - before);
        Ok(())
    }
}

impl Source for Drmemtrace {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        let mut bytes = [0; 12];
        while !self.ended && steps.len() < BATCH {
            self.entries += 1;
            match read_whole(&mut self.input, &mut bytes) {
                (_, Some(error)) => return Err(self.wrong(error)),
                (0, None) => return Err(self.wrong("the trace ends without a footer: it was cut")),
                (12, None) if u16::from_le_bytes([bytes[0], bytes[1]]) == FOOTER => self.footer(steps)?,
                (12, None) => self.entry(bytes, steps)?,
                _ => return Err(self.wrong("the trace ends within an entry")),
            }
        }
        Ok(())
    }

    fn windows(&self) -> Vec<Window> {
        self.windows.values().copied().collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::trace::{
        all,
        tests::{Failing, read_damaged},
    };

    /// Each call with its one relevant argument. In another order, a lock would be taken for another function.
    #[test]
    fn what_the_documentation_has_dynamorio_record_are_our_functions() {
        let names: Vec<String> = FUNCTIONS.iter().map(|(name, _)| format!("{name}|1")).collect();
        let words = format!("-record_function '{}'", names.join("&"));
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/RECORDING.md");
        assert!(std::fs::read_to_string(page).unwrap().contains(&words), "{words}");
    }

    fn entry(kind: u16, size: u16, address: u64) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &address.to_le_bytes()].concat()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<Access>, SourceError> {
        let (mut source, mut steps) = (Drmemtrace::new(Box::new(io::Cursor::new(bytes)), "test", 64, 0), Vec::new());
        source.fill(&mut steps)?;
        Ok(steps)
    }

    #[test]
    fn entries_become_steps() {
        let bytes = [
            entry(HEADER, 0, 5),
            entry(10, 4, 0x40_0000),
            entry(47, 4, 0xf20f),
            entry(48, 4, 0x40_0004),
            entry(NO_FETCH, 4, 0x40_0004),
            entry(READ, 8, 0x1000),
            entry(MARKER, FUNCTION, 2),
            entry(MARKER, ARGUMENT, 0x6000),
            entry(WRITE, 32, 0x1030),
            entry(FOOTER, 0, 0),
            entry(READ, 8, 0x1000),
        ];
        let steps: Vec<_> = read(bytes.concat()).unwrap().iter().map(|s| (s.kind, s.address, s.size, s.gap)).collect();
        assert_eq!(
            steps,
            [
                (Operation::Fetch, 0x40_0000, 1, 0),
                (Operation::Load, 0x1000, 8, 2),
                (Operation::Barrier, 0x6000, 0, 0),
                (Operation::Store, 0x1030, 16, 0),
                (Operation::Store, 0x1040, 16, 0),
            ]
        );
    }

    /// An instruction is counted with its reference, or in the next gap: 3 with references to memory, 3 without.
    #[test]
    fn an_instruction_is_counted_once() {
        let bytes = [
            entry(HEADER, 0, 5),
            entry(10, 4, 0x40_0000),
            entry(READ, 8, 0x1000),
            entry(10, 4, 0x40_0004),
            entry(10, 4, 0x40_0008),
            entry(MARKER, FUNCTION, 0),
            entry(MARKER, ARGUMENT, 0x6000),
            entry(10, 4, 0x40_0040),
            entry(WRITE, 8, 0x1008),
            entry(10, 4, 0x40_0044),
            entry(10, 4, 0x40_0048),
            entry(READ, 8, 0x1000),
            entry(FOOTER, 0, 0),
        ];
        let steps = read(bytes.concat()).unwrap();
        let short: Vec<_> = steps.iter().map(|step| (step.kind, step.gap)).collect();
        let expected = [
            (Operation::Fetch, 0),
            (Operation::Load, 0),
            (Operation::Lock, 2),
            (Operation::Fetch, 0),
            (Operation::Store, 0),
            (Operation::Load, 1),
        ];
        assert_eq!(short, expected);
        assert_eq!(steps.iter().map(Access::instructions).sum::<u64>(), 6, "the lock is one of them, a call");
    }

    #[test]
    fn nothing_is_read_behind_a_footer() {
        let bytes = [entry(HEADER, 0, 5), entry(READ, 8, 0x1000), entry(FOOTER, 0, 0), entry(READ, 8, 0x2000)];
        let mut source = Drmemtrace::new(Box::new(io::Cursor::new(bytes.concat())), "test", 64, 0);
        let mut steps = Vec::new();
        for expected in [1, 0, 0] {
            source.fill(&mut steps).unwrap();
            assert_eq!(steps.len(), expected);
        }
    }

    #[test]
    fn windows_are_counted_and_some_of_them_are_the_region_of_interest() {
        let marker = |id| entry(MARKER, WINDOW, id);
        let load = |address| [entry(10, 4, 0x40_0000), entry(READ, 8, address)].concat();
        let bytes = [
            entry(HEADER, 0, 5),
            marker(0),
            load(0x1000),
            // A buffer ended, and the window continues
            marker(0),
            load(0x2000),
            marker(1),
            load(0x3038 + 4),
            marker(2),
            load(0x4000),
            marker(3),
            load(0x5000),
            entry(FOOTER, 0, 0),
        ]
        .concat();
        let read = |windows: Option<&str>| {
            let chosen = windows.map(|words| words.parse().unwrap());
            let source = Drmemtrace::new(Box::new(io::Cursor::new(bytes.clone())), "test", 64, 0);
            let (mut source, mut steps) = (source.region(chosen), Vec::new());
            source.fill(&mut steps).unwrap();
            let counts = source.windows().into_iter().map(|it| (it.window, it.references, it.instructions));
            (steps.iter().map(|step| (step.kind, step.address)).collect::<Vec<_>>(), counts.collect::<Vec<_>>())
        };
        // The first one has the only fetch of a new line; the load of window 1 crosses a line
        let counts = [(0, 3, 2), (1, 2, 1), (2, 1, 1), (3, 1, 1)];
        let (begin, end) = ((Operation::RegionBegin, 0), (Operation::RegionEnd, 0));
        let load = |address| (Operation::Load, address);
        let all = [(Operation::Fetch, 0x40_0000), load(0x1000), load(0x2000), load(0x303c), load(0x3040), load(0x4000)];
        let whole: Vec<_> = all.into_iter().chain([load(0x5000)]).collect();
        assert_eq!(read(None), (whole.clone(), counts.to_vec()), "nobody chose");
        let with = |begins: usize, ends: usize| {
            let mut steps = whole.clone();
            steps.insert(ends, end);
            steps.insert(begins, begin);
            (steps, counts.to_vec())
        };
        assert_eq!(read(Some("1..2")), with(3, 6));
        assert_eq!(read(Some("0")), with(0, 3));
        assert_eq!(read(Some("3")), with(6, 7), "the end of the trace ends it");
        assert_eq!(read(Some("4..9")), (whole.clone(), counts.to_vec()));
    }

    #[test]
    fn damage_is_told_with_its_place() {
        assert!(read(entry(READ, 8, 0)).unwrap_err().0.contains("does not begin with a header"));
        let cut = [entry(HEADER, 0, 5), vec![0; 5]].concat();
        assert_eq!(read(cut.clone()).unwrap_err().0, "test: entry 2: the trace ends within an entry");
        for (entries, whole) in [(0, false), (1, false), (2, false), (3, true)] {
            let all = [entry(HEADER, 0, 5), entry(READ, 8, 0x1000), entry(FOOTER, 0, 0)].concat();
            let found = read(all[..entries * 12].to_vec());
            let cut = format!("test: entry {}: the trace ends without a footer: it was cut", entries + 1);
            assert_eq!(found.err().map(|error| error.0), (!whole).then_some(cut));
        }
        for bytes in [&cut[..12], &cut] {
            let failing = Box::new(io::Cursor::new(bytes.to_vec()).chain(Failing));
            let why = all(Drmemtrace::new(failing, "test", 64, 0)).unwrap_err().0;
            assert_eq!(why, "test: entry 2: the disk is gone");
        }
        let wide = [entry(HEADER, 0, 5), entry(READ, 5000, 0)].concat();
        assert!(read(wide).unwrap_err().0.contains("entry 2: a reference of 5000 bytes"));
    }

    #[test]
    fn damaged_entries_give_steps_or_an_error() {
        let entries = [
            entry(10, 4, 0x40_0000),
            entry(READ, 8, 0x103c),
            entry(MARKER, FUNCTION, 2),
            entry(MARKER, ARGUMENT, 0x6000),
            entry(WRITE, 32, 0x1030),
        ];
        let good = [entry(HEADER, 0, 5), entries.concat().repeat(3)].concat();
        read_damaged(&good, |bytes| Drmemtrace::new(Box::new(io::Cursor::new(bytes)), "test", 64, 0));
    }
}
