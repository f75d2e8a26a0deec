//! What a directory holds already when more is sealed into it: opened with the keys at hand, so that its new manifest
//! lists it.

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
    /// With --each: open files sealed there earlier with a secret key in FILE; can be repeated
    #[cfg(feature = "public-keys")]
    #[arg(short, long = "identity", value_name = "FILE", requires = "each", help_heading = "Key")]
    identities: Vec<PathBuf>,
    /// With --each: accept files sealed there earlier if they are signed by a verification key in FILE
    #[cfg(feature = "signatures")]
    #[arg(long, value_name = "FILE", requires = "each", help_heading = "Signature")]
    signer: Vec<PathBuf>,
}

impl KeptArgs {
    /// The files that were named.
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

    /// The keys in the identity files.
    pub(crate) fn keys(&self) -> Result<Vec<Key>, CommandError> {
        #[cfg(feature = "public-keys")]
        let keys = self.identities.iter().map(|path| pairs::identities(path)).collect::<Result<Vec<_>, _>>()?;
        #[cfg(not(feature = "public-keys"))]
        let keys: Vec<Vec<Key>> = Vec::new();
        Ok(keys.into_iter().flatten().collect())
    }

    /// The verification keys.
    #[cfg(feature = "signatures")]
    pub(crate) fn signers(&self) -> Result<Vec<VerifyingKey>, CommandError> {
        signing::verifying_keys(&self.signer)
    }
}

/// Tries each of `openings` in turn. The error is the one that tells most.
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

/// How much an error tells: that no key fits, less than that one is wrong, and that less than what the right key found
/// out.
fn tells(error: &Error) -> u8 {
    match error {
        Error::NoneOpens | Error::KeyKind { .. } | Error::OtherKeyLength { .. } => 1,
        Error::WrongKey(_) => 2,
        error if is_of_content(error) => 3,
        // Of the system: what another key found out may not hold.
        _ => 4,
    }
}

/// Lists files that stay in the directory `root`. What its manifest, if there is an `old` one, says of a file that is
/// still that file, it says further on. Another one, of which the manifest was not written after an interrupt, or that
/// was put there by itself, is listed as it is found; one that the old manifest lists under another name is not. One
/// that is no sealed file, or a damaged one, cannot be listed anew, and keeps none from being written. Returns whether
/// one was not the file that the manifest listed.
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
                // No interrupt swaps files. One that has a new name and not the old one was renamed.
                let other = old.and_then(|old| old.path_of(&commitment));
                if let Some(other) = other.filter(|other| was.is_some() || is_there(&root.join(other))) {
                    let as_other = shown(other);
                    say(format_args!(
                        "sealwright: warning: {name}: is the file that was sealed as {as_other}; the manifest {will}"
                    ));
                    was.into_iter().for_each(|was| list.add(path.clone(), was));
                    // Moved over another one: without its own entry, the next run would list it as the other one.
                    if !is_there(&root.join(other)) {
                        list.add(other.into(), commitment);
                    }
                    differs = true;
                    continue;
                }
                // Somebody could have put it there: that is said also where little is to be said.
                let is = if was.is_some() { "not the file that the manifest lists" } else { "not in the manifest" };
                if old.is_some() {
                    say(format_args!("sealwright: warning: {name}: is {is}; the new one lists it"));
                }
                differs |= was.is_some();
                list.add(path, commitment);
                listed += 1;
            }
            Err(error @ Error::NotAuthentic(_)) if !is_of_signer(&error) => {
                if !quiet {
                    say(format_args!("sealwright: warning: {name}: {error}; the manifest {will}"));
                }
                was.into_iter().for_each(|was| list.add(path.clone(), was));
            }
            Err(error) => return Err(refused(error, "it stays, so the manifest has to list it").about(&found.path())),
        }
    }
    // Whoever removed the manifest could have replaced them as well.
    if listed > 0 && old.is_none() {
        let files = if listed == 1 { "1 file" } else { &format!("{listed} files") };
        let root = shown(root);
        say(format_args!("sealwright: warning: {root}: had no manifest; the new one lists {files} as found there"));
    }
    Ok(differs)
}

/// What a file commits to, if that is what the manifest lists. It needs no key: a file that only says so is found out
/// when it is opened, as it was before.
pub(crate) fn as_listed(found: &Found, listed: Option<Commitment>) -> Option<Commitment> {
    listed.filter(|listed| found.open().and_then(claimed).is_ok_and(|is| is == *listed))
}

/// Why nothing is sealed into a directory: what stays there cannot be opened. `why` it has to be says the hint.
pub(crate) fn refused(error: Error, why: &str) -> CommandError {
    let plain = |error: Error| CommandError::new(Exit::from_code(error.exit_code()), error);
    // Not with the library's hints where they name options of other verbs.
    match error {
        Error::TooCostly { .. } => {
            plain(error).hint(format_args!("{why}: give a --cost as high as its own, or use -C DIR"))
        }
        // No key helps.
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

/// Whether an error is of the keys, or of what is in the file: it will be the same the next time.
pub(crate) fn is_of_content(error: &Error) -> bool {
    let exit = Exit::from_code(error.exit_code());
    matches!(exit, Exit::NotAuthentic | Exit::WrongKey) || matches!(error, Error::NotAList | Error::TooCostly { .. })
}

/// Whether an error says that somebody else, or nobody, signed.
fn is_of_signer(error: &Error) -> bool {
    matches!(error, Error::NotSigned | Error::OtherSigner(_) | Error::NotAuthentic(Flaw::Signature))
}
