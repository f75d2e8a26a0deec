//! `sealwright key`: keys for files.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use sealwright::Suite;
use sealwright_file::{Error, Key, key::KeyForm};
use sealwright_terminal::{CommandError, Exit, os_message};

use crate::{error::file_error, seal, stream};

const EXAMPLES: &str = "\
A key file holds the key in hexadecimal on one line, or its bare bytes with --raw, and only you may read
it. Keep a copy somewhere safe: what is sealed with a lost key is lost.

Example:
    sealwright key new -o my.key";

/// Make keys
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a new random key
    #[command(after_help = EXAMPLES)]
    New(NewArgs),
}

#[derive(Args, Debug)]
struct NewArgs {
    /// Write the key to FILE, which must not exist, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The suite it is for
    #[arg(long, default_value = "aes-256-gcm", value_parser = seal::suites())]
    suite: Suite,
    /// Write the bare bytes instead of hexadecimal digits
    #[arg(long)]
    raw: bool,
}

/// Makes a key and puts it where it was asked for.
pub(crate) fn run(args: &KeyArgs) -> Result<Exit, CommandError> {
    let Verb::New(args) = &args.verb;
    let form = if args.raw { KeyForm::Raw } else { KeyForm::Hex };
    let key = Key::generate(args.suite).map_err(file_error)?;
    match &args.output {
        Some(path) if path.as_os_str() != "-" => key.write_file(path, form).map_err(|error| match error {
            Error::Exists(path) => CommandError::failed("exists already; a key is never replaced")
                .about(&path)
                .hint("what it sealed could not be opened again: choose another name, or remove it yourself"),
            other => file_error(other),
        })?,
        named => {
            if args.raw && named.is_none() {
                stream::refuse_terminal("-o")?;
            }
            let mut out = io::stdout().lock();
            // Here a closed pipe is a failure: the key reached nobody
            let bytes = key.to_form(form).map_err(file_error)?;
            out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| {
                CommandError::failed(format_args!("standard output: cannot write: {}", os_message(&error)))
            })?;
        }
    }
    Ok(Exit::Done)
}
