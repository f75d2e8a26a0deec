//! A non-blocking TCP stream of frames: bytes of a frame whose end has not arrived, and bytes that wait to be written.

use std::io::{self, Read, Write};

use mio::net::TcpStream;

/// Maximum number of bytes that [`FrameStream::read`] requests from the system. Its buffer must hold these and one more
/// frame.
pub const READ_SIZE: usize = 64 << 10;
/// An empty buffer for an incomplete frame is released if it is larger than this.
const KEPT_CAPACITY: usize = 4096;

/// The result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// Bytes are in the buffer.
    Bytes {
        /// Bytes in the buffer: what was kept of a cut frame, then what was read.
        all: usize,
        /// Bytes that were read now.
        fresh: usize,
        /// More may be waiting in the system.
        more: bool,
    },
    /// There is nothing to read now.
    Nothing,
    /// The other side closed the stream, or the stream broke.
    Closed,
}

/// A TCP stream with the buffers that frames need in both directions.
#[derive(Debug)]
pub struct FrameStream {
    stream: TcpStream,
    partial: Vec<u8>,
    /// Whether `partial` came with the stream from another thread and was not parsed yet.
    unread: bool,
    out: Vec<u8>,
    sent: usize,
    /// Whether the other side closed the stream; bytes from before may still have to be read.
    pub(crate) half_closed: bool,
}

impl FrameStream {
    /// A connected, non-blocking stream.
    pub fn new(stream: TcpStream) -> FrameStream {
        FrameStream::resumed(stream, Vec::new())
    }

    /// A stream of which `received` was already read, but not split into frames.
    pub(crate) fn resumed(stream: TcpStream, received: Vec<u8>) -> FrameStream {
        FrameStream {
            stream,
            unread: !received.is_empty(),
            partial: received,
            out: Vec::new(),
            sent: 0,
            half_closed: false,
        }
    }

    /// The stream, to be registered with a poll.
    pub fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Returns the bare stream and drops what is buffered.
    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }

    /// Reads once into `buffer`, after the kept part of an incomplete frame: at most `limit` bytes.
    pub fn read(&mut self, buffer: &mut [u8], limit: usize) -> ReadOutcome {
        let kept = self.partial.len();
        if std::mem::take(&mut self.unread) {
            buffer[..kept].copy_from_slice(&self.partial);
            self.partial.clear();
            return ReadOutcome::Bytes { all: kept, fresh: 0, more: true };
        }
        let end = (kept + limit).min(buffer.len());
        loop {
            match self.stream.read(&mut buffer[kept..end]) {
                Ok(0) => return ReadOutcome::Closed,
                Ok(fresh) => {
                    buffer[..kept].copy_from_slice(&self.partial);
                    self.partial.clear();
                    let all = kept + fresh;
                    return ReadOutcome::Bytes { all, fresh, more: all == end || self.half_closed };
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return ReadOutcome::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return ReadOutcome::Closed,
            }
        }
    }

    /// Keeps the beginning of an incomplete frame until the next read.
    pub fn keep(&mut self, partial: &[u8]) {
        // Exactly as much as needed: there are many connections
        self.partial.reserve_exact(partial.len());
        self.partial.extend_from_slice(partial);
        if partial.is_empty() && self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
    }

    /// Bytes that wait to be written.
    pub fn queued(&self) -> usize {
        self.out.len() - self.sent
    }

    /// The queue of bytes to write, to append frames to.
    pub fn queue(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Appends a frame to the queue without reserving more memory than needed.
    pub(crate) fn push_tightly(&mut self, frame: &[u8]) {
        if self.out.capacity() - self.out.len() < frame.len() {
            self.out.drain(..self.sent);
            self.sent = 0;
            self.out.reserve_exact(frame.len());
        }
        self.out.extend_from_slice(frame);
    }

    /// The memory that the queue takes, used or not.
    pub(crate) fn held(&self) -> usize {
        self.out.capacity()
    }

    /// Releases the memory of an empty queue.
    pub(crate) fn give_back(&mut self) {
        if self.queued() == 0 {
            (self.out, self.sent) = (Vec::new(), 0);
        }
    }

    /// Writes as much of the queue as the system accepts, and returns the number of bytes written.
    ///
    /// # Errors
    /// When the stream is broken.
    pub fn flush(&mut self) -> io::Result<usize> {
        let before = self.sent;
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(taken) => self.sent += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let taken = self.sent - before;
        if self.sent == self.out.len() {
            self.sent = 0;
            self.out.clear();
            if self.out.capacity() > READ_SIZE {
                self.out = Vec::new();
            }
        } else if self.sent >= READ_SIZE {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Both ends of a connection over loopback.
    fn pair() -> (std::net::TcpStream, FrameStream) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let here = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let there = listener.accept().unwrap().0;
        there.set_nonblocking(true).unwrap();
        (here, FrameStream::new(TcpStream::from_std(there)))
    }

    fn read(stream: &mut FrameStream, buffer: &mut [u8], limit: usize) -> (usize, usize, bool) {
        loop {
            match stream.read(buffer, limit) {
                ReadOutcome::Bytes { all, fresh, more } => return (all, fresh, more),
                ReadOutcome::Nothing => std::thread::yield_now(),
                ReadOutcome::Closed => panic!("closed"),
            }
        }
    }

    #[test]
    fn what_is_kept_stands_before_what_is_read_next() {
        let (mut here, mut stream) = pair();
        let mut buffer = [0; 16];
        here.write_all(b"abcdef").unwrap();
        assert_eq!(read(&mut stream, &mut buffer, 6), (6, 6, true));
        stream.keep(&buffer[4..6]);
        here.write_all(b"gh").unwrap();
        assert_eq!(read(&mut stream, &mut buffer, 14), (4, 2, false));
        assert_eq!(&buffer[..4], b"efgh");
        assert_eq!(stream.read(&mut buffer, 16), ReadOutcome::Nothing);
        drop(here);
        while stream.read(&mut buffer, 16) == ReadOutcome::Nothing {}
        assert_eq!(stream.read(&mut buffer, 16), ReadOutcome::Closed);
    }

    #[test]
    fn what_came_with_a_stream_is_read_first() {
        let (mut here, stream) = pair();
        let mut stream = FrameStream::resumed(stream.into_inner(), b"early".to_vec());
        here.write_all(b"late").unwrap();
        let mut buffer = [0; 16];
        assert_eq!(read(&mut stream, &mut buffer, 16), (5, 0, true));
        stream.keep(&buffer[3..5]);
        assert_eq!(read(&mut stream, &mut buffer, 16), (6, 4, false));
        assert_eq!(&buffer[..6], b"lylate");
    }

    #[test]
    fn a_full_socket_leaves_the_rest_queued_in_order() {
        let (mut here, mut stream) = pair();
        let bytes: Vec<u8> = (0..8_000_000u32).map(|at| ((at * 31) >> 5) as u8).collect();
        stream.queue().extend_from_slice(&bytes);
        let first = stream.flush().unwrap();
        assert!(first > 0 && first < bytes.len());
        assert_eq!(stream.queued(), bytes.len() - first);
        assert_eq!((stream.sent, stream.out.len()), (0, bytes.len() - first), "what was sent is not kept");
        let reader = std::thread::spawn(move || {
            let mut all = vec![0; 8_000_000];
            here.read_exact(&mut all).unwrap();
            all
        });
        while stream.queued() > 0 {
            stream.flush().unwrap();
        }
        assert!(reader.join().unwrap() == bytes);
    }
    /// The other side closed the connection with unread data, which resets it.
    #[test]
    fn a_stream_that_broke_is_closed() {
        let (here, mut stream) = pair();
        stream.queue().extend_from_slice(b"never read");
        assert_eq!(stream.flush().unwrap(), 10);
        here.peek(&mut [0; 10]).unwrap();
        drop(here);
        let (mut poll, mut events) = (mio::Poll::new().unwrap(), mio::Events::with_capacity(1));
        poll.registry().register(stream.source(), mio::Token(0), mio::Interest::READABLE).unwrap();
        poll.poll(&mut events, Some(std::time::Duration::from_secs(60))).unwrap();
        assert_eq!(stream.read(&mut [0; 16], 16), ReadOutcome::Closed);
        stream.queue().extend_from_slice(b"too late");
        assert!(stream.flush().is_err());
    }

    #[test]
    fn at_the_end_of_a_stream_the_rest_is_read_without_waiting_for_more() {
        let (mut here, mut stream) = pair();
        here.write_all(b"last").unwrap();
        stream.half_closed = true;
        assert_eq!(read(&mut stream, &mut [0; 16], 16), (4, 4, true));
    }

    /// There are many connections: memory that one needed once is not kept for ever.
    #[test]
    fn memory_of_a_long_frame_is_given_back() {
        let (_here, mut stream) = pair();
        for (bytes, kept) in [(KEPT_CAPACITY - 1, true), (KEPT_CAPACITY, true), (KEPT_CAPACITY + 1, false)] {
            stream.partial = Vec::new();
            stream.keep(&vec![7; bytes]);
            assert_eq!((stream.partial.len(), stream.partial.capacity()), (bytes, bytes), "not more than it takes");
            stream.partial.clear();
            stream.keep(b"x");
            assert_eq!(stream.partial.capacity(), bytes, "something is in it");
            stream.partial.clear();
            stream.keep(b"");
            assert_eq!(stream.partial.capacity(), if kept { bytes } else { 0 });
        }
    }

    #[test]
    fn memory_of_a_queue_is_what_its_frames_take() {
        let (_here, mut stream) = pair();
        stream.push_tightly(b"0123456789");
        assert_eq!((stream.queued(), stream.held()), (10, 10));
        // Room is made by removing what was sent.
        stream.sent = 4;
        assert_eq!(stream.queued(), 6);
        stream.push_tightly(b"abc");
        assert_eq!((stream.out.as_slice(), stream.sent, stream.held()), (&b"456789abc"[..], 0, 10));
        // But only if needed.
        stream.sent = 2;
        stream.push_tightly(b"d");
        assert_eq!((stream.out.as_slice(), stream.sent, stream.held()), (&b"456789abcd"[..], 2, 10));
        stream.give_back();
        assert_eq!((stream.queued(), stream.held()), (8, 10), "there is something in it");
        assert_eq!(stream.flush().unwrap(), 8);
        assert_eq!((stream.queued(), stream.held()), (0, 10));
        stream.give_back();
        assert_eq!(stream.held(), 0);
        for (room, held) in [(READ_SIZE, READ_SIZE), (READ_SIZE + 1, 0)] {
            stream.out = Vec::with_capacity(room);
            stream.queue().extend_from_slice(b"frame");
            assert_eq!((stream.flush().unwrap(), stream.held()), (5, held));
        }
    }
}
