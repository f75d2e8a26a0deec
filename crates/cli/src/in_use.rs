//! Files that the work needs, the key first of all: with `--remove *` or a slip in `-o` the only copy of a key would be
//! gone, and all that was sealed with it.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use sealwright_file::{Error, key::is_key};
use sealwright_terminal::CommandError;

use crate::{
    args::{AdArgs, FileArgs, KeySourceArgs},
    error::file_error,
    identity::identity,
    plan::{Place, Plan},
};

/// The files that hold keys and associated data; `more` are those with keys that only the verb knows. A key in place of the
/// name of its file is refused before there is any work.
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

/// Refuses to replace one of these files, and to remove one. Names are not compared: one file may have several.
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

/// Refuses an output that is one of the files to read, whatever their names: the text or the only copy of a key would be gone.
pub(crate) fn refuse_inputs(output: &Path, inputs: impl IntoIterator<Item = PathBuf>) -> Result<(), CommandError> {
    let Some(id) = identity(output) else { return Ok(()) };
    match inputs.into_iter().any(|input| identity(&input) == Some(id)) {
        true => Err(CommandError::usage("is both input and output").about(output).hint("name another output")),
        false => Ok(()),
    }
}
