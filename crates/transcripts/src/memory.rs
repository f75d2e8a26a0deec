//! What this process still has in memory: it searches its own (`/proc/self/mem`).

use std::{
    fs::{self, File},
    hint::black_box,
    os::unix::fs::FileExt,
};

use zeroize::Zeroize;

/// Bytes that are searched for at once.
pub const WANTED: usize = 16;
/// Bytes of memory that are read at a time.
const PIECE: usize = 1 << 16;
/// Of a piece that cannot be read, these bytes at a time.
const PAGE: usize = 4096;

/// How often the bytes are in memory that can be written. They are given inverted, so that the search does not find
/// itself.
///
/// # Panics
/// If a tenth of the memory cannot be read.
pub fn in_memory(inverted: &[u8; WANTED]) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let mut piece = vec![0; PIECE];
    let (mut found, mut read, mut wanted) = (0, 0, 0);
    for line in maps.lines().filter(|line| line.split_whitespace().nth(1).unwrap().starts_with("rw")) {
        let (start, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let [mut at, end] = [start, end].map(|number| u64::from_str_radix(number, 16).unwrap());
        while at < end {
            let len = usize::try_from(end - at).unwrap().min(PIECE);
            read += bytes_read(&memory, at, &mut piece[..len]);
            wanted += len;
            let is_wanted =
                |window: &&[u8]| window.iter().zip(inverted).all(|(byte, not)| byte ^ black_box(not) == 255);
            found += piece[..len].windows(WANTED).filter(is_wanted).count();
            // Pieces overlap: what lies across two of them is in one.
            at += if len < PIECE { len as u64 } else { (PIECE - WANTED + 1) as u64 };
        }
    }
    // It holds what it found.
    piece.zeroize();
    assert!(read > wanted / 10 * 9, "only {read} of {wanted} bytes can be read");
    found
}

/// Reads what can be read of a piece, page by page if not all of it can. Returns how many bytes that is.
fn bytes_read(memory: &File, start: u64, piece: &mut [u8]) -> usize {
    if memory.read_exact_at(piece, start).is_ok() {
        return piece.len();
    }
    let pages = piece.chunks_mut(PAGE).zip((start..).step_by(PAGE)).map(|(page, at)| {
        if memory.read_exact_at(page, at).is_ok() {
            return page.len();
        }
        page.fill(0);
        0
    });
    pages.sum()
}
