//! Cases for the cores of `rtl/`, made by the library: keys, packets and what must come of them, in the few bytes that
//! `rtl/sim/bulk.cpp` reads.
//!
//! ```text
//! rtl_cases SUITE SEED BLOCKS [LENGTH]     random packets of 0 to 9000 bytes, or all of LENGTH bytes, sealed
//! rtl_cases SUITE vectors FILE...          the standards' vectors that a core can take
//! rtl_cases shu SEED LINES                 lines of a shared bus for the security hardware unit
//! ```

mod shu;

use std::{
    error::Error,
    io::{self, BufWriter, Write},
};

use sealwright::Suite;
use serde_json::Value;

/// Key slots that the cases use.
const SLOTS: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    match words[..] {
        [suite, "vectors", ref files @ ..] => vectors(&mut out, suite.parse()?, files)?,
        ["shu", seed, lines] => shu::cases(&mut out, seed.parse()?, lines.parse()?)?,
        [suite, seed, blocks] => random(&mut out, suite.parse()?, seed.parse()?, blocks.parse()?, None)?,
        [suite, seed, blocks, length] => {
            random(&mut out, suite.parse()?, seed.parse()?, blocks.parse()?, Some(length.parse()?))?;
        }
        _ => return Err("rtl_cases SUITE SEED BLOCKS [LENGTH], SUITE vectors FILE..., or shu SEED LINES".into()),
    }
    Ok(out.flush()?)
}

/// xorshift64*: cases must come out the same everywhere, and need no secrecy.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
    /// Lengths about every corner of 1, 2 and 4 lanes, and up to jumbo frames.
    fn length(&mut self) -> usize {
        match self.below(16) {
            0 => 0,
            1..=4 => self.below(130),
            5..=7 => 16 * self.below(24),
            8..=9 => 64 * self.below(9) + self.below(3),
            10..=14 => self.below(1600),
            _ => self.below(9001),
        }
    }
}

/// A packet as the harness takes it.
struct Packet<'a> {
    slot: usize,
    open: bool,
    authentic: bool,
    check_text: bool,
    nonce: &'a [u8],
    claim: &'a [u8],
    tag: &'a [u8],
    ad: &'a [u8],
    input: &'a [u8],
    output: &'a [u8],
}

impl Packet<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&[2, self.slot as u8, self.open.into(), self.authentic.into(), self.check_text.into()])?;
        out.write_all(self.nonce)?;
        out.write_all(self.claim)?;
        out.write_all(self.tag)?;
        out.write_all(&(self.ad.len() as u16).to_le_bytes())?;
        out.write_all(&(self.input.len() as u16).to_le_bytes())?;
        [self.ad, self.input, self.output].iter().try_for_each(|bytes| out.write_all(bytes))
    }
}

fn write_key(out: &mut impl Write, slot: usize, key: &[u8]) -> io::Result<()> {
    let mut bytes = [0; 32];
    bytes[..key.len()].copy_from_slice(key);
    out.write_all(&[1, slot as u8])?;
    out.write_all(&bytes)
}

fn random(
    out: &mut impl Write,
    suite: Suite,
    seed: u64,
    blocks: usize,
    fixed: Option<usize>,
) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(seed);
    let mut keys = Vec::new();
    for slot in 0..SLOTS {
        let key = random.bytes(suite.key_len());
        write_key(out, slot, &key)?;
        keys.push(suite.aead(&key)?);
    }
    let mut made = 0;
    let mut counter = random.bytes(12);
    while made < blocks {
        if fixed.is_none() && random.below(200) == 0 {
            let (slot, key) = (random.below(SLOTS as u64), random.bytes(suite.key_len()));
            write_key(out, slot, &key)?;
            keys[slot] = suite.aead(&key)?;
        }
        // Nonces of one key mostly count; now and then they leap.
        let slot = if fixed.is_some() { 0 } else { random.below(SLOTS as u64) };
        if random.below(8) == 0 && fixed.is_none() {
            counter = random.bytes(12);
        }
        let number = u32::from_be_bytes([counter[8], counter[9], counter[10], counter[11]]).wrapping_add(1);
        counter[8..].copy_from_slice(&number.to_be_bytes());
        let ad_len = match (fixed, random.below(4)) {
            (Some(_), _) | (_, 0) => 0,
            (_, 1) => random.below(33),
            (_, 2) => random.below(300),
            _ => random.length(),
        };
        let ad = random.bytes(ad_len);
        let text_len = fixed.unwrap_or_else(|| random.length());
        let plain = random.bytes(text_len);
        let mut cipher = plain.clone();
        let tag = keys[slot].seal_in_place(&counter, &ad, &mut cipher)?;
        let tag = tag.as_ref();
        made += ad.len().div_ceil(16) + plain.len().div_ceil(16);
        let (mut claim, mut given_ad) = (tag.to_vec(), ad);
        let open = fixed.is_none() && random.below(2) == 1;
        let mut packet = Packet {
            slot,
            open,
            authentic: true,
            check_text: true,
            nonce: &counter,
            claim: &[0; 16],
            tag,
            ad: &[],
            input: &plain,
            output: &cipher,
        };
        if open {
            (packet.input, packet.output) = (&cipher, &plain);
            let forgery = random.below(12);
            packet.authentic =
                forgery > 2 || (forgery == 1 && given_ad.is_empty()) || (forgery == 2 && plain.is_empty());
            let mut flipped = cipher.clone();
            let mut flip = |bytes: &mut Vec<u8>| {
                let bit = random.below(8 * bytes.len() as u64);
                bytes[bit / 8] ^= 1 << (bit % 8);
            };
            match forgery {
                0 => flip(&mut claim),
                1 if !given_ad.is_empty() => flip(&mut given_ad),
                2 if !flipped.is_empty() => flip(&mut flipped),
                _ => {}
            }
            packet.check_text = flipped == cipher;
            (packet.ad, packet.claim) = (&given_ad, &claim);
            packet.input = &flipped;
            packet.write(out)?;
        } else {
            packet.ad = &given_ad;
            packet.write(out)?;
        }
    }
    Ok(())
}

/// The vectors of `files` that have a nonce of 12 bytes, a tag of 16 and a key that the suite takes.
fn vectors(out: &mut impl Write, suite: Suite, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut slot = 0;
    for file in files {
        let document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        for case in list(&document, "testGroups").iter().flat_map(|group| list(group, "tests")) {
            let bytes = |name: &str| hex(case[name].as_str().unwrap_or_default());
            let (key, nonce, ad, tag) = (bytes("key"), bytes("iv"), bytes("aad"), bytes("tag"));
            if nonce.len() != 12 || tag.len() != 16 || key.len() != suite.key_len() {
                continue;
            }
            let (plain, cipher) = (bytes("msg"), bytes("ct"));
            let valid = case["result"] == "valid";
            write_key(out, slot, &key)?;
            let sealing = Packet {
                slot,
                open: false,
                authentic: true,
                check_text: true,
                nonce: &nonce,
                claim: &tag,
                tag: &tag,
                ad: &ad,
                input: &plain,
                output: &cipher,
            };
            if valid {
                sealing.write(out)?;
            }
            // Nobody says what a forgery would have held.
            let nothing = vec![0; cipher.len()];
            let output = if valid { &plain } else { &nothing };
            Packet { open: true, authentic: valid, check_text: valid, input: &cipher, output, ..sealing }.write(out)?;
            slot = (slot + 1) % SLOTS;
        }
    }
    Ok(())
}

/// The bytes of an even number of hexadecimal digits; none of what is not one, as no suite's length then fits.
fn hex(digits: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(digits).unwrap_or_default()
}
