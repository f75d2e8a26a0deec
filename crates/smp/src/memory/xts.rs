//! Encryption of memory without counters, as in servers: AES-XTS (IEEE 1619) with the line's address as the tweak. AMD
//! SEV only encrypts; Intel TDX adds a MAC of 28 bits per line, stored with it.
//!
//! It stores nothing but the MAC, and reads no metadata. In return, decryption cannot start before the line has
//! arrived, whereas a pad can be computed meanwhile; equal lines at one address have equal ciphertexts; and an old line
//! can be replayed with its old MAC.

use std::fmt;

use sealwright::{
    Isa,
    raw::{self, Raw},
};
use sha2::{Digest, Sha256};

use super::{
    Image, Numbered,
    protection::{InMemory, Protection, ProtectionCounters, Stored, Tampered},
};
use crate::{
    config::Config,
    engine::Cycle,
    message::{Detector, LONGEST_LINE},
    scheme::{THESIS_LATENCY, derive},
};

/// Bits of a MAC in TDX.
const MAC_BITS: u32 = 28;

/// The memory controller's cipher.
pub(crate) struct LineCipher {
    xts: Xts,
    /// The MAC key, if lines have MACs.
    mac_key: Option<[u8; 32]>,
    line: usize,
    latency: Cycle,
    mac_latency: Cycle,
    /// Ciphertext in memory.
    text: Image,
    /// The MAC of each line that was written; 0 if lines have no MACs.
    macs: Numbered<u32>,
    counters: ProtectionCounters,
}

impl fmt::Debug for LineCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineCipher").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl LineCipher {
    /// Encrypts everything that memory holds at the start; with a MAC for each line if `macs`.
    pub(crate) fn new(config: &Config, image: &Image, macs: bool) -> LineCipher {
        let key = |what| derive::<16>(config.machine.seed, what, 0);
        let line = config.machine.line;
        let mut cipher = LineCipher {
            xts: Xts::new(&key("memory text key"), &key("memory tweak key")),
            mac_key: macs.then(|| *derive::<32>(config.machine.seed, "memory MAC key", 0)),
            line,
            latency: config.engines.latency.unwrap_or(THESIS_LATENCY),
            mac_latency: if macs { config.engines.ghash } else { 0 },
            text: Image::default(),
            macs: Numbered::default(),
            counters: ProtectionCounters::default(),
        };
        for (address, mut text) in image.lines(line) {
            cipher.seal(address, &mut text);
        }
        cipher
    }

    fn mac(&self, address: u64, text: &[u8]) -> u32 {
        let Some(key) = &self.mac_key else { return 0 };
        let hash = Sha256::new().chain_update(key).chain_update(address.to_le_bytes()).chain_update(text).finalize();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) >> (32 - MAC_BITS)
    }

    fn seal(&mut self, address: u64, text: &mut [u8; LONGEST_LINE]) {
        let text = &mut text[..self.line];
        self.xts.encrypt(address, text);
        self.macs.insert(address, self.mac(address, text));
        self.text.write(address, text);
    }
}

impl Protection for LineCipher {
    fn read(&mut self, address: u64, out: &mut [u8], now: Cycle, at: Cycle) -> Result<Cycle, Tampered> {
        self.counters.reads += 1;
        // The MAC covers the ciphertext, so it is verified in parallel with decryption
        let ready = at + self.latency.max(self.mac_latency);
        let Some(mac) = self.macs.get(&address) else {
            // Never written
            out.fill(0);
            return Ok(ready);
        };
        self.text.read(address, out);
        if self.mac(address, out) != *mac {
            return Err(Tampered { detector: Detector::Mac, after: at + self.mac_latency - now });
        }
        self.xts.decrypt(address, out);
        Ok(ready)
    }

    fn write(&mut self, address: u64, plain: &[u8]) -> Result<(), Tampered> {
        self.counters.writes += 1;
        let mut text = [0; LONGEST_LINE];
        text[..plain.len()].copy_from_slice(plain);
        self.seal(address, &mut text);
        Ok(())
    }

    fn peek(&self, address: u64, out: &mut [u8]) {
        if !self.macs.contains_key(&address) {
            return out.fill(0);
        }
        self.text.read(address, out);
        self.xts.decrypt(address, out);
    }

    fn counters(&self) -> ProtectionCounters {
        self.counters
    }

    fn pages(&self) -> usize {
        self.text.pages()
    }
}

impl InMemory for LineCipher {
    fn stored(&self, address: u64) -> Option<Stored> {
        let mac = self.macs.get(&address)?;
        let mut stored = Stored::default();
        stored.tag[..4].copy_from_slice(&mac.to_be_bytes());
        self.text.read(address, &mut stored.text[..self.line]);
        Some(stored)
    }

    fn put(&mut self, address: u64, stored: Stored) {
        let [a, b, c, d, ..] = stored.tag;
        self.macs.insert(address, u32::from_be_bytes([a, b, c, d]));
        self.text.write(address, &stored.text[..self.line]);
    }
}

/// AES-128 in XTS, on whole blocks.
struct Xts {
    text: Box<dyn Raw>,
    tweak: Box<dyn Raw>,
}

impl Xts {
    fn new(text: &[u8; 16], tweak: &[u8; 16]) -> Xts {
        let [text, tweak] = [text, tweak].map(|key| raw::aes(Isa::best(), key).expect("16 bytes are a key of AES"));
        Xts { text, tweak }
    }

    /// XORs each block with its tweak: the encrypted address of the line, multiplied by x once for each preceding
    /// block.
    fn mask(&self, number: u64, text: &mut [u8]) {
        let mut first = [0; 16];
        first[..8].copy_from_slice(&number.to_le_bytes());
        self.tweak.ecb_encrypt(&mut first);
        let mut tweak = u128::from_le_bytes(first);
        for block in text.as_chunks_mut::<16>().0 {
            *block = (u128::from_le_bytes(*block) ^ tweak).to_le_bytes();
            tweak = (tweak << 1) ^ ((tweak >> 127) * 0x87);
        }
    }

    fn encrypt(&self, number: u64, text: &mut [u8]) {
        self.mask(number, text);
        self.text.ecb_encrypt(text);
        self.mask(number, text);
    }

    fn decrypt(&self, number: u64, text: &mut [u8]) {
        self.mask(number, text);
        self.text.ecb_decrypt(text);
        self.mask(number, text);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(cipher: &mut LineCipher, address: u64) -> Result<[u8; 64], Detector> {
        let mut out = [0; 64];
        let found = cipher.read(address, &mut out, 0, 160);
        // A MAC is checked when memory has delivered its line
        found.map(|_| out).map_err(|Tampered { detector, after }| {
            assert!(after > 160);
            detector
        })
    }

    fn cipher(macs: bool) -> LineCipher {
        let mut image = Image::default();
        image.write(0x1000, &[7; 200]);
        LineCipher::new(&Config::default(), &image, macs)
    }

    /// IEEE 1619-2007, appendix B, vector 2.
    #[test]
    fn xts_is_that_of_the_standard() {
        let xts = Xts::new(&[0x11; 16], &[0x22; 16]);
        let mut text = [0x44; 32];
        xts.encrypt(0x33_3333_3333, &mut text);
        let wanted = 0xc454_185e_6a16_936e_3933_4038_acef_838b_u128.to_be_bytes();
        assert_eq!(text[..16], wanted);
        assert_eq!(text[16..], 0xfb18_6fff_7480_adc4_2893_82ec_d6d3_94f0_u128.to_be_bytes());
        xts.decrypt(0x33_3333_3333, &mut text);
        assert_eq!(text, [0x44; 32]);
    }

    #[test]
    fn lines_come_back_later_than_memory_has_them() {
        for macs in [false, true] {
            let mut cipher = cipher(macs);
            assert_eq!(read(&mut cipher, 0x1000), Ok([7; 64]));
            cipher.write(0x1000, &[8; 64]).unwrap();
            assert_eq!(read(&mut cipher, 0x1000), Ok([8; 64]));
            assert_eq!(read(&mut cipher, 0x9_0000), Ok([0; 64]));
            assert_eq!(cipher.read(0x1000, &mut [0; 64], 0, 160), Ok(160 + THESIS_LATENCY));
            assert_ne!(cipher.stored(0x1000).unwrap().text[..64], [8; 64]);
        }
    }

    #[test]
    fn a_mac_finds_changed_lines_and_nothing_finds_old_ones() {
        for (macs, found) in [(false, Ok(())), (true, Err(Detector::Mac))] {
            let mut cipher = cipher(macs);
            let old = cipher.stored(0x1000).unwrap();
            let mut changed = old.clone();
            changed.text[5] ^= 1;
            cipher.put(0x1000, changed);
            assert_eq!(read(&mut cipher, 0x1000).map(|text| assert_ne!(text, [7; 64])), found);
            cipher.write(0x1000, &[8; 64]).unwrap();
            cipher.put(0x1000, old);
            assert_eq!(read(&mut cipher, 0x1000), Ok([7; 64]), "what was there before");
        }
    }
}
