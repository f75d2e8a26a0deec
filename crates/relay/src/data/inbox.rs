//! Messages between workers, and the queue in which a worker receives them.

use std::{
    net::IpAddr,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::SyncSender,
    },
};

use mio::{Waker, net::TcpStream};
use sealwright_session::{FrameJob, Grant, Material, SessionError, Sessions};

use crate::{
    address::Address,
    data::{
        connection::{ConnectionId, Handle},
        plaintext::{Plaintext, append},
        settings::INBOX_BYTES,
        shares::Place,
    },
    policy::Class,
};

/// A session's grant, and how many other sessions lost their keys because those of the cluster were used up.
pub(crate) type Admitted = (Grant, usize);

/// A function that a worker applies to its own table.
pub(crate) type Change = Box<dyn FnOnce(&mut dyn Sessions) + Send>;

/// A message to a worker.
pub(crate) enum Message {
    /// A connection whose first frame belongs to a session of this worker, and the bytes read so far.
    Connection(TcpStream, Place, Vec<u8>),
    /// Opened frames for sessions of this worker.
    Frames(OpenedFrames),
    /// Stop reading this connection for now.
    Pause(Handle),
    /// Read it again.
    Resume(Handle),
    /// Change the table; the sessions in these slots lose their bindings.
    Change { slots: Range<u32>, change: Change },
    /// Give a session keys, and its slot this owner.
    Admit { slot: u32, owner: (Address, Class), material: Material, reply: SyncSender<Result<Admitted, SessionError>> },
    /// End a session. With `only`, only if its number has this generation and, if an epoch is given, its keys have that
    /// epoch. The reply lists the slots that lost their keys together with it.
    Remove { slot: u32, only: Option<(u32, Option<u16>)>, revoke: bool, reply: Option<SyncSender<Vec<u32>>> },
    /// Apply another policy: the classes of these slots, and the class of all others.
    Classes { classes: Vec<(u32, Class)>, nobody: Class },
    /// Set the class of one session.
    Class { slot: u32, address: Address, class: Class },
    /// Close an idle connection, if there is one: room is short. With `from`, one from that address.
    CloseIdle { from: Option<IpAddr> },
    /// Accept no connections any more.
    Drain,
    /// Stop reading, write what is queued, end.
    Stop,
}

/// Opened frames in transit to the worker that seals them. Each has room for header and tag and already contains the
/// sender's address. They are plaintext, and wiped on drop.
#[derive(Default)]
pub(crate) struct OpenedFrames {
    bytes: Plaintext,
    jobs: Vec<FrameJob>,
    routes: Vec<Route>,
}

/// The source and the destination of a frame.
pub(crate) struct Route {
    /// The generation of the receiver.
    pub(crate) to: u32,
    pub(crate) from: Address,
    /// The class of the sender under the policy.
    pub(crate) class: Class,
    /// The connection that the frame arrived on; `None` for datagrams and other nodes.
    pub(crate) sender: Option<ConnectionId>,
}

impl OpenedFrames {
    pub(crate) fn push(
        &mut self,
        to: (u32, Address),
        from: (Address, Class),
        sender: Option<ConnectionId>,
        frame: &[u8],
    ) {
        self.push_parts(to, from, sender, &[frame]);
    }

    /// Like `push`, with the frame in parts.
    pub(crate) fn push_parts(
        &mut self,
        (slot, to): (u32, Address),
        (from, class): (Address, Class),
        sender: Option<ConnectionId>,
        parts: &[&[u8]],
    ) {
        let start = self.bytes.len();
        append(&mut self.bytes, parts);
        self.jobs.push(FrameJob::new(start..self.bytes.len(), slot, to.session));
        self.routes.push(Route { to: to.generation, from, class, sender });
    }

    /// Bytes of all frames.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The frames, the jobs that seal them, and the route of each.
    pub(crate) fn parts(&mut self) -> (&mut [u8], &mut Vec<FrameJob>, &mut Vec<Route>) {
        (&mut self.bytes, &mut self.jobs, &mut self.routes)
    }
}

/// The message queue of a worker, and the waker of its thread.
pub(crate) struct Inbox {
    messages: Mutex<Vec<Message>>,
    bytes: AtomicUsize,
    waker: Waker,
}

impl Inbox {
    pub(crate) fn new(waker: Waker) -> Inbox {
        Inbox { messages: Mutex::default(), bytes: AtomicUsize::new(0), waker }
    }

    pub(crate) fn post(&self, message: Message) {
        if let Message::Frames(frames) = &message {
            self.bytes.fetch_add(frames.bytes.len(), Ordering::Relaxed);
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let first = messages.is_empty();
        messages.push(message);
        drop(messages);
        if first {
            // If waking fails, the worker finds the message at its next tick
            let _ = self.waker.wake();
        }
    }

    /// Takes all messages.
    pub(crate) fn take(&self) -> Vec<Message> {
        let messages = std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner));
        for message in &messages {
            if let Message::Frames(frames) = message {
                self.bytes.fetch_sub(frames.bytes.len(), Ordering::Relaxed);
            }
        }
        messages
    }

    /// Messages that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether more is waiting than the worker can handle soon: others should then stop reading.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > INBOX_BYTES
    }
}
