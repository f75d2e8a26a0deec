//! What workers tell each other: newcomers, opened frames for a session elsewhere, pauses, changes of sessions.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use mio::{Waker, net::TcpStream};
use sealwright_session::{FrameJob, Sessions};
use zeroize::Zeroize;

use crate::data::{
    connection::{Handle, Source},
    settings::MAIL,
};

/// A change that the worker makes to its own table.
pub(crate) type Change = Box<dyn FnOnce(&mut dyn Sessions) + Send>;

/// One message.
pub(crate) enum Letter {
    /// A connection whose first frame is of a session of yours, and what was read of it.
    Newcomer(TcpStream, Vec<u8>),
    /// Opened frames for sessions of yours.
    Texts(Texts),
    /// Read this connection of yours no more, for now.
    Pause(Handle),
    /// Read it again.
    Resume(Handle),
    /// Change the table; the sessions in these slots lose their connections.
    Change { slots: std::ops::Range<u32>, change: Change },
    /// Take no newcomers.
    Drain,
    /// Read no more, write what is queued, end.
    Stop,
}

/// Opened frames on their way to the worker that seals them: its slots, room for header and tag, the sender already
/// in front. They are secrets: wiped when done.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    jobs: Vec<FrameJob>,
    sources: Vec<Option<Source>>,
}

impl Texts {
    pub(crate) fn push(&mut self, slot: u32, to: u32, source: Option<Source>, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.jobs.push(FrameJob::new(start..self.bytes.len(), slot, to));
        self.sources.push(source);
    }

    /// Bytes of frames.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The frames, the work on them, and the connection each came from, if it was one.
    pub(crate) fn parts(&mut self) -> (&mut [u8], &mut Vec<FrameJob>, &mut Vec<Option<Source>>) {
        (&mut self.bytes, &mut self.jobs, &mut self.sources)
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Where a worker's letters wait, and the bell.
pub(crate) struct Mailbox {
    letters: Mutex<Vec<Letter>>,
    waiting: AtomicUsize,
    bell: Waker,
}

impl Mailbox {
    pub(crate) fn new(bell: Waker) -> Mailbox {
        Mailbox { letters: Mutex::default(), waiting: AtomicUsize::new(0), bell }
    }

    pub(crate) fn post(&self, letter: Letter) {
        if let Letter::Texts(texts) = &letter {
            self.waiting.fetch_add(texts.bytes.len(), Ordering::Relaxed);
        }
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let first = letters.is_empty();
        letters.push(letter);
        drop(letters);
        if first {
            // A bell that cannot ring: the worker's tick finds the letter.
            let _ = self.bell.wake();
        }
    }

    pub(crate) fn take(&self) -> Vec<Letter> {
        let letters = std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner));
        for letter in &letters {
            if let Letter::Texts(texts) = letter {
                self.waiting.fetch_sub(texts.bytes.len(), Ordering::Relaxed);
            }
        }
        letters
    }

    /// More waits than its worker can take in soon: whoever adds to it should wait.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MAIL
    }
}
