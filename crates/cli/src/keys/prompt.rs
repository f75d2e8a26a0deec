//! Passphrases typed on the terminal, which gets its echo back whatever happens.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use sealwright_terminal::{CommandError, os_message};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::keys::line::first_line;

const TERMINAL: &str = "/dev/tty";

/// What a passphrase is for. Sealing with a mistyped one loses the file, so sealing asks twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Seal,
    /// Sealing for one more: a question that is told from that of opening.
    #[cfg(feature = "public-keys")]
    Add,
    Open,
}

/// A question on the terminal that has no answer yet.
struct Question {
    terminal: File,
    text: String,
    /// The terminal as it was, and without echo.
    before: Termios,
    silent: Termios,
}

static OPEN: Mutex<Option<Question>> = Mutex::new(None);

/// Asks on /dev/tty, twice when sealing. Where there is none, `instead` says what the verb offers besides.
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

/// One line from the terminal, without echo.
fn ask(text: &str, instead: &str) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    let no_terminal = |error| no_terminal(&error, instead);
    let mut terminal = File::options().read(true).write(true).open(TERMINAL).map_err(no_terminal)?;
    let before = tcgetattr(&terminal).map_err(|error| no_terminal(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes &= !LocalModes::ECHO;
    silent.local_modes |= LocalModes::ECHONL | LocalModes::ICANON;
    let question = Question { terminal: terminal.try_clone().map_err(no_terminal)?, text: text.into(), before, silent };
    let put = question.put();
    *lock() = Some(question);
    let line = put.map_err(no_terminal).and_then(|()| first_line(&mut terminal, Path::new(TERMINAL)));
    show_typing();
    *lock() = None;
    line
}

impl Question {
    /// Hides what is typed and prints the question.
    fn put(&self) -> io::Result<()> {
        tcsetattr(&self.terminal, OptionalActions::Now, &self.silent)?;
        (&self.terminal).write_all(self.text.as_bytes())
    }
}

/// Gives the terminal back its echo if a question is open: when it is answered, and when the process ends or stops.
pub(crate) fn show_typing() {
    if let Some(question) = &*lock() {
        // Nothing to be done when it fails: the terminal is gone.
        let _ = tcsetattr(&question.terminal, OptionalActions::Now, &question.before);
    }
}

/// Asks again if a question is open: when the process goes on after a stop, in which the shell gave the terminal its
/// echo back.
pub(crate) fn hide_typing() {
    if let Some(question) = &*lock() {
        // As above.
        let _ = question.put();
    }
}

fn lock() -> MutexGuard<'static, Option<Question>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_terminal(error: &io::Error, instead: &str) -> CommandError {
    CommandError::failed(format_args!("no terminal to ask for a passphrase: {}", os_message(error))).hint(instead)
}
