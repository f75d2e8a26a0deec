//! `sealwright relay`: what the operator of a relay does.

use std::{
    fmt,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use sealwright_relay::serve::{
    AdminError, AdminRequest, Config, ConfigError, InitError, NameFile, ServeError, add, ask, host_in, is_name, stem,
};
use sealwright_terminal::{CommandError, Exit, os_message, print, say, shown, similar};

const CONFIG: &str = "relay.toml";
const ADD: &str = "\
The certificate comes from the authority that `serve --init` made in the folder of the configuration. The name
is added to the file that `clients_file` names. If the relay is running, it applies the change at once.

Example:
    sealwright relay add carol -c trial/relay.toml";

const REVOKE: &str = "\
The name is added to the file that `revoked_file` names, which overrides every list that allows it. A name that no
client has is added too, with a warning. If the relay is running, the client's session and connection end at once.

Example:
    sealwright relay revoke alice -c trial/relay.toml";

const LIST: &str = "\
Prints name, tenant, number, address and age of each session, read from the socket that `admin` names.
A session stays for up to `limits.session_hours` after its client has left.

Example:
    sealwright relay list -c trial/relay.toml";

const CHECK: &str = "\
Example:
    sealwright relay check trial/relay.toml";

const STATUS: &str = "\
The status is read from the socket that `admin` in the configuration names.

Example:
    sealwright relay status -c trial/relay.toml";

/// Operate a relay: add and revoke clients, show its status, check its configuration
#[derive(Args, Debug)]
pub(crate) struct RelayArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Issue a certificate to a new client and allow it to open a session
    #[command(after_help = ADD)]
    Add(AddArgs),
    /// End the session of a client and refuse it new ones
    #[command(after_help = REVOKE)]
    Revoke(NameArgs),
    /// Print all open sessions of the running relay
    #[command(after_help = LIST)]
    List(ListArgs),
    /// Check a configuration, the files that it names and its memory budget, without starting the relay
    #[command(after_help = CHECK)]
    Check(CheckArgs),
    /// Print the status of the running relay
    #[command(after_help = STATUS)]
    Status(ListArgs),
}

#[derive(Args, Debug)]
struct AddArgs {
    #[command(flatten)]
    name: NameArgs,
    /// Address of the relay for the client's file. If not given: as in the files of other clients, else the host of
    /// `public`, else the first name in the relay's certificate that is not local
    #[arg(long, value_name = "HOST:PORT")]
    relay: Option<String>,
}

#[derive(Args, Debug)]
struct NameArgs {
    /// Name of the client
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// Configuration file of the relay
    #[arg(value_name = "RELAY.TOML")]
    config: PathBuf,
}

#[derive(Args, Debug)]
struct ConfigArgs {
    /// Configuration file of the relay
    #[arg(short, long, value_name = "RELAY.TOML", default_value = CONFIG)]
    config: PathBuf,
}

#[derive(Args, Debug)]
struct ListArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

/// Executes the operator's command.
pub(crate) fn run(args: &RelayArgs) -> Result<Exit, CommandError> {
    match &args.verb {
        Verb::Add(args) => add_client(args),
        Verb::Revoke(args) => revoke(args),
        Verb::List(args) => list(args),
        Verb::Check(args) => check(&args.config),
        Verb::Status(args) => status(args),
    }?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<Config, CommandError> {
    Config::read(path).map_err(|error| {
        let missing = matches!(&error, ConfigError::Io { error, .. } if error.kind() == ErrorKind::NotFound);
        // The path is the default of `-c`; commands are rarely run in the relay's folder.
        let hint = (missing && path == Path::new(CONFIG)).then_some("-c names the configuration of the relay");
        failed(error).hints(hint)
    })
}

/// An error of the relay's library with its hint.
pub(crate) trait RelayError: fmt::Display {
    fn hint(&self) -> Option<&str>;
}

macro_rules! relay_errors {
    ($($error:ty)*) => { $(impl RelayError for $error {
        fn hint(&self) -> Option<&str> {
            <$error>::hint(self)
        }
    })* };
}
relay_errors!(AdminError ConfigError InitError ServeError);

/// Such an error as a failure.
pub(crate) fn failed(error: impl RelayError) -> CommandError {
    CommandError::failed(&error).hints(error.hint())
}

/// The same as a usage error.
pub(crate) fn invalid(error: impl RelayError) -> CommandError {
    CommandError::usage(&error).hints(error.hint())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn add_client(args: &AddArgs) -> Result<(), CommandError> {
    let path = &args.name.config.config;
    let config = read(path)?;
    let name = client_name(&args.name)?;
    if let Some(pattern) = config.revoked.iter().find(|pattern| **pattern == name || matches(pattern, &name)) {
        let (by, what) = if *pattern == name { (String::new(), "it") } else { (format!(", by {pattern}"), "that") };
        let hint = format!("to trust this name again, take {what} out of the file of revoked names first");
        return Err(CommandError::failed(format!("{name} was revoked{by}")).hint(hint));
    }
    // In any list: a configuration that contains a name twice could no longer be read.
    let cluster = config.clusters.iter().find(|(_, names)| names.contains(&name));
    let list = cluster.map(|(cluster, _)| format!(" (clusters.{cluster})"));
    if list.is_some() || config.clients.contains(&name) {
        let hint = "choose another name; if the client's files are lost, revoke its name and add it under a new one";
        let what = format!("{name} is a client already{}", list.unwrap_or_default());
        return Err(CommandError::failed(what).hint(hint));
    }
    let Some(file) = &config.clients_file else { return Err(without(path, "clients_file")) };
    let relay = args.relay.clone().unwrap_or_else(|| known_relay(folder(path), &config));
    add(folder(path), file, &name, &relay).map_err(|error| failed(error).about(folder(path)))?;
    stands(read(path)?.clients.contains(&name), &name, file)?;
    let stem = stem(&name);
    let folder = shown(folder(path));
    print(&format!("{folder}/{stem}.toml\n{folder}/{stem}.pem\n{folder}/{stem}.key\n"))?;
    reload(&config)
}

/// A valid name for a client.
fn client_name(args: &NameArgs) -> Result<String, CommandError> {
    let name = args.name.to_ascii_lowercase();
    if !is_name(&name) {
        let hint = "a name looks like alice, alice.example or, for many clients, *.load.test";
        return Err(CommandError::usage(format!("{name:?} is not the name of a client")).hint(hint));
    }
    Ok(name)
}

/// The address of the relay from the file of another client, or a guess.
fn known_relay(folder: &Path, config: &Config) -> String {
    let address = |name: &String| {
        let text = std::fs::read_to_string(folder.join(format!("{}.toml", stem(name)))).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("relay = \""))?;
        Some(line.trim_end().trim_end_matches('"').to_owned())
    };
    if let Some(known) = config.clients.iter().find_map(address) {
        return known;
    }
    let host = config.public.as_ref().map(|(host, _)| host.clone()).or_else(|| host_in(&config.tls.certificate));
    let is_known = host.is_some() || config.control.ip().is_loopback();
    let relay = format!("{}:{}", host.as_deref().unwrap_or("localhost"), config.control.port());
    if !is_known {
        say(format_args!(
            "sealwright: warning: the address of the relay is not known; the client's file gets {relay}\nhint: --relay HOST:PORT sets it"
        ));
    }
    relay
}

fn revoke(args: &NameArgs) -> Result<(), CommandError> {
    let path = &args.config.config;
    let config = read(path)?;
    // A configuration may contain names that `relay add` does not allow.
    let given = args.name.to_ascii_lowercase();
    let name = if config.clients.contains(&given) { given } else { client_name(args)? };
    let Some(file) = &config.revoked_file else { return Err(without(path, "revoked_file")) };
    warn_of_stranger(&name, &config);
    let was = config.revoked.contains(&name);
    if !config.revoked.contains(&name) {
        let written = NameFile::open(file).and_then(|names| names.append(&name));
        written.map_err(|error| CommandError::failed(os_message(&error)).about(file))?;
        stands(read(path)?.revoked.contains(&name), &name, file)?;
    }
    reload(&config)?;
    print(&format!("{name} {} revoked\n", if was { "was already" } else { "is" }))
}

/// Whether a name or pattern matches a wildcard pattern.
fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_prefix('*').is_some_and(|end| name.find('.').is_some_and(|dot| name[dot..] == *end))
}

/// Warns if no client has the name that is revoked: it may be a typing error, and then the intended client keeps its
/// session.
fn warn_of_stranger(name: &str, config: &Config) {
    let known: Vec<&str> =
        config.clients.iter().chain(config.clusters.values().flatten()).map(String::as_str).collect();
    if known.iter().any(|known| *known == name || matches(known, name) || matches(name, known)) {
        return;
    }
    let hint = similar(name, known).map(|similar| format!("\nhint: a similar name is {similar}"));
    say(format_args!("sealwright: warning: {name} is not a client of this relay{}", hint.unwrap_or_default()));
}

/// Fails unless a name that was written to a file is found when the file is read again.
fn stands(there: bool, name: &str, file: &Path) -> Result<(), CommandError> {
    if there {
        return Ok(());
    }
    let what =
        CommandError::failed(format!("{name} was added to this file, but is not found in it when it is read again"))
            .about(file);
    Err(what.hint("add it yourself, on a line of its own, then reload the relay"))
}

fn without(path: &Path, key: &str) -> CommandError {
    CommandError::failed(format!("{key} is not set"))
        .about(path)
        .hint(format!("{key} = \"FILE\" sets a file of names, one per line"))
}

/// Makes the running relay reload its configuration.
fn reload(config: &Config) -> Result<(), CommandError> {
    let Some(socket) = &config.admin else {
        say(format_args!(
            "sealwright: no `admin` socket is set, so a running relay does not know of the change: send it SIGHUP"
        ));
        return Ok(());
    };
    match ask(socket, AdminRequest::Reload) {
        Ok(_) => Ok(()),
        // No relay is running. After any other error, such as a denied permission or a timeout, it is unknown whether
        // the relay has reloaded.
        Err(AdminError::Socket { error, .. })
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
        {
            say(format_args!("sealwright: the relay is not running; it reads the change when it starts"));
            Ok(())
        }
        Err(error) => Err(failed(error).hint("the file was changed, but a running relay may not have reloaded it")),
    }
}

fn answers(args: &ListArgs, request: AdminRequest) -> Result<Vec<serde_json::Value>, CommandError> {
    let path = &args.config.config;
    let Some(socket) = read(path)?.admin else {
        return Err(CommandError::failed("admin is not set").about(path).hint("admin = \"relay.sock\" names a socket"));
    };
    ask(&socket, request).map_err(failed)
}

fn list(args: &ListArgs) -> Result<(), CommandError> {
    let mut text = String::new();
    for line in answers(args, AdminRequest::List)? {
        if args.json {
            text += &format!("{line}\n");
            continue;
        }
        let word = |key: &str| match &line[key] {
            serde_json::Value::String(word) => word.clone(),
            serde_json::Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        text += &format!(
            "{:<24} {:<12} {:>10} {:<24} {} s\n",
            word("name"),
            word("tenant"),
            word("session"),
            word("from"),
            word("seconds")
        );
    }
    print(&text)
}

fn status(args: &ListArgs) -> Result<(), CommandError> {
    let mut text = String::new();
    for line in answers(args, AdminRequest::Status)? {
        if args.json {
            text += &format!("{line}\n");
            continue;
        }
        let no_fields = serde_json::Map::new();
        for (key, value) in line.as_object().unwrap_or(&no_fields) {
            match value.as_object() {
                Some(parts) => {
                    let some = parts.iter().filter(|(_, count)| count.as_u64() != Some(0));
                    let parts: Vec<String> = some.map(|(reason, count)| format!("{reason} {count}")).collect();
                    text +=
                        &format!("{key}: {}\n", if parts.is_empty() { "none".to_owned() } else { parts.join(", ") });
                }
                None => text += &format!("{key}: {}\n", value.as_str().map_or(value.to_string(), str::to_owned)),
            }
        }
    }
    print(&text)
}

fn check(path: &Path) -> Result<(), CommandError> {
    let config = read(path)?;
    let room = config.check().map_err(failed)?;
    let names = config.clients.len() + config.clusters.values().map(Vec::len).sum::<usize>();
    print(&format!(
        "{}: {names} {}, {} revoked, {} sessions and {} connections within {} MiB\n",
        shown(path),
        if names == 1 { "name" } else { "names" },
        config.revoked.len(),
        config.sessions,
        room.connections,
        config.memory >> 20
    ))?;
    config.hints(&room).iter().for_each(|hint| say(format_args!("sealwright: hint: {hint}")));
    Ok(())
}
