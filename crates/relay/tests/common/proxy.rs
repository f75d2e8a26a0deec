//! An attacker on the path, who forges, replays and truncates frames.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use sealwright_session::frame::{HEADER, Header};

/// Counts of what was done to the traffic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) forged: u64,
    pub(crate) replayed: u64,
    pub(crate) cut: u64,
}

pub(crate) struct Proxy {
    listener: TcpListener,
    done: Arc<Mutex<Done>>,
}

impl Proxy {
    pub(crate) fn bind() -> Proxy {
        Proxy { listener: TcpListener::bind("127.0.0.1:0").unwrap(), done: Arc::default() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    pub(crate) fn done(&self) -> Done {
        *self.done.lock().unwrap()
    }

    /// Forwards everybody to this relay, with the attacks.
    pub(crate) fn towards(&self, relay: SocketAddr) {
        let (listener, done) = (self.listener.try_clone().unwrap(), self.done.clone());
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let (Ok(client), Ok(relay)) = (client, TcpStream::connect(relay)) else { break };
                for (from, to) in [(&client, &relay), (&relay, &client)] {
                    let (from, to, done) = (from.try_clone().unwrap(), to.try_clone().unwrap(), done.clone());
                    // Later connections are left alone, or nothing would ever arrive
                    std::thread::spawn(move || pass(from, to, &done, number < 12));
                }
            }
        });
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, done: &Mutex<Done>, cutting: bool) {
    let mut waiting = Vec::new();
    let mut count = 0u64;
    let mut last = Vec::new();
    'line: loop {
        let mut buffer = [0; 16 << 10];
        match from.read(&mut buffer) {
            Ok(much) if much > 0 => waiting.extend_from_slice(&buffer[..much]),
            _ => break,
        }
        while let Some(header) = waiting.first_chunk::<HEADER>() {
            let length = Header::read(header).unwrap().frame_len();
            if waiting.len() < length {
                break;
            }
            let frame: Vec<u8> = waiting.drain(..length).collect();
            count += 1;
            let mut out = Vec::new();
            if count.is_multiple_of(5) {
                let mut forged = frame.clone();
                let at = HEADER + count as usize % (length - HEADER);
                forged[at] ^= 1 << (count % 8);
                out.extend(forged);
                done.lock().unwrap().forged += 1;
            }
            if count.is_multiple_of(7) {
                out.extend_from_slice(&last);
                done.lock().unwrap().replayed += 1;
            }
            if cutting && count.is_multiple_of(40) {
                // Half a frame, directly followed by the next ones
                out.extend_from_slice(&frame[..length / 2]);
                done.lock().unwrap().cut += 1;
            } else {
                out.extend_from_slice(&frame);
            }
            last = frame;
            if to.write_all(&out).is_err() {
                break 'line;
            }
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
