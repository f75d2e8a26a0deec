//! A stream of bytes to another client and one back, whatever happens to connections, frames or the relay between.

use std::{
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender, TryRecvError, sync_channel},
    },
    time::{Duration, Instant},
};

use mio::{Events, Poll, Token, Waker};

use crate::client::{
    flow::Flow,
    identity::{ClientError, Identity},
    line::Line,
    wire::Route,
};

/// Bytes read from the input at once.
const READ: usize = 8 << 10;
const BELL: Token = Token(0);
/// Bytes queued for the relay before more is sealed.
const QUEUE: usize = 64 << 10;
/// How long the end may go unanswered by a peer that knows it.
const LINGER: Duration = Duration::from_secs(1);
/// A line that says nothing while we wait for an answer is asked whether it still is there, and given so long.
const SILENCE: Duration = Duration::from_secs(2);
/// Keys are made anew with so many blocks left.
const WORN: u64 = 1 << 24;

/// How much went each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Bytes of the input, all of them acknowledged by the peer.
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
    /// How long an answer may take, before the pipe gives up.
    pub wait: Duration,
}

/// What the thread that reads the input tells.
enum Input {
    Bytes(Vec<u8>),
    End,
    Failed(io::Error),
}

/// The threads of input and output, as the loop sees them.
struct Ends {
    input: Receiver<Input>,
    output: Sender<Vec<u8>>,
    written: Arc<AtomicU64>,
    failed: Receiver<io::Error>,
    sent: u64,
}

impl Pipe<'_> {
    /// Pipes `input` to the peer and what it sends to `output`, until both have ended and both know. `watch` hears
    /// in words what happens on the way.
    ///
    /// # Errors
    /// When there is no session, no peer, or the input or output fails.
    pub fn run(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        watch: &dyn Fn(&str),
    ) -> Result<Moved, ClientError> {
        let session = self.identity.open(&[self.peer])?;
        let mut poll = Poll::new()?;
        let bell = Arc::new(Waker::new(poll.registry(), BELL)?);
        let (mut peer, fleet) = (session.found[0], session.fleet);
        let mut looked = Instant::now();
        let route = Route::of(&session, self.datagrams).ok_or(ClientError::NoDatagrams)?;
        let mut line = Line::connect(session.client, route, poll.registry())?;
        watch("connected");
        let mut ends = Ends::start(input, output, &bell)?;
        let mut flow = Flow::new(random()?, route.piece());
        let mut events = Events::with_capacity(16);
        let mut trouble = Trouble { since: Instant::now(), tries: 0 };
        let mut complete = None;
        loop {
            let now = Instant::now();
            ends.feed(&mut flow)?;
            let mut broken = talk(&mut line, &mut flow, peer, now).is_none();
            if flow.is_over() || complete.is_some_and(|since| now - since > LINGER) {
                // The last goodbye is in the system's hands
                return Ok(Moved { sent: ends.sent, received: ends.written.load(Ordering::Acquire) });
            }
            complete = flow.is_complete().then(|| complete.unwrap_or(now));
            let quiet = now - line.heard;
            match line.greeted {
                Some(since) if now - since > SILENCE => broken = true,
                None if flow.due().is_some() && quiet > SILENCE => line.greet(now),
                _ => {}
            }
            if !broken {
                let due = flow.due().map_or(SILENCE, |due| due.saturating_duration_since(now));
                match poll.poll(&mut events, Some(due.clamp(Duration::from_millis(1), SILENCE / 4))) {
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
                    _ => {}
                }
                let before = line.heard;
                let output = &ends.output;
                let heard = line.hear(peer, |message| {
                    trouble.met(now);
                    let bytes = flow.receive(message, now);
                    if !bytes.is_empty() {
                        // An output that failed says so itself
                        let _ = output.send(bytes.to_vec());
                    }
                });
                broken = heard.is_err();
                if line.heard != before {
                    trouble.tries = 0;
                }
            }
            // Where there are several relays, the peer may have opened its session at another one
            let silent = flow.due().is_some() && trouble.since.elapsed() > SILENCE;
            if fleet && (silent || line.strangers) && looked.elapsed() > SILENCE {
                (looked, line.strangers) = (Instant::now(), false);
                if let Ok(found) = self.identity.find(&[self.peer])
                    && found[0] != peer
                {
                    watch("the peer moved");
                    peer = found[0];
                    flow.send_again();
                }
            }
            if flow.replaced {
                return Err(ClientError::Anew(self.peer.to_owned()));
            }
            if flow.due().is_some() && trouble.since.elapsed() > self.wait {
                return Err(ClientError::Absent(self.peer.to_owned()));
            }
            if flow.due().is_none() {
                trouble.since = Instant::now();
            }
            if broken || line.blocks_left() < WORN {
                let renewed = trouble.mend(self, &mut line, &poll, watch)?;
                peer = renewed.unwrap_or(peer);
                flow.send_again();
            }
        }
    }
}

/// Sends what there is to send; nothing when the connection broke.
fn talk(line: &mut Line, flow: &mut Flow, peer: u32, now: Instant) -> Option<()> {
    while line.queued() < QUEUE {
        let Some(message) = flow.message(now) else { break };
        line.say(peer, &message).ok()?;
    }
    line.flush().ok()
}

/// What was tried since the line last worked.
struct Trouble {
    /// Since when nothing was heard of the peer.
    since: Instant,
    tries: u32,
}

impl Trouble {
    fn met(&mut self, now: Instant) {
        self.since = now;
    }

    /// First another connection, then another session; the peer's number, if it may be another one.
    fn mend(
        &mut self,
        pipe: &Pipe<'_>,
        line: &mut Line,
        poll: &Poll,
        watch: &dyn Fn(&str),
    ) -> Result<Option<u32>, ClientError> {
        self.tries += 1;
        watch("connecting again");
        if self.tries == 1 && line.blocks_left() >= WORN && line.again(poll.registry()).is_ok() {
            return Ok(None);
        }
        loop {
            let session = pipe.identity.open(&[pipe.peer]);
            let failed = match session {
                Ok(session) => {
                    let route = Route::of(&session, pipe.datagrams).ok_or(ClientError::NoDatagrams)?;
                    match line.renew(session.client, route, poll.registry()) {
                        Ok(()) => return Ok(Some(session.found[0])),
                        Err(error) => ClientError::Io(error),
                    }
                }
                Err(error @ ClientError::Relay { .. }) => error,
                Err(error) => return Err(error),
            };
            if self.since.elapsed() > pipe.wait {
                return Err(failed);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Ends {
    fn start(
        mut input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
        bell: &Arc<Waker>,
    ) -> io::Result<Ends> {
        let (tell_input, hear_input) = sync_channel(4);
        let ring = bell.clone();
        std::thread::Builder::new().name("input".into()).spawn(move || {
            loop {
                let mut bytes = vec![0; READ];
                let news = match input.read(&mut bytes) {
                    Ok(0) => Input::End,
                    Ok(much) => {
                        bytes.truncate(much);
                        Input::Bytes(bytes)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Input::Failed(error),
                };
                let last = !matches!(news, Input::Bytes(_));
                let gone = tell_input.send(news).is_err();
                let _ = ring.wake();
                if last || gone {
                    break;
                }
            }
        })?;
        let (tell_output, hear_output) = mpsc::channel::<Vec<u8>>();
        let (tell_failed, failed) = mpsc::channel();
        let written = Arc::new(AtomicU64::new(0));
        let (ring, count) = (bell.clone(), written.clone());
        std::thread::Builder::new().name("output".into()).spawn(move || {
            for bytes in hear_output {
                if let Err(error) = output.write_all(&bytes).and_then(|()| output.flush()) {
                    // The pipe ends with it
                    let _ = tell_failed.send(error);
                    let _ = ring.wake();
                    break;
                }
                count.fetch_add(bytes.len() as u64, Ordering::Release);
                let _ = ring.wake();
            }
        })?;
        Ok(Ends { input: hear_input, output: tell_output, written, failed, sent: 0 })
    }

    /// Moves what was read into the flow, and tells it what was written.
    fn feed(&mut self, flow: &mut Flow) -> Result<(), ClientError> {
        if let Ok(error) = self.failed.try_recv() {
            return Err(error.into());
        }
        flow.written(self.written.load(Ordering::Acquire));
        while flow.room() > 0 {
            match self.input.try_recv() {
                Ok(Input::Bytes(bytes)) => {
                    self.sent += bytes.len() as u64;
                    flow.offer(&bytes);
                }
                Ok(Input::End) => flow.end(),
                Ok(Input::Failed(error)) => return Err(error.into()),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        Ok(())
    }
}

/// A number that no other stream has.
fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u64::from_be_bytes(bytes))
}
