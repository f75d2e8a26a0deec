//! The search of another process's memory for blocks.

use std::{
    collections::HashSet,
    fs::{self, File},
    os::unix::fs::FileExt,
};

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

/// Searches all memory of a process that can be written.
pub(crate) fn search(process: u32, keys: &HashSet<[u8; 16]>, texts: &HashSet<[u8; 16]>) -> Found {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    let starts: HashSet<[u8; 4]> = keys.iter().chain(texts).map(|block| block[..4].try_into().unwrap()).collect();
    let mut found = Found::default();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (range, flags) = (fields.next().unwrap(), fields.next().unwrap());
        if !flags.starts_with("rw") {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap();
        let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(end - start).unwrap()];
        if memory.read_exact_at(&mut bytes, start).is_err() {
            continue;
        }
        found.bytes += end - start;
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
    found
}
