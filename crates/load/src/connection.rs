//! A connection of the generator, which carries the packets of a fixed set of clients.

use sealwright_relay::frame_stream::FrameStream;

use crate::in_flight::InFlight;

/// The destination of packets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// Each client sends one packet to itself, after which the relay knows the connection of every client.
    Itself,
    /// A random client.
    Random,
}

/// A connection to the relay.
pub(crate) struct Connection {
    pub(crate) stream: FrameStream,
    /// It carries the clients `first`, `first + step`, ... below the number of clients.
    pub(crate) first: u32,
    pub(crate) step: u32,
    pub(crate) next: u32,
    pub(crate) in_flight: InFlight,
    /// Bad frames (forged or replayed) that were sent on it.
    pub(crate) bad: u32,
    pub(crate) broken: bool,
}

impl Connection {
    /// Whether each of its clients has sent a packet to itself, or the connection is broken.
    pub(crate) fn is_bound(&self) -> bool {
        self.broken || self.next == u32::MAX
    }

    /// Whether another packet may be sent on it.
    pub(crate) fn takes(&self, to: To) -> bool {
        !self.broken && self.in_flight.has_room() && !(to == To::Itself && self.is_bound())
    }
}
