//! Packets of a connection that are under way, each in a lane of its own, so that every one is accounted for once.

/// The lanes of one connection.
#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    free: Vec<u16>,
    next: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    number: u32,
    sent: Option<u64>,
}

impl Lanes {
    pub(crate) fn new(window: usize) -> Lanes {
        let window = window.clamp(1, usize::from(u16::MAX));
        Lanes { lanes: vec![Lane::default(); window], free: (0..window as u16).rev().collect(), next: 0 }
    }

    pub(crate) fn is_free(&self) -> bool {
        !self.free.is_empty()
    }

    pub(crate) fn under_way(&self) -> usize {
        self.lanes.len() - self.free.len()
    }

    /// Takes a lane for a packet that was due at `now`: the lane and the packet's number.
    pub(crate) fn take(&mut self, now: u64) -> Option<(u16, u32)> {
        let lane = self.free.pop()?;
        self.next = self.next.wrapping_add(1);
        self.lanes[usize::from(lane)] = Lane { number: self.next, sent: Some(now) };
        Some((lane, self.next))
    }

    /// A packet came back: when it was due. Nothing if it was never sent, or came already.
    pub(crate) fn back(&mut self, lane: u16, number: u32) -> Option<u64> {
        let place = self.lanes.get_mut(usize::from(lane)).filter(|place| place.number == number)?;
        let sent = place.sent.take()?;
        self.free.push(lane);
        Some(sent)
    }

    /// Gives up on all that are under way: how many.
    pub(crate) fn give_up(&mut self) -> u64 {
        let lost = self.under_way();
        for (lane, place) in self.lanes.iter_mut().enumerate() {
            if place.sent.take().is_some() {
                self.free.push(lane as u16);
            }
        }
        lost as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_comes_back_once() {
        let mut lanes = Lanes::new(2);
        let (a, first) = lanes.take(10).expect("free");
        let (b, second) = lanes.take(20).expect("free");
        assert!(!lanes.is_free() && lanes.take(30).is_none());
        assert_eq!(lanes.back(a, second), None, "the number of another lane");
        assert_eq!(lanes.back(9, first), None, "no such lane");
        assert_eq!(lanes.back(a, first), Some(10));
        assert_eq!(lanes.back(a, first), None, "a replay");
        assert_eq!((lanes.under_way(), lanes.give_up()), (1, 1));
        assert_eq!(lanes.back(b, second), None, "given up");
        assert!(lanes.take(40).is_some() && lanes.take(50).is_some());
    }
}
