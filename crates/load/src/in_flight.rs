//! The packets in flight on a connection. Each occupies a slot and has a number, so that every packet is counted
//! exactly once: as arrived, late or lost.

use std::collections::HashSet;

/// The classification of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It was in flight. The value is the time when it was due.
    InTime(u64),
    /// It was given up before, and therefore counted as lost.
    Late,
    /// It was never sent, was meant for another session, or has already arrived.
    Wrong,
}

/// The packets in flight on one connection.
#[derive(Debug)]
pub(crate) struct InFlight {
    slots: Vec<Slot>,
    free: Vec<u16>,
    next: u32,
    /// Slot and number of packets that were given up. Each may still arrive, once.
    abandoned: HashSet<(u16, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    number: u32,
    /// The session that the packet was sent to.
    to: u32,
    /// When the packet was due; `None` after it arrived.
    due: Option<u64>,
}

impl InFlight {
    pub(crate) fn new(window: usize) -> InFlight {
        let window = window.clamp(1, usize::from(u16::MAX));
        InFlight {
            slots: vec![Slot::default(); window],
            free: (0..window as u16).rev().collect(),
            next: 0,
            abandoned: HashSet::new(),
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Takes a slot for a packet to session `to` that was due at `due`. Returns the slot and the packet's number.
    pub(crate) fn start(&mut self, due: u64, to: u32) -> Option<(u16, u32)> {
        let slot = self.free.pop()?;
        self.next = self.next.wrapping_add(1);
        self.slots[usize::from(slot)] = Slot { number: self.next, to, due: Some(due) };
        Some((slot, self.next))
    }

    /// Records that a packet arrived for session `to`.
    pub(crate) fn finish(&mut self, slot: u16, number: u32, to: u32) -> Arrival {
        let entry = self.slots.get_mut(usize::from(slot)).filter(|entry| entry.number == number && entry.to == to);
        if let Some(due) = entry.and_then(|entry| entry.due.take()) {
            self.free.push(slot);
            return Arrival::InTime(due);
        }
        if self.abandoned.remove(&(slot, number)) { Arrival::Late } else { Arrival::Wrong }
    }

    /// Gives up on all packets in flight. Returns how many there were.
    pub(crate) fn abandon(&mut self) -> u64 {
        let lost = self.len();
        for (slot, entry) in self.slots.iter_mut().enumerate() {
            if entry.due.take().is_some() {
                self.abandoned.insert((slot as u16, entry.number));
                self.free.push(slot as u16);
            }
        }
        lost as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_arrives_once() {
        let mut packets = InFlight::new(2);
        let (a, first) = packets.start(10, 7).expect("room");
        let (b, second) = packets.start(20, 8).expect("room");
        assert!(!packets.has_room() && packets.start(30, 7).is_none());
        assert_eq!(packets.finish(a, second, 8), Arrival::Wrong, "the number of another slot");
        assert_eq!(packets.finish(9, first, 7), Arrival::Wrong, "no such slot");
        assert_eq!(packets.finish(a, first, 8), Arrival::Wrong, "somebody else has it");
        assert_eq!(packets.finish(a, first, 7), Arrival::InTime(10));
        assert_eq!(packets.finish(a, first, 7), Arrival::Wrong, "a replay");
        assert_eq!((packets.len(), packets.abandon()), (1, 1));
        assert!(packets.start(40, 7).is_some() && packets.start(50, 7).is_some());
        // Another packet occupies its slot by now
        assert_eq!(packets.finish(a, second, 8), Arrival::Wrong, "it was never in this slot");
        assert_eq!(packets.finish(b, second, 8), Arrival::Late, "it was given up");
        assert_eq!(packets.finish(b, second, 8), Arrival::Wrong, "a replay of it");
        assert_eq!(packets.finish(a, first, 7), Arrival::Wrong, "a replay of one that was in time");
        assert_eq!((packets.len(), packets.abandon()), (2, 2), "those that are in flight");
    }
}
