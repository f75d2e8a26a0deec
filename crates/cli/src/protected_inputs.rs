//! Protects files that the work needs, above all keys: with `--remove *` or a mistake in `-o`, the only copy of a key
//! could be lost, and with it everything that was sealed with it.

use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use sealwright_file::{Error, Input, KeySource, inspect, key::is_key};
use sealwright_terminal::{CommandError, say, shown};
use zeroize::Zeroizing;

use crate::{
    args::{AdArgs, FileArgs, KeySourceArgs},
    error::file_error,
    identity::identity,
    keys::secret::SealWith,
    plan::{FileTask, Place, Plan},
};

/// Longer files are not searched for keys, in bytes.
const MAX_SEARCHED_LEN: u64 = 64 << 10;
/// The length of the text in a sealed identity file of one pair, in bytes.
const IDENTITY: u64 = 2048;

/// The files with keys and associated data; `more` are those that only the verb knows. A key that is given in place of
/// a file name is refused at this point, before any work.
pub(crate) fn named<'a>(
    key: &'a KeySourceArgs,
    ad: &'a AdArgs,
    more: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<Vec<PathBuf>, CommandError> {
    let keys: Vec<_> = key.key_file.iter().chain(more).cloned().collect();
    if keys.iter().any(|path| is_key(path)) {
        return Err(file_error(Error::KeyAsName));
    }
    let descriptors = [key.key_fd, key.passphrase_fd].into_iter().flatten();
    let descriptors = descriptors.map(|number| format!("/dev/fd/{number}").into());
    Ok(keys.into_iter().chain(ad.ad_file.clone()).chain(descriptors).collect())
}

/// Refuses a key in place of the name of a file to read, because errors would repeat it. If a file of that name exists,
/// it is accepted: many files are named by a hash of their content.
pub(crate) fn refuse_keys_as_names<'a>(names: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), CommandError> {
    match names.into_iter().any(|name| is_key(name) && fs::symlink_metadata(name).is_err()) {
        true => Err(file_error(Error::KeyAsName)),
        false => Ok(()),
    }
}

/// Refuses to replace or remove one of these files. They are compared by identity, because a file may have several
/// names.
pub(crate) fn refuse(plan: &Plan, args: &FileArgs, in_use: &[PathBuf]) -> Result<(), CommandError> {
    let in_use: HashSet<_> = in_use.iter().filter_map(|path| identity(path)).collect();
    let is_in_use = |place: &Place| place.identity().is_some_and(|id| in_use.contains(&id));
    for task in &plan.tasks {
        let refused =
            |place: &Place, what: &str, hint: &str| Err(CommandError::usage(what).about(place.name("-")).hint(hint));
        if is_in_use(&task.output) {
            return refused(
                &task.output,
                "is in use as a key or as associated data, and would be replaced",
                "name another output",
            );
        }
        if args.remove && is_in_use(&task.input) {
            return refused(
                &task.input,
                "is in use as a key or as associated data, and would be removed",
                "leave it out, or keep it elsewhere; nothing was done",
            );
        }
    }
    Ok(())
}

/// Warns if one of these files is sealed within a directory: without another copy, the key would be locked up with what
/// it opens.
pub(crate) fn warn(plan: &Plan, args: &FileArgs, in_use: &[PathBuf]) {
    let is_below = |path: &Path, input: &Path| fs::canonicalize(input).is_ok_and(|input| path.starts_with(input));
    for path in in_use.iter().filter_map(|path| fs::canonicalize(path).ok()) {
        let is_sealed = |task: &FileTask| match &task.input {
            Place::File(input) if task.tree || args.each => is_below(&path, input),
            _ => false,
        };
        // There may be very many tasks, but a key is rarely below one of the inputs.
        if args.inputs.iter().any(|input| is_below(&path, input)) && plan.tasks.iter().any(is_sealed) {
            say(format_args!(
                "sealwright: warning: {}: is itself sealed, and may be needed to open the sealed files: keep a copy elsewhere",
                shown(&path)
            ));
        }
    }
}

/// Refuses to replace or remove a file that contains a key to what is sealed, even if it was not named as a key file:
/// without the key, nothing that was sealed for it could be opened, including this file itself.
pub(crate) fn refuse_keys(plan: &Plan, args: &FileArgs, with: &SealWith) -> Result<(), CommandError> {
    // Files with derived names are sealed files, which contain no key.
    let replaces = args.force && args.output.is_some();
    for task in &plan.tasks {
        let output = replaces.then(|| held(&task.output, with)).flatten();
        let input = args.remove.then(|| held(&task.input, with)).flatten();
        let (place, what, becomes, hint) = match (output, input) {
            (Some(what), _) => (&task.output, what, "replaced", "name another output"),
            (None, Some(what)) => {
                (&task.input, what, "removed", "leave it out, or keep it elsewhere; nothing was done")
            }
            (None, None) => continue,
        };
        let what = format_args!("{what}, and would be {becomes}");
        return Err(CommandError::usage(what).about(place.name("-")).hint(hint));
    }
    Ok(())
}

/// How a file is related to the keys that open what is sealed.
fn held(place: &Place, with: &SealWith) -> Option<&'static str> {
    let Place::File(path) = place else { return None };
    let len = fs::metadata(path).ok().filter(|meta| meta.is_file() && meta.len() <= MAX_SEARCHED_LEN)?.len();
    // Limited, whatever length was reported; full capacity from the start, because growing would leave unwiped copies.
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_SEARCHED_LEN as usize + 1));
    let read = fs::File::open(path).and_then(|file| file.take(MAX_SEARCHED_LEN + 1).read_to_end(&mut text));
    if read.is_ok_and(|read| read as u64 <= MAX_SEARCHED_LEN) {
        if with.is_in(&text) {
            return Some("holds a key that opens the sealed files");
        }
        if with.has_pairs() && is_pem(&text) {
            return Some("may be the private key of a recipient");
        }
    }
    let may_be = with.has_pairs() && (IDENTITY..2 * IDENTITY).contains(&len) && is_sealed_identity(path);
    may_be.then_some("may be the identity file of a recipient, sealed with a passphrase")
}

/// Whether it is a private key in PEM format, which `ssh-keygen -p` can convert to one that opens files.
fn is_pem(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    line.starts_with(b"-----BEGIN ")
        && line.ends_with(b"PRIVATE KEY-----")
        && !line.ends_with(b" OPENSSH PRIVATE KEY-----")
}

/// Whether it may be an identity file that is sealed with a passphrase. For whom it is cannot be determined without
/// opening it.
fn is_sealed_identity(path: &Path) -> bool {
    let seen = Input::open(path).and_then(inspect);
    seen.is_ok_and(|seen| {
        matches!(seen.preamble.source, KeySource::Passphrase { .. }) && seen.text == Some(Ok(IDENTITY))
    })
}

/// Refuses an output that is also one of the files to read, under whatever name: the text or the only copy of a key
/// would be lost.
pub(crate) fn refuse_inputs(output: &Path, inputs: impl IntoIterator<Item = PathBuf>) -> Result<(), CommandError> {
    let Some(id) = identity(output) else { return Ok(()) };
    match inputs.into_iter().any(|input| identity(&input) == Some(id)) {
        true => Err(CommandError::usage("is both input and output").about(output).hint("name another output")),
        false => Ok(()),
    }
}
