//! Frames to and from the relay as datagrams.

use std::{
    collections::VecDeque,
    io::{self, IoSliceMut},
    net::SocketAddr,
};

use mio::net::UdpSocket;
use quinn_udp::{RecvMeta, Transmit};

use crate::udp_socket::BatchingSocket;

/// The connection is broken.
pub(crate) struct BrokenError;

/// A socket for the frames of one client.
pub(crate) struct Datagrams {
    pub(crate) socket: BatchingSocket,
    relay: SocketAddr,
    pub(crate) out: VecDeque<Vec<u8>>,
    /// Bytes in `out`.
    pub(crate) queued: usize,
    run: Vec<u8>,
}

impl Datagrams {
    pub(crate) fn new(socket: UdpSocket, relay: SocketAddr) -> io::Result<Datagrams> {
        let socket = BatchingSocket::new(socket)?;
        Ok(Datagrams { socket, relay, out: VecDeque::new(), queued: 0, run: Vec::new() })
    }

    /// Sends the queue, as far as the system takes it. One call carries frames of one length, of which the last may be
    /// shorter.
    pub(crate) fn flush(&mut self) -> Result<(), BrokenError> {
        while let Some(first) = self.out.front() {
            let length = first.len();
            let most = self.socket.max_batch(length);
            self.run.clear();
            let mut count = 0;
            for frame in self.out.iter().take(most).take_while(|frame| frame.len() <= length) {
                self.run.extend_from_slice(frame);
                count += 1;
                if frame.len() < length {
                    break;
                }
            }
            let contents = &self.run[..];
            let segment_size = (count > 1).then_some(length);
            let transmit = Transmit { destination: self.relay, ecn: None, contents, segment_size, src_ip: None };
            match self.socket.send(&transmit) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(BrokenError),
                // Sent or lost here: datagrams may be lost anywhere in transit
                _ => {}
            }
            self.queued -= contents.len();
            self.out.drain(..count);
        }
        Ok(())
    }

    /// Reads once. Returns how many bytes arrived, and the length of each datagram among them but the last.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Option<(usize, usize)>, BrokenError> {
        let mut meta = [RecvMeta::default()];
        loop {
            match self.socket.receive(&mut [IoSliceMut::new(buffer)], &mut meta) {
                Ok(_) if meta[0].len > 0 => return Ok(Some((meta[0].len, meta[0].stride.max(1)))),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(BrokenError),
            }
        }
    }
}
