//! A stream with one deadline for a whole exchange: a client that sends slowly holds a thread no longer than others.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

/// A TCP stream whose reads and writes fail after a deadline.
#[derive(Debug)]
pub(crate) struct Deadline {
    stream: Arc<TcpStream>,
    until: Instant,
}

impl Deadline {
    pub(crate) fn new(stream: impl Into<Arc<TcpStream>>, time: Duration) -> Deadline {
        Deadline { stream: stream.into(), until: Instant::now() + time }
    }

    /// Sets the deadline to `time` from now.
    pub(crate) fn extend(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    fn left(&self) -> io::Result<Duration> {
        self.until
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
            .ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

/// Maps the error of a socket time-out, `WouldBlock`, to `TimedOut`.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

impl Read for Deadline {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        (&*self.stream).read(buffer).map_err(timed_out)
    }
}

impl Write for Deadline {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        (&*self.stream).write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.stream).flush()
    }
}
