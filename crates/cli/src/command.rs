//! The command line: its verbs, and the help of the program. The arguments of each verb are defined in its own file.

use clap::{Parser, Subcommand};

#[cfg(feature = "public-keys")]
use crate::verb::rekey;
#[cfg(feature = "signatures")]
use crate::verb::sign;
#[cfg(feature = "relay")]
use crate::verb::{client, relay, serve};
use crate::verb::{completions, enc, inspect, key, man, open, seal, vectors, verify};

const ABOUT_EXITS: &str = "\
Exit codes:
    0  done
    1  an input, an output or the configuration failed; or a file is of a kind that this build does not read
    2  the command line is not valid
    3  not authentic: the sealed file was changed, cut or extended; a changed header can also give 1 or 4
    4  wrong key, passphrase or associated data, or the header was changed; or signed by another key
  130  interrupted
With several files, the highest code is returned.

Example:
    sealwright key new -o my.key
    sealwright seal --key-file my.key letter.txt
    sealwright open --key-file my.key letter.txt.seal -o letter.copy";

/// Seal and open files with authenticated encryption.
#[derive(Debug, Parser)]
#[command(name = "sealwright", version, after_help = ABOUT_EXITS)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs. Each is defined in a file of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Seal(seal::SealArgs),
    Open(open::OpenArgs),
    #[cfg(feature = "signatures")]
    Sign(sign::FileSignArgs),
    Verify(verify::VerifyArgs),
    Inspect(inspect::InspectArgs),
    #[cfg(feature = "public-keys")]
    Rekey(rekey::RekeyArgs),
    Key(key::KeyArgs),
    Enc(enc::EncArgs),
    Vectors(vectors::VectorsArgs),
    #[cfg(feature = "relay")]
    Serve(serve::ServeArgs),
    #[cfg(feature = "relay")]
    Client(client::ClientArgs),
    #[cfg(feature = "relay")]
    Relay(relay::RelayArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

#[cfg(test)]
mod tests {
    use super::ABOUT_EXITS;

    /// The table in the README is that of `--help`.
    #[test]
    fn the_readme_has_the_same_exit_codes() {
        let (_, table) = include_str!("../README.md").split_once("|---:|---|\n").expect("a table of exit codes");
        let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
        let told = ABOUT_EXITS.lines().skip(1).map_while(|line| line.trim_start().split_once("  "));
        assert_eq!(rows.collect::<Vec<_>>(), told.collect::<Vec<_>>());
    }
}
