//! The manifests of directories whose files are sealed one by one.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use sealwright_file::list::NAME;

pub(crate) mod existing;
pub(crate) mod locks;
pub(crate) mod read;
pub(crate) mod write;

/// The possible manifests in a directory, or beside a file, and in all directories above: the name for messages,
/// relative if `path` is, and the name without links.
pub(crate) fn above(path: &Path) -> Vec<(PathBuf, PathBuf)> {
    let Ok(real) = fs::canonicalize(path) else { return Vec::new() };
    let here = env::current_dir().unwrap_or_default();
    let manifests = real.ancestors().map(|directory| directory.join(NAME));
    let shortened = |manifest: PathBuf| {
        let short = manifest.strip_prefix(&here).ok().filter(|_| path.is_relative());
        (short.unwrap_or(&manifest).to_owned(), manifest)
    };
    manifests.filter(|manifest| manifest.is_file()).map(shortened).collect()
}
