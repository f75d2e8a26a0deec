//! `sealwright client`: one session at a relay, as a pipe to another client.

use std::{io, path::PathBuf, time::Duration};

use clap::Args;
use sealwright_relay::client::{ClientError, Identity, Pipe};
use sealwright_terminal::{CommandError, Exit, say};

const EXAMPLES: &str = "\
Standard input is sent to the other client, and data from the other client is written to standard output,
until both sides have ended and all data is acknowledged. Broken connections are made again. If the relay has
lost the session, a new one is opened. If data is lost, the exit code is not 0.

Example:
    sealwright serve --init trial --client alice --client bob
    sealwright serve trial/relay.toml &
    sealwright client trial/bob.toml --to alice > copy.txt < /dev/null &
    sealwright client trial/alice.toml --to bob < letter.txt";

/// Exchange data with another client through a relay
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ClientArgs {
    /// File that names this client and the relay
    #[arg(value_name = "CLIENT.TOML")]
    identity: PathBuf,
    /// Name of the other client
    #[arg(long, value_name = "NAME")]
    to: String,
    /// Send frames as datagrams, if the relay accepts them
    #[arg(long)]
    udp: bool,
    /// Give up if an answer is due and nothing arrives for T seconds
    #[arg(long, value_name = "T", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    wait: u32,
    /// Print the events of the connection
    #[arg(short, long)]
    verbose: bool,
}

/// Pipes until both sides are done.
pub(crate) fn run(args: &ClientArgs) -> Result<Exit, CommandError> {
    let identity = Identity::read(&args.identity).map_err(failure)?;
    let pipe =
        Pipe { identity: &identity, peer: &args.to, datagrams: args.udp, wait: Duration::from_secs(args.wait.into()) };
    let watch = |what: &str| {
        if args.verbose {
            say(format_args!("sealwright: {what}"));
        }
    };
    let moved = pipe.run(io::stdin(), io::stdout(), &watch).map_err(failure)?;
    watch(&format!("{} bytes sent, {} received", moved.sent, moved.received));
    Ok(Exit::Done)
}

fn failure(error: ClientError) -> CommandError {
    let hint = match &error {
        ClientError::NoAnswer(name) => Some(format!("is {name} running? --wait waits longer")),
        ClientError::Relay { .. } => {
            Some("is the relay running, and does its certificate contain this name?".to_owned())
        }
        ClientError::NoDatagrams => Some("set `udp = ...` in the configuration of the relay".to_owned()),
        _ => None,
    };
    hint.into_iter().fold(CommandError::failed(error), CommandError::hint)
}
