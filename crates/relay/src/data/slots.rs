//! What a worker knows of each of its sessions beside its keys: where it can be reached, whose it is, and what it may.

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

/// Where a frame came from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Connection(Handle),
    Datagram(Ends),
}

impl Source {
    /// The connection that can be told to wait.
    pub(crate) fn connection(self, worker: usize) -> Option<ConnectionId> {
        match self {
            Source::Connection(handle) => Some(ConnectionId { worker, handle }),
            Source::Datagram(_) => None,
        }
    }
}

/// By slot.
pub(crate) struct Slots {
    /// Where each session was last heard.
    bindings: Vec<Binding>,
    /// The generation of each session's number; 0 until a client is admitted by address.
    generations: Vec<u32>,
    /// What the policy says of each session's name; empty while it forbids nothing.
    classes: Vec<Class>,
    /// Frames of each session, if they are limited.
    shares: Option<FrameShares>,
}

impl Slots {
    pub(crate) fn new(slots: u32, shares: Option<FrameShares>) -> Slots {
        let slots = slots as usize;
        Slots { bindings: vec![Binding::default(); slots], generations: vec![0; slots], classes: Vec::new(), shares }
    }

    pub(crate) fn len(&self) -> usize {
        self.bindings.len()
    }

    pub(crate) fn generation(&self, slot: u32) -> Option<u32> {
        self.generations.get(slot as usize).copied()
    }

    /// The slot has another owner, or the same one anew.
    pub(crate) fn set_owner(&mut self, slot: u32, address: Address, class: Class) {
        self.generations[slot as usize] = address.generation;
        if self.classes.is_empty() && class != Class::default() {
            self.classes = vec![Class::default(); self.bindings.len()];
        }
        if let Some(there) = self.classes.get_mut(slot as usize) {
            *there = class;
        }
    }

    /// Another policy: the classes of these sessions. All others may speak to nobody until they are opened.
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

    /// Takes a frame of a session's share; false if it has none left.
    #[inline]
    pub(crate) fn take_share(&mut self, ctx: &Context, slot: u32) -> bool {
        self.shares.as_mut().is_none_or(|shares| shares.take(slot, ctx.now))
    }

    /// Where frames for this session go.
    pub(crate) fn route(&self, slot: u32) -> Route {
        self.bindings.get(slot as usize).map_or(Route::None, |binding| binding.route())
    }

    /// From now on, frames for this session go where this one came from.
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
            // There are no datagrams without a socket
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

    /// Whether a session of this generation has a connection, or an address for datagrams.
    pub(crate) fn is_reachable(&self, io: &Io, slot: u32, generation: u32) -> bool {
        self.generation(slot) == Some(generation)
            && match self.route(slot) {
                Route::None => false,
                Route::Connection(handle) => io.is_open(handle),
                Route::Peer(_) => true,
            }
    }
}

/// A session does not use this binding any more.
fn release(ctx: &Context, io: &mut Io, binding: Binding) {
    match (binding.route(), &mut io.udp) {
        (Route::Connection(handle), _) => io.connections.unbind(handle, ctx.now),
        (Route::Peer(peer), Some(udp)) => udp.release(peer),
        _ => {}
    }
}
