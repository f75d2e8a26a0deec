//! `sealwright key`: keys for files.

use std::{
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use sealwright::Suite;
#[cfg(feature = "signatures")]
use sealwright_file::SigningKey;
use sealwright_file::{Error, Key, Output, key::KeyForm};
#[cfg(feature = "public-keys")]
use sealwright_file::{SecretKey, key::write_new};
use sealwright_terminal::{CommandError, Exit, say};

use crate::{error::file_error, stream, verb::seal};

const EXAMPLES: &str = "\
A key file contains the key in hexadecimal on one line, or its bytes with --raw. With -o, only you can read the
file. Keep a copy in a safe place: if the key is lost, everything that was sealed with it is lost.

Example:
    sealwright key new -o my.key                    # one key, to seal and to open
    sealwright key new --pair -o my.id > my.pub     # a pair: others seal with my.pub, my.id opens
    sealwright key new --signing -o my.sign > my.verify  # my.sign signs; others verify with my.verify";

/// Make keys
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the public keys of an identity file
    #[cfg(feature = "public-keys")]
    Public(PublicArgs),
    /// Make a new random key
    #[command(after_help = EXAMPLES)]
    New(NewArgs),
}

#[derive(Args, Debug)]
struct NewArgs {
    /// Write the key to the new file FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Suite in which the key will be used
    #[arg(long, default_value = "aes-256-gcm", ignore_case = true, value_parser = seal::suites())]
    suite: Suite,
    /// Make a key pair: write the identity file, which opens, to FILE, and print the public key, which seals
    #[cfg(feature = "public-keys")]
    #[arg(long, conflicts_with_all = ["suite", "raw"])]
    pair: bool,
    /// Make a signing key: write it to FILE, and print its verification key, with which others check signatures
    #[cfg(feature = "signatures")]
    #[arg(long, conflicts_with_all = ["suite", "raw", "pair"])]
    signing: bool,
    /// With --pair or --signing: seal FILE with a passphrase, and ask for it on the terminal
    #[cfg(feature = "public-keys")]
    #[arg(short, long)]
    passphrase: bool,
    /// With --pair or --signing: seal FILE with the first line that CMD prints
    #[cfg(feature = "public-keys")]
    #[arg(long, value_name = "CMD", conflicts_with = "passphrase")]
    passphrase_command: Option<String>,
    /// Write raw bytes instead of hexadecimal digits
    #[arg(long)]
    raw: bool,
}

/// Makes a key and writes it to the requested place.
pub(crate) fn run(args: &KeyArgs) -> Result<Exit, CommandError> {
    let args = match &args.verb {
        Verb::New(args) => args,
        #[cfg(feature = "public-keys")]
        Verb::Public(args) => return print_public(args),
    };
    #[cfg(feature = "signatures")]
    if args.signing {
        let key = SigningKey::generate().map_err(file_error)?;
        return write_pair(args, &key.to_text(), &key.verifying_key().to_string());
    }
    #[cfg(feature = "public-keys")]
    if args.pair {
        let secret = SecretKey::generate().map_err(file_error)?;
        return write_pair(args, &secret.to_identity(), &secret.public_key().to_string());
    }
    #[cfg(feature = "public-keys")]
    if args.passphrase || args.passphrase_command.is_some() {
        return Err(CommandError::usage("a passphrase works only with --pair or --signing"));
    }
    let form = if args.raw { KeyForm::Raw } else { KeyForm::Hex };
    let key = Key::generate(args.suite).map_err(file_error)?;
    match &args.output {
        Some(path) if path.as_os_str() != "-" => key.write_file(path, form).map_err(never_replaced)?,
        named => {
            if args.raw && named.is_none() {
                stream::refuse_terminal("-o")?;
            }
            hand_over_secret(&key.to_form(form).map_err(file_error)?)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes a secret key to standard output, with a warning if others could read it.
fn hand_over_secret(key: &[u8]) -> Result<(), CommandError> {
    warn_of_readers();
    hand_over(key)
}

/// Writes a key to standard output. A closed pipe or stream is a failure here, because the key would be lost.
fn hand_over(key: &[u8]) -> Result<(), CommandError> {
    Output::stdout().and_then(|output| output.write_all_of(&mut &*key)).map_err(file_error)
}

/// Warns if standard output is a file that others can read, as files made by a shell usually are.
fn warn_of_readers() {
    let file = std::io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let loose = file.and_then(|file| file.metadata()).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o077 != 0);
    if loose {
        say("sealwright: warning: standard output is a file that others may read\n\
             hint: chmod 600 it; -o FILE makes one that only you can read");
    }
}

#[cfg(feature = "public-keys")]
const PUBLIC_EXAMPLES: &str = "\
Example:
    sealwright key public -i my.id > my.pub";

#[cfg(feature = "public-keys")]
#[derive(Args, Debug)]
#[command(after_help = PUBLIC_EXAMPLES)]
struct PublicArgs {
    /// The identity file
    #[arg(short, long, value_name = "FILE")]
    identity: PathBuf,
}

/// Writes a new pair: the secret key to a file, the public key to standard output.
#[cfg(feature = "public-keys")]
fn write_pair(args: &NewArgs, secret: &str, public: &str) -> Result<Exit, CommandError> {
    let passphrase = match &args.passphrase_command {
        Some(command) => Some(crate::keys::secret::from_command(command)?),
        None if args.passphrase => Some(crate::keys::prompt::passphrase(
            crate::keys::prompt::Purpose::Seal,
            "in scripts use --passphrase-command",
        )?),
        None => None,
    };
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    if passphrase.is_some() && path.is_none() {
        return Err(CommandError::usage("a passphrase needs a file to protect").hint("name it with -o FILE"));
    }
    let Some(path) = path else {
        hand_over_secret(secret.as_bytes())?;
        return Ok(Exit::Done);
    };
    // Checked before the file exists: a file whose public key was lost would be useless.
    let hint = "the public key is printed there; `> /dev/null` in a shell discards it";
    Output::stdout().map_err(|error| file_error(error).hint(hint))?;
    let written = match passphrase {
        None => write_new(path, secret),
        Some(passphrase) => Key::passphrase(passphrase.as_slice()).and_then(|key| {
            let options = sealwright_file::OutputOptions::default();
            let output = Output::file(path, options)?;
            let input = sealwright_file::Input::bytes(zeroize::Zeroizing::new(secret.as_bytes().to_vec()), "the key");
            sealwright_file::Sealing::new(&key).seal(input, output).map(drop)
        }),
    };
    written.map_err(never_replaced)?;
    hand_over(format!("{public}\n").as_bytes()).map_err(|error| error.hint(unprinted(args, path)))?;
    Ok(Exit::Done)
}

/// The hint if the key file was written but its public key could not be printed.
#[cfg(feature = "public-keys")]
fn unprinted(args: &NewArgs, path: &std::path::Path) -> String {
    let path = sealwright_terminal::shown(path);
    #[cfg(feature = "signatures")]
    if args.signing {
        return format!("remove {path}, and make another key: its verification key was not printed");
    }
    #[cfg(not(feature = "signatures"))]
    let _ = args;
    format!("{path} is made; `sealwright key public -i` prints its public key")
}

#[cfg(feature = "public-keys")]
fn print_public(args: &PublicArgs) -> Result<Exit, CommandError> {
    let keys = crate::keys::pairs::identities(&args.identity)?;
    let public: String = keys.iter().filter_map(Key::public_key).map(|public| format!("{public}\n")).collect();
    if public.is_empty() {
        return Err(CommandError::failed("holds no secret key of a pair, and only these have public keys")
            .about(&args.identity)
            .hint("`sealwright key new --pair` makes a pair"));
    }
    // A pipe was read already, and is not a file.
    if args.identity.is_file() {
        stream::refuse_input(&Output::stdout().map_err(file_error)?, &args.identity)?;
    }
    hand_over(public.as_bytes())?;
    Ok(Exit::Done)
}

/// The hint for an existing key file: it is never replaced, because what was sealed with it could not be opened any
/// more.
fn never_replaced(error: Error) -> CommandError {
    match error {
        Error::Exists(path) => CommandError::failed("exists already; a key is never replaced")
            .about(&path)
            .hint("without it, files sealed with it cannot be opened: choose another name, or remove the key yourself"),
        other => file_error(other),
    }
}
