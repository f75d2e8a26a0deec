//! Bindings: where frames for a session are sent, packed into four bytes.

use crate::data::connection::Handle;

/// The bit that distinguishes peers: no handle has it.
const PEER: u32 = 1 << 31;
const _: () = assert!(Handle::BITS == 31);

/// The connection or peer that the last authentic frame of a session came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binding(u32);

/// A binding, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// No frame has arrived yet.
    None,
    /// A connection, which may have ended since.
    Connection(Handle),
    /// The peer that sent a datagram.
    Peer(u32),
}

impl Binding {
    pub(crate) fn connection(handle: Handle) -> Binding {
        Binding(handle.packed())
    }

    pub(crate) fn peer(peer: u32) -> Binding {
        Binding(PEER | peer)
    }

    pub(crate) fn route(self) -> Route {
        match self.0 {
            0 => Route::None,
            handle if handle & PEER == 0 => Route::Connection(Handle::unpacked(handle)),
            peer => Route::Peer(peer & !PEER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_survive_packing() {
        for use_number in [0, 1, 8190, 8191, 8192, u32::MAX] {
            let handle = Handle::new(Handle::SLOTS - 1, use_number);
            assert_eq!(Binding::connection(handle).route(), Route::Connection(handle));
        }
        assert_eq!((Binding::peer(0).route(), Binding::peer(7).route()), (Route::Peer(0), Route::Peer(7)));
        assert_eq!(Binding::default().route(), Route::None);
    }
}
