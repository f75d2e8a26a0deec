//! A child process that uses secrets and stops, and the search of its memory for blocks of them.

use std::{
    collections::HashSet,
    env,
    fs::{self, File},
    hint::black_box,
    io::{self, Read, Write},
    os::unix::fs::FileExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Fills a buffer from a number, eight bytes at a time, so that no longer piece of it is anywhere else.
#[inline(never)]
pub(crate) fn fill(bytes: &mut [u8], seed: u64) {
    let mut state = black_box(seed);
    for eight in bytes.chunks_mut(8) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let word = (state ^ (state >> 29)).to_le_bytes();
        eight.copy_from_slice(&word[..eight.len()]);
    }
}

/// In the child: tells the parent where it stands, and waits until it has searched.
pub(crate) fn stop(stage: &str) {
    io::stdout().write_all(format!("{stage}\n").as_bytes()).unwrap();
    io::stdout().flush().unwrap();
    io::stdin().read_exact(&mut [0]).unwrap();
}

/// A child that stops now and then.
pub(crate) struct Stopping {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Stopping {
    /// This program once more, told what to do by an environment variable.
    pub(crate) fn start(variable: &str, case: &str) -> Stopping {
        let mut command = Command::new(env::current_exe().unwrap());
        command.env(variable, case).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Stopping { child, input, output }
    }

    /// Waits for a stop, searches, and lets the child go on.
    pub(crate) fn search_at(&mut self, stage: &str, keys: &HashSet<[u8; 16]>, texts: &HashSet<[u8; 16]>) -> Found {
        let mut line = vec![0; stage.len() + 1];
        self.output.read_exact(&mut line).unwrap();
        assert_eq!(line, format!("{stage}\n").as_bytes());
        let found = search(self.child.id(), keys, texts);
        self.input.write_all(b"\n").unwrap();
        found
    }

    /// The child has ended well.
    pub(crate) fn end(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

/// What was found: how often, and in which parts of memory.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) keys: usize,
    pub(crate) texts: usize,
    /// Keys and texts on the stack.
    pub(crate) stack: usize,
    bytes: u64,
    pub(crate) places: Vec<String>,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} keys, {} texts in {} KiB, and {} on the stack",
            self.keys,
            self.texts,
            self.bytes >> 10,
            self.stack
        )
    }
}

/// Reads what can be read of a mapping, page by page if not all of it can. Returns how many bytes that is.
fn read(memory: &File, start: u64, bytes: &mut [u8]) -> u64 {
    const PAGE: usize = 4096;
    if memory.read_exact_at(bytes, start).is_ok() {
        return bytes.len() as u64;
    }
    let pages = bytes.chunks_mut(PAGE).zip((start..).step_by(PAGE)).map(|(page, at)| {
        if memory.read_exact_at(page, at).is_ok() {
            return page.len() as u64;
        }
        page.fill(0);
        0
    });
    pages.sum()
}

/// Searches all memory of a process that can be written.
fn search(process: u32, keys: &HashSet<[u8; 16]>, texts: &HashSet<[u8; 16]>) -> Found {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    let starts: HashSet<[u8; 4]> = keys.iter().chain(texts).map(|block| block[..4].try_into().unwrap()).collect();
    let (mut found, mut listed) = (Found::default(), 0);
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (range, flags) = (fields.next().unwrap(), fields.next().unwrap());
        if !flags.starts_with("rw") {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap();
        let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(end - start).unwrap()];
        listed += end - start;
        found.bytes += read(&memory, start, &mut bytes);
        for (at, window) in bytes.windows(16).enumerate() {
            if !starts.contains(&window[..4]) {
                continue;
            }
            let (key, text) = (keys.contains(window), texts.contains(window));
            if (key || text) && line.ends_with("[stack]") {
                found.stack += 1;
            } else {
                found.keys += usize::from(key);
                found.texts += usize::from(text);
            }
            if key || text {
                let what = if key { "key" } else { "text" };
                found.places.push(format!(
                    "{what} at {:x}, {}",
                    start + at as u64,
                    fields.clone().last().unwrap_or("?")
                ));
            }
        }
    }
    assert!(found.bytes > listed / 10 * 9, "only {} of {listed} bytes can be read", found.bytes);
    found
}
