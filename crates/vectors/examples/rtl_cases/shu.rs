//! Lines of a shared bus for the security hardware unit: what a node sends and is sent, and what its unit must answer.

use std::{
    error::Error,
    io::{self, Write},
};

use sealwright::{Aead, Suite};

use crate::Random;

const NODES: usize = 8;
const NODE: usize = 3;
const LINE: usize = 64;

/// What both ends of every pair know: the unit and its peers at once, as the library sees them.
struct Unit {
    aead: Box<dyn Aead>,
    epoch: u16,
    /// By direction (0: to the peer) and peer.
    counters: [[u64; NODES]; 2],
    /// By process, a bit a node.
    processes: [u8; 256],
    /// Whether the pair's counter was written since the key, as `counters`.
    live: [[bool; NODES]; 2],
}

impl Unit {
    fn nonce(&self, receive: usize, peer: usize) -> [u8; 12] {
        let (from, to) = if receive == 1 { (peer, NODE) } else { (NODE, peer) };
        let mut nonce = [from as u8, to as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        nonce[2..4].copy_from_slice(&self.epoch.to_be_bytes());
        nonce[4..].copy_from_slice(&self.counters[receive][peer].to_be_bytes());
        nonce
    }

    fn allows(&self, process: u8, receive: usize, peer: usize) -> bool {
        let nodes = self.processes[usize::from(process)];
        self.live[receive][peer] && peer != NODE && nodes >> NODE & 1 == 1 && nodes >> peer & 1 == 1
    }
}

/// Writes a key, counters, processes, then `lines` lines; processes move and keys change while they go on.
pub(crate) fn cases(out: &mut impl Write, seed: u64, lines: usize) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(seed);
    let key = random.bytes(16);
    let mut unit = Unit {
        aead: Suite::Aes128Gcm.aead(&key)?,
        epoch: random.next() as u16,
        counters: [[0; NODES]; 2],
        processes: [0; 256],
        live: Default::default(),
    };
    out.write_all(&key)?;
    out.write_all(&[NODE as u8])?;
    out.write_all(&unit.epoch.to_le_bytes())?;
    counters(out, &mut random, &mut unit, None)?;
    for number in 0..lines {
        if number < 8 || random.below(40) == 0 {
            let (process, nodes) = (random.below(12) as u8, random.next() as u8 | 1 << NODE);
            unit.processes[usize::from(process)] = nodes;
            // Before the coming line, or in the cycle in which that is accepted.
            let when = if random.below(2) == 0 { b'p' } else { b'q' };
            out.write_all(&[when, process, nodes])?;
        }
        if random.below(300) == 0 {
            // All pools end; one pair is left without a counter.
            let key = random.bytes(16);
            unit.aead = Suite::Aes128Gcm.aead(&key)?;
            unit.live = Default::default();
            out.write_all(b"k")?;
            out.write_all(&key)?;
            line(out, &mut random, &mut unit)?;
            let (receive, peer) = (random.below(2), random.below(NODES as u64));
            counters(out, &mut random, &mut unit, Some((receive, peer)))?;
        }
        line(out, &mut random, &mut unit)?;
    }
    Ok(())
}

/// Writes the counters of all pairs but one.
fn counters(out: &mut impl Write, random: &mut Random, unit: &mut Unit, but: Option<(usize, usize)>) -> io::Result<()> {
    for receive in 0..2 {
        for peer in (0..NODES).filter(|&peer| peer != NODE && Some((receive, peer)) != but) {
            // Some about to carry into the upper half.
            let counter = if peer == 5 { u64::from(u32::MAX) - 3 } else { random.next() << 8 };
            unit.counters[receive][peer] = counter;
            unit.live[receive][peer] = true;
            out.write_all(&[b'c', receive as u8, peer as u8])?;
            out.write_all(&counter.to_le_bytes())?;
        }
    }
    Ok(())
}

fn line(out: &mut impl Write, random: &mut Random, unit: &mut Unit) -> io::Result<()> {
    let (receive, peer) = (random.below(2), random.below(NODES as u64));
    let (process, line) = (random.below(12) as u8, random.next());
    let mut ad = vec![process];
    ad.extend(line.to_be_bytes());
    let plain = random.bytes(LINE);
    let nonce = unit.nonce(receive, peer);
    let mut sealed = plain.clone();
    let tag = unit.aead.seal_in_place(&nonce, &ad, &mut sealed).map_err(io::Error::other)?;
    let mut claim = tag.as_ref().to_vec();
    let allowed = unit.allows(process, receive, peer);
    let forged = receive == 1 && random.below(4) == 0;
    if forged {
        let bit = random.below(8 * (LINE as u64 + 16));
        match bit / 8 {
            byte @ ..LINE => sealed[byte] ^= 1 << (bit % 8),
            byte => claim[byte - LINE] ^= 1 << (bit % 8),
        }
    }
    // A line that is refused or forged moves no counter.
    let good = allowed && !forged;
    if good {
        unit.counters[receive][peer] += 1;
    }
    let (given, answer) = if receive == 1 { (&sealed, &plain) } else { (&plain, &sealed) };
    let nothing = vec![0; LINE];
    out.write_all(&[b't', receive as u8, peer as u8, process])?;
    out.write_all(&line.to_le_bytes())?;
    out.write_all(given)?;
    out.write_all(&claim)?;
    out.write_all(&[(!allowed).into(), (good && receive == 1).into()])?;
    out.write_all(if good { answer } else { &nothing })?;
    out.write_all(if good { tag.as_ref() } else { &nothing[..16] })
}
