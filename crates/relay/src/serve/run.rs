//! A server from its start to its end, as signals tell it.

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

use crate::serve::{
    config::Config,
    log::Log,
    notify::Notify,
    server::{ServeError, Server},
};

/// SIGHUP, SIGTERM and SIGINT as messages.
#[derive(Debug)]
pub struct Signals(Receiver<Signal>);

impl Signals {
    /// Keeps the three from interrupting this thread and those it starts from now on: to be called first of all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn take() -> io::Result<Signals> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
            set.add(signal);
        }
        set.thread_block()?;
        let (tell, hear) = sync_channel(8);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Ok(signal) = set.wait() {
                if tell.send(signal).is_err() {
                    break;
                }
            }
        })?;
        Ok(Signals(hear))
    }
}

/// Serves as the file says: SIGHUP reads it again, SIGTERM and SIGINT drain and end.
///
/// # Errors
/// When it cannot begin. What fails later is logged, and the server goes on as it was.
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
                // A worker that does not answer keeps the watchdog from hearing
                if alive(&server) {
                    notify.say("WATCHDOG=1");
                }
            }
        }
    }
    notify.say("STOPPING=1");
    server.drain(config.drain);
    Ok(())
}

fn alive(server: &Server) -> bool {
    let relay = server.relay();
    (0..relay.layout().shards() as usize).all(|shard| relay.change(shard, 0..0, |_| ()).is_ok())
}

/// The monotonic clock, as systemd compares it with its own.
fn microseconds() -> u128 {
    nix::time::ClockId::CLOCK_MONOTONIC.now().map_or(0, |now| Duration::from(now).as_micros())
}
