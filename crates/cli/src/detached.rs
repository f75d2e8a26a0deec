//! `sealwright verify --detached`: verifying detached signatures.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use clap::Args;
use sealwright_file::{Input, Signature, VerifyingKey, Work, verify_file};
use sealwright_terminal::{CommandError, Exit, printable, shown};

use crate::{
    error::{error_of, file_error},
    exit_status::Worst,
    keys::signing::SignerArgs,
    verb::sign::beside,
};

/// Where a signature is.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct DetachedArgs {
    /// Verify files that are not sealed against their signatures, FILE.sig
    #[arg(long, requires = "signer", help_heading = "Signature")]
    detached: bool,
    /// Verify one file that is not sealed against the signature in SIG
    #[arg(long, value_name = "SIG", requires = "signer", help_heading = "Signature")]
    signature: Option<PathBuf>,
}

impl DetachedArgs {
    /// The signature file, if it was named.
    pub(crate) fn signature(&self) -> Option<&PathBuf> {
        self.signature.as_ref()
    }

    /// Whether detached signatures are to be verified.
    pub(crate) fn any(&self) -> bool {
        self.detached || self.signature.is_some()
    }
}

/// Verifies each file with its signature; a failure does not stop the rest.
pub(crate) fn verify(
    args: &DetachedArgs,
    signer: &SignerArgs,
    files: &[PathBuf],
    quiet: bool,
) -> Result<Exit, CommandError> {
    let stdin = files.iter().any(|path| path.as_os_str() == "-");
    match &args.signature {
        Some(_) if files.len() > 1 => {
            return Err(CommandError::usage("--signature is for one file").hint("--detached takes FILE.sig for each"));
        }
        None if stdin => {
            return Err(CommandError::usage("standard input has no name: name its signature with --signature"));
        }
        _ => {}
    }
    let keys = signer.read()?;
    let mut worst = Worst::new();
    for path in files {
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let beside = args.signature.clone().unwrap_or_else(|| beside(path));
        match one(&keys, path, &beside) {
            Ok(_) if quiet => {}
            Ok(signature) => {
                let comment = match signature.comment() {
                    "" => String::new(),
                    comment => format!(", with the comment: {}", printable(comment)),
                };
                worst.print(&format!("{}: the signature is valid{comment}\n", shown(name)));
            }
            Err(error) => worst.failed(&error.about_unless_named(name)),
        }
    }
    Ok(worst.exit())
}

fn one(keys: &[VerifyingKey], path: &Path, beside: &Path) -> Result<Signature, CommandError> {
    let file = File::open(beside).map_err(|error| CommandError::io(beside, &error))?;
    let signature = Signature::read(file).map_err(|error| error_of(error, beside))?;
    let input = if path.as_os_str() == "-" { Input::stdin() } else { Input::open(path) }.map_err(file_error)?;
    verify_file(keys, &signature, input, &Work::default()).map_err(file_error)?;
    Ok(signature)
}
