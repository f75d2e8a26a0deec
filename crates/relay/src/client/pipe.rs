//! A reliable stream in each direction between two clients, across lost frames, broken connections and restarts of the
//! relay.

use std::{
    io::{self, Read, Write},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use mio::{Events, Poll, Token, Waker};

use crate::{
    address::Address,
    client::{
        backoff::Backoff,
        channel::Channel,
        identity::{ClientError, Identity, Session},
        local_io::LocalIo,
        lookups::Lookups,
        reliable::ReliableStream,
        transport::Route,
    },
    control::protocol::TOO_OFTEN,
};

const WAKER: Token = Token(0);
/// The most bytes queued for the relay; beyond it, no more messages are sealed.
const QUEUE: usize = 64 << 10;
/// How long to wait for the peer's goodbye once everything is transferred.
const LINGER: Duration = Duration::from_secs(1);
/// How long sending the notice of failure may take.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long the connection may be silent while an answer is due. Then a probe is sent, which gets as long again.
const SILENCE: Duration = Duration::from_secs(2);
/// How long the connection may be silent otherwise, before a probe is sent.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// How long to wait when the relay says that this client opened sessions too often.
const TOO_SOON: Duration = Duration::from_secs(3);
/// A new session is opened when fewer blocks than this are left.
const RENEW_BELOW: u64 = 1 << 24;

/// How many bytes went each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// Bytes of the input, all acknowledged. The relay can forge acknowledgements; if the stream is sealed end to end,
    /// `EndToEnd::finished` returns what the peer itself confirmed.
    pub sent: u64,
    /// Bytes written to the output.
    pub received: u64,
}

/// What to pipe, and to whom.
#[derive(Debug)]
pub struct Pipe<'a> {
    /// Who we are.
    pub identity: &'a Identity,
    /// The name of the other client.
    pub peer: &'a str,
    /// Send frames as datagrams.
    pub datagrams: bool,
    /// How long to wait for an answer, including the relay's first one, before giving up.
    pub wait: Duration,
}

impl Pipe<'_> {
    /// Sends `input` to the peer and writes the peer's data to `output`, until both streams have ended and both sides
    /// know it. `watch` is called with a description of each event.
    ///
    /// # Errors
    /// When there is no session, the peer does not answer, or the input or output fails.
    pub fn run(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        watch: &dyn Fn(&str),
    ) -> Result<Transferred, ClientError> {
        self.run_until(input, output, watch, &|| None)
    }

    /// As [`Pipe::run`], for streams that need more than the relay's acknowledgements: once everything is acknowledged,
    /// `missing` says what the peer still has to send. The pipe waits for that as for any other answer.
    ///
    /// # Errors
    /// As [`Pipe::run`], and what is missing in the end.
    pub fn run_until(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        watch: &dyn Fn(&str),
        missing: &dyn Fn() -> Option<io::Error>,
    ) -> Result<Transferred, ClientError> {
        let mut trouble = Trouble { since: Instant::now(), tries: 0, backoff: Backoff::default() };
        let mut poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let ((mut channel, mesh, piece), mut peer) = trouble.connect(self, |session, route| {
            let mesh = session.mesh;
            Ok((Channel::connect(session, route, poll.registry())?, mesh, route.piece()))
        })?;
        // The peer gets the full time, however long the relay took
        trouble.since = Instant::now();
        let mut lookups = Lookups::new(trouble.since)?;
        watch("connected");
        let mut local = LocalIo::start(input, output, &waker)?;
        let mut stream = ReliableStream::new(random()?, &self.identity.name, self.peer, piece);
        let mut events = Events::with_capacity(16);
        let (mut complete, mut owed) = (None, None);
        loop {
            let now = Instant::now();
            if let Err(error) = local.feed(&mut stream) {
                give_up(&mut channel, &stream, peer);
                return Err(error);
            }
            let mut broken = send_pending(&mut channel, &mut stream, peer, now).is_none();
            if stream.is_over() || complete.is_some_and(|since| now - since > LINGER) {
                // The kernel sends the last goodbye
                return Ok(Transferred { sent: local.sent, received: local.written.load(Ordering::Acquire) });
            }
            complete = stream.is_complete().then(|| complete.unwrap_or(now));
            let unpaid = if stream.is_acknowledged() { missing() } else { None };
            owed = unpaid.is_some().then(|| owed.unwrap_or(now));
            if let Some(error) = unpaid
                && owed.is_some_and(|since| now - since > self.wait)
            {
                return Err(error.into());
            }
            let quiet = now - channel.heard;
            match channel.probe_sent {
                Some(since) if now - since > SILENCE => broken = true,
                None if quiet > KEEPALIVE || (stream.due().is_some() && quiet > SILENCE) => channel.probe(now),
                _ => {}
            }
            if !broken {
                let due = stream.due().map_or(SILENCE, |due| due.saturating_duration_since(now));
                match poll.poll(&mut events, Some(due.clamp(Duration::from_millis(1), SILENCE / 4))) {
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
                    _ => {}
                }
                let before = channel.heard;
                let output = &local.output;
                let received = channel.receive(peer, |message| {
                    trouble.since = now;
                    lookups.found();
                    let bytes = stream.receive(message, now);
                    if let Some(output) = output
                        && !bytes.is_empty()
                    {
                        // A failed output reports its error itself
                        let _ = output.send(bytes);
                    }
                });
                broken = received.is_err();
                if channel.heard != before {
                    (trouble.tries, trouble.backoff) = (0, Backoff::default());
                }
            }
            // The peer may not have opened its session yet, or may have moved to another node
            let silent = stream.due().is_some() && trouble.since.elapsed() > SILENCE;
            let unknown = peer.is_none() && stream.has_pending();
            let soon = if mesh || unknown { SILENCE } else { 8 * SILENCE };
            let strangers = std::mem::take(&mut channel.other_senders);
            if lookups.is_due(unknown || silent, strangers, soon, Instant::now())?
                && let Ok(found) = self.identity.find_within(&[self.peer], trouble.left(self))
                && found[0].is_some()
                && found[0] != peer
            {
                if peer.is_some() {
                    watch("the peer moved");
                }
                peer = found[0];
                lookups.found();
                stream.send_again();
            }
            if stream.failed {
                return Err(ClientError::PeerFailed(self.peer.to_owned()));
            }
            if stream.replaced {
                return Err(ClientError::PeerRestarted(self.peer.to_owned()));
            }
            let waiting = stream.due().is_some() || unknown;
            if waiting && trouble.since.elapsed() > self.wait {
                return Err(ClientError::NoAnswer(self.peer.to_owned()));
            }
            if !waiting {
                trouble.since = Instant::now();
            }
            if broken || channel.blocks_left() < RENEW_BELOW {
                peer = trouble.reconnect(self, &mut channel, &poll, watch)?.unwrap_or(peer);
                stream.send_again();
            }
        }
    }
}

/// Sends what is pending; `None` if the connection is broken.
fn send_pending(channel: &mut Channel, stream: &mut ReliableStream, peer: Option<Address>, now: Instant) -> Option<()> {
    while let Some(peer) = peer
        && channel.queued() < QUEUE
    {
        let Some(message) = stream.message(now) else { break };
        channel.send(peer, &message).ok()?;
    }
    channel.flush().ok()
}

/// Tells the peer that we give up. If that is lost, the peer waits as if we had been killed.
fn give_up(channel: &mut Channel, stream: &ReliableStream, peer: Option<Address>) {
    let Some(peer) = peer else { return };
    for message in stream.failure() {
        // With a key that is used up, the peer cannot be told
        let _ = channel.send(peer, &message);
    }
    let until = Instant::now() + FAREWELL;
    while channel.flush().is_ok() && channel.queued() > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The state of reconnecting since the connection last worked.
struct Trouble {
    /// Since when nothing was heard from the peer.
    since: Instant,
    tries: u32,
    /// Waits between sessions over which nothing arrived.
    backoff: Backoff,
}

impl Trouble {
    /// How much of the time to wait is left.
    fn left(&self, pipe: &Pipe<'_>) -> Duration {
        pipe.wait.saturating_sub(self.since.elapsed())
    }

    /// Opens a session; tries again while the relay cannot be reached.
    fn open(&self, pipe: &Pipe<'_>) -> Result<Session, ClientError> {
        let mut backoff = Backoff::default();
        loop {
            let opened = pipe.identity.open_within(&[pipe.peer], self.left(pipe));
            let left = self.left(pipe);
            match opened {
                Err(ClientError::Relay { error, .. }) if is_temporary(&error) && !left.is_zero() => {
                    backoff.wait(left)?;
                }
                Err(ClientError::Refused(why)) if why == *TOO_OFTEN && !left.is_zero() => {
                    std::thread::sleep(TOO_SOON.min(pipe.wait));
                }
                opened => return opened,
            }
        }
    }

    /// Opens a session and connects to its address for frames; tries again until the time to wait is over. Also returns
    /// the peer's address, if it has one.
    fn connect<T>(
        &self,
        pipe: &Pipe<'_>,
        mut connect: impl FnMut(Session, Route) -> io::Result<T>,
    ) -> Result<(T, Option<Address>), ClientError> {
        let mut backoff = Backoff::default();
        loop {
            let session = self.open(pipe)?;
            let peer = session.found.first().copied().flatten();
            let route = Route::of(&session, pipe.datagrams).ok_or(ClientError::NoDatagrams)?;
            match connect(session, route) {
                Ok(connected) => return Ok((connected, peer)),
                Err(error) if self.since.elapsed() > pipe.wait => {
                    return Err(ClientError::Relay { relay: route.address().to_string(), error });
                }
                Err(_) => {
                    pipe.identity.last.pass_over();
                    backoff.wait(self.left(pipe))?;
                }
            }
        }
    }

    /// Tries another connection first, then another session. Returns the peer's address, if it may have changed.
    fn reconnect(
        &mut self,
        pipe: &Pipe<'_>,
        channel: &mut Channel,
        poll: &Poll,
        watch: &dyn Fn(&str),
    ) -> Result<Option<Option<Address>>, ClientError> {
        self.tries += 1;
        watch("connecting again");
        if self.tries == 1 && channel.blocks_left() >= RENEW_BELOW && channel.reconnect(poll.registry()).is_ok() {
            return Ok(None);
        }
        // A full relay accepts and closes connections. Opening more sessions there would only use up this name's rate
        // limit; another node may have room
        if self.tries >= 3 {
            pipe.identity.last.pass_over();
            self.backoff.wait(pipe.wait)?;
        }
        let ((), peer) = self.connect(pipe, |session, route| channel.renew(session, route, poll.registry()))?;
        Ok(Some(peer))
    }
}

/// Whether another attempt may succeed: not if one side presents a certificate that the other refuses.
fn is_temporary(error: &io::Error) -> bool {
    error.kind() != io::ErrorKind::InvalidData
}

/// A random stream number, which no other stream has.
fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_be_bytes(bytes))
}
