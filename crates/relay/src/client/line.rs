//! A session's connection: sealed out, opened in, made anew when it breaks.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use sealwright_session::frame::{HEADER, Header};
use sealwright_session::{Client, Refused};

use crate::data::{Connection, Got, Handle, READ};

/// The token under which the connection is registered.
pub(crate) const LINE: Token = Token(1);

const CONNECT: Duration = Duration::from_secs(5);
/// Longer frames do not come from a relay.
const LONGEST: usize = 64 << 10;

/// One session over one connection at a time.
pub(crate) struct Line {
    client: Client,
    frames: SocketAddr,
    connection: Connection,
    buffer: Vec<u8>,
    /// When an authentic frame came last.
    pub(crate) heard: Instant,
    /// A greeting to ourselves is under way since then.
    pub(crate) greeted: Option<Instant>,
}

/// The connection must be made anew.
pub(crate) struct Broken;

impl Line {
    pub(crate) fn connect(client: Client, frames: SocketAddr, registry: &Registry) -> io::Result<Line> {
        let connection = dial(frames, registry)?;
        let now = Instant::now();
        let mut line = Line { client, frames, connection, buffer: vec![0; READ + LONGEST], heard: now, greeted: None };
        line.greet(now);
        Ok(line)
    }

    /// Another connection for the same session.
    pub(crate) fn again(&mut self, registry: &Registry) -> io::Result<()> {
        let _ = registry.deregister(&mut self.connection.stream);
        self.connection = dial(self.frames, registry)?;
        self.greet(Instant::now());
        Ok(())
    }

    /// Other keys, and another connection.
    pub(crate) fn renew(&mut self, client: Client, frames: SocketAddr, registry: &Registry) -> io::Result<()> {
        (self.client, self.frames) = (client, frames);
        self.again(registry)
    }

    /// A frame to ourselves: when it comes back, the relay knows the way to us.
    pub(crate) fn greet(&mut self, now: Instant) {
        self.greeted = Some(now);
        // a key that is used up shows when there is something to say
        let _ = self.say(self.client.session(), &[]);
    }

    pub(crate) fn blocks_left(&self) -> u64 {
        self.client.blocks_left()
    }

    pub(crate) fn queued(&self) -> usize {
        self.connection.queued()
    }

    pub(crate) fn say(&mut self, to: u32, message: &[u8]) -> Result<(), Refused> {
        let frame = self.client.seal(to, message)?;
        self.connection.queue().extend_from_slice(&frame);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Broken> {
        self.connection.flush(Instant::now()).map(drop).map_err(|_| Broken)
    }

    /// Hands every message that came from `peer` to `take`.
    pub(crate) fn hear(&mut self, peer: u32, mut take: impl FnMut(&[u8])) -> Result<(), Broken> {
        loop {
            let (all, more) = match self.connection.read(&mut self.buffer) {
                Got::Bytes { all, more, .. } => (all, more),
                Got::Nothing => return Ok(()),
                Got::End => return Err(Broken),
            };
            let mut at = 0;
            while let Some(header) = self.buffer[at..all].first_chunk::<HEADER>() {
                let length = Header::read(header).map_err(|_| Broken)?.frame_len();
                let Some(frame) = self.buffer[..all].get_mut(at..at + length) else { break };
                at += length;
                // forged and replayed frames are passed over
                if let Ok((from, message)) = self.client.open(frame) {
                    self.heard = Instant::now();
                    self.greeted = None;
                    if from == peer {
                        take(message);
                    }
                }
            }
            self.connection.keep(&self.buffer[at..all]);
            if !more {
                return Ok(());
            }
        }
    }
}

fn dial(frames: SocketAddr, registry: &Registry) -> io::Result<Connection> {
    let stream = std::net::TcpStream::connect_timeout(&frames, CONNECT)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut stream = TcpStream::from_std(stream);
    registry.register(&mut stream, LINE, Interest::READABLE | Interest::WRITABLE)?;
    let mut connection = Connection::new(stream, Handle::new(0, 0), Vec::new(), Instant::now());
    connection.proved = true;
    Ok(connection)
}
