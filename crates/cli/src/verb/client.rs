//! `sealwright client`: one session at a relay, as a pipe to another client.

use std::{io, path::PathBuf, time::Duration};

use clap::Args;
#[cfg(feature = "public-keys")]
use sealwright_file::{Key, PublicKey};
use sealwright_relay::client::{ClientError, Identity, Pipe};
#[cfg(feature = "public-keys")]
use sealwright_relay::client::{EndToEnd, EndToEndError};
use sealwright_terminal::{CommandError, Exit, say};

const EXAMPLES: &str = "\
Standard input is sent to the other client, and data from the other client is written to standard output,
until both sides have ended and all data is acknowledged. A relay or a client that is not there yet is waited
for. Broken connections are made again. If the relay has lost the session, a new one is opened. If data is lost,
the exit code is not 0.

With --end-to-end the two clients seal the stream for each other, inside what the relay carries. The relay learns
who talks to whom, when and how much; it reads nothing, and neither changes nor drops anything unnoticed (exit
code 3): each client confirms to the other, sealed, what it received.

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
    /// Give up if an answer is due, from the relay or the other client, and nothing arrives for T seconds
    #[arg(long, value_name = "T", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    wait: u32,
    /// Seal the stream end to end, for the public KEY of the other client, so that the relay cannot read it; the other
    /// client must do so too
    #[cfg(feature = "public-keys")]
    #[arg(long, value_name = "KEY", requires = "pair", help_heading = "End to end")]
    end_to_end: Option<String>,
    /// With --end-to-end: the own key pair, an identity file made by `sealwright key new --pair`
    #[cfg(feature = "public-keys")]
    #[arg(short = 'i', long, value_name = "FILE", requires = "end_to_end", help_heading = "End to end")]
    pair: Option<PathBuf>,
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
    #[cfg(feature = "public-keys")]
    if let Some(sealed) = end_to_end(args, &identity)? {
        // The relay can acknowledge what it dropped
        let missing = || sealed.missing_receipt();
        let moved = pipe.run_until(sealed.sealing(io::stdin()), sealed.opening(io::stdout()), &watch, &missing);
        moved.map_err(changed)?;
        let (sent, received) = sealed.finished().map_err(not_authentic)?;
        watch(&format!("{sent} bytes sent, {received} received, sealed end to end"));
        return Ok(Exit::Done);
    }
    let moved = pipe.run(io::stdin(), io::stdout(), &watch).map_err(failure)?;
    watch(&format!("{} bytes sent, {} received", moved.sent, moved.received));
    Ok(Exit::Done)
}

/// What seals the stream between the two clients, if that was asked for.
#[cfg(feature = "public-keys")]
fn end_to_end(args: &ClientArgs, identity: &Identity) -> Result<Option<EndToEnd>, CommandError> {
    let (Some(word), Some(path)) = (&args.end_to_end, &args.pair) else { return Ok(None) };
    let hint = "`sealwright key new --pair` makes a pair";
    let peer =
        crate::keys::pairs::public_keys(std::slice::from_ref(word), &[], "\"$(cat FILE)\" gives the key in a file")?;
    let peer = peer.first().and_then(PublicKey::to_x_wing);
    let peer = peer.ok_or_else(|| CommandError::usage(EndToEndError::Key).hint(hint))?;
    let own = crate::keys::pairs::identities(path)?.iter().find_map(Key::pair_seed);
    let own = own.ok_or_else(|| CommandError::failed("no secret key of a pair in it").about(path).hint(hint))?;
    let ends = EndToEnd::new(&own, &peer, [&identity.name, &args.to]);
    ends.map(Some).map_err(CommandError::usage)
}

#[cfg(feature = "public-keys")]
fn not_authentic(error: EndToEndError) -> CommandError {
    match error {
        EndToEndError::Other => CommandError::failed(error).hint("both clients need --end-to-end"),
        EndToEndError::Version => {
            CommandError::failed(error).hint("both clients need a version of Sealwright that speaks the same")
        }
        _ => CommandError::new(Exit::NotAuthentic, error),
    }
}

/// A failure that may be one of what seals end to end.
#[cfg(feature = "public-keys")]
fn changed(error: ClientError) -> CommandError {
    let inner = match &error {
        ClientError::Io(error) => error.get_ref().and_then(|error| error.downcast_ref::<EndToEndError>()).copied(),
        _ => None,
    };
    inner.map_or_else(|| failure(error), not_authentic)
}

fn failure(error: ClientError) -> CommandError {
    let hint = match &error {
        ClientError::NoAnswer(name) => Some(format!("is {name} running? --wait waits longer")),
        error if error.is_unheard() => {
            Some("is this the relay's control port? If it is, --wait waits longer for a place there".to_owned())
        }
        error => error.hint().map(str::to_owned),
    };
    hint.into_iter().fold(CommandError::failed(error), CommandError::hint)
}
