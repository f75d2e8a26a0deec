//! The state of each session beside its keys: its binding, its owner, its class and its rate limit.

use crate::{
    address::Address,
    data::{
        binding::{Binding, Route},
        connection::{ConnectionId, Handle},
        context::Context,
        io::Io,
        shares::FrameShares,
        udp::Ends,
    },
    policy::Class,
};

/// All bindings are checked in this many turns, of which there are twenty per second. A handle repeats only after 8,191
/// uses of its slot, during which hundreds of other slots were used as often, so a stale binding is found long before.
const CHECK_TURNS: usize = 256;

/// Where a frame came from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Connection(Handle),
    Datagram(Ends),
}

impl Source {
    /// The connection that can be made to wait; datagrams have none.
    pub(crate) fn connection(self, worker: usize) -> Option<ConnectionId> {
        match self {
            Source::Connection(handle) => Some(ConnectionId { worker, handle }),
            Source::Datagram(_) => None,
        }
    }
}

/// The state of a worker's sessions, by slot.
pub(crate) struct Slots {
    /// The binding of each session: where its last authentic frame came from.
    bindings: Vec<Binding>,
    /// The generation of each session's number; 0 until a client is admitted by address.
    generations: Vec<u32>,
    /// The class of each session's name; empty while the policy forbids nothing.
    classes: Vec<Class>,
    /// The rate limit of each session's frames, if there is one.
    shares: Option<FrameShares>,
    /// The slot at which the search for stale bindings continues.
    next: usize,
}

impl Slots {
    pub(crate) fn new(slots: u32, shares: Option<FrameShares>) -> Slots {
        let slots = slots as usize;
        Slots {
            bindings: vec![Binding::default(); slots],
            generations: vec![0; slots],
            classes: Vec::new(),
            shares,
            next: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bindings.len()
    }

    pub(crate) fn generation(&self, slot: u32) -> Option<u32> {
        self.generations.get(slot as usize).copied()
    }

    /// The slot got a new owner, or the same one again.
    pub(crate) fn set_owner(&mut self, slot: u32, address: Address, class: Class) {
        self.generations[slot as usize] = address.generation;
        if self.classes.is_empty() && class != Class::default() {
            self.classes = vec![Class::default(); self.bindings.len()];
        }
        if let Some(there) = self.classes.get_mut(slot as usize) {
            *there = class;
        }
    }

    /// Applies another policy: the classes of these sessions. All others get `nobody` until they are opened.
    pub(crate) fn set_classes(&mut self, classes: &[(u32, Class)], nobody: Class) {
        self.classes = if nobody == Class::default() { Vec::new() } else { vec![nobody; self.bindings.len()] };
        for &(slot, class) in classes {
            if let Some(there) = self.classes.get_mut(slot as usize) {
                *there = class;
            }
        }
    }

    pub(crate) fn class(&self, slot: u32) -> Class {
        self.classes.get(slot as usize).copied().unwrap_or_default()
    }

    /// Takes one frame from a session's share; false if none is left.
    #[inline]
    pub(crate) fn take_share(&mut self, ctx: &Context, slot: u32) -> bool {
        self.shares.as_mut().is_none_or(|shares| shares.take(slot, ctx.now))
    }

    /// Where frames for this session go.
    pub(crate) fn route(&self, slot: u32) -> Route {
        self.bindings.get(slot as usize).map_or(Route::None, |binding| binding.route())
    }

    /// Binds the session to where this frame came from.
    #[inline]
    pub(crate) fn bind(&mut self, ctx: &Context, io: &mut Io, slot: u32, source: Source) {
        let before = self.bindings[slot as usize];
        let now = match (source, &mut io.udp) {
            (Source::Connection(handle), _) => Binding::connection(handle),
            (Source::Datagram(ends), Some(udp)) => {
                if matches!(before.route(), Route::Peer(peer) if udp.is_at(peer, ends)) {
                    return;
                }
                Binding::peer(udp.acquire(ends))
            }
            // Without a socket there are no datagrams
            (Source::Datagram(_), None) => return,
        };
        if now == before {
            return;
        }
        if let Route::Connection(handle) = now.route() {
            io.connections.bind(handle);
        }
        release(ctx, io, before);
        self.bindings[slot as usize] = now;
    }

    pub(crate) fn unbind(&mut self, ctx: &Context, io: &mut Io, slot: u32) {
        release(ctx, io, std::mem::take(&mut self.bindings[slot as usize]));
    }

    /// Forgets stale bindings, in one part of the sessions per call, so that all are checked long before a handle
    /// repeats.
    pub(crate) fn forget_lost(&mut self, io: &Io) {
        let all = self.bindings.len();
        for _ in 0..all.div_ceil(CHECK_TURNS) {
            let binding = &mut self.bindings[self.next];
            if matches!(binding.route(), Route::Connection(handle) if !io.is_open(handle)) {
                *binding = Binding::default();
            }
            self.next = (self.next + 1) % all;
        }
    }

    /// Whether the session still has this generation and is bound to a live connection or a datagram peer.
    pub(crate) fn is_reachable(&self, io: &Io, slot: u32, generation: u32) -> bool {
        self.generation(slot) == Some(generation)
            && match self.route(slot) {
                Route::None => false,
                Route::Connection(handle) => io.reaches(handle),
                Route::Peer(_) => true,
            }
    }
}

/// A session is no longer bound to this connection or peer.
fn release(ctx: &Context, io: &mut Io, binding: Binding) {
    match (binding.route(), &mut io.udp) {
        (Route::Connection(handle), _) => io.connections.unbind(handle, ctx.now),
        (Route::Peer(peer), Some(udp)) => udp.release(peer),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{net::TcpListener, sync::Arc, time::Instant};

    use mio::{Poll, net::TcpStream};

    use super::*;
    use crate::{
        data::{connection::Connection, settings::Settings, shares::Addresses},
        frame_stream::FrameStream,
    };

    fn io() -> Io {
        Io::new(Poll::new().unwrap(), None, None, (&Settings::default(), 1)).unwrap()
    }

    /// Adds a connection that no session is bound to.
    fn insert(io: &mut Io, handle: Handle) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (place, _) = Arc::<Addresses>::default().place([127, 0, 0, 1].into());
        let stream = FrameStream::resumed(stream, Vec::new());
        io.connections.insert(Connection::new(stream, handle, place, true, Instant::now()));
    }

    /// A stranger's connection has the same handle as one that a session was bound to long ago.
    #[test]
    fn a_handle_that_comes_again_reaches_no_session() {
        let (mut io, mut slots) = (io(), Slots::new(4, None));
        let first = io.connections.reserve().unwrap();
        slots.bindings[3] = Binding::connection(first);
        io.connections.release(first);
        // Its slot is used 8,191 times, and the slots that rest beside it as often
        loop {
            let next = io.connections.reserve().unwrap();
            if next == first {
                break;
            }
            io.connections.release(next);
        }
        insert(&mut io, first);
        assert!(io.is_open(first) && !slots.is_reachable(&io, 3, 0));
        // Nor once the new connection has a session of its own: by then the stale binding has been forgotten
        io.connections.remove(first);
        (0..CHECK_TURNS).for_each(|_| slots.forget_lost(&io));
        insert(&mut io, first);
        io.connections.bind(first);
        slots.bindings[2] = Binding::connection(first);
        assert_eq!([2, 3].map(|slot| slots.is_reachable(&io, slot, 0)), [true, false]);
    }

    /// Every session is checked in turn, and those whose connections exist keep their bindings.
    #[test]
    fn connections_that_are_gone_are_forgotten() {
        let (mut io, many) = (io(), 3 * CHECK_TURNS as u32 + 7);
        let mut slots = Slots::new(many, None);
        let gone = Handle::new(5, 1);
        slots.bindings.iter_mut().for_each(|binding| *binding = Binding::connection(gone));
        let there = io.connections.reserve().unwrap();
        insert(&mut io, there);
        slots.bindings[700] = Binding::connection(there);
        slots.bindings[701] = Binding::peer(2);
        (0..CHECK_TURNS).for_each(|_| slots.forget_lost(&io));
        let kept: Vec<u32> = (0..many).filter(|slot| slots.route(*slot) != Route::None).collect();
        assert_eq!(
            (kept, slots.route(700), slots.route(701)),
            (vec![700, 701], Route::Connection(there), Route::Peer(2))
        );
        // A table without sessions has nothing to check
        Slots::new(0, None).forget_lost(&io);
    }
}
