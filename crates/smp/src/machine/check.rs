//! The checker: every value read is the one written last, a line has one owner, and all copies agree.

use super::{coherence::Coherence, memory::Memory, node::write_value, outcome::MachineError};
use crate::{access::Access, engine::Cycle, memory::Image, message::LONGEST_LINE, mosi::State};

/// An invariant of the protocol that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}: {what}")]
pub struct InvariantError {
    /// What is wrong.
    pub what: String,
    /// When that was found.
    pub cycle: Cycle,
}

/// Memory as a machine without caches would have it.
#[derive(Debug)]
pub(super) struct Checker {
    image: Image,
    /// Reads that gave another value than the one written last.
    pub(super) wrong_reads: u64,
    first: Option<InvariantError>,
    /// Whether all nodes see a write at one time. Where not, a node may read what was there before, so loads are not
    /// compared.
    at_once: bool,
}

impl Checker {
    pub(super) fn new(image: &Image, at_once: bool) -> Checker {
        Checker { image: image.clone(), wrong_reads: 0, first: None, at_once }
    }

    /// A store happened.
    pub(super) fn stored(&mut self, access: &Access) {
        let mut bytes = [0; LONGEST_LINE];
        write_value(&mut bytes, access.value, access.size);
        self.image.write(access.address, &bytes[..usize::from(access.size)]);
    }

    /// A load found `line`.
    pub(super) fn loaded(&mut self, line: &[u8], access: &Access, shift: u32, cycle: Cycle) {
        if !self.at_once {
            return;
        }
        let start = access.address as usize & ((1 << shift) - 1);
        let found = &line[start..start + usize::from(access.size)];
        let mut last = [0; LONGEST_LINE];
        let last = &mut last[..found.len()];
        self.image.read(access.address, last);
        if found != last {
            self.wrong_reads += 1;
            if self.first.is_none() {
                let what =
                    format!("a load at {:#x} found {found:02x?} where {last:02x?} was written last", access.address);
                self.first = Some(InvariantError { what, cycle });
            }
        }
    }

    /// After a transaction on `line`, with nobody tampering: the first wrong read, and the protocol's invariants.
    pub(super) fn transaction(
        &self,
        line: u64,
        caches: &Coherence,
        memory: &Memory,
        now: Cycle,
    ) -> Result<(), MachineError> {
        if let Some(first) = &self.first {
            return Err(first.clone().into());
        }
        if self.at_once { invariants(line, caches, memory, now) } else { Ok(()) }
    }

    /// Every line that any node holds, and everything that was ever written.
    pub(super) fn everything(&self, caches: &Coherence, memory: &Memory, now: Cycle) -> Result<(), MachineError> {
        for node in &caches.nodes {
            for level in [&node.data, &node.instructions, &node.second] {
                for (_, entry) in level.lines() {
                    invariants(entry.line, caches, memory, now)?;
                }
            }
        }
        let len = 1 << caches.shift;
        for address in self.image.addresses(len) {
            let (mut found, mut last) = ([0; LONGEST_LINE], [0; LONGEST_LINE]);
            read(address, &mut found[..len], caches, memory);
            self.image.read(address, &mut last[..len]);
            if found != last {
                let what = format!("the line at {address:#x} is not what was written last");
                return Err(InvariantError { what, cycle: now }.into());
            }
        }
        Ok(())
    }
}

fn invariants(line: u64, caches: &Coherence, memory: &Memory, cycle: Cycle) -> Result<(), MachineError> {
    let broken = |what: String| Err(InvariantError { what: format!("line {line:#x}: {what}"), cycle }.into());
    let mut copies: Vec<(usize, State, &[u8])> = Vec::new();
    for (number, node) in caches.nodes.iter().enumerate() {
        if let Some((at, slot)) = node.find(line)
            && let Some(entry) = node.level(at).entry(slot)
        {
            copies.push((number, entry.state, node.text(at, slot)));
        }
    }
    let owners: Vec<_> = copies.iter().filter(|(_, state, _)| matches!(state, State::O | State::M)).collect();
    if owners.len() > 1 {
        return broken(format!("{} owners", owners.len()));
    }
    if copies.len() > 1 && copies.iter().any(|(_, state, _)| *state == State::M) {
        return broken(format!("modified in one node, and {} copies", copies.len()));
    }
    if let Some((first, rest)) = copies.split_first()
        && let Some((other, ..)) = rest.iter().find(|(.., text)| *text != first.2)
    {
        return broken(format!("nodes {} and {other} hold different bytes", first.0));
    }
    // No node owns it or is about to: memory has the bytes of every copy
    let owned = memory.owned(line) || caches.nodes.iter().any(|node| node.state(line).owns());
    if let (false, Some((node, _, text))) = (owned, copies.first()) {
        let mut bytes = [0; LONGEST_LINE];
        memory.peek(line, &mut bytes[..text.len()]);
        if bytes[..text.len()] != **text {
            return broken(format!("node {node} and memory hold different bytes"));
        }
    }
    Ok(())
}

/// The bytes at `address` as the owner of each line has them, else memory.
pub(super) fn read(address: u64, out: &mut [u8], caches: &Coherence, memory: &Memory) {
    let len = 1usize << caches.shift;
    let mut done = 0;
    while done < out.len() {
        let at = address + done as u64;
        let line = at >> caches.shift;
        let start = at as usize & (len - 1);
        let n = (len - start).min(out.len() - done);
        let mut text = [0; LONGEST_LINE];
        match caches.nodes.iter().find(|node| node.state(line).owns()).and_then(|node| node.copy(line)) {
            Some(copy) => text = copy,
            None => memory.peek(line, &mut text[..len]),
        }
        out[done..done + n].copy_from_slice(&text[start..start + n]);
        done += n;
    }
}
