//! `sealwright serve`: the relay as a service.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use sealwright_relay::{
    Log,
    serve::{InitError, Signals, init, run as serve, stem},
};
use sealwright_terminal::{CommandError, Exit, os_message, print, shown};

use super::relay::{failed, invalid};

const EXAMPLES: &str = "\
A client authenticates with a certificate that names it, and gets a session with fresh keys over TLS 1.3. It
then sends sealed frames over TCP. The relay opens each frame, seals it again and sends it to its receiver.
The relay can read all data: it is trusted, the network is not.

On SIGHUP the relay reloads its configuration (clients, certificates, handshake limits). On SIGTERM it refuses new
clients, lets the current ones finish, and exits. Events go to standard error, one JSON object per line.

Example:
    sealwright serve --init trial --client alice --client bob
    sealwright serve trial/relay.toml &
    sealwright client trial/bob.toml --to alice > copy.txt < /dev/null &
    sealwright client trial/alice.toml --to bob < letter.txt";

/// Relay sealed frames between clients
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Configuration file of the relay
    #[arg(value_name = "RELAY.TOML", required_unless_present = "init")]
    config: Option<PathBuf>,
    /// Write a trial configuration, with its own certificate authority, into the new folder DIR
    #[arg(long, value_name = "DIR", conflicts_with = "config", help_heading = "Trial")]
    init: Option<PathBuf>,
    /// Name of a client in the trial configuration; can be repeated
    #[arg(long, value_name = "NAME", requires = "init", conflicts_with = "config", help_heading = "Trial")]
    client: Vec<String>,
    /// Host name of the relay, if other machines connect to it; can be repeated
    #[arg(long, value_name = "HOST", requires = "init", conflicts_with = "config", help_heading = "Trial")]
    host: Vec<String>,
}

/// Writes a trial configuration, or serves until a signal ends the process.
pub(crate) fn run(args: &ServeArgs) -> Result<Exit, CommandError> {
    if let Some(folder) = &args.init {
        init(folder, &args.host, &args.client).map_err(|error| not_made(error, folder))?;
        let folder = shown(folder);
        let mut text = format!("{folder}/relay.toml\n");
        for name in &args.client {
            text += &format!("{folder}/{}.toml\n", stem(name));
        }
        print(&text)?;
        return Ok(Exit::Done);
    }
    let Some(config) = &args.config else { return Err(CommandError::usage("no configuration file is given")) };
    let signals = Signals::take().map_err(|error| CommandError::failed(os_message(&error)))?;
    let log = Arc::new(Log::to(std::io::stderr()));
    serve(config, &signals, log).map_err(failed)?;
    Ok(Exit::Done)
}

/// The error if the folder was not created: it could not be written, or the arguments are invalid.
fn not_made(error: InitError, folder: &Path) -> CommandError {
    if error.is_usage() { invalid(error) } else { failed(error).about(folder) }
}
