//! Memory that is too small: pages of a file, some of them in memory, by the CLOCK rule. The file is read and written past
//! the system's cache (O_DIRECT), so that what is called paging is paging, whatever memory the machine has.

use std::{
    fs::{File, OpenOptions},
    io,
    ops::Range,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use sealwright_measure::{Clock, Interval, clock::Wall, random::Random};

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// Aligned as direct access asks.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; PAGE]);

/// A frame of memory, and the page in it.
struct Frame {
    page: Option<u32>,
    referenced: bool,
    dirty: bool,
}

/// Nanoseconds to read a page of a file in `folder` that is not in memory.
pub(super) fn time_of_a_page(folder: &Path) -> io::Result<Interval> {
    const PAGES: u64 = 4096;
    let mut pager = Pager::new(folder, PAGES, PAGE, 1)?;
    let mut random = Random::new(11);
    let mut samples = Vec::new();
    for _ in 0..200 {
        // Another page than the one in memory
        let clock = Wall::new();
        pager.touch(random.below(PAGES as usize) as u64)?;
        let took = clock.now();
        if pager.misses() > 0 {
            samples.push(took.as_secs_f64() * 1e9);
        }
    }
    Interval::of(&samples, 11).ok_or_else(|| io::Error::other("no page was read"))
}

/// Records of one size in pages of a file.
pub(super) struct Pager {
    file: File,
    record: usize,
    memory: Vec<Page>,
    frames: Vec<Frame>,
    /// Where each page is.
    places: Vec<Option<u32>>,
    hand: usize,
    misses: u64,
}

impl Pager {
    /// `records` records of `record` bytes, all zero, in a new file in `folder` that has no name, with `frames` pages of
    /// memory for them: the first ones.
    pub(super) fn new(folder: &Path, records: u64, record: usize, frames: usize) -> io::Result<Pager> {
        let pages = (records * record as u64).div_ceil(PAGE as u64);
        let pages = u32::try_from(pages).map_err(io::Error::other)?;
        let named = tempfile::NamedTempFile::new_in(folder)?;
        // Holes are read without the disk: every byte is written.
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
        let mut pager = Pager {
            file,
            record,
            memory: vec![Page([0; PAGE]); frames],
            frames: (0..frames).map(|_| Frame { page: None, referenced: false, dirty: false }).collect(),
            places: vec![None; pages as usize],
            hand: 0,
            misses: 0,
        };
        for page in 0..(frames as u32).min(pages) {
            pager.frame(page)?;
        }
        pager.misses = 0;
        Ok(pager)
    }

    /// Pages that had to be read since the last time.
    pub(super) fn misses(&mut self) -> u64 {
        std::mem::take(&mut self.misses)
    }

    /// The frame that holds a page, which is read if need be.
    fn frame(&mut self, page: u32) -> io::Result<usize> {
        if let Some(frame) = self.places[page as usize] {
            self.frames[frame as usize].referenced = true;
            return Ok(frame as usize);
        }
        self.misses += 1;
        let frame = loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            let frame = &mut self.frames[at];
            if !std::mem::take(&mut frame.referenced) {
                break at;
            }
        };
        if let Some(old) = self.frames[frame].page.take() {
            if self.frames[frame].dirty {
                self.file.write_all_at(&self.memory[frame].0, u64::from(old) * PAGE as u64)?;
            }
            self.places[old as usize] = None;
        }
        self.file.read_exact_at(&mut self.memory[frame].0, u64::from(page) * PAGE as u64)?;
        self.frames[frame] = Frame { page: Some(page), referenced: true, dirty: false };
        self.places[page as usize] = Some(frame as u32);
        Ok(frame)
    }

    /// Reads all of a record and changes its first byte, as a session's numbers change; the sum of its cache lines.
    pub(super) fn touch(&mut self, record: u64) -> io::Result<u64> {
        let start = record as usize * self.record;
        let mut sum = 0;
        let mut at = start;
        while at < start + self.record {
            let (page, inside) = (at / PAGE, at % PAGE);
            let here: Range<usize> = inside..PAGE.min(inside + start + self.record - at);
            let frame = self.frame(u32::try_from(page).map_err(io::Error::other)?)?;
            let bytes = &mut self.memory[frame].0[here.clone()];
            sum += bytes.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>();
            if at == start {
                bytes[0] = bytes[0].wrapping_add(1);
                self.frames[frame].dirty = true;
            }
            at += here.len();
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::random::Random;

    use super::*;

    #[test]
    fn records_keep_what_is_written_to_them() {
        let folder = tempfile::tempdir().unwrap();
        for (records, record, frames) in [(500, 64, 2), (100, 3000, 7), (9, 10_000, 5), (30, 64, 100)] {
            let mut pager = match Pager::new(folder.path(), records, record, frames) {
                Ok(pager) => pager,
                Err(error) => {
                    eprintln!("skipped: no direct access in {}: {error}", folder.path().display());
                    return;
                }
            };
            let (mut random, mut touched) = (Random::new(7), vec![0; records as usize]);
            for _ in 0..3000 {
                let at = random.below(records as usize);
                // Only the first byte is ever not zero.
                assert_eq!(pager.touch(at as u64).unwrap(), touched[at] % 256, "{records} {record} {frames}");
                touched[at] += 1;
            }
            let fits = (records as usize * record).div_ceil(PAGE) <= frames;
            assert_eq!(pager.misses() == 0, fits, "{records} {record} {frames}");
        }
    }
}
