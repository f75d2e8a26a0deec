//! A session and its current connection to the relay: seals and opens frames, and replaces the connection when it
//! breaks.

use std::{io, time::Instant};

use mio::Registry;
use sealwright_session::{Client, SessionError};

use crate::{
    address::Address,
    client::{
        datagrams::BrokenError,
        identity::Session,
        transport::{Route, Transport},
    },
};

/// One session over one transport at a time.
pub(crate) struct Channel {
    client: Client,
    me: Address,
    route: Route,
    transport: Transport,
    buffer: Vec<u8>,
    /// When the last authentic frame arrived.
    pub(crate) heard: Instant,
    /// Frames of clients other than the peer arrived.
    pub(crate) other_senders: bool,
    /// Since when a probe to ourselves has been unanswered.
    pub(crate) probe_sent: Option<Instant>,
}

impl Channel {
    pub(crate) fn connect(session: Session, route: Route, registry: &Registry) -> io::Result<Channel> {
        let transport = Transport::connect(route, registry)?;
        let now = Instant::now();
        let mut channel = Channel {
            client: session.client,
            me: session.address,
            route,
            transport,
            buffer: Transport::buffer(),
            heard: now,
            other_senders: false,
            probe_sent: None,
        };
        channel.probe(now);
        Ok(channel)
    }

    /// Opens a new connection for the same session.
    pub(crate) fn reconnect(&mut self, registry: &Registry) -> io::Result<()> {
        self.transport.leave(registry);
        self.transport = Transport::connect(self.route, registry)?;
        self.probe(Instant::now());
        Ok(())
    }

    /// Switches to another session, over a new connection.
    pub(crate) fn renew(&mut self, session: Session, route: Route, registry: &Registry) -> io::Result<()> {
        (self.client, self.me, self.route) = (session.client, session.address, route);
        self.reconnect(registry)
    }

    /// Sends a frame to ourselves. It binds this connection to our session at the relay, and its return shows that the
    /// connection works.
    pub(crate) fn probe(&mut self, now: Instant) {
        self.probe_sent = Some(now);
        // A key that is used up is noticed as soon as there is data to send
        let _ = self.send(self.me, &[]);
    }

    pub(crate) fn blocks_left(&self) -> u64 {
        self.client.blocks_left()
    }

    pub(crate) fn queued(&self) -> usize {
        self.transport.queued()
    }

    /// Seals a message and queues it.
    pub(crate) fn send(&mut self, to: Address, message: &[u8]) -> Result<(), SessionError> {
        let frame = self.client.seal(to.session, &[&to.generation.to_be_bytes(), message].concat())?;
        self.transport.queue(frame);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), BrokenError> {
        self.transport.flush()
    }

    /// Opens all frames that arrived, and passes the messages of `peer` to `take`.
    pub(crate) fn receive(&mut self, peer: Option<Address>, mut take: impl FnMut(&[u8])) -> Result<(), BrokenError> {
        let Channel { client, me, heard, other_senders, probe_sent, .. } = self;
        self.transport.read(&mut self.buffer, |frame| {
            // Forged and replayed frames are ignored
            let Ok((session, data)) = client.open(frame) else { return };
            let Some((generation, message)) = data.split_first_chunk() else { return };
            let from = Address { session, generation: u32::from_be_bytes(*generation) };
            *heard = Instant::now();
            *probe_sent = None;
            if Some(from) == peer {
                take(message);
            } else if from != *me {
                *other_senders = true;
            }
        })
    }
}
