//! Signals: SIGINT, SIGQUIT, SIGTERM and SIGHUP clean up and end the program with exit code 130. SIGQUIT (`Ctrl-\`)
//! dumps no core, which would hold keys.
//!
//! A signal that the program was started to ignore stays ignored: `nohup` and shells that start jobs in the background
//! rely on that. SIGXFSZ is caught, so that a file that grows beyond its limit (`ulimit -f`) is an ordinary error.

use std::{
    fs, io,
    sync::{Arc, OnceLock, atomic::AtomicBool, mpsc},
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ},
    flag,
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{error::CommandError, exit::Exit, streams::say};

/// The maximum time for printing the message about an interrupt.
const PATIENCE: Duration = Duration::from_secs(2);
/// The hint after that message, if there is one.
static HINT: OnceLock<&str> = OnceLock::new();

/// Sets the hint that is printed after an interrupt.
pub fn hint(hint: &'static str) {
    // Each process runs only one verb, so no hint was set before.
    let _ = HINT.set(hint);
}

/// Listens from now on; `clean_up` runs in a thread of its own before the process ends. Called once, before anything
/// is written.
///
/// # Errors
/// If the system refuses the handler.
pub fn listen(clean_up: impl Fn() + Send + 'static) -> Result<(), CommandError> {
    start(&[SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXFSZ], clean_up, || {}, || {})
}

/// As [`listen`]. In addition, `stop` runs before the process is suspended from the terminal (Ctrl-Z), and `resume`
/// after it continues: for programs that change the settings of the terminal.
///
/// # Errors
/// If the system refuses the handler.
pub fn listen_at_terminal(
    clean_up: impl Fn() + Send + 'static,
    stop: impl Fn() + Send + 'static,
    resume: impl Fn() + Send + 'static,
) -> Result<(), CommandError> {
    start(&[SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXFSZ, SIGTSTP, SIGCONT], clean_up, stop, resume)
}

/// Ensures that this process can read the exit status of child processes that it starts from now on. If the parent
/// process ignores SIGCHLD, as some supervisors do, that setting is inherited, and the system would discard the status.
/// Catching the signal prevents this; the child processes get its default action.
///
/// # Errors
/// If the system refuses the handler.
pub fn learn_of_ends() -> io::Result<()> {
    flag::register(SIGCHLD, Arc::new(AtomicBool::new(false))).map(drop)
}

fn start(
    signals: &[i32],
    clean_up: impl Fn() + Send + 'static,
    stop: impl Fn() + Send + 'static,
    resume: impl Fn() + Send + 'static,
) -> Result<(), CommandError> {
    let ignored = ignored();
    let heeded = signals.iter().filter(|signal| ignored >> (**signal - 1) & 1 == 0);
    let failed = |error| CommandError::failed(format_args!("cannot listen for signals: {error}"));
    let mut signals = Signals::new(heeded).map_err(failed)?;
    let heed = move || {
        for signal in signals.forever() {
            match signal {
                SIGXFSZ => {}
                SIGTSTP => {
                    stop();
                    // If the process cannot be stopped, it continues.
                    let _ = emulate_default_handler(SIGTSTP);
                }
                SIGCONT => resume(),
                _ => {
                    clean_up();
                    tell();
                    // Exits without running C exit handlers, which could free what other threads still use.
                    signal_hook::low_level::exit(Exit::Interrupted as i32);
                }
            }
        }
    };
    thread::Builder::new().name("signals".into()).spawn(heed).map(drop).map_err(failed)
}

/// Prints that the program was interrupted, but does not wait for it longer than `PATIENCE`: a thread that is blocked
/// on writing to standard error may hold its lock forever.
fn tell() {
    let (said, heard) = mpsc::channel();
    let saying = move || {
        say(CommandError::new(Exit::Interrupted, "interrupted").hints(HINT.get()));
        let _ = said.send(());
    };
    // If no thread can be started, nothing is printed, and the channel is closed at once.
    let _ = thread::Builder::new().spawn(saying);
    let _ = heard.recv_timeout(PATIENCE);
}

/// The signals that the process was started with as ignored, signal n as bit n - 1; none if the system does not report
/// them.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
