//! `sealwright verify`: whether sealed files are authentic and complete, without writing the text anywhere.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Ceiling, Input, Opening};
use sealwright_terminal::{CommandError, Exit, print, say, shown};

use crate::{
    ad,
    args::{AdArgs, KeySourceArgs},
    ceiling,
    error::file_error,
    pairs::IdentityArgs,
    secret,
};

const EXAMPLES: &str = "\
Every byte is opened, and nothing is written. The exit code is 0 only if every file is authentic and
complete.

Example:
    sealwright verify --key-file my.key backup/*.seal";

/// Check that sealed files are authentic and complete
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Sealed files; `-` or no file means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    key: KeySourceArgs,
    #[command(flatten)]
    identity: IdentityArgs,
    #[command(flatten)]
    ad: AdArgs,
    /// Maximum cost that a file can demand to try a passphrase: memory, passes, lanes
    #[arg(long, value_name = "MEMORY[,PASSES[,LANES]]", default_value = "1GiB,16,64", value_parser = ceiling::parse, help_heading = "Key")]
    max_cost: Ceiling,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// Opens each file into nothing; one that fails does not stop the rest.
pub(crate) fn run(args: &VerifyArgs) -> Result<Exit, CommandError> {
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    let takes_stdin = files.iter().any(|path| path.as_os_str() == "-");
    if takes_stdin && secret::takes_stdin(&args.key) {
        return Err(CommandError::usage("standard input cannot be both the key and the text"));
    }
    let ad = ad::read(&args.ad)?;
    let keys = secret::keys(&args.key, &args.identity)?;
    let opening = Opening::with_keys(&keys).ceiling(args.max_cost).ad(&ad);
    let mut worst = Exit::Done;
    for path in files {
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let input = if name == path { Input::open(path) } else { Input::stdin() };
        match input.and_then(|input| opening.verify(input)) {
            Ok(_) if args.quiet => {}
            Ok(done) => print(&format!("{}: authentic and complete, {} bytes of text\n", shown(name), done.text))?,
            Err(error) => {
                let error = file_error(error).about_unless_named(name);
                worst = error.exit().max(worst);
                say(error);
            }
        }
    }
    Ok(worst)
}
