//! The command `sealwright`: seals and opens files, writes and reads the bytes of `openssl enc`, checks vectors, relays
//! sessions.
//!
//! The verbs stand together in `command`; each verb is one file in `verb`; errors are printed by
//! `sealwright_terminal::run`.

mod ad;
mod args;
mod bars;
mod command;
mod counts;
#[cfg(feature = "signatures")]
mod detached;
mod error;
mod exit_status;
mod hint;
mod identity;
mod keys;
mod manifests;
mod names;
mod openssl_words;
mod plan;
mod preflight;
mod progress;
mod protected_inputs;
mod range;
#[cfg(feature = "public-keys")]
mod rekey_targets;
mod run;
mod stream;
mod task;
mod verb;

use std::process::ExitCode;

use sealwright_file::output::{abandon_all, keep_own};
use sealwright_terminal::{CommandError, Exit, interrupt};

#[cfg(feature = "public-keys")]
use crate::verb::rekey;
#[cfg(feature = "signatures")]
use crate::verb::sign;
#[cfg(feature = "relay")]
use crate::verb::{client, relay, serve};
use crate::{
    command::{Arguments, Verb},
    keys::prompt,
    verb::{completions, enc, inspect, key, man, open, seal, vectors, verify},
};

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
    // Workers may be blocked on a pipe forever, so they are not waited for: what they have written is removed.
    let clean_up = || {
        abandon_all();
        prompt::show_typing();
    };
    interrupt::listen_at_terminal(clean_up, prompt::show_typing, prompt::hide_typing)?;
    // Every output has its own name, but a file system may treat two of these names as the same.
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
