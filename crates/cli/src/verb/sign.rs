//! `sealwright sign`: detached signatures.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Input, Output, OutputOptions, Work, sign_file};
use sealwright_terminal::{CommandError, Exit};

use crate::{
    error::file_error,
    exit_status::Worst,
    keys::signing,
    names::{is_stdin, is_stdout},
    protected_inputs::{refuse_inputs, refuse_keys_as_names},
    stream,
};

const EXAMPLES: &str = "\
The signature of FILE is written to FILE.sig. It is two signatures, ed25519 and ML-DSA-65, and both must hold.
The file itself stays as it is: nothing is encrypted.

Example:
    sealwright key new --signing -o my.sign > my.verify
    sealwright sign -s my.sign letter.txt
    sealwright verify --signer my.verify --detached letter.txt";

/// Sign files; anyone with the verification key can check the signature
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FileSignArgs {
    /// Files to sign; `-` means standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Sign with the signing key in KEY, made by `sealwright key new --signing`
    #[arg(short, long, value_name = "KEY")]
    sign: PathBuf,
    /// Write the signature to SIG; `-` means standard output
    #[arg(short, long, value_name = "SIG")]
    output: Option<PathBuf>,
    /// Sign this line as well; `verify` prints it
    #[arg(long, value_name = "TEXT", default_value = "")]
    comment: String,
    /// Replace existing signatures
    #[arg(short, long)]
    force: bool,
}

/// Signs each file; a failure does not stop the rest.
pub(crate) fn run(args: &FileSignArgs) -> Result<Exit, CommandError> {
    if args.files.len() > 1 && args.output.is_some() {
        return Err(CommandError::usage("-o names one signature, but there are several files"));
    }
    refuse_keys_as_names(&args.files)?;
    let stdin = args.files.iter().any(|path| is_stdin(path));
    stream::refuse_two_uses(stdin, std::slice::from_ref(&args.sign))?;
    if stdin && args.output.is_none() {
        return Err(CommandError::usage("standard input has no name for its signature").hint("use -o SIG"));
    }
    // Checked before the first file, because the output for one file may be the input for the next.
    for output in args.files.iter().filter_map(|path| output_of(args, path)) {
        let read = |path: &PathBuf| if is_stdin(path) { "/dev/stdin".into() } else { path.clone() };
        refuse_inputs(&output, args.files.iter().chain([&args.sign]).map(read))?;
    }
    let options = OutputOptions::default().force(args.force);
    let key = signing::signing_key(&args.sign)?;
    let mut worst = Worst::new();
    for path in &args.files {
        let one = || {
            let input = if is_stdin(path) { Input::stdin() } else { Input::open(path) }?;
            // The signature is as readable as the file that it signs.
            let (identity, mode) = (input.identity(), input.mode().unwrap_or(0o600) & 0o666);
            let signature = sign_file(&key, input, &args.comment, &Work::default())?;
            let output = match output_of(args, path) {
                Some(output) if args.output.is_some() => Output::file(output, options)?,
                Some(output) => Output::derived(output, options)?,
                None => Output::stdout()?,
            };
            output.differs_from(identity)?;
            output.mode(mode).write_all_of(&mut signature.to_text().as_bytes())
        };
        if let Err(error) = one() {
            worst.failed(&file_error(error).about_unless_named(path));
        }
    }
    Ok(worst.exit())
}

/// The path of a file's signature, if it is not written to standard output.
fn output_of(args: &FileSignArgs, path: &Path) -> Option<PathBuf> {
    match &args.output {
        Some(output) => Some(output.clone()).filter(|output| !is_stdout(output)),
        None => Some(beside(path)),
    }
}

/// The default path of a file's signature: `FILE.sig`.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}
