//! The main loop of a server, from start to end, controlled by signals.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use nix::sys::signal::{SigSet, Signal};
use serde_json::json;

use crate::{
    log::Log,
    serve::{
        admin::{self, AdminRequest, AdminSocket, Event},
        config::Config,
        notify::Notify,
        serve_error::ServeError,
        server::Server,
    },
};

/// SIGHUP, SIGTERM, SIGINT and SIGQUIT, received as messages.
#[derive(Debug)]
pub struct Signals(Receiver<Event>, SyncSender<Event>);

/// How soon workers are asked again after one did not answer: a slow second is not a hang.
const HEALTH_RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl Signals {
    /// Whether another signal to end the program has arrived.
    fn ended(&self) -> bool {
        self.0
            .try_iter()
            .any(|event| matches!(event, Event::Signal(Signal::SIGTERM | Signal::SIGINT | Signal::SIGQUIT)))
    }

    /// Blocks these signals for this thread and all that it starts from now on. Call this before anything else.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn take() -> io::Result<Signals> {
        let mut set = SigSet::empty();
        // By default SIGQUIT would write a core file, with keys in it
        for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT] {
            set.add(signal);
        }
        set.thread_block()?;
        let (sender, receiver) = sync_channel(8);
        let admin = sender.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = set.wait() {
                if sender.send(Event::Signal(signal)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Signals(receiver, admin))
    }
}

/// Serves with the configuration in this file. SIGHUP reloads it; SIGTERM, SIGINT and SIGQUIT drain and then stop the
/// relay, and a second one stops it at once.
///
/// # Errors
/// If it cannot start. A later reload that fails is logged and changes nothing.
pub fn run(path: &Path, signals: &Signals, log: Arc<Log>) -> Result<(), ServeError> {
    let notify = Notify::from_environment()?;
    let mut config = Config::read(path)?;
    if config.scheme.research_only() {
        log.say("research-only", &[("scheme", config.scheme.to_string().into())]);
    }
    let open = |path: &PathBuf| {
        admin::check(path)?;
        AdminSocket::open(path, signals.1.clone()).map_err(|error| ServeError::Admin { path: path.clone(), error })
    };
    // Whoever reads that the relay serves finds its socket. The socket replaces that of another relay only once this
    // one listens
    let (mut server, _admin) =
        Server::start_with(&config, log.clone(), || config.admin.as_ref().map(open).transpose())?;
    notify.say("READY=1");
    // Requests and signals in between do not postpone the watchdog's notification
    let mut alive = Notify::watchdog().map(|every| (every, Instant::now() + every));
    loop {
        let wait = alive.map_or(Duration::from_secs(3600), |(_, due)| due.saturating_duration_since(Instant::now()));
        match signals.0.recv_timeout(wait) {
            Ok(Event::Signal(Signal::SIGHUP)) => {
                // The error is already in the log
                let _ = reload(path, &server, &mut config, &notify, &log);
            }
            Ok(Event::Admin(request, reply)) => {
                let answer = match request {
                    AdminRequest::Status => vec![admin::status(&server)],
                    AdminRequest::List => admin::list(&server),
                    AdminRequest::Reload => match reload(path, &server, &mut config, &notify, &log) {
                        Ok(()) => vec![json!({ "reloaded": true })],
                        Err(error) => vec![json!({ "error": error.to_string(), "hint": error.hint() })],
                    },
                };
                // The client may have left
                let _ = reply.send(answer);
            }
            Ok(Event::Signal(_)) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some((every, due)) = &mut alive
            && *due <= Instant::now()
        {
            // If a worker does not answer, the watchdog is not notified
            let next = if server.trouble().is_none() {
                notify.say("WATCHDOG=1");
                *every
            } else {
                HEALTH_RETRY_INTERVAL.min(*every)
            };
            *due = Instant::now() + next;
        }
    }
    notify.stopping(config.drain);
    server.drain_unless(config.drain, || signals.ended());
    Ok(())
}

/// Reads the configuration again and applies it.
fn reload(path: &Path, server: &Server, config: &mut Config, notify: &Notify, log: &Log) -> Result<(), ServeError> {
    notify.say(&format!("RELOADING=1\nMONOTONIC_USEC={}", microseconds()));
    // Each step is short, but all together may take longer than the watchdog waits
    let last = Cell::new(Instant::now());
    let alive = || {
        if last.get().elapsed() > HEALTH_RETRY_INTERVAL {
            last.set(Instant::now());
            notify.say("WATCHDOG=1");
        }
    };
    let read = Config::read(path).map_err(ServeError::from);
    let reloaded = read.and_then(|fresh| server.reload_while(&fresh, &alive).map(|()| *config = fresh));
    if let Err(error) = &reloaded {
        log.failed("reload-failed", error, error.hint());
    }
    notify.say("READY=1");
    reloaded
}

/// The monotonic clock in microseconds, which systemd compares with its own.
fn microseconds() -> u128 {
    nix::time::ClockId::CLOCK_MONOTONIC.now().map_or(0, |now| Duration::from(now).as_micros())
}
