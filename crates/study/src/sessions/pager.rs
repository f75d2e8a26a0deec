//! A pager for memory that is too small: some pages of a file are in memory, and the CLOCK algorithm selects the page
//! to evict. The file is accessed with O_DIRECT, which bypasses the page cache, so that misses really read from the
//! disk even if the machine has enough memory. File systems in memory are refused, because they also accept O_DIRECT
//! (since Linux 6.6).

use std::{
    fs::{File, OpenOptions},
    io,
    ops::Range,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use sealwright_measure::{Clock, Interval, clock::Wall, random::Random};

/// Size of a page in bytes.
pub(super) const PAGE: usize = 4096;

/// A page, aligned as O_DIRECT requires.
#[repr(C, align(4096))]
struct Page([u8; PAGE]);

/// The state of a page frame in memory.
struct Frame {
    page: Option<u32>,
    referenced: bool,
    dirty: bool,
}

/// Number of pages in the file with which the time to read a page is measured.
const PAGES: u64 = 4096;

/// Nanoseconds to read a page that is not in memory from a file in `folder`. Nothing is written during the
/// measurement.
pub(super) fn time_of_a_page(folder: &Path) -> io::Result<Interval> {
    time_to_read(&Pager::new(folder, PAGES, PAGE, 1)?)
}

fn time_to_read(pager: &Pager) -> io::Result<Interval> {
    let mut random = Random::new(11);
    let mut samples = Vec::new();
    for _ in 0..200 {
        // Only reads that missed are counted: the page may be the one in memory
        let clock = Wall::new();
        pager.read(random.below(PAGES as usize) as u64)?;
        let took = clock.now();
        if pager.misses() > 0 {
            samples.push(took.as_secs_f64() * 1e9);
        }
    }
    Interval::of(&samples, 11).ok_or_else(|| io::Error::other("no page was read"))
}

/// Whether a file is on a file system that is in memory.
fn in_memory(file: &File) -> io::Result<bool> {
    // Magic numbers of tmpfs and ramfs (linux/magic.h)
    const MAGIC: [u32; 2] = [0x0102_1994, 0x8584_58f6];
    Ok(MAGIC.contains(&(rustix::fs::fstatfs(file)?.f_type as u32)))
}

/// Records of equal size in the pages of a file, for any number of threads. Pages are read and written without holding
/// the lock, so threads wait for the disk in parallel, as those of the paper's server did.
pub(super) struct Pager {
    file: File,
    record: usize,
    state: Mutex<State>,
    /// Notified when a page was read or written.
    moved: Condvar,
}

struct State {
    /// The page in each frame; `None` while a thread reads a page into the frame.
    memory: Vec<Option<Box<Page>>>,
    frames: Vec<Frame>,
    /// The frame that holds each page, or into which it is being read.
    places: Vec<Option<u32>>,
    /// Evicted pages that are being written. They must not be read before that is done.
    leaving: Vec<u32>,
    hand: usize,
    misses: u64,
}

impl Pager {
    /// A pager for `records` records of `record` bytes, all zero, in a new unnamed file in `folder`. It has `frames`
    /// page frames, which hold the first pages.
    pub(super) fn new(folder: &Path, records: u64, record: usize, frames: usize) -> io::Result<Pager> {
        let pages = (records * record as u64).div_ceil(PAGE as u64);
        let pages = u32::try_from(pages).map_err(io::Error::other)?;
        let named = tempfile::NamedTempFile::new_in(folder)?;
        if in_memory(named.as_file())? {
            let why =
                "the folder for temporary files is in memory, where nothing is paged: name one on a disk by TMPDIR";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        // Reading a hole would not access the disk, so every byte is written
        let zeros = vec![0; 256 * PAGE];
        let bytes = u64::from(pages) * PAGE as u64;
        for at in (0..bytes).step_by(zeros.len()) {
            let len = zeros.len().min((bytes - at) as usize);
            named.as_file().write_all_at(&zeros[..len], at)?;
        }
        named.as_file().sync_all()?;
        let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
        let file = OpenOptions::new().read(true).write(true).custom_flags(direct).open(named.path())?;
        let frames = frames.clamp(1, pages.max(1) as usize);
        let state = State {
            memory: (0..frames).map(|_| Some(Box::new(Page([0; PAGE])))).collect(),
            frames: (0..frames).map(|_| Frame { page: None, referenced: false, dirty: false }).collect(),
            places: vec![None; pages as usize],
            leaving: Vec::new(),
            hand: 0,
            misses: 0,
        };
        let pager = Pager { file, record, state: Mutex::new(state), moved: Condvar::new() };
        for page in 0..(frames as u32).min(pages) {
            drop(pager.frame(pager.state(), page)?);
        }
        pager.misses();
        Ok(pager)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of misses since the last call.
    pub(super) fn misses(&self) -> u64 {
        std::mem::take(&mut self.state().misses)
    }

    /// The frame that holds a page; the page is read first if necessary.
    fn frame<'a>(&'a self, mut state: MutexGuard<'a, State>, page: u32) -> io::Result<(MutexGuard<'a, State>, usize)> {
        let wait = |state| self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        let at = loop {
            match state.places[page as usize] {
                Some(frame) if state.memory[frame as usize].is_some() => {
                    state.frames[frame as usize].referenced = true;
                    return Ok((state, frame as usize));
                }
                None if !state.leaving.contains(&page) => {
                    if let Some(at) = state.oldest() {
                        break at;
                    }
                }
                _ => {}
            }
            state = wait(state);
        };
        state.misses += 1;
        let Some(mut buffer) = state.memory[at].take() else { return Err(io::Error::other("a frame is in use")) };
        let before =
            std::mem::replace(&mut state.frames[at], Frame { page: Some(page), referenced: true, dirty: false });
        state.places[page as usize] = Some(at as u32);
        let old = before.page.filter(|_| before.dirty);
        state.leaving.extend(old);
        if let Some(page) = before.page {
            state.places[page as usize] = None;
        }
        drop(state);
        let moved = old
            .map_or(Ok(()), |old| self.file.write_all_at(&buffer.0, u64::from(old) * PAGE as u64))
            .and_then(|()| self.file.read_exact_at(&mut buffer.0, u64::from(page) * PAGE as u64));
        let mut state = self.state();
        state.leaving.retain(|leaving| Some(*leaving) != old);
        state.memory[at] = Some(buffer);
        if moved.is_err() {
            state.frames[at].page = None;
            state.places[page as usize] = None;
        }
        self.moved.notify_all();
        moved.map(|()| (state, at))
    }

    /// Reads a whole record and changes its first byte, as counters of a session change. Returns the sum of the first
    /// bytes of all cache lines.
    pub(super) fn touch(&self, record: u64) -> io::Result<u64> {
        self.visit(record, true)
    }

    /// Reads a whole record without changing it, so that its pages need not be written when they are evicted.
    fn read(&self, record: u64) -> io::Result<u64> {
        self.visit(record, false)
    }

    fn visit(&self, record: u64, changes: bool) -> io::Result<u64> {
        let start = record as usize * self.record;
        let mut sum = 0;
        let mut at = start;
        while at < start + self.record {
            let (page, inside) = (at / PAGE, at % PAGE);
            let here: Range<usize> = inside..PAGE.min(inside + start + self.record - at);
            let (mut state, frame) = self.frame(self.state(), u32::try_from(page).map_err(io::Error::other)?)?;
            let first = changes && at == start;
            at += here.len();
            state.frames[frame].dirty |= first;
            let Some(page) = &mut state.memory[frame] else { continue };
            let bytes = &mut page.0[here];
            sum += bytes.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>();
            if first {
                bytes[0] = bytes[0].wrapping_add(1);
            }
        }
        Ok(sum)
    }
}

impl State {
    /// The frame to evict, by the CLOCK algorithm; `None` if pages are being read into all frames.
    fn oldest(&mut self) -> Option<usize> {
        (0..=2 * self.frames.len()).find_map(|_| {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            let goes = self.memory[at].is_some() && !std::mem::take(&mut self.frames[at].referenced);
            goes.then_some(at)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::random::Random;
    use sealwright_transcripts::skipped;

    use super::*;

    #[test]
    fn records_keep_what_is_written_to_them() {
        let folder = tempfile::tempdir().unwrap();
        for (records, record, frames) in [(500, 64, 2), (100, 3000, 7), (9, 10_000, 5), (30, 64, 100)] {
            let pager = match Pager::new(folder.path(), records, record, frames) {
                Ok(pager) => pager,
                Err(error) => {
                    skipped(format_args!("no direct access in {}: {error}", folder.path().display()));
                    return;
                }
            };
            let (mut random, mut touched) = (Random::new(7), vec![0; records as usize]);
            for _ in 0..3000 {
                let at = random.below(records as usize);
                // Only the first byte of a record is ever changed
                assert_eq!(pager.touch(at as u64).unwrap(), touched[at] % 256, "{records} {record} {frames}");
                touched[at] += 1;
            }
            let fits = (records as usize * record).div_ceil(PAGE) <= frames;
            assert_eq!(pager.misses() == 0, fits, "{records} {record} {frames}");
        }
    }

    /// In memory, reading a page would only be a copy.
    #[test]
    fn a_folder_in_memory_is_refused() {
        let shm = Path::new("/dev/shm");
        if !tempfile::tempfile_in(shm).is_ok_and(|file| in_memory(&file).unwrap()) {
            return skipped("/dev/shm is no tmpfs that this user can write to");
        }
        let error = Pager::new(shm, 8, PAGE, 1).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
        assert!(time_of_a_page(shm).is_err());
    }

    /// Otherwise the time would include writing the evicted page.
    #[test]
    fn the_time_to_read_a_page_is_without_writing_one() {
        let folder = tempfile::tempdir().unwrap();
        let pager = match Pager::new(folder.path(), PAGES, PAGE, 1) {
            Ok(pager) => pager,
            Err(error) => {
                skipped(format_args!("no direct access in {}: {error}", folder.path().display()));
                return;
            }
        };
        assert!(time_to_read(&pager).unwrap().median > 0.0);
        assert!(pager.state().frames.iter().all(|frame| frame.page.is_some() && !frame.dirty));
        pager.touch(1).unwrap();
        assert!(pager.state().frames.iter().all(|frame| frame.dirty));
    }

    #[test]
    fn threads_find_what_each_other_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let pager = match Pager::new(folder.path(), 60, 700, 4) {
            Ok(pager) => pager,
            Err(error) => {
                skipped(format_args!("no direct access in {}: {error}", folder.path().display()));
                return;
            }
        };
        // More threads than frames; each record is touched a known number of times
        std::thread::scope(|scope| {
            for thread in 0..12 {
                let pager = &pager;
                scope.spawn(move || (0..120).map(|i| pager.touch((thread * 7 + i) % 60).unwrap()).sum::<u64>());
            }
        });
        let all: u64 = (0..60).map(|record| pager.touch(record).unwrap()).sum();
        assert_eq!(all, 12 * 120);
        assert!(pager.misses() > 60);
    }
}
