//! An attacker at the NATS server, who listens and sends but does not have the secret of the mesh.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

pub(crate) struct Eavesdropper {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Eavesdropper {
    pub(crate) fn at(port: u16) -> Eavesdropper {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        stream.write_all(b"CONNECT {\"verbose\":false,\"echo\":false}\r\n").unwrap();
        Eavesdropper { stream, received: Vec::new() }
    }

    /// Collects what nodes send within this time: subjects and messages.
    pub(crate) fn listen(&mut self, time: Duration) -> Vec<(String, Vec<u8>)> {
        self.ask();
        let start = Instant::now();
        let mut buffer = [0; 4096];
        while start.elapsed() < time {
            if let Ok(length) = self.stream.read(&mut buffer) {
                self.received.extend_from_slice(&buffer[..length]);
            }
        }
        let (mut rest, mut messages) = (&self.received[..], Vec::new());
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 2..];
            let Some(line) = line.strip_prefix("MSG ") else { continue };
            let words: Vec<&str> = line.split(' ').collect();
            let length: usize = words.last().unwrap().parse().unwrap();
            // The last message may be incomplete
            let Some(message) = rest.get(..length) else { break };
            messages.push((words[0].to_owned(), message.to_vec()));
            rest = rest.get(length + 2..).unwrap_or_default();
        }
        messages
    }

    /// Subscribes to everything that nodes send, and reads none of it.
    pub(crate) fn ask(&mut self) {
        self.stream.write_all(b"SUB sealwright.> 1\r\n").unwrap();
    }

    pub(crate) fn say(&mut self, subject: &str, message: &[u8]) {
        self.stream.write_all(format!("PUB {subject} {}\r\n", message.len()).as_bytes()).unwrap();
        self.stream.write_all(&[message, b"\r\n"].concat()).unwrap();
    }
}
