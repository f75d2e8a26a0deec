//! `sealwright serve`: the relay as a service.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use sealwright_relay::{
    Log,
    serve::{Signals, init, run as serve, stem},
};
use sealwright_terminal::{CommandError, Exit, os_message, print, shown};

const EXAMPLES: &str = "\
Clients show a certificate that names them and get a session with fresh keys over TLS 1.3; their frames then
travel sealed over TCP, are opened and sealed anew by the relay, and go to the client they are for. The relay
itself can read them: it is trusted, the network is not.

SIGHUP reads the configuration again (clients, certificates, handshake limits), SIGTERM stops taking
newcomers, lets those who are here finish and ends. Events go to standard error, one JSON object a line.

Example:
    sealwright serve --init trial --client alice --client bob
    sealwright serve trial/relay.toml &
    sealwright client trial/bob.toml --to alice > copy.txt < /dev/null &
    sealwright client trial/alice.toml --to bob < letter.txt";

/// Relay sealed frames between clients
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The configuration
    #[arg(value_name = "RELAY.TOML", required_unless_present = "init")]
    config: Option<PathBuf>,
    /// Write a configuration to try, with certificates of its own authority, into the new folder DIR
    #[arg(long, value_name = "DIR", conflicts_with = "config", help_heading = "Trial")]
    init: Option<PathBuf>,
    /// A client for it; may be given several times
    #[arg(long, value_name = "NAME", requires = "init", help_heading = "Trial")]
    client: Vec<String>,
    /// A host name of the relay, where it is to be reached from elsewhere
    #[arg(long, value_name = "HOST", requires = "init", help_heading = "Trial")]
    host: Vec<String>,
}

/// Makes a trial, or serves until told to end.
pub(crate) fn run(args: &ServeArgs) -> Result<Exit, CommandError> {
    if let Some(folder) = &args.init {
        init(folder, &args.host, &args.client)
            .map_err(|error| CommandError::failed(os_message(&error)).about(folder))?;
        let folder = shown(folder);
        let mut text = format!("{folder}/relay.toml\n");
        for name in &args.client {
            text += &format!("{folder}/{}.toml\n", stem(name));
        }
        print(&text)?;
        return Ok(Exit::Done);
    }
    let Some(config) = &args.config else { return Err(CommandError::usage("which configuration?")) };
    let signals = Signals::take().map_err(|error| CommandError::failed(os_message(&error)))?;
    let log = Arc::new(Log::to(std::io::stderr()));
    serve(config, &signals, log).map_err(CommandError::failed)?;
    Ok(Exit::Done)
}
