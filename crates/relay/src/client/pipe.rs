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
const MAX_QUEUED_BYTES: usize = 64 << 10;
/// How long to wait for the peer's goodbye once everything is transferred.
const GOODBYE_WAIT: Duration = Duration::from_secs(1);
/// How long sending the notice of failure may take.
const FAILURE_NOTICE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long the connection may be silent while an answer is due. Then a probe is sent, which gets as long again.
const PROBE_WAIT: Duration = Duration::from_secs(2);
/// How long the connection may be silent otherwise, before a probe is sent.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long to wait when the relay says that this client opened sessions too often.
const TOO_OFTEN_WAIT: Duration = Duration::from_secs(3);
/// A new session is opened when fewer blocks than this are left.
const RENEW_BELOW: u64 = 1 << 24;

/// How many bytes went each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transferred {
    /// Bytes of the input, all acknowledged. The relay can forge acknowledgements; if the stream is sealed end to end,
    /// `EndToEnd::finished` returns what the peer itself confirmed.
    pub sent: u64,
    /// Bytes written to the output.
    pub received: u64,
}

/// What to pipe, and to whom.
#[derive(Debug)]
#[non_exhaustive]
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

impl<'a> Pipe<'a> {
    /// From `identity` to `peer`, over the connection for frames, with this time to wait.
    pub fn new(identity: &'a Identity, peer: &'a str, wait: Duration) -> Self {
        Pipe { identity, peer, datagrams: false, wait }
    }

    /// Sets whether frames are sent as datagrams.
    pub fn datagrams(self, datagrams: bool) -> Self {
        Pipe { datagrams, ..self }
    }

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
        let mut exchange = Exchange::start(self, input, output, watch)?;
        let mut events = Events::with_capacity(16);
        loop {
            let now = Instant::now();
            if let Err(error) = exchange.local.feed(&mut exchange.stream) {
                exchange.give_up();
                return Err(error);
            }
            let mut broken = exchange.send_pending(now).is_none();
            if exchange.is_over(now) {
                return Ok(exchange.transferred());
            }
            exchange.wait_for_missing(missing, now)?;
            broken |= exchange.is_silent(now);
            if !broken {
                broken = exchange.receive(&mut events, now)?.is_none();
            }
            let unknown = exchange.peer.is_none() && exchange.stream.has_pending();
            exchange.look_up_peer(unknown)?;
            exchange.check_peer(unknown)?;
            if broken || exchange.channel.blocks_left() < RENEW_BELOW {
                exchange.reconnect()?;
            }
        }
    }
}

/// A stream in each direction while it is exchanged.
struct Exchange<'a> {
    pipe: &'a Pipe<'a>,
    watch: &'a dyn Fn(&str),
    trouble: Trouble,
    poll: Poll,
    channel: Channel,
    /// Whether the peer may be connected to another node.
    mesh: bool,
    lookups: Lookups,
    local: LocalIo,
    stream: ReliableStream,
    peer: Option<Address>,
    /// Since when everything has been transferred.
    complete: Option<Instant>,
    /// Since when only what the caller misses has been outstanding.
    owed: Option<Instant>,
}

impl<'a> Exchange<'a> {
    fn start(
        pipe: &'a Pipe<'a>,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        watch: &'a dyn Fn(&str),
    ) -> Result<Exchange<'a>, ClientError> {
        let mut trouble = Trouble { since: Instant::now(), tries: 0, backoff: Backoff::default() };
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let ((channel, mesh, piece), peer) = trouble.connect(pipe, |session, route| {
            let mesh = session.mesh;
            Ok((Channel::connect(session, route, poll.registry())?, mesh, route.piece()))
        })?;
        // The peer gets the full time, however long the relay took
        trouble.since = Instant::now();
        let lookups = Lookups::new(trouble.since)?;
        watch("connected");
        let local = LocalIo::start(input, output, &waker)?;
        let stream = ReliableStream::new(random()?, &pipe.identity.name, pipe.peer, piece);
        let (complete, owed) = (None, None);
        Ok(Exchange { pipe, watch, trouble, poll, channel, mesh, lookups, local, stream, peer, complete, owed })
    }

    /// Sends what is pending; `None` if the connection is broken.
    fn send_pending(&mut self, now: Instant) -> Option<()> {
        while let Some(peer) = self.peer
            && self.channel.queued() < MAX_QUEUED_BYTES
        {
            let Some(message) = self.stream.message(now) else { break };
            self.channel.send(peer, &message).ok()?;
        }
        self.channel.flush().ok()
    }

    /// Whether both sides know that everything was transferred, or the peer's last word was waited for in vain. The
    /// kernel sends our own.
    fn is_over(&mut self, now: Instant) -> bool {
        if self.stream.is_over() || self.complete.is_some_and(|since| now - since > GOODBYE_WAIT) {
            return true;
        }
        self.complete = self.stream.is_complete().then(|| self.complete.unwrap_or(now));
        false
    }

    fn transferred(&self) -> Transferred {
        Transferred { sent: self.local.sent, received: self.local.written.load(Ordering::Acquire) }
    }

    /// Fails if everything was acknowledged long ago and the caller still misses something.
    fn wait_for_missing(&mut self, missing: &dyn Fn() -> Option<io::Error>, now: Instant) -> Result<(), ClientError> {
        let unpaid = if self.stream.is_acknowledged() { missing() } else { None };
        self.owed = unpaid.is_some().then(|| self.owed.unwrap_or(now));
        match unpaid {
            Some(error) if self.owed.is_some_and(|since| now - since > self.pipe.wait) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Sends a probe if the connection has been silent for long. Returns whether a probe was not answered in time.
    fn is_silent(&mut self, now: Instant) -> bool {
        let quiet = now - self.channel.heard;
        match self.channel.probe_sent {
            Some(since) => now - since > PROBE_WAIT,
            None => {
                if quiet > KEEPALIVE_INTERVAL || (self.stream.due().is_some() && quiet > PROBE_WAIT) {
                    self.channel.probe(now);
                }
                false
            }
        }
    }

    /// Waits until something arrives or is due, and takes what arrived; `None` if the connection is broken.
    fn receive(&mut self, events: &mut Events, now: Instant) -> io::Result<Option<()>> {
        let due = self.stream.due().map_or(PROBE_WAIT, |due| due.saturating_duration_since(now));
        match self.poll.poll(events, Some(due.clamp(Duration::from_millis(1), PROBE_WAIT / 4))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let before = self.channel.heard;
        let Exchange { channel, trouble, lookups, stream, local, .. } = self;
        let received = channel.receive(self.peer, |message| {
            trouble.since = now;
            lookups.found();
            let bytes = stream.receive(message, now);
            if let Some(output) = &local.output
                && !bytes.is_empty()
            {
                // A failed output reports its error itself
                let _ = output.send(bytes);
            }
        });
        if channel.heard != before {
            (trouble.tries, trouble.backoff) = (0, Backoff::default());
        }
        Ok(received.ok())
    }

    /// Looks the peer up when that is due: it may not have opened its session yet (`unknown`), or may have moved to
    /// another node.
    fn look_up_peer(&mut self, unknown: bool) -> Result<(), ClientError> {
        let silent = self.stream.due().is_some() && self.trouble.since.elapsed() > PROBE_WAIT;
        let soon = if self.mesh || unknown { PROBE_WAIT } else { 8 * PROBE_WAIT };
        let strangers = std::mem::take(&mut self.channel.other_senders);
        if self.lookups.is_due(unknown || silent, strangers, soon, Instant::now())?
            && let Ok(found) = self.pipe.identity.find_within(&[self.pipe.peer], self.trouble.left(self.pipe))
            && found[0].is_some()
            && found[0] != self.peer
        {
            if self.peer.is_some() {
                (self.watch)("the peer moved");
            }
            self.peer = found[0];
            self.lookups.found();
            self.stream.send_again();
        }
        Ok(())
    }

    /// Fails if the peer gave up, began another stream, or does not answer in time.
    fn check_peer(&mut self, unknown: bool) -> Result<(), ClientError> {
        let peer = || self.pipe.peer.to_owned();
        if self.stream.failed {
            return Err(ClientError::PeerFailed(peer()));
        }
        if self.stream.replaced {
            return Err(ClientError::PeerRestarted(peer()));
        }
        if self.stream.due().is_none() && !unknown {
            self.trouble.since = Instant::now();
        } else if self.trouble.since.elapsed() > self.pipe.wait {
            return Err(ClientError::NoAnswer(peer()));
        }
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), ClientError> {
        let moved = self.trouble.reconnect(self.pipe, &mut self.channel, &self.poll, self.watch)?;
        self.peer = moved.unwrap_or(self.peer);
        self.stream.send_again();
        Ok(())
    }

    /// Tells the peer that we give up. If that is lost, the peer waits as if we had been killed.
    fn give_up(&mut self) {
        let Some(peer) = self.peer else { return };
        for message in self.stream.failure() {
            // With a key that is used up, the peer cannot be told
            let _ = self.channel.send(peer, &message);
        }
        let until = Instant::now() + FAILURE_NOTICE_TIMEOUT;
        while self.channel.flush().is_ok() && self.channel.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
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
                    std::thread::sleep(TOO_OFTEN_WAIT.min(pipe.wait));
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
