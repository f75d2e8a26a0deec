//! The command `sealwright`: seals and opens files, writes and reads the bytes of `openssl enc`, checks vectors, relays
//! sessions.
//!
//! The verbs stand together in `command`; each verb is one file; errors are printed by `sealwright_terminal::run`.

mod ad;
mod args;
mod bars;
mod ceiling;
#[cfg(feature = "public-keys")]
mod chosen;
#[cfg(feature = "relay")]
mod client;
mod command;
mod completions;
mod counts;
mod descriptor;
#[cfg(feature = "signatures")]
mod detached;
mod enc;
mod error;
mod identity;
mod in_use;
mod inspect;
mod kept;
mod key;
mod line;
mod listing;
mod lists;
mod locks;
mod man;
mod names;
mod open;
mod openssl_words;
#[cfg(feature = "public-keys")]
mod pairs;
#[cfg(not(feature = "public-keys"))]
#[path = "no_pairs.rs"]
mod pairs;
mod plan;
mod preflight;
mod progress;
mod prompt;
mod range;
#[cfg(feature = "public-keys")]
mod rekey;
#[cfg(feature = "relay")]
mod relay;
mod run;
mod seal;
mod secret;
#[cfg(feature = "relay")]
mod serve;
#[cfg(feature = "signatures")]
mod sign;
#[cfg(feature = "signatures")]
mod signing;
mod stream;
mod task;
mod vectors;
mod verify;
mod worst;

use std::process::ExitCode;

use sealwright_file::output::{abandon_all, keep_own};
use sealwright_terminal::{CommandError, Exit, interrupt};

use crate::command::{Arguments, Verb};

fn main() -> ExitCode {
    let words = openssl_words::rewrite(std::env::args_os().collect());
    sealwright_terminal::run("sealwright", &words, dispatch).into()
}

fn dispatch(args: &Arguments) -> Result<Exit, CommandError> {
    // Signals tell a relay to reload or to end in order, not to stop at once.
    #[cfg(feature = "relay")]
    if let Verb::Serve(args) = &args.verb {
        return serve::run(args);
    }
    // Workers may be waiting for a pipe that never speaks again: they are not asked, what they wrote is removed.
    let clean_up = || {
        abandon_all();
        prompt::show_typing();
    };
    interrupt::listen_at_terminal(clean_up, prompt::show_typing, prompt::hide_typing)?;
    // Each output has its own name; a file system may take two of them for one.
    if matches!(args.verb, Verb::Seal(_) | Verb::Open(_)) {
        keep_own();
    }
    match &args.verb {
        Verb::Seal(args) => seal::run(args),
        Verb::Open(args) => open::run(args),
        #[cfg(feature = "public-keys")]
        Verb::Rekey(args) => rekey::run(args),
        #[cfg(feature = "signatures")]
        Verb::Sign(args) => sign::run(args),
        Verb::Verify(args) => verify::run(args),
        Verb::Inspect(args) => inspect::run(args),
        Verb::Key(args) => key::run(args),
        Verb::Enc(args) => enc::run(args),
        Verb::Vectors(args) => vectors::run(args),
        #[cfg(feature = "relay")]
        Verb::Serve(args) => serve::run(args),
        #[cfg(feature = "relay")]
        Verb::Client(args) => client::run(args),
        #[cfg(feature = "relay")]
        Verb::Relay(args) => relay::run(args),
        Verb::Completions(args) => completions::run::<Arguments>(args),
        Verb::Man(args) => man::run::<Arguments>(args),
    }
}
