//! Passphrases typed on the terminal, which gets its echo back whatever happens.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use sealwright_terminal::{CommandError, os_message};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::secret::{Purpose, first_line};

const TERMINAL: &str = "/dev/tty";

/// The terminal as it was, while a passphrase is being typed.
static BEFORE: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Asks on /dev/tty, twice when sealing.
pub(crate) fn passphrase(purpose: Purpose) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let first = ask("Passphrase: ")?;
    if purpose == Purpose::Seal && !first.is_empty() {
        let second = ask("Again, to be sure: ")?;
        if !bool::from(first.ct_eq(&second)) {
            return Err(CommandError::failed("the two passphrases are not the same"));
        }
    }
    Ok(first)
}

/// One line from the terminal, without echo.
fn ask(question: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL).map_err(no_terminal)?;
    let before = tcgetattr(&terminal).map_err(|error| no_terminal(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes &= !LocalModes::ECHO;
    silent.local_modes |= LocalModes::ECHONL | LocalModes::ICANON;
    *lock() = Some((terminal.try_clone().map_err(no_terminal)?, before));
    let line = tcsetattr(&terminal, OptionalActions::Now, &silent)
        .map_err(io::Error::from)
        .and_then(|()| terminal.write_all(question.as_bytes()))
        .map_err(no_terminal)
        .and_then(|()| first_line(&mut terminal, Path::new(TERMINAL)));
    restore_terminal();
    line
}

/// Gives the terminal back its echo if a question is open, and says whether one was. The interrupt handler calls it.
pub(crate) fn restore_terminal() -> bool {
    let Some((terminal, before)) = lock().take() else { return false };
    // Nothing to be done when it fails: the terminal is gone
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    true
}

fn lock() -> std::sync::MutexGuard<'static, Option<(File, Termios)>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_terminal(error: io::Error) -> CommandError {
    CommandError::failed(format_args!("no terminal to ask for a passphrase: {}", os_message(&error)))
        .hint("in scripts use --key-file, --passphrase-fd or --passphrase-command")
}
