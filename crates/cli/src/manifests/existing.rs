//! Files that a directory contains already when more is sealed into it: they are opened with the given keys, so that
//! the new manifest can list them.

use std::path::{Path, PathBuf};

use clap::Args;
#[cfg(feature = "signatures")]
use sealwright_file::VerifyingKey;
use sealwright_file::{Commitment, Error, FileList, Flaw, Found, Key, Opening, list::claimed};
use sealwright_terminal::{CommandError, Exit, say, shown};

#[cfg(feature = "public-keys")]
use crate::keys::pairs;
#[cfg(feature = "signatures")]
use crate::keys::signing;
use crate::{error::file_error, identity::is_there};

/// What opens it besides the keys to seal with, of which a public one opens nothing.
#[derive(Args, Debug)]
pub(crate) struct KeptArgs {
    /// With --each: use a secret key in FILE to open files that are already sealed there; can be repeated
    #[cfg(feature = "public-keys")]
    #[arg(short, long = "identity", value_name = "FILE", requires = "each", help_heading = "Key")]
    identities: Vec<PathBuf>,
    /// With --each: accept signed files that are already there if a verification key in FILE verifies them
    #[cfg(feature = "signatures")]
    #[arg(long, value_name = "FILE", requires = "each", help_heading = "Signature")]
    signer: Vec<PathBuf>,
}

impl KeptArgs {
    /// The files with keys.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        #[cfg(feature = "public-keys")]
        let identities = &self.identities[..];
        #[cfg(not(feature = "public-keys"))]
        let identities: &[PathBuf] = &[];
        #[cfg(feature = "signatures")]
        let signer = &self.signer[..];
        #[cfg(not(feature = "signatures"))]
        let signer: &[PathBuf] = &[];
        identities.iter().chain(signer)
    }

    /// Reads the keys in the identity files.
    pub(crate) fn keys(&self) -> Result<Vec<Key>, CommandError> {
        #[cfg(feature = "public-keys")]
        let keys = self.identities.iter().map(|path| pairs::identities(path)).collect::<Result<Vec<_>, _>>()?;
        #[cfg(not(feature = "public-keys"))]
        let keys: Vec<Vec<Key>> = Vec::new();
        Ok(keys.into_iter().flatten().collect())
    }

    /// Reads the verification keys.
    #[cfg(feature = "signatures")]
    pub(crate) fn signers(&self) -> Result<Vec<VerifyingKey>, CommandError> {
        signing::verifying_keys(&self.signer)
    }
}

/// Tries `openings` in turn. If all fail, returns the most informative error.
pub(crate) fn opened<T>(openings: &[Opening<'_>], open: impl Fn(&Opening<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let mut failed = (0, Error::NoneOpens);
    for opening in openings {
        match open(opening) {
            Ok(opened) => return Ok(opened),
            Err(error) if tells(&error) > failed.0 => failed = (tells(&error), error),
            Err(_) => {}
        }
    }
    Err(failed.1)
}

/// How informative an error is: least, that no key fits; more, that a key is wrong; still more, what a key that fits
/// found in the file.
fn tells(error: &Error) -> u8 {
    match error {
        Error::NoneOpens | Error::KeyKind { .. } | Error::OtherKeyLength { .. } => 1,
        Error::WrongKey(_) => 2,
        error if is_of_content(error) => 3,
        // System errors rank highest: after one, what another key found may not hold.
        _ => 4,
    }
}

/// Adds the files that stay in the directory `root` to the new list. A file that is still the one in the `old` manifest
/// keeps its entry. Any other, whose manifest was not written because of an interrupt or that was put there separately,
/// is listed as it is found, unless the old manifest lists it under another name. A file that is not a sealed one or is
/// damaged cannot be listed, but does not prevent the others from being listed. Returns whether a file was not the one
/// that the manifest listed.
pub(crate) fn list(
    list: &mut FileList,
    root: &Path,
    mut stay: Vec<PathBuf>,
    old: Option<&FileList>,
    openings: &[Opening<'_>],
    quiet: bool,
) -> Result<bool, CommandError> {
    stay.sort();
    let (mut listed, mut differs) = (0, false);
    for path in stay {
        let (found, was) = (Found::new(root, &path), old.and_then(|old| old.commitment(&path)));
        if let Some(commitment) = as_listed(&found, was) {
            list.add(path, commitment);
            continue;
        }
        let name = shown(&found.path());
        let will = if was.is_some() { "lists what it was" } else { "will not list it" };
        match opened(openings, |opening| opening.commitment_of(found.open()?)) {
            Ok(commitment) => {
                // An interrupt cannot swap files. A file that has a new name and no longer its old one was renamed.
                let other = old.and_then(|old| old.path_of(&commitment));
                if let Some(other) = other.filter(|other| was.is_some() || is_there(&root.join(other))) {
                    let as_other = shown(other);
                    say(format_args!(
                        "sealwright: warning: {name}: is the file that was sealed as {as_other}; the manifest {will}"
                    ));
                    was.into_iter().for_each(|was| list.add(path.clone(), was));
                    // It was moved over another file: without an entry of its own, the next run would list it as that
                    // file.
                    if !is_there(&root.join(other)) {
                        list.add(other.into(), commitment);
                    }
                    differs = true;
                    continue;
                }
                // Reported even with `--quiet`, because somebody else could have put it there.
                let is = if was.is_some() { "not the file that the manifest lists" } else { "not in the manifest" };
                if old.is_some() {
                    say(format_args!("sealwright: warning: {name}: is {is}; the new one lists it"));
                }
                differs |= was.is_some();
                list.add(path, commitment);
                listed += 1;
            }
            Err(error @ (Error::NotAuthentic(_) | Error::Unsupported(_))) if !is_of_signer(&error) => {
                if !quiet {
                    say(format_args!("sealwright: warning: {name}: {error}; the manifest {will}"));
                }
                was.into_iter().for_each(|was| list.add(path.clone(), was));
            }
            Err(error) => return Err(refused(error, "it stays, so the manifest has to list it").about(&found.path())),
        }
    }
    // Whoever removed the manifest could have replaced the files too.
    if listed > 0 && old.is_none() {
        let files = if listed == 1 { "1 file" } else { &format!("{listed} files") };
        let root = shown(root);
        say(format_args!("sealwright: warning: {root}: had no manifest; the new one lists {files} as found there"));
    }
    Ok(differs)
}

/// The commitment that a file claims, if the manifest lists the same. No key is needed: a false claim is detected when
/// the file is opened.
pub(crate) fn as_listed(found: &Found, listed: Option<Commitment>) -> Option<Commitment> {
    listed.filter(|listed| found.open().and_then(claimed).is_ok_and(|is| is == *listed))
}

/// The error for a directory into which nothing is sealed, because what is in it cannot be opened. The hint says `why`
/// it must be.
pub(crate) fn refused(error: Error, why: &str) -> CommandError {
    let plain = |error: Error| CommandError::new(Exit::from_code(error.exit_code()), error);
    // The library's hints are dropped if they name options of other verbs.
    match error {
        Error::TooCostly { .. } => {
            plain(error).hint(format_args!("{why}: give a --cost as high as its own, or use -C DIR"))
        }
        // Another key would not help.
        error @ Error::Io { .. } => file_error(error),
        error if is_of_signer(&error) => plain(error).hint(format_args!(
            "{why}, and has to be signed by --sign or one of --signer: name its signer, seal all files anew, or use -C DIR"
        )),
        other => {
            let told = if matches!(other, Error::WrongKey(_)) { plain(other) } else { file_error(other) };
            told.hint(format_args!("{why}: give a key that opens it, or use -C DIR"))
        }
    }
}

/// Whether an error is due to the keys or the file's content, so that it will recur.
pub(crate) fn is_of_content(error: &Error) -> bool {
    let exit = Exit::from_code(error.exit_code());
    let of_file = matches!(error, Error::NotAList | Error::TooCostly { .. } | Error::Unsupported(_));
    matches!(exit, Exit::NotAuthentic | Exit::WrongKey) || of_file
}

/// Whether an error says that the file is signed by another key or not signed.
fn is_of_signer(error: &Error) -> bool {
    matches!(error, Error::NotSigned | Error::OtherSigner(_) | Error::NotAuthentic(Flaw::Signature))
}
