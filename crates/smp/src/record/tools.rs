//! What recording needs of the machine: QEMU's user mode, a C compiler once, a folder for what that makes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest, Sha256};

use super::error::{MissingToolError, RecordError};
use crate::hex::hex;

/// The recorder's sources.
const SOURCES: [(&str, &str); 5] = [
    ("marks.h", include_str!("../../recorder/marks.h")),
    ("quiet.h", include_str!("../../recorder/quiet.h")),
    ("plugin.c", include_str!("../../recorder/plugin.c")),
    ("preload.c", include_str!("../../recorder/preload.c")),
    ("conditions.c", include_str!("../../recorder/conditions.c")),
];

/// Versions of QEMU whose plugins know what ours uses.
const OLDEST: u32 = 6;

/// From this version on, plugins say that they are for version 2 of the interface.
const SECOND_INTERFACE: u32 = 9;

/// The recorder, compiled.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) plugin: PathBuf,
    pub(super) preload: PathBuf,
}

/// The first file of that name on the PATH.
pub fn on_path(name: impl AsRef<std::path::Path>) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name.as_ref())).find(|file| file.is_file())
}

/// QEMU for programs of this machine, and its version.
///
/// # Errors
/// When it is not here, or too old.
pub fn qemu() -> Result<(PathBuf, u32), MissingToolError> {
    let name = format!("qemu-{}", env::consts::ARCH);
    let Some(file) = on_path(&name) else {
        return Err(MissingToolError {
            what: format!("recording needs {name}, which is not here"),
            hint: "apt-get install qemu-user".into(),
        });
    };
    let said = Command::new(&file).arg("--version").output().ok();
    let text = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    match version(&text) {
        Some(version) if version >= OLDEST => Ok((file, version)),
        _ => Err(MissingToolError {
            what: format!("{}: recording needs QEMU {OLDEST} or newer, with plugins", file.display()),
            hint: format!("it says: {}", text.lines().next().unwrap_or("nothing")),
        }),
    }
}

/// The first number of `qemu-x86_64 version 7.2.22 (Debian ...)`.
fn version(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("version ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Where compiled recorders are kept: a folder of the user's, else one of the system's for a moment.
pub fn cache() -> PathBuf {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    user.unwrap_or_else(env::temp_dir).join("sealwright")
}

/// The recorder for this version of QEMU, compiled unless it is in `cache` already.
pub(super) fn compiled(cache: &Path, version: u32) -> Result<Compiled, RecordError> {
    let interface = if version >= SECOND_INTERFACE { 2 } else { 1 };
    let mut digest = Sha256::new();
    SOURCES.iter().for_each(|(name, text)| digest.update(format!("{name} {} {text}", text.len())));
    let name = hex(&digest.finalize()[..8]);
    let folder = cache.join(format!("recorder-{name}-{interface}"));
    let compiled = Compiled { plugin: folder.join("plugin.so"), preload: folder.join("preload.so") };
    if compiled.plugin.is_file() && compiled.preload.is_file() {
        return Ok(compiled);
    }
    let failed = || RecordError::io(folder.display().to_string());
    fs::create_dir_all(cache).map_err(failed())?;
    // Made in a directory of its own, so that no other process finds an incomplete one
    let aside = tempfile::tempdir_in(cache).map_err(failed())?;
    for (name, text) in SOURCES {
        fs::write(aside.path().join(name), text).map_err(failed())?;
    }
    let api = format!("-DPLUGIN_API={interface}");
    compile(aside.path(), "plugin.so", &["plugin.c", &api])?;
    compile(aside.path(), "preload.so", &["preload.c", "conditions.c"])?;
    match fs::rename(aside.path(), &folder) {
        Ok(()) => drop(aside.keep()),
        // Another process was faster
        Err(_) if compiled.plugin.is_file() => {}
        Err(error) => return Err(failed()(error)),
    }
    Ok(compiled)
}

fn compile(folder: &Path, out: &str, words: &[&str]) -> Result<(), RecordError> {
    let missing = |what: String| MissingToolError { what, hint: "apt-get install gcc libc6-dev, or set CC".into() };
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(&cc)
        .args(["-O2", "-shared", "-fPIC", "-pthread", "-o", out])
        .args(words)
        .current_dir(folder)
        .output()
        .map_err(|error| missing(format!("recording needs a C compiler once; {cc}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(missing(format!("{cc} cannot compile the recorder: {}", said.lines().next().unwrap_or("it says nothing")))
        .into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_qemu_says_them() {
        assert_eq!(version("qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright"), Some(7));
        assert_eq!(version("qemu-x86_64 version 10.0.2"), Some(10));
        assert_eq!(version("something else"), None);
    }

    #[test]
    fn the_recorder_compiles_once_for_each_interface() {
        if on_path("cc").is_none() {
            sealwright_transcripts::skipped("there is no C compiler");
            return;
        }
        let cache = tempfile::tempdir().unwrap();
        let first = compiled(cache.path(), 7).unwrap();
        let made = fs::metadata(&first.plugin).unwrap().modified().unwrap();
        assert_eq!(fs::metadata(compiled(cache.path(), 8).unwrap().plugin).unwrap().modified().unwrap(), made);
        assert_ne!(compiled(cache.path(), 9).unwrap().plugin, first.plugin);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 2, "nothing else is left");
    }
}
