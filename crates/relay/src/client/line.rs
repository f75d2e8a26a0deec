//! A session's connection: sealed out, opened in, made anew when it breaks.

use std::{io, time::Instant};

use mio::Registry;
use sealwright_session::{Client, SessionError};

use crate::client::wire::{Broken, Route, Wire};

/// One session over one wire at a time.
pub(crate) struct Line {
    client: Client,
    route: Route,
    wire: Wire,
    buffer: Vec<u8>,
    /// When an authentic frame came last.
    pub(crate) heard: Instant,
    /// Others than the peer spoke.
    pub(crate) strangers: bool,
    /// A greeting to ourselves is under way since then.
    pub(crate) greeted: Option<Instant>,
}

impl Line {
    pub(crate) fn connect(client: Client, route: Route, registry: &Registry) -> io::Result<Line> {
        let wire = Wire::connect(route, registry)?;
        let now = Instant::now();
        let mut line =
            Line { client, route, wire, buffer: Wire::buffer(), heard: now, strangers: false, greeted: None };
        line.greet(now);
        Ok(line)
    }

    /// Another connection for the same session.
    pub(crate) fn again(&mut self, registry: &Registry) -> io::Result<()> {
        self.wire.leave(registry);
        self.wire = Wire::connect(self.route, registry)?;
        self.greet(Instant::now());
        Ok(())
    }

    /// Other keys, and another connection.
    pub(crate) fn renew(&mut self, client: Client, route: Route, registry: &Registry) -> io::Result<()> {
        (self.client, self.route) = (client, route);
        self.again(registry)
    }

    /// A frame to ourselves: when it comes back, the relay knows the way to us.
    pub(crate) fn greet(&mut self, now: Instant) {
        self.greeted = Some(now);
        // A key that is used up shows when there is something to say
        let _ = self.say(self.client.session(), &[]);
    }

    pub(crate) fn blocks_left(&self) -> u64 {
        self.client.blocks_left()
    }

    pub(crate) fn queued(&self) -> usize {
        self.wire.queued()
    }

    pub(crate) fn say(&mut self, to: u32, message: &[u8]) -> Result<(), SessionError> {
        let frame = self.client.seal(to, message)?;
        self.wire.queue(frame);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Broken> {
        self.wire.flush()
    }

    /// Hands every message that came from `peer` to `take`.
    pub(crate) fn hear(&mut self, peer: u32, mut take: impl FnMut(&[u8])) -> Result<(), Broken> {
        let (strangers, me) = (&mut self.strangers, self.client.session());
        let (client, heard, greeted) = (&mut self.client, &mut self.heard, &mut self.greeted);
        self.wire.read(&mut self.buffer, |frame| {
            // Forged and replayed frames are passed over
            if let Ok((from, message)) = client.open(frame) {
                *heard = Instant::now();
                *greeted = None;
                if from == peer {
                    take(message);
                } else if from != me {
                    *strangers = true;
                }
            }
        })
    }
}
