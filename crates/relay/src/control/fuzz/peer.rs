//! A client's end of a connection whose records can be inspected and changed before they are sent.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

use super::super::protocol::{MAX_LINE, Response};

/// Time limit for anything from the relay: much longer than it needs on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) struct Peer {
    tls: ClientConnection,
    stream: TcpStream,
    /// Received text that is not a whole line yet.
    text: Vec<u8>,
    ended: bool,
}

/// A change to what the client sends in a handshake: the flight, the position, and the value XORed into that byte.
pub(super) type Edit = (u8, u16, u8);

pub(super) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the relay listens");
    stream.set_nodelay(true).expect("a connection");
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("a connection");
    stream
}

/// Whether the other side has ended the connection; what it sent before is in `into`.
fn has_ended(read: io::Result<usize>) -> bool {
    match read {
        Ok(len) => len == 0,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            panic!("the relay neither answers nor ends the connection")
        }
        Err(error) => error.kind() != io::ErrorKind::Interrupted,
    }
}

/// Everything that arrives until the relay ends the connection.
pub(super) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let (mut rest, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer);
        rest.extend_from_slice(&buffer[..*read.as_ref().unwrap_or(&0)]);
        if has_ended(read) {
            return rest;
        }
    }
}

impl Peer {
    pub(super) fn new(address: SocketAddr, config: &Arc<ClientConfig>) -> Peer {
        let name = ServerName::try_from("localhost").expect("a name");
        let tls = ClientConnection::new(config.clone(), name).expect("a configuration");
        Peer { tls, stream: connect(address), text: Vec::new(), ended: false }
    }

    /// Completes the client's side of the handshake.
    pub(super) fn shake_hands(&mut self, edit: Option<Edit>) {
        let mut flight = 0;
        while !self.ended {
            let mut records = self.records();
            if !records.is_empty() {
                if let Some((_, at, fault)) = edit.filter(|edit| edit.0 % 2 == flight) {
                    let at = usize::from(at) % records.len();
                    records[at] ^= fault;
                }
                flight += 1;
                self.send(&records);
            }
            if !self.tls.is_handshaking() {
                return;
            }
            self.receive();
        }
    }

    /// The records that TLS has to send.
    fn records(&mut self) -> Vec<u8> {
        let mut records = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut records).expect("there is memory");
        }
        records
    }

    /// The records that seal this text.
    pub(super) fn seal(&mut self, text: &[u8]) -> Vec<u8> {
        let mut records = Vec::new();
        for piece in text.chunks(16 << 10) {
            // After an error TLS accepts no more
            let _ = self.tls.writer().write_all(piece);
            records.extend(self.records());
        }
        records
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        // The relay may have ended the connection
        let _ = self.stream.write_all(bytes);
    }

    /// Sends the closing alert that TLS requires.
    pub(super) fn say_goodbye(&mut self) {
        self.tls.send_close_notify();
        let records = self.records();
        self.send(&records);
    }

    pub(super) fn send_no_more(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn receive(&mut self) {
        self.ended |= has_ended(self.tls.read_tls(&mut self.stream));
        match self.tls.process_new_packets() {
            Ok(state) => {
                let before = self.text.len();
                self.text.resize(before + state.plaintext_bytes_to_read(), 0);
                self.tls.reader().read_exact(&mut self.text[before..]).expect("so many bytes are there");
            }
            Err(_) => {
                let alert = self.records();
                self.send(&alert);
                self.ended = true;
            }
        }
    }

    /// Reads this many answers, or fewer if the connection ends.
    pub(super) fn answers(&mut self, most: usize) -> Vec<Response> {
        let mut answers = Vec::new();
        while answers.len() < most {
            if let Some(len) = self.text.iter().position(|byte| *byte == b'\n') {
                assert!(len < MAX_LINE, "an answer of {} bytes", len + 1);
                answers.push(serde_json::from_slice(&self.text[..len]).expect("an answer as documented"));
                self.text.drain(..=len);
            } else if self.ended {
                break;
            } else {
                self.receive();
            }
        }
        answers
    }

    /// Waits until the relay ends the connection; nothing more may arrive.
    pub(super) fn finish(mut self) {
        while !self.ended {
            self.receive();
        }
        self.send_no_more();
        rest(&mut self.stream);
        assert!(self.text.is_empty(), "more was answered than was asked");
    }
}
