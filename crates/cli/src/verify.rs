//! `sealwright verify`: whether sealed files are authentic and complete, and whether signatures hold; nothing is written.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Ceiling, Input, Opening, Summary};
use sealwright_terminal::{CommandError, Exit, shown};

use crate::{
    ad,
    args::{AdArgs, KeySourceArgs},
    ceiling,
    error::file_error,
    in_use,
    names::is_stdin,
    pairs::IdentityArgs,
    secret, stream,
    worst::Worst,
};
#[cfg(feature = "signatures")]
use crate::{detached, signing::SignerArgs};

const EXAMPLES: &str = "\
Every byte is opened, and nothing is written. The exit code is 0 only if every file is authentic and
complete.

Example:
    sealwright verify --key-file my.key backup/*.seal
    sealwright verify --signer my.verify --detached letter.txt     # checks it against letter.txt.sig";

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
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    signer: SignerArgs,
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    detached: detached::DetachedArgs,
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
    #[cfg(feature = "signatures")]
    let beside = args.signer.files().iter().chain(args.detached.signature());
    #[cfg(not(feature = "signatures"))]
    let beside = &[];
    let beside = in_use::named(&args.key, &args.ad, args.identity.files().iter().chain(beside))?;
    stream::refuse_two_uses(files.iter().any(|path| is_stdin(path)), &beside)?;
    #[cfg(feature = "signatures")]
    if args.detached.any() {
        return detached::verify(&args.detached, &args.signer, files, args.quiet);
    }
    let ad = ad::read(&args.ad)?;
    #[cfg(feature = "signatures")]
    let signers = args.signer.read()?;
    let keys = secret::keys(&args.key, &args.identity)?;
    let opening = Opening::with_keys(&keys).ceiling(args.max_cost).ad(&ad);
    #[cfg(feature = "signatures")]
    let opening = opening.signers(&signers);
    #[cfg(feature = "signatures")]
    let unverified = signers.is_empty();
    #[cfg(not(feature = "signatures"))]
    let unverified = true;
    let mut worst = Worst::new();
    for path in files {
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let input = if name == path { Input::open(path) } else { Input::stdin() };
        match input.and_then(|input| opening.verify(input)) {
            Ok(_) if args.quiet => {}
            Ok(done) => worst.print(&format!(
                "{}: authentic and complete, {} bytes of text{}\n",
                shown(name),
                done.text,
                signature(&done, unverified)
            )),
            Err(error) => worst.failed(&file_error(error).about_unless_named(name)),
        }
    }
    Ok(worst.exit())
}

/// What is known of the signature of a file that was opened.
fn signature(done: &Summary, unchecked: bool) -> String {
    let Some(id) = done.signer else { return String::new() };
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    match unchecked {
        true => format!("; signed by {id}, which --signer would verify"),
        false => format!("; signed by {id}"),
    }
}
