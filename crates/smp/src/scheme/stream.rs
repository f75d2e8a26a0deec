//! The stream of a link with integrity and data encryption (IDE): the timing of its MAC epochs, and the state of the
//! ciphers at both ends.

use std::collections::VecDeque;

use sealwright::{
    Aead, Isa, Suite,
    raw::{self, Raw},
};

use super::exchange::derive;
use crate::{engine::Cycle, message::Detector};

/// Bytes of a MAC.
pub(super) const MAC: u64 = 12;

/// The size of a message, or of an epoch, on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Slots or packets.
    pub(super) parts: u64,
    /// Cycles on the link.
    pub(super) cycles: u64,
}

/// The parameters in which kinds of links differ.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// A message with a line.
    pub(super) line: Size,
    /// A message without one.
    pub(super) command: Size,
    /// An epoch that is full.
    pub(super) epoch: Size,
    /// Cycles from the end of an epoch until its MAC is checked.
    pub(super) check_cycles: u64,
    /// Containment: whether messages are held until their MAC is verified.
    pub(super) contained: bool,
    /// Whether a sender ends the epoch after each message.
    pub(super) early: bool,
    /// Bytes that a MAC takes on the link, with its framing.
    pub(super) mac_bytes: u64,
    /// Bits of buffer in which a receiver holds messages for their MAC.
    pub(super) held_bits: u64,
}

/// One direction of a link: the state of its current epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) epoch: u64,
    parts: u64,
    closes: Cycle,
}

impl Stream {
    /// A message of `size` crosses, with its last byte at `now`; returns when its epoch is complete.
    pub(super) fn cross(&mut self, now: Cycle, size: Size, rules: &Rules) -> Cycle {
        let begins = now.saturating_sub(size.cycles);
        if rules.early || begins >= self.closes {
            self.epoch += 1;
            self.parts = 0;
            self.closes = if rules.early { now } else { begins + rules.epoch.cycles };
        }
        self.parts += size.parts;
        while !rules.early && (self.parts > rules.epoch.parts || now > self.closes) {
            // It ends in the next epoch, or in a later one, and waits for that epoch's MAC
            self.epoch += 1;
            self.parts = self.parts.saturating_sub(rules.epoch.parts).clamp(1, size.parts);
            self.closes = self.closes.min(now) + rules.epoch.cycles;
        }
        if self.parts == rules.epoch.parts {
            self.closes = self.closes.min(now);
        }
        self.closes
    }
}

/// Functional encryption: both ends of every stream.
pub(super) struct Ciphers {
    cipher: Box<dyn Raw>,
    mac: Box<dyn Aead>,
    senders: Vec<End>,
    receivers: Vec<End>,
    /// Epochs that are not verified yet: when each is due, its stream, and its number.
    unverified: VecDeque<(Cycle, usize, u64)>,
    /// Streams whose ends were found to differ, and when that is to be reported.
    failed: Vec<(Cycle, usize)>,
}

/// One end of a stream.
#[derive(Clone, Default)]
struct End {
    messages: u64,
    /// The authenticated data of each epoch that is not verified yet.
    epochs: VecDeque<(u64, Vec<u8>)>,
}

impl End {
    fn take_in(&mut self, epoch: u64, number: u64, text: &[u8]) {
        if self.epochs.back().is_none_or(|(last, _)| *last != epoch) {
            self.epochs.push_back((epoch, Vec::new()));
        }
        if let Some((_, whole)) = self.epochs.back_mut() {
            // Each end counts for itself, so a lost line makes their MACs differ
            whole.extend_from_slice(&self.messages.to_be_bytes());
            whole.extend_from_slice(&number.to_be_bytes());
            whole.extend_from_slice(text);
        }
        self.messages += 1;
    }
}

impl Ciphers {
    /// Both ends of `streams` streams, with keys from `seed`.
    pub(super) fn new(seed: u64, streams: usize) -> Ciphers {
        let keys = [derive::<32>(seed, "link key", 0), derive::<32>(seed, "link MAC key", 0)];
        Ciphers {
            cipher: raw::aes(Isa::best(), keys[0].as_ref()).expect("32 bytes are a key of AES"),
            mac: Suite::Aes256Gcm.aead(keys[1].as_ref()).expect("32 bytes are the suite's key length"),
            senders: vec![End::default(); streams],
            receivers: vec![End::default(); streams],
            unverified: VecDeque::new(),
            failed: Vec::new(),
        }
    }

    /// The sending end encrypts `text` of line `number`, in `epoch`.
    pub(super) fn seal(&mut self, stream: usize, epoch: u64, number: u64, text: &mut [u8]) {
        self.keystream(self.senders[stream].messages, stream, text);
        self.senders[stream].take_in(epoch, number, text);
    }

    /// The receiving end decrypts it.
    pub(super) fn open(&mut self, stream: usize, epoch: u64, number: u64, text: &mut [u8]) {
        let messages = self.receivers[stream].messages;
        self.receivers[stream].take_in(epoch, number, text);
        self.keystream(messages, stream, text);
    }

    fn keystream(&self, messages: u64, stream: usize, text: &mut [u8]) {
        let mut counter = [0; 16];
        counter[..2].copy_from_slice(&(stream as u16).to_le_bytes());
        // A line has fewer than 2^16 blocks
        counter[4..12].copy_from_slice(&messages.to_be_bytes());
        self.cipher.ctr(&counter, text);
    }

    /// The MAC that ends an epoch, as one end computes it.
    fn mac(&self, end: &End, stream: usize, epoch: u64) -> [u8; MAC as usize] {
        let mut iv = [0; 12];
        iv[0] = 0x80;
        iv[2..4].copy_from_slice(&(stream as u16).to_be_bytes());
        iv[4..].copy_from_slice(&epoch.to_be_bytes());
        let text = end.epochs.iter().find(|(number, _)| *number == epoch).map(|(_, text)| text.as_slice());
        let tag = self.mac.seal_in_place(&iv, text.unwrap_or_default(), &mut []).expect("an epoch is a short text");
        let mut mac = [0; MAC as usize];
        mac.copy_from_slice(&tag.as_ref()[..MAC as usize]);
        mac
    }

    /// Whether both ends of a stream compute the same MAC for an epoch; the epoch is then forgotten.
    pub(super) fn genuine(&mut self, stream: usize, epoch: u64) -> bool {
        let genuine =
            self.mac(&self.senders[stream], stream, epoch) == self.mac(&self.receivers[stream], stream, epoch);
        for end in [&mut self.senders[stream], &mut self.receivers[stream]] {
            end.epochs.retain(|(number, _)| *number != epoch);
        }
        genuine
    }

    /// Schedules the verification of an epoch at `due`; returns `due`, or `None` if the epoch was scheduled before.
    pub(super) fn watch(&mut self, due: Cycle, stream: usize, epoch: u64) -> Option<Cycle> {
        if self.unverified.iter().any(|(_, other, number)| (*other, *number) == (stream, epoch)) {
            return None;
        }
        self.unverified.push_back((due, stream, epoch));
        Some(due)
    }

    /// Schedules the report at `due` that the ends of a stream differ; returns `due`.
    pub(super) fn fail(&mut self, due: Cycle, stream: usize) -> Cycle {
        self.failed.push((due, stream));
        due
    }

    /// Verifies all epochs that are due at `now`; the error is the first stream whose ends differ.
    pub(super) fn verify(&mut self, now: Cycle) -> Result<(), (usize, Detector)> {
        if let Some((_, stream)) = self.failed.iter().find(|(due, _)| *due <= now) {
            return Err((*stream, Detector::Mac));
        }
        while let Some(place) = self.unverified.iter().position(|(due, ..)| *due <= now) {
            let Some((_, stream, epoch)) = self.unverified.remove(place) else { break };
            if !self.genuine(stream, epoch) {
                return Err((stream, Detector::Mac));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(epoch: Size) -> Rules {
        let (line, command) = (Size { parts: 9, cycles: 16 }, Size { parts: 1, cycles: 2 });
        Rules { line, command, epoch, check_cycles: 6, contained: true, early: false, mac_bytes: 16, held_bits: 0 }
    }

    #[test]
    fn a_line_longer_than_epochs_waits_for_the_one_that_it_ends_in() {
        let (rules, mut stream) = (rules(Size { parts: 4, cycles: 7 }), Stream::default());
        // From 84 on, epochs end at 91, 98 and 105: two are full, and the third has one of the nine parts
        assert_eq!(stream.cross(100, rules.line, &rules), 105);
        assert_eq!((stream.epoch, stream.parts), (3, 1));
        for now in (116..400).step_by(16) {
            assert!(stream.cross(now, rules.line, &rules) >= now, "at {now}");
        }
    }

    #[test]
    fn a_line_within_an_epoch_waits_for_its_end_or_until_it_is_full() {
        let (rules, mut stream) = (rules(Size { parts: 20, cycles: 34 }), Stream::default());
        assert_eq!(stream.cross(16, rules.line, &rules), 34);
        assert_eq!(stream.cross(32, rules.line, &rules), 34);
        // Seven parts of the third line are in the next epoch
        assert_eq!((stream.cross(48, rules.line, &rules), stream.epoch, stream.parts), (68, 2, 7));
    }
}
