//! Threads that write the files of a tree while the following text is being opened.

use std::{
    io::Read,
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use super::manifest::Entry;
use crate::{
    error::{Error, Flaw},
    read::fill,
    secret::Secret,
};

/// Files up to this length, in bytes, are passed to another thread. Longer ones are written while their text is read.
const MAX_PASSED_LEN: u64 = 256 * 1024;
/// A batch is complete at this length, which it exceeds by less than one file: passing a batch to a thread takes as
/// long as writing a small file.
const MIN_BATCH_LEN: usize = 64 * 1024;

/// Writes the files of a tree.
pub(super) trait Maker: Sync {
    /// Writes a file with the given content.
    fn whole(&self, entry: &Entry, content: &[u8]) -> Result<(), Error>;

    /// Writes a file, reading its content from `text`.
    fn from(&self, entry: &Entry, text: &mut impl Read) -> Result<(), Error>;
}

/// Consecutive files, with their concatenated contents.
#[derive(Default)]
struct Batch<'a> {
    entries: Vec<&'a Entry>,
    contents: Secret,
}

impl Batch<'_> {
    fn write(&self, maker: &impl Maker) -> Result<(), Error> {
        let mut rest = &self.contents[..];
        for entry in &self.entries {
            let (content, after) = rest.split_at(entry.len as usize);
            maker.whole(entry, content)?;
            rest = after;
        }
        Ok(())
    }
}

/// Writes the files of `entries`, whose contents are concatenated in `text`, on `threads` threads. Their directories
/// must exist.
pub(super) fn write_all<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    text: &mut impl Read,
    threads: usize,
    maker: &impl Maker,
) -> Result<(), Error> {
    if threads < 2 {
        return deal_out(entries, text, maker, |batch| batch.write(maker).map(|()| true));
    }
    let (to, from) = mpsc::sync_channel::<Batch<'a>>(threads);
    // Owned by the threads only: once all of them have ended, sending fails.
    let from = Arc::new(Mutex::new(from));
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = || {
            let (from, failed) = (from.clone(), &failed);
            move || {
                let next = || from.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
                while let Some(batch) = next() {
                    batch.write(maker).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                }
                Ok(())
            }
        };
        let start = |_| thread::Builder::new().spawn_scoped(scope, writer());
        let writers = (0..threads).map(start).collect::<Result<Vec<_>, _>>().map_err(Error::io("start", "threads"));
        drop(from);
        writers.and_then(|writers| {
            let hand_over = |batch| Ok(!failed.load(Ordering::Relaxed) && to.send(batch).is_ok());
            let dealt = deal_out(entries, text, maker, hand_over);
            drop(to);
            let ends = writers.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            // All threads must have ended before the first failure is returned.
            let written: Vec<Result<(), Error>> = ends.collect();
            written.into_iter().collect::<Result<(), Error>>().and(dealt)
        })
    })
}

/// Reads contents and passes them to `hand_over` in batches, until it returns `false`.
fn deal_out<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    text: &mut impl Read,
    maker: &impl Maker,
    mut hand_over: impl FnMut(Batch<'a>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let new = || Batch { entries: Vec::new(), contents: Secret::new(Vec::with_capacity(MIN_BATCH_LEN)) };
    let mut batch = new();
    for entry in entries {
        if entry.len > MAX_PASSED_LEN {
            maker.from(entry, text)?;
            continue;
        }
        let (from, len) = (batch.contents.len(), entry.len as usize);
        grow(&mut batch.contents, from + len);
        if fill(text, &mut batch.contents[from..])? < len {
            return Err(Error::NotAuthentic(Flaw::Tree));
        }
        batch.entries.push(entry);
        // A limit on the number of files too, because files may be empty.
        if (batch.contents.len() >= MIN_BATCH_LEN || batch.entries.len() >= 64)
            && !hand_over(std::mem::replace(&mut batch, new()))?
        {
            return Ok(());
        }
    }
    hand_over(batch).map(drop)
}

/// Grows by moving to a new allocation; the old one is wiped.
fn grow(contents: &mut Secret, len: usize) {
    if len > contents.capacity() {
        let mut larger = Secret::new(Vec::with_capacity(len));
        larger.extend_from_slice(contents);
        *contents = larger;
    }
    contents.resize(len, 0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{io, sync::atomic::AtomicU64};

    use super::*;
    use crate::tree::EntryKind;

    /// Counts bytes read and written.
    #[derive(Default)]
    struct Counts {
        read: AtomicU64,
        written: AtomicU64,
    }

    impl Maker for &Counts {
        fn whole(&self, entry: &Entry, content: &[u8]) -> Result<(), Error> {
            assert_eq!(content.len() as u64, entry.len);
            self.written.fetch_add(entry.len, Ordering::SeqCst);
            Ok(())
        }

        fn from(&self, entry: &Entry, text: &mut impl Read) -> Result<(), Error> {
            let mut left = entry.len;
            while left > 0 {
                let got = fill(text, &mut vec![0; left.min(10_000) as usize])?;
                left -= got as u64;
                self.written.fetch_add(got as u64, Ordering::SeqCst);
            }
            Ok(())
        }
    }

    /// An endless text that fails if more than `most` bytes are held in memory.
    struct Text<'a>(&'a Counts, u64);

    impl Read for Text<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read.fetch_add(buffer.len() as u64, Ordering::SeqCst) + buffer.len() as u64;
            let held = read - self.0.written.load(Ordering::SeqCst);
            assert!(held <= self.1, "{held} bytes are held");
            Ok(buffer.len())
        }
    }

    /// However large the tree is, memory is bounded: for one large file, and for many small ones.
    #[test]
    fn little_of_a_tree_is_held_in_memory() {
        for len in [30_000_000, MAX_PASSED_LEN + 1, MAX_PASSED_LEN, 200_000, 1000, 0] {
            for threads in [1, 2, 3] {
                let file = Entry { kind: EntryKind::File, path: "d/f".into(), mode: 0, modified: (0, 0), len };
                let files = vec![file; if len > MAX_PASSED_LEN { 2 } else { 80 }];
                // The batch that each thread writes, one queued for each, and the one being read.
                let batches = if threads == 1 { 1 } else { 2 * threads + 1 };
                let (counts, most) = (Counts::default(), batches as u64 * (MIN_BATCH_LEN as u64 + MAX_PASSED_LEN));
                write_all(files.iter(), &mut Text(&counts, most), threads, &&counts).unwrap();
                assert_eq!(counts.written.into_inner(), len * files.len() as u64);
            }
        }
    }
}
