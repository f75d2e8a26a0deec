//! The protocol's invariants: a line has one owner, and all copies agree.

use super::{
    caches::Caches,
    checker::{Checker, InvariantError},
    directory::Directory,
    memory::Memory,
    outcome::MachineError,
};
use crate::{engine::Cycle, message::LONGEST_LINE, mosi::State};

/// After a transaction on `line`, without an attacker: the first wrong read, and the protocol's invariants.
pub(super) fn transaction(
    checker: &Checker,
    line: u64,
    caches: &Caches,
    memory: &Memory,
    directory: Option<&Directory>,
    now: Cycle,
) -> Result<(), MachineError> {
    if let Some(first) = &checker.first {
        return Err(first.clone().into());
    }
    if let Some(directory) = directory {
        known(line, caches, directory, now)?;
    }
    if checker.at_once() { invariants(line, caches, memory, now) } else { Ok(()) }
}

/// Every node that holds a line is in the directory.
fn known(line: u64, caches: &Caches, directory: &Directory, cycle: Cycle) -> Result<(), MachineError> {
    let holders = directory.holders(line);
    for (number, node) in caches.nodes.iter().enumerate() {
        let state = node.state(line);
        if state.stable() && state != State::I && !holders.has(number) {
            let what = format!("line {line:#x}: node {number} holds it in {state:?}, and the directory does not know");
            return Err(InvariantError { what, cycle }.into());
        }
    }
    Ok(())
}

/// Every line that any node holds, and everything that was ever written.
pub(super) fn everything(checker: &Checker, caches: &Caches, memory: &Memory, now: Cycle) -> Result<(), MachineError> {
    for node in &caches.nodes {
        for level in [&node.data, &node.instructions, &node.second] {
            for (_, entry) in level.lines() {
                invariants(entry.line, caches, memory, now)?;
            }
        }
    }
    match lost(checker, caches, memory).next() {
        Some(address) => {
            let what = format!("the line at {address:#x} is not what was written last");
            Err(InvariantError { what, cycle: now }.into())
        }
        None => Ok(()),
    }
}

/// Addresses of lines that neither their owner nor memory has as they were written last.
pub(super) fn lost(checker: &Checker, caches: &Caches, memory: &Memory) -> impl Iterator<Item = u64> {
    let len = 1 << caches.shift;
    let differs = move |(address, last): (u64, [u8; LONGEST_LINE])| {
        let mut found = [0; LONGEST_LINE];
        read(None, address, &mut found[..len], caches, memory);
        (found != last).then_some(address)
    };
    checker.image.lines(len).filter_map(differs)
}

fn invariants(line: u64, caches: &Caches, memory: &Memory, cycle: Cycle) -> Result<(), MachineError> {
    let broken = |what: String| Err(InvariantError { what: format!("line {line:#x}: {what}"), cycle }.into());
    let mut copies: Vec<(usize, State, &[u8])> = Vec::new();
    for (number, node) in caches.nodes.iter().enumerate() {
        if let Some((at, slot)) = node.find(line)
            && let Some(entry) = node.level(at).entry(slot)
        {
            copies.push((number, entry.state, node.text(at, slot)));
        }
    }
    let owners: Vec<_> =
        copies.iter().filter(|(_, state, _)| matches!(state, State::O | State::M | State::E)).collect();
    if owners.len() > 1 {
        return broken(format!("{} owners", owners.len()));
    }
    if copies.len() > 1 && copies.iter().any(|(_, state, _)| matches!(state, State::M | State::E)) {
        return broken(format!("modified or exclusive in one node, and {} copies", copies.len()));
    }
    if let Some((first, rest)) = copies.split_first()
        && let Some((other, ..)) = rest.iter().find(|(.., text)| *text != first.2)
    {
        return broken(format!("nodes {} and {other} hold different bytes", first.0));
    }
    // No node owns it or is about to: memory has the bytes of every copy
    let owned = memory.owner(line).is_some() || caches.nodes.iter().any(|node| node.state(line).owns());
    if let (false, Some((node, _, text))) = (owned, copies.first()) {
        let mut bytes = [0; LONGEST_LINE];
        memory.peek(line, &mut bytes[..text.len()]);
        if bytes[..text.len()] != **text {
            return broken(format!("node {node} and memory hold different bytes"));
        }
    }
    Ok(())
}

/// The bytes at `address` as `node` has them, if there is one and it has a copy of the line; else as the line's owner
/// has them, else as memory has them.
pub(super) fn read(node: Option<usize>, address: u64, out: &mut [u8], caches: &Caches, memory: &Memory) {
    let len = 1usize << caches.shift;
    let mut done = 0;
    while done < out.len() {
        let at = address + done as u64;
        let line = at >> caches.shift;
        let start = at as usize & (len - 1);
        let n = (len - start).min(out.len() - done);
        let mut text = [0; LONGEST_LINE];
        let own = node.and_then(|node| caches.nodes[node].copy(line));
        let nodes = || caches.present(line).iter().map(|node| &caches.nodes[node]);
        let owner = || nodes().find(|node| node.state(line).owns()).and_then(|node| node.copy(line));
        match own.or_else(owner) {
            Some(copy) => text = copy,
            None => memory.peek(line, &mut text[..len]),
        }
        out[done..done + n].copy_from_slice(&text[start..start + n]);
        done += n;
    }
}
