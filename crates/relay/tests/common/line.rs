//! A TCP forwarder between two servers that can be cut, or paused.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::Duration,
};

/// The state of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Open,
    /// Connections are broken, and new ones refused.
    Cut,
    /// Connections stay open, but nothing passes until the line is open again, as in a network partition.
    Paused,
}

#[derive(Clone, Default)]
pub(crate) struct Line(Arc<Mutex<(State, Vec<TcpStream>)>>);

impl Line {
    /// Listens, and forwards everything to a port. Also returns the port on which it listens.
    pub(crate) fn to(port: u16) -> (Line, u16) {
        let (line, listener) = (Line::default(), TcpListener::bind("127.0.0.1:0").unwrap());
        let (there, here) = (line.clone(), listener.local_addr().unwrap().port());
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let mut state = there.0.lock().unwrap();
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                if state.0 == State::Cut {
                    continue;
                }
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    state.1.push(from.try_clone().unwrap());
                    let line = there.clone();
                    std::thread::spawn(move || line.pass(from, to));
                }
            }
        });
        (line, here)
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 << 10];
        while let Ok(much @ 1..) = from.read(&mut buffer) {
            while self.0.lock().unwrap().0 == State::Paused {
                std::thread::sleep(Duration::from_millis(2));
            }
            if to.write_all(&buffer[..much]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }

    pub(crate) fn cut(&self, cut: bool) {
        self.set(if cut { State::Cut } else { State::Open });
    }

    pub(crate) fn set(&self, to: State) {
        let mut state = self.0.lock().unwrap();
        state.0 = to;
        if to == State::Cut {
            for stream in state.1.drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}
