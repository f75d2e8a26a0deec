//! A UDP socket that sends and receives many datagrams per system call, where the platform supports it (GSO and GRO).

use std::{
    io::{self, IoSliceMut},
    net::SocketAddr,
};

use mio::net::UdpSocket;
use quinn_udp::{RecvMeta, Transmit, UdpSocketState};

/// The most bytes that one call may send.
const MAX_SEND_BYTES: usize = 65_000;
/// The size of the socket's buffers, if the system allows it.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

pub(crate) struct BatchingSocket {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl BatchingSocket {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<BatchingSocket> {
        let state = UdpSocketState::new((&socket).into())?;
        // As large as the system allows; smaller buffers only mean more loss
        let _ = state.set_recv_buffer_size((&socket).into(), SOCKET_BUFFER_BYTES);
        let _ = state.set_send_buffer_size((&socket).into(), SOCKET_BUFFER_BYTES);
        Ok(BatchingSocket { socket, state })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// For a poll.
    pub(crate) fn source(&mut self) -> &mut UdpSocket {
        &mut self.socket
    }

    /// The most datagrams of this length that one call may send.
    pub(crate) fn max_batch(&self, length: usize) -> usize {
        self.state.max_gso_segments().min(MAX_SEND_BYTES / length).max(1)
    }

    pub(crate) fn send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.state.try_send((&self.socket).into(), transmit)
    }

    /// Receives a run of datagrams into each buffer. Returns how many buffers were used.
    pub(crate) fn receive(&self, buffers: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.state.recv((&self.socket).into(), buffers, meta)
    }
}
