//! Passphrase prompts on the terminal, which gets its echo back in any case.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
    time::Duration,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use sealwright_terminal::{CommandError, os_message};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::keys::line::first_line;

const TERMINAL: &str = "/dev/tty";

/// The purpose of a passphrase. A file sealed with a mistyped one is lost, so sealing asks twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Seal,
    /// Sealing for a further passphrase; the prompt differs from that for opening.
    #[cfg(feature = "public-keys")]
    Add,
    Open,
}

/// A prompt that is not answered yet.
struct Question {
    terminal: File,
    text: String,
    /// The terminal's settings before the prompt, and with echo off.
    before: Termios,
    silent: Termios,
}

/// The open prompt, and whether the echo stays on all the same, because the process is ending or stopping.
struct Asked {
    open: Option<Question>,
    shown: bool,
}

static ASKED: Mutex<Asked> = Mutex::new(Asked { open: None, shown: false });
/// How often a signal handler tries to get the lock, and how long it waits between tries. The holder may be blocked in
/// a change of the terminal's settings, forever if the terminal belongs to another job.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Asks on /dev/tty, twice when sealing. If there is no terminal, the hint is `instead`, which names alternatives.
pub(crate) fn passphrase(purpose: Purpose, instead: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let first = match purpose {
        #[cfg(feature = "public-keys")]
        Purpose::Add => ask("New passphrase: ", instead)?,
        _ => ask("Passphrase: ", instead)?,
    };
    if purpose != Purpose::Open && !first.is_empty() {
        let second = ask("Again, to be sure: ", instead)?;
        if !bool::from(first.ct_eq(&second)) {
            return Err(CommandError::failed("the two passphrases are not the same"));
        }
    }
    Ok(first)
}

/// Asks for the passphrase of the file at `path`.
#[cfg(feature = "public-keys")]
pub(crate) fn passphrase_of(path: &Path) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let instead = "in scripts name a file that has no passphrase: `sealwright open` makes one of a \
                   sealed file, `ssh-keygen -p` of an SSH key";
    ask(&format!("Passphrase for {}: ", sealwright_terminal::shown(path)), instead)
}

/// Reads one line from the terminal, without echo.
fn ask(text: &str, instead: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let no_terminal = |error| no_terminal(&error, instead);
    let mut terminal = File::options().read(true).write(true).open(TERMINAL).map_err(no_terminal)?;
    let before = tcgetattr(&terminal).map_err(|error| no_terminal(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes &= !LocalModes::ECHO;
    silent.local_modes |= LocalModes::ECHONL | LocalModes::ICANON;
    let question = Question { terminal: terminal.try_clone().map_err(no_terminal)?, text: text.into(), before, silent };
    // Registered before the echo is turned off: the process may end while the prompt is blocked, because output to the
    // terminal is stopped (Ctrl-S).
    let line = open(question)
        .and_then(|()| terminal.write_all(text.as_bytes()))
        .map_err(no_terminal)
        .and_then(|()| first_line(&mut terminal, Path::new(TERMINAL)));
    let mut asked = lock();
    asked.show();
    asked.open = None;
    line
}

/// Turns the echo off, unless the process is ending. The caller prints the prompt, after the lock is released.
fn open(question: Question) -> io::Result<()> {
    let mut asked = lock();
    asked.open = Some(question);
    if asked.shown { Ok(()) } else { asked.hide() }
}

impl Asked {
    /// Turns the echo off.
    fn hide(&self) -> io::Result<()> {
        let Some(question) = &self.open else { return Ok(()) };
        Ok(tcsetattr(&question.terminal, OptionalActions::Now, &question.silent)?)
    }

    /// Turns the echo on if a prompt is open.
    fn show(&self) {
        if let Some(question) = &self.open {
            // If it fails, the terminal is gone, and nothing can be done.
            let _ = tcsetattr(&question.terminal, OptionalActions::Now, &question.before);
        }
    }
}

/// Turns the echo on if a prompt is open, and keeps it on: called when the process ends or stops.
pub(crate) fn show_typing() {
    if let Some(mut asked) = lock_soon() {
        asked.shown = true;
        asked.show();
    }
}

/// Turns the echo off and prints the prompt again if one is open: called when the process continues after a stop,
/// during which the shell turned the echo on.
pub(crate) fn hide_typing() {
    let Some(mut asked) = lock_soon() else { return };
    asked.shown = false;
    // Ignored, as above.
    let _ = asked.hide();
    let again =
        asked.open.as_ref().and_then(|question| Some((question.terminal.try_clone().ok()?, question.text.clone())));
    drop(asked);
    if let Some((mut terminal, text)) = again {
        // In a thread, because writing may block on a stopped terminal, and this thread must handle signals.
        let _ = thread::Builder::new().spawn(move || terminal.write_all(text.as_bytes()));
    }
}

fn lock() -> MutexGuard<'static, Asked> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock, unless it is held for long.
fn lock_soon() -> Option<MutexGuard<'static, Asked>> {
    for _ in 0..TRIES {
        match ASKED.try_lock() {
            Ok(asked) => return Some(asked),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
    None
}

fn no_terminal(error: &io::Error, instead: &str) -> CommandError {
    CommandError::failed(format_args!("no terminal to ask for a passphrase: {}", os_message(error))).hint(instead)
}
