//! The transports of frames between client and relay: a TCP stream, or datagrams of one frame each.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use mio::{
    Interest, Registry, Token,
    net::{TcpStream, UdpSocket},
};
use sealwright_session::frame::{HEADER, Header};

use crate::{
    client::{
        datagrams::{BrokenError, Datagrams},
        identity::Session,
        reliable::SAFE_PIECE,
    },
    frame_stream::{FrameStream, READ_SIZE, ReadOutcome},
};

/// The token of a transport.
const TRANSPORT: Token = Token(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest frame.
const MAX_FRAME: usize = 64 << 10;

/// The address for a session's frames, and the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    Tcp(SocketAddr),
    Udp(SocketAddr),
}

impl Route {
    /// The route for a session: UDP or TCP, as `datagrams` says. `None` if the relay receives no datagrams.
    pub(crate) fn of(session: &Session, datagrams: bool) -> Option<Route> {
        if datagrams { session.udp.map(Route::Udp) } else { Some(Route::Tcp(session.frames)) }
    }

    pub(crate) fn address(self) -> SocketAddr {
        match self {
            Route::Tcp(frames) | Route::Udp(frames) => frames,
        }
    }

    /// The most bytes of a stream in one message: a datagram should not be fragmented on its way.
    pub(crate) fn piece(self) -> usize {
        match self {
            Route::Tcp(_) => 8 << 10,
            Route::Udp(_) => SAFE_PIECE,
        }
    }
}

/// A connection for frames.
pub(crate) enum Transport {
    Tcp(FrameStream),
    Udp(Datagrams),
}

impl Transport {
    pub(crate) fn connect(route: Route, registry: &Registry) -> io::Result<Transport> {
        match route {
            Route::Tcp(frames) => {
                let stream = std::net::TcpStream::connect_timeout(&frames, CONNECT_TIMEOUT)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                let mut stream = TcpStream::from_std(stream);
                registry.register(&mut stream, TRANSPORT, Interest::READABLE | Interest::WRITABLE)?;
                Ok(Transport::Tcp(FrameStream::new(stream)))
            }
            Route::Udp(frames) => {
                let any = if frames.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
                let mut socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
                socket.connect(frames)?;
                registry.register(&mut socket, TRANSPORT, Interest::READABLE | Interest::WRITABLE)?;
                Ok(Transport::Udp(Datagrams::new(socket, frames)?))
            }
        }
    }

    pub(crate) fn leave(&mut self, registry: &Registry) {
        // Best effort: dropping the socket has the same effect
        let _ = match self {
            Transport::Tcp(stream) => registry.deregister(stream.source()),
            Transport::Udp(datagrams) => registry.deregister(datagrams.socket.source()),
        };
    }

    /// Bytes that are queued and not sent yet.
    pub(crate) fn queued(&self) -> usize {
        match self {
            Transport::Tcp(stream) => stream.queued(),
            Transport::Udp(datagrams) => datagrams.queued,
        }
    }

    pub(crate) fn queue(&mut self, frame: Vec<u8>) {
        match self {
            Transport::Tcp(stream) => stream.queue().extend_from_slice(&frame),
            Transport::Udp(datagrams) => {
                datagrams.queued += frame.len();
                datagrams.out.push_back(frame);
            }
        }
    }

    pub(crate) fn flush(&mut self) -> Result<(), BrokenError> {
        match self {
            Transport::Tcp(stream) => stream.flush().map(drop).map_err(|_| BrokenError),
            Transport::Udp(datagrams) => datagrams.flush(),
        }
    }

    /// A buffer to read into.
    pub(crate) fn buffer() -> Vec<u8> {
        vec![0; READ_SIZE + MAX_FRAME]
    }

    /// Reads, and passes every complete frame to `take`.
    pub(crate) fn read(&mut self, buffer: &mut [u8], mut take: impl FnMut(&mut [u8])) -> Result<(), BrokenError> {
        loop {
            match self {
                Transport::Tcp(stream) => {
                    let (all, more) = match stream.read(buffer, READ_SIZE) {
                        ReadOutcome::Bytes { all, more, .. } => (all, more),
                        ReadOutcome::Nothing => return Ok(()),
                        ReadOutcome::Closed => return Err(BrokenError),
                    };
                    let mut at = 0;
                    while let Some(header) = buffer[at..all].first_chunk::<HEADER>() {
                        let length = Header::read(header).map_err(|_| BrokenError)?.frame_len();
                        let Some(frame) = buffer[..all].get_mut(at..at + length) else { break };
                        at += length;
                        take(frame);
                    }
                    stream.keep(&buffer[at..all]);
                    if !more {
                        return Ok(());
                    }
                }
                Transport::Udp(datagrams) => match datagrams.read(buffer)? {
                    Some((length, stride)) => buffer[..length].chunks_mut(stride).for_each(&mut take),
                    None => return Ok(()),
                },
            }
        }
    }
}
