//! A server from its start to its end, controlled by signals.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use nix::sys::signal::{SigSet, Signal};

use crate::{
    log::Log,
    serve::{
        config::Config,
        notify::Notify,
        server::{ServeError, Server},
    },
};

/// SIGHUP, SIGTERM and SIGINT as messages.
#[derive(Debug)]
pub struct Signals(Receiver<Signal>);

impl Signals {
    /// Blocks the three signals for this thread and all that it starts from now on. Call this before anything else.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn take() -> io::Result<Signals> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
            set.add(signal);
        }
        set.thread_block()?;
        let (sender, receiver) = sync_channel(8);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = set.wait() {
                if sender.send(signal).is_err() {
                    break;
                }
            }
        })?;
        Ok(Signals(receiver))
    }
}

/// Serves with the configuration in this file. SIGHUP reads it again; SIGTERM and SIGINT drain and end, and a second one
/// ends at once.
///
/// # Errors
/// When it cannot start. A reload that fails later is logged and changes nothing.
pub fn run(path: &Path, signals: &Signals, log: Arc<Log>) -> Result<(), ServeError> {
    let notify = Notify::from_environment()?;
    let mut config = Config::read(path)?;
    if config.scheme.research_only() {
        log.say("research-only", &[("scheme", config.scheme.to_string().into())]);
    }
    let mut server = Server::start(&config, log.clone())?;
    notify.say("READY=1");
    let watchdog = Notify::watchdog();
    loop {
        match signals.0.recv_timeout(watchdog.unwrap_or(Duration::from_secs(3600))) {
            Ok(Signal::SIGHUP) => {
                notify.say(&format!("RELOADING=1\nMONOTONIC_USEC={}", microseconds()));
                let read = Config::read(path).map_err(ServeError::from);
                match read.and_then(|fresh| server.reload(&fresh).map(|()| fresh)) {
                    Ok(fresh) => config = fresh,
                    Err(error) => log.say("reload-failed", &[("why", error.to_string().into())]),
                }
                notify.say("READY=1");
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                // If a worker does not answer, the watchdog is not notified
                if is_alive(&server) {
                    notify.say("WATCHDOG=1");
                }
            }
        }
    }
    notify.say("STOPPING=1");
    server.drain_unless(config.drain, || matches!(signals.0.try_recv(), Ok(Signal::SIGTERM | Signal::SIGINT)));
    Ok(())
}

fn is_alive(server: &Server) -> bool {
    let relay = server.relay();
    (0..relay.layout().shards() as usize).all(|shard| relay.change(shard, 0..0, |_| ()).is_ok())
}

/// The monotonic clock, as systemd compares it with its own.
fn microseconds() -> u128 {
    nix::time::ClockId::CLOCK_MONOTONIC.now().map_or(0, |now| Duration::from(now).as_micros())
}
