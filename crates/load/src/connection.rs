//! A connection of the generator, and whose packets it carries.

use sealwright_relay::frame_stream::FrameStream;

use crate::in_flight::InFlight;

/// Where packets go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// Each client sends to itself once: afterwards the relay knows the connection of every client.
    Itself,
    /// A random client.
    Random,
}

/// A connection to the relay.
pub(crate) struct Connection {
    pub(crate) stream: FrameStream,
    /// Its clients are `first`, `first + step`, ... below the number of clients.
    pub(crate) first: u32,
    pub(crate) step: u32,
    pub(crate) next: u32,
    pub(crate) in_flight: InFlight,
    /// Bad frames that it carried.
    pub(crate) bad: u32,
    pub(crate) broken: bool,
}

impl Connection {
    /// Whether each of its clients has sent a packet to itself, or none can.
    pub(crate) fn is_bound(&self) -> bool {
        self.broken || self.next == u32::MAX
    }

    /// Whether it takes another packet.
    pub(crate) fn takes(&self, to: To) -> bool {
        !self.broken && self.in_flight.has_room() && !(to == To::Itself && self.is_bound())
    }
}
