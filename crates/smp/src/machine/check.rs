//! Watching the machine: every value read is the one last written; one owner a line; copies agree.

use std::fmt;

use super::{Fault, Machine};
use crate::{access::Access, engine::Cycle, memory::Image, message::LONGEST_LINE, mosi::State, node::write_value};

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What is wrong.
    pub what: String,
    /// When it was seen.
    pub cycle: Cycle,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}: {}", self.cycle, self.what)
    }
}

/// Memory as a machine without caches would have it.
#[derive(Debug)]
pub(super) struct Shadow {
    image: Image,
    /// Reads that gave another value than the last one written.
    pub(super) wrong: u64,
    pub(super) first: Option<Broken>,
    excused: bool,
    /// Whether loads are compared: not where nodes see a write at different times, as a node may then read what was there
    /// before.
    at_once: bool,
}

impl Shadow {
    pub(super) fn new(image: &Image, at_once: bool) -> Shadow {
        Shadow { image: image.clone(), wrong: 0, first: None, excused: false, at_once }
    }

    /// A store happened.
    pub(super) fn written(&mut self, step: &Access) {
        let mut bytes = [0; LONGEST_LINE];
        write_value(&mut bytes, step.value, step.size);
        self.image.write(step.address, &bytes[..usize::from(step.size)]);
    }

    /// A load found `line`.
    pub(super) fn compare(&mut self, line: &[u8], step: &Access, shift: u32, cycle: Cycle) {
        if self.excused || !self.at_once {
            return;
        }
        let start = step.address as usize & ((1 << shift) - 1);
        let found = &line[start..start + usize::from(step.size)];
        let mut last = [0; LONGEST_LINE];
        let last = &mut last[..found.len()];
        self.image.read(step.address, last);
        if found != last {
            self.wrong += 1;
            if self.first.is_none() {
                let what =
                    format!("a load at {:#x} found {found:02x?} where {last:02x?} was written last", step.address);
                self.first = Some(Broken { what, cycle });
            }
        }
    }
}

impl Machine {
    /// Whether a load may see what was there before a write that is already done.
    pub(super) fn excuse(&mut self, excused: bool) {
        if let Some(shadow) = &mut self.shadow {
            shadow.excused = excused;
        }
    }

    /// Reads that gave another value than the last one written; `None` unless the machine is watched.
    pub fn wrong_reads(&self) -> Option<u64> {
        self.shadow.as_ref().map(|shadow| shadow.wrong)
    }

    /// After a transaction on `line`: invariants, where the machine is watched and nobody is on the bus.
    pub(super) fn check_line(&self, line: u64) -> Result<(), Fault> {
        let Some(shadow) = &self.shadow else { return Ok(()) };
        if self.attacker.is_some() {
            return Ok(());
        }
        if let Some(broken) = &shadow.first {
            return Err(Fault::Broken(broken.clone()));
        }
        if self.config.bus.skew > 0 { Ok(()) } else { self.invariants(line) }
    }

    fn invariants(&self, line: u64) -> Result<(), Fault> {
        let broken =
            |what: String| Err(Fault::Broken(Broken { what: format!("line {line:#x}: {what}"), cycle: self.now }));
        let mut copies: Vec<(usize, State, &[u8])> = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
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
        // Nobody owns it and nobody is about to: memory's bytes are those of every copy
        let owned = self.owners.of(line).is_some() || self.nodes.iter().any(|node| node.state(line).owns());
        if let (false, Some((node, _, text))) = (owned, copies.first()) {
            let mut bytes = [0; LONGEST_LINE];
            self.read_memory(line << self.shift, &mut bytes[..text.len()]);
            if bytes[..text.len()] != **text {
                return broken(format!("node {node} and memory hold different bytes"));
            }
        }
        Ok(())
    }

    /// Looks at every line that any node holds, and compares everything with what was last written.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_all(&self) -> Result<(), Fault> {
        for node in &self.nodes {
            for level in [&node.data, &node.instructions, &node.second] {
                for (_, entry) in level.lines() {
                    self.invariants(entry.line)?;
                }
            }
        }
        let len = self.config.machine.line;
        let Some(shadow) = &self.shadow else { return Ok(()) };
        for address in shadow.image.addresses(len) {
            let (mut found, mut last) = ([0; LONGEST_LINE], [0; LONGEST_LINE]);
            self.read(address, &mut found[..len]);
            shadow.image.read(address, &mut last[..len]);
            if found != last {
                let what = format!("the line at {address:#x} is not what was last written");
                return Err(Fault::Broken(Broken { what, cycle: self.now }));
            }
        }
        Ok(())
    }

    fn read_memory(&self, address: u64, out: &mut [u8]) {
        match &self.guard {
            Some(guard) => guard.peek(address, out),
            None => self.image.read(address, out),
        }
    }

    /// The bytes at `address` as a processor would read them now: from the owner, else from memory. For looking at results
    /// after a run.
    pub fn read(&self, address: u64, out: &mut [u8]) {
        let len = self.config.machine.line;
        let mut done = 0;
        while done < out.len() {
            let at = address + done as u64;
            let line = at >> self.shift;
            let start = at as usize & (len - 1);
            let n = (len - start).min(out.len() - done);
            let mut text = [0; LONGEST_LINE];
            match self.nodes.iter().find(|node| node.state(line).owns()).and_then(|node| node.copy(line)) {
                Some(copy) => text = copy,
                None => self.read_memory(line << self.shift, &mut text[..len]),
            }
            out[done..done + n].copy_from_slice(&text[start..start + n]);
            done += n;
        }
    }
}
