//! `sealwright client`: one session at a relay, as a pipe to another client.

use std::{io, path::PathBuf, time::Duration};

use clap::{
    Args,
    builder::{NonEmptyStringValueParser, TypedValueParser},
};
#[cfg(feature = "public-keys")]
use sealwright_file::{Key, PublicKey};
use sealwright_relay::client::{ClientError, Identity, Pipe, is_name};
#[cfg(feature = "public-keys")]
use sealwright_relay::client::{EndToEnd, EndToEndError};
use sealwright_terminal::{CommandError, Exit, os_message, say};

const EXAMPLES: &str = "\
Standard input is sent to the other client, and data from the other client is written to standard output,
until both sides have ended and all data is acknowledged. The program waits for a relay or a client that is not
there yet, reconnects when a connection breaks, and opens a new session if the relay has lost the old one. If data
is lost, the exit code is not 0.

With --end-to-end the two clients also seal the stream for each other. The relay still learns who talks to whom,
when and how much, but it cannot read the stream, and cannot change or drop any of it unnoticed (exit code 3): each
client confirms to the other, sealed, what it received.

Example:
    sealwright serve --init trial --client alice --client bob
    sealwright serve trial/relay.toml &
    sealwright client trial/bob.toml --to alice > copy.txt < /dev/null &
    sealwright client trial/alice.toml --to bob < letter.txt";

/// Exchange data with another client through a relay
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ClientArgs {
    /// Configuration file of this client, as `relay add` writes it
    #[arg(value_name = "CLIENT.TOML")]
    identity: PathBuf,
    /// Name of the other client
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new().try_map(client_name))]
    to: String,
    /// Send frames as datagrams, if the relay accepts them
    #[arg(long)]
    udp: bool,
    /// Give up if the relay or the other client owes an answer and nothing arrives for T seconds
    #[arg(long, value_name = "T", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    wait: u32,
    /// Seal the stream end to end, for the public KEY of the other client, so that the relay cannot read it; the other
    /// client must do so too
    #[cfg(feature = "public-keys")]
    #[arg(long, value_name = "KEY", requires = "pair", help_heading = "End to end")]
    end_to_end: Option<String>,
    /// With --end-to-end: this client's key pair, an identity file made by `sealwright key new --pair`
    #[cfg(feature = "public-keys")]
    #[arg(short = 'i', long, value_name = "FILE", requires = "end_to_end", help_heading = "End to end")]
    pair: Option<PathBuf>,
    /// Print the events of the connection
    #[arg(short, long)]
    verbose: bool,
}

/// Checks the name of a client. It may be any name that a certificate can have, because relays can have clients with
/// names that `relay add` does not allow.
fn client_name(name: String) -> Result<String, &'static str> {
    if is_name(&name) { Ok(name) } else { Err("this is not the name of a client, such as alice or alice.example") }
}

/// Transfers data until both sides are done.
pub(crate) fn run(args: &ClientArgs) -> Result<Exit, CommandError> {
    let identity = Identity::read(&args.identity).map_err(|error| failure(error, None))?;
    let pipe = Pipe::new(&identity, &args.to, Duration::from_secs(args.wait.into())).datagrams(args.udp);
    let watch = |what: &str| {
        if args.verbose {
            say(format_args!("sealwright: {what}"));
        }
    };
    #[cfg(feature = "public-keys")]
    if let Some(sealed) = end_to_end(args, &identity)? {
        // The relay may have acknowledged data that it then dropped.
        let missing = || sealed.missing_receipt();
        let moved = pipe.run_until(sealed.sealing(io::stdin()), sealed.opening(io::stdout()), &watch, &missing);
        moved.map_err(|error| changed(error, &identity))?;
        let (sent, received) = sealed.finished().map_err(not_authentic)?;
        watch(&format!("{sent} bytes sent, {received} received, sealed end to end"));
        return Ok(Exit::Done);
    }
    let moved = pipe.run(io::stdin(), io::stdout(), &watch).map_err(|error| failure(error, Some(&identity)))?;
    watch(&format!("{} bytes sent, {} received", moved.sent, moved.received));
    Ok(Exit::Done)
}

/// The end-to-end encryption between the two clients, if requested.
#[cfg(feature = "public-keys")]
fn end_to_end(args: &ClientArgs, identity: &Identity) -> Result<Option<EndToEnd>, CommandError> {
    let (Some(word), Some(path)) = (&args.end_to_end, &args.pair) else { return Ok(None) };
    let hint = "`sealwright key new --pair` makes a pair";
    let peer =
        crate::keys::pairs::public_keys(std::slice::from_ref(word), &[], "\"$(cat FILE)\" gives the key in a file")?;
    let peer = peer.first().and_then(PublicKey::to_x_wing);
    let peer = peer.ok_or_else(|| CommandError::usage(EndToEndError::Key).hint(hint))?;
    let own = crate::keys::pairs::identities(path)?.iter().find_map(Key::pair_seed);
    let own = own.ok_or_else(|| CommandError::failed("holds no secret key of a pair").about(path).hint(hint))?;
    let ends = EndToEnd::new(&own, &peer, [&identity.name, &args.to]);
    ends.map(Some).map_err(CommandError::usage)
}

#[cfg(feature = "public-keys")]
fn not_authentic(error: EndToEndError) -> CommandError {
    match error {
        EndToEndError::Other => CommandError::failed(error).hint("both clients need --end-to-end"),
        EndToEndError::Version => CommandError::failed(error)
            .hint("both clients need a Sealwright with the same version of the end-to-end protocol"),
        _ => CommandError::new(Exit::NotAuthentic, error),
    }
}

/// The error message for a failed session; an end-to-end error inside the client's error takes precedence.
#[cfg(feature = "public-keys")]
fn changed(error: ClientError, identity: &Identity) -> CommandError {
    let inner = match &error {
        ClientError::Input(error) | ClientError::Output(error) | ClientError::Io(error) => {
            error.get_ref().and_then(|error| error.downcast_ref::<EndToEndError>()).copied()
        }
        _ => None,
    };
    inner.map_or_else(|| failure(error, Some(identity)), not_authentic)
}

fn failure(error: ClientError, identity: Option<&Identity>) -> CommandError {
    match (&error, identity) {
        (ClientError::NoAnswer(peer), Some(Identity { name, .. })) => CommandError::failed(&error)
            .hint(format!("is {peer} running? --wait waits longer"))
            // A client whose session was taken over by another one is not told so.
            .hint(format!(
                "if another client runs as {name} or as {peer} too, the two take the session from each other"
            )),
        (ClientError::Input(why), _) => {
            CommandError::failed(format!("standard input: cannot read: {}", os_message(why))).hints(error.hint())
        }
        (ClientError::Output(why), _) => {
            CommandError::failed(format!("standard output: cannot write: {}", os_message(why))).hints(error.hint())
        }
        _ if error.is_unheard() => CommandError::failed(&error)
            .hint("is this the relay's control port? If it is, --wait waits longer for a free connection"),
        _ => CommandError::failed(&error).hints(error.hint()),
    }
}
