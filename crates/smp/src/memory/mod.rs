//! Memory: contents in pages that are allocated when first written, the owner of each line, and protection.

mod protection;
mod tree;
mod xts;

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

pub use protection::ProtectionCounters;
pub(crate) use protection::{InMemory, Protection, Stored, Tampered};
pub(crate) use tree::CounterTree;
pub(crate) use xts::LineCipher;

use crate::message::LONGEST_LINE;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// The most pages of a run: 16 GiB, however sparsely a program writes.
pub(crate) const MOST_PAGES: usize = 1 << 22;

/// A fast hash of a number, not resistant to chosen collisions: the keys are simulated addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u64(&mut self, value: u64) {
        let x = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = x ^ x >> 29;
    }
}

/// A hash map whose keys are numbers.
pub(crate) type Numbered<T> = HashMap<u64, T, BuildHasherDefault<Mix>>;

/// Memory contents by address; bytes that were never written are zero.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pages: Numbered<Box<[u8]>>,
}

impl Image {
    /// Pages that were written.
    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Copies the bytes at `address` into `out`.
    pub fn read(&self, address: u64, out: &mut [u8]) {
        let mut done = 0;
        while done < out.len() {
            let at = address.wrapping_add(done as u64);
            let start = at as usize % PAGE;
            let n = (PAGE - start).min(out.len() - done);
            match self.pages.get(&(at / PAGE as u64)) {
                Some(page) => out[done..done + n].copy_from_slice(&page[start..start + n]),
                None => out[done..done + n].fill(0),
            }
            done += n;
        }
    }

    /// All lines of `line` bytes in pages that were written, in order: addresses and bytes.
    pub(crate) fn lines(&self, line: usize) -> impl Iterator<Item = (u64, [u8; LONGEST_LINE])> {
        self.addresses(line).into_iter().map(move |address| {
            let mut text = [0; LONGEST_LINE];
            self.read(address, &mut text[..line]);
            (address, text)
        })
    }

    /// Addresses of all lines in pages that were written.
    fn addresses(&self, line: usize) -> Vec<u64> {
        let mut pages: Vec<_> = self.pages.keys().copied().collect();
        pages.sort_unstable();
        pages
            .into_iter()
            .flat_map(|page| (0..PAGE / line).map(move |i| page * PAGE as u64 + (i * line) as u64))
            .collect()
    }

    /// Adds another image's pages, with `space` added to their addresses.
    pub(crate) fn add(&mut self, other: &Image, space: u64) {
        self.pages.extend(other.pages.iter().map(|(page, bytes)| (page + space / PAGE as u64, bytes.clone())));
    }

    /// Writes `bytes` at `address`.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let start = at as usize % PAGE;
            let n = (PAGE - start).min(bytes.len() - done);
            let page = self.pages.entry(at / PAGE as u64).or_insert_with(|| vec![0; PAGE].into());
            page[start..start + n].copy_from_slice(&bytes[done..done + n]);
            done += n;
        }
    }
}

/// The memory controller's table of lines that nodes own, with their owners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    nodes: Numbered<u8>,
}

impl Owners {
    /// The node that owns `line`; `None` if memory does.
    pub(crate) fn of(&self, line: u64) -> Option<usize> {
        self.nodes.get(&line).map(|node| usize::from(*node))
    }

    pub(crate) fn give(&mut self, line: u64, node: usize) {
        self.nodes.insert(line, node as u8);
    }

    /// Memory owns the line again.
    pub(crate) fn take_back(&mut self, line: u64) {
        self.nodes.remove(&line);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_across_pages() {
        let mut image = Image::default();
        let text: Vec<u8> = (0..=255).collect();
        image.write(4096 - 100, &text);
        let mut back = vec![1; 260];
        image.read(4096 - 102, &mut back);
        assert_eq!(back[..2], [0, 0]);
        assert_eq!(back[2..258], text);
        assert_eq!(back[258..], [0, 0]);
        let mut top = [9; 4];
        image.read(u64::MAX - 1, &mut top);
        assert_eq!(top, [0; 4]);
    }
}
