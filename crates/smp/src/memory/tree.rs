//! Protection of memory, the thesis's future work: AES-GCM encryption of lines with split counters, and a Merkle tree
//! over the counters whose root stays in the controller.
//!
//! A page of 64 lines has one long counter, and a short one for each line. The nonce is the page's number, the line's
//! index in the page, and both counters. When a short counter is used up, the long one is incremented and the page
//! encrypted again. Lines, tags, counters and the tree's nodes are in memory, where an attacker may change them; cached
//! counters are verified when they are read from memory.

use std::{collections::VecDeque, fmt};

use sealwright::{Aead, Suite};
use sha2::{Digest, Sha256};

use super::{
    Image, Numbered,
    protection::{InMemory, LINES, Page, Protection, ProtectionCounters, Stored, Tampered},
};
use crate::{
    config::{ADDRESS_BITS, Config},
    engine::Cycle,
    message::{Detector, LONGEST_LINE, LONGEST_TAG},
    scheme::{NonceAudit, THESIS_LATENCY, derive},
};

/// Binary logarithm of the number of children of a node of the tree.
const FAN: u32 = 3;
/// The last value of a short counter.
const LAST: u8 = 127;

type Hash = [u8; 16];

/// The memory controller's encryption and integrity tree.
pub(crate) struct CounterTree {
    aead: Box<dyn Aead>,
    line: usize,
    levels: u32,
    latency: u64,
    memory: u64,
    ghash: u64,
    /// Ciphertext in memory.
    text: Image,
    tags: Numbered<[u8; LONGEST_TAG]>,
    pages: Numbered<Page>,
    nodes: Vec<Numbered<Hash>>,
    /// The tree's root, in the controller.
    root: Hash,
    cached: VecDeque<u64>,
    places: usize,
    counters: ProtectionCounters,
    nonces: NonceAudit,
}

impl fmt::Debug for CounterTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterTree").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl CounterTree {
    /// Encrypts everything that memory holds at the start.
    pub(crate) fn new(config: &Config, image: &Image) -> CounterTree {
        let line = config.machine.line;
        // The tree covers the pages of all processes' address spaces
        let processes = config.processes.count.next_power_of_two().trailing_zeros();
        let bits = ADDRESS_BITS + processes - (line * LINES).trailing_zeros();
        let levels = bits.div_ceil(FAN);
        let key = derive::<16>(config.machine.seed, "memory key", 0);
        let mut tree = CounterTree {
            aead: Suite::Aes128Gcm.aead(key.as_ref()).expect("16 bytes are the suite's key length"),
            line,
            levels,
            latency: config.engines.latency.unwrap_or(THESIS_LATENCY),
            memory: config.memory.latency,
            ghash: config.engines.ghash,
            text: Image::default(),
            tags: Numbered::default(),
            pages: Numbered::default(),
            nodes: vec![Numbered::default(); levels as usize + 1],
            root: [0; 16],
            cached: VecDeque::new(),
            places: config.memory.counter_cache.max(1),
            counters: ProtectionCounters::default(),
            nonces: NonceAudit::default(),
        };
        for (address, mut text) in image.lines(line) {
            tree.seal(address, &mut text);
        }
        tree.counters = ProtectionCounters::default();
        tree
    }

    fn place(&self, address: u64) -> (u64, usize) {
        let number = address / self.line as u64;
        (number / LINES as u64, number as usize % LINES)
    }

    /// The nonce of a line, and its associated data: the address. Page (48 bits), index of the line (8), and counters
    /// (40: the long one, which a run cannot exhaust, and the 7 bits of the short one).
    fn nonce(&self, page: &Page, address: u64) -> ([u8; 12], [u8; 8]) {
        let (number, line) = self.place(address);
        let counter = page.long << LAST.count_ones() | u64::from(page.short[line]);
        let mut nonce = [0; 12];
        nonce[..6].copy_from_slice(&number.to_be_bytes()[2..]);
        nonce[6] = line as u8;
        nonce[7..].copy_from_slice(&counter.to_be_bytes()[3..]);
        (nonce, address.to_be_bytes())
    }

    fn seal(&mut self, address: u64, text: &mut [u8; LONGEST_LINE]) {
        let (number, _) = self.place(address);
        let len = self.line;
        self.pages.entry(number).or_insert(Page { long: 0, short: [0; LINES] });
        let (nonce, ad) = self.nonce(&self.pages[&number], address);
        // There is no sender or receiver to record
        self.nonces.note(&nonce, (0, 0));
        let tag = self.aead.seal_in_place(&nonce, &ad, &mut text[..len]).expect("a line is a short text");
        let mut bytes = [0; LONGEST_TAG];
        bytes.copy_from_slice(tag.as_ref());
        self.tags.insert(address, bytes);
        self.text.write(address, &text[..len]);
        self.climb(number);
    }

    /// The hash of a page's counters.
    fn leaf(&self, number: u64) -> Hash {
        let mut hash = Sha256::new();
        if let Some(page) = self.pages.get(&number) {
            hash.update(page.long.to_be_bytes());
            hash.update(page.short);
        }
        short(hash)
    }

    /// The hash of a node's children as stored in memory.
    fn inner(&self, level: usize, index: u64) -> Hash {
        let mut hash = Sha256::new();
        for child in 0..1 << FAN {
            hash.update(self.nodes[level - 1].get(&(index << FAN | child)).copied().unwrap_or_default());
        }
        short(hash)
    }

    /// Updates the path from a page's counters to the root.
    fn climb(&mut self, number: u64) {
        let leaf = self.leaf(number);
        self.nodes[0].insert(number, leaf);
        for level in 1..=self.levels as usize {
            let index = number >> (FAN * level as u32);
            let hash = self.inner(level, index);
            self.nodes[level].insert(index, hash);
        }
        self.root = self.nodes[self.levels as usize].get(&0).copied().unwrap_or_default();
    }

    /// Verifies a page's counters along their path to the root.
    fn genuine(&self, number: u64) -> bool {
        let mut hash = self.leaf(number);
        for level in 0..self.levels as usize {
            let index = number >> (FAN * level as u32);
            if self.nodes[level].get(&index) != Some(&hash) {
                return false;
            }
            hash = self.inner(level + 1, index >> FAN);
        }
        hash == self.root
    }

    /// Makes sure that a page's counters are cached and verified; returns the cycles that this takes.
    fn fetch(&mut self, number: u64) -> Result<u64, Tampered> {
        if let Some(place) = self.cached.iter().position(|page| *page == number) {
            self.cached.remove(place);
            self.cached.push_back(number);
            return Ok(0);
        }
        self.counters.counter_misses += 1;
        // The nodes of the path are read in parallel, since their addresses are known, and hashed one after the other
        let after = self.memory + u64::from(self.levels) * self.ghash;
        if self.pages.contains_key(&number) && !self.genuine(number) {
            return Err(Tampered { detector: Detector::Mac, after });
        }
        if self.cached.len() == self.places {
            self.cached.pop_front();
        }
        self.cached.push_back(number);
        Ok(after)
    }

    /// A short counter is used up: increments the long counter and encrypts every line of the page again.
    fn reencrypt(&mut self, number: u64) -> Result<(), Tampered> {
        self.counters.reencrypted += 1;
        let mut lines = Vec::new();
        for line in 0..LINES as u64 {
            let address = (number * LINES as u64 + line) * self.line as u64;
            if self.tags.contains_key(&address) {
                let mut text = [0; LONGEST_LINE];
                self.read(address, &mut text[..self.line], 0, 0)?;
                lines.push((address, text));
            }
        }
        if let Some(page) = self.pages.get_mut(&number) {
            page.long += 1;
            page.short = [0; LINES];
        }
        for (address, mut text) in lines {
            self.seal(address, &mut text);
        }
        Ok(())
    }
}

impl Protection for CounterTree {
    /// The pad is computed while memory reads the line.
    fn read(&mut self, address: u64, out: &mut [u8], now: Cycle, at: Cycle) -> Result<Cycle, Tampered> {
        self.counters.reads += 1;
        let (number, _) = self.place(address);
        let counter = now + self.fetch(number)?;
        let ready = at.max(counter + self.latency) + 1 + self.ghash;
        let Some(tag) = self.tags.get(&address) else {
            // Never written
            out.fill(0);
            return Ok(ready);
        };
        let tampered = Tampered { detector: Detector::Tag, after: ready - now };
        let Some(page) = self.pages.get(&number) else { return Err(tampered) };
        self.text.read(address, out);
        let (nonce, ad) = self.nonce(page, address);
        self.aead.open_in_place(&nonce, &ad, out, tag).map_err(|_| tampered)?;
        Ok(ready)
    }

    /// Fails if the line's counters are not genuine: incrementing a forged counter could use a nonce twice.
    fn write(&mut self, address: u64, plain: &[u8]) -> Result<(), Tampered> {
        self.counters.writes += 1;
        let (number, line) = self.place(address);
        self.fetch(number)?;
        let used_up = self.pages.get(&number).is_some_and(|page| page.short[line] == LAST);
        if used_up {
            self.reencrypt(number)?;
        }
        if let Some(page) = self.pages.get_mut(&number) {
            page.short[line] += 1;
        }
        let mut text = [0; LONGEST_LINE];
        text[..plain.len()].copy_from_slice(plain);
        self.seal(address, &mut text);
        Ok(())
    }

    fn peek(&self, address: u64, out: &mut [u8]) {
        let (number, _) = self.place(address);
        let (Some(tag), Some(page)) = (self.tags.get(&address), self.pages.get(&number)) else { return out.fill(0) };
        self.text.read(address, out);
        let (nonce, ad) = self.nonce(page, address);
        // A line that is not genuine reads as zeros: decryption clears the buffer on failure
        let _ = self.aead.open_in_place(&nonce, &ad, out, tag);
    }

    fn counters(&self) -> ProtectionCounters {
        ProtectionCounters { nonces: self.nonces.used, repeated_nonces: self.nonces.repeated, ..self.counters }
    }

    fn pages(&self) -> usize {
        self.text.pages()
    }
}

impl InMemory for CounterTree {
    fn stored(&self, address: u64) -> Option<Stored> {
        let (tag, page) = (*self.tags.get(&address)?, self.pages.get(&self.place(address).0).cloned());
        let mut stored = Stored { tag, page, ..Stored::default() };
        self.text.read(address, &mut stored.text[..self.line]);
        Some(stored)
    }

    fn put(&mut self, address: u64, stored: Stored) {
        self.text.write(address, &stored.text[..self.line]);
        self.tags.insert(address, stored.tag);
        let (number, _) = self.place(address);
        // The controller uses its cached counters and not those in memory
        if let Some(page) = stored.page.filter(|_| !self.cached.contains(&number)) {
            self.pages.insert(number, page);
        }
    }
}

fn short(hash: Sha256) -> Hash {
    let mut out = [0; 16];
    out.copy_from_slice(&hash.finalize()[..16]);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::PROCESS_BIT;

    fn tree() -> CounterTree {
        let mut image = Image::default();
        image.write(0x1000, &[7; 200]);
        let mut config = Config::default();
        config.memory.counter_cache = 1;
        CounterTree::new(&config, &image)
    }

    fn read(tree: &mut CounterTree, address: u64) -> Result<[u8; 64], Detector> {
        let mut out = [0; 64];
        tree.read(address, &mut out, 0, 160).map(|_| out).map_err(|found| {
            assert!(found.after >= 160, "{found:?}");
            found.detector
        })
    }

    #[test]
    fn lines_come_back_and_are_encrypted_in_memory() {
        let mut tree = tree();
        assert_eq!(read(&mut tree, 0x1000), Ok([7; 64]));
        let mut raw = [0; 64];
        tree.text.read(0x1000, &mut raw);
        assert_ne!(raw, [7; 64]);
        for round in 0..300 {
            tree.write(0x1040, &[round as u8; 64]).unwrap();
            assert_eq!(read(&mut tree, 0x1040), Ok([round as u8; 64]));
            assert_eq!(read(&mut tree, 0x1000), Ok([7; 64]));
        }
        assert_eq!(tree.counters.reencrypted, 2);
        assert_eq!(read(&mut tree, 0x9_0000), Ok([0; 64]));
    }

    /// Pages whose numbers differ in the bits of the process, or of the highest addresses, alone.
    #[test]
    fn no_nonce_is_used_for_two_lines() {
        for line in [64, 128] {
            let mut config = Config::default();
            (config.machine.line, config.processes.count) = (line, 16);
            let mut tree = CounterTree::new(&config, &Image::default());
            let mut addresses: Vec<u64> = (0..48).map(|bit| 1 << bit >> 12 << 12).collect();
            addresses.dedup();
            for process in 0..16 {
                for address in &addresses {
                    tree.write(process << PROCESS_BIT | address, &[7; 128][..line]).unwrap();
                }
            }
            // So often that the page is encrypted again, with each of its lines
            for round in 0..400 {
                tree.write(line as u64 * (round % 2), &[8; 128][..line]).unwrap();
            }
            let found = tree.counters();
            assert!(found.reencrypted > 0 && found.nonces > 16 * addresses.len() as u64 + 400, "{found:?}");
            assert_eq!(found.repeated_nonces, 0, "lines of {line} bytes");
        }
    }

    #[test]
    fn changed_lines_and_old_ones_are_refused() {
        let mut tree = tree();
        let (old, tag, page) = {
            let mut old = [0; 64];
            tree.text.read(0x1000, &mut old);
            (old, tree.tags[&0x1000], tree.pages[&1].clone())
        };
        tree.write(0x1000, &[8; 64]).unwrap();
        // Replay of the line and its tag: the counter has been incremented since
        tree.text.write(0x1000, &old);
        tree.tags.insert(0x1000, tag);
        assert_eq!(read(&mut tree, 0x1000), Err(Detector::Tag));
        // Replay of the counter too, once it is read from memory again: the tree does not match
        tree.pages.insert(1, page);
        assert_eq!(read(&mut tree, 0x9_0000), Ok([0; 64]), "another page takes the only place in the cache");
        assert_eq!(read(&mut tree, 0x1000), Err(Detector::Mac));
    }
}
