//! External requirements of recording: QEMU in user mode, a C compiler for the first time, and a folder for its output.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::error::{MissingToolError, RecordError};
use crate::{hex::hex, output};

/// The recorder's sources.
const SOURCES: [(&str, &str); 7] = [
    ("marks.h", include_str!("../../recorder/marks.h")),
    ("quiet.h", include_str!("../../recorder/quiet.h")),
    ("plugin.c", include_str!("../../recorder/plugin.c")),
    ("preload.c", include_str!("../../recorder/preload.c")),
    ("conditions.c", include_str!("../../recorder/conditions.c")),
    ("semaphores.c", include_str!("../../recorder/semaphores.c")),
    ("c11.c", include_str!("../../recorder/c11.c")),
];

/// The oldest QEMU whose plugin interface has everything that the recorder uses.
const OLDEST: u32 = 6;

/// From this version of QEMU on, plugins declare version 2 of the interface.
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
            what: format!("recording needs {name}, which is not installed"),
            hint: "apt-get install qemu-user".into(),
        });
    };
    version_of(&file).map(|version| (file, version))
}

fn version_of(file: &Path) -> Result<u32, MissingToolError> {
    let failed = |hint| MissingToolError {
        what: format!("{}: recording needs QEMU {OLDEST} or newer, with plugins", file.display()),
        hint,
    };
    let output =
        Command::new(file).arg("--version").output().map_err(|error| failed(format!("it does not start: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(version) = version(&text).filter(|version| *version >= OLDEST) {
        return Ok(version);
    }
    // If it lacks a shared library, the reason is on standard error
    let errors = String::from_utf8_lossy(&output.stderr);
    let said = text.lines().chain(errors.lines()).find(|line| !line.trim().is_empty());
    Err(failed(match said {
        Some(said) => format!("it says: {said}"),
        None => format!("it says nothing: {}", output.status),
    }))
}

/// The first number of `qemu-x86_64 version 7.2.22 (Debian ...)`.
fn version(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("version ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Where compiled recorders are kept: a folder of the user's. `None` where the user has none; then they are compiled
/// for one recording.
pub fn cache() -> Option<PathBuf> {
    cache_of(|name| env::var_os(name).map(PathBuf::from))
}

fn cache_of(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|path| path.is_absolute());
    let user = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    Some(user?.join("sealwright"))
}

/// Checks that only `user` (a user ID) or root can write to the folder, because its files are executed.
fn look_at(folder: &Path, user: u32) -> Result<(), RecordError> {
    let found = fs::metadata(folder).map_err(RecordError::io(folder.display().to_string()))?;
    let safe = [user, 0].contains(&found.uid()) && found.mode() & 0o022 == 0;
    if safe { Ok(()) } else { Err(RecordError::Shared(folder.to_owned())) }
}

/// The recorder for this version of QEMU, compiled unless it is in `cache` already, a folder of this `user`.
pub(super) fn compiled(cache: &Path, user: u32, version: u32) -> Result<Compiled, RecordError> {
    let interface = if version >= SECOND_INTERFACE { 2 } else { 1 };
    let mut digest = Sha256::new();
    SOURCES.iter().for_each(|(name, text)| digest.update(format!("{name} {} {text}", text.len())));
    let name = hex(&digest.finalize()[..8]);
    let folder = cache.join(format!("recorder-{name}-{interface}"));
    let compiled = Compiled { plugin: folder.join("plugin.so"), preload: folder.join("preload.so") };
    let failed = || RecordError::io(folder.display().to_string());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(cache).map_err(failed())?;
    look_at(cache, user)?;
    if compiled.plugin.is_file() && compiled.preload.is_file() {
        look_at(&folder, user)?;
        return Ok(compiled);
    }
    // Compiled in a temporary directory, so that no other process finds incomplete files
    let aside = output::folder(Some(cache)).map_err(failed())?;
    for (name, text) in SOURCES {
        fs::write(aside.path().join(name), text).map_err(failed())?;
    }
    let api = format!("-DPLUGIN_API={interface}");
    compile(aside.path(), "plugin.so", &["plugin.c", &api])?;
    compile(aside.path(), "preload.so", &["preload.c", "conditions.c", "semaphores.c", "c11.c"])?;
    match fs::rename(aside.path(), &folder) {
        Ok(()) => drop(aside.end(TempDir::keep)),
        // Another process was faster
        Err(_) if compiled.plugin.is_file() => look_at(&folder, user)?,
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn versions_are_read_as_qemu_says_them() {
        assert_eq!(version("qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright"), Some(7));
        assert_eq!(version("qemu-x86_64 version 10.0.2"), Some(10));
        assert_eq!(version("something else"), None);
    }

    #[test]
    fn it_is_told_why_qemu_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("qemu");
        for (text, mode, hint) in [
            ("#!/bin/sh\n", 0o600, "it does not start: Permission denied"),
            ("#!/bin/sh\nexit 3\n", 0o700, "it says nothing: exit status: 3"),
            ("#!/bin/sh\necho >&2 libaio.so.1: no such file\nexit 127\n", 0o700, "it says: libaio.so.1: no such file"),
            ("#!/bin/sh\necho qemu-x86_64 version 5.2.0\n", 0o700, "it says: qemu-x86_64 version 5.2.0"),
        ] {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let error = version_of(&file).unwrap_err();
            assert!(error.hint.starts_with(hint), "{}", error.hint);
        }
    }

    #[test]
    fn the_recorder_compiles_once_for_each_interface() {
        if on_path("cc").is_none() {
            sealwright_transcripts::skipped("there is no C compiler");
            return;
        }
        let cache = tempfile::tempdir().unwrap();
        let user = fs::metadata(cache.path()).unwrap().uid();
        let compiled = |version| compiled(cache.path(), user, version).unwrap();
        let first = compiled(7);
        let made = fs::metadata(&first.plugin).unwrap().modified().unwrap();
        assert_eq!(fs::metadata(compiled(8).plugin).unwrap().modified().unwrap(), made);
        assert_ne!(compiled(9).plugin, first.plugin);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn a_recorder_is_kept_in_a_folder_of_the_users_or_not_at_all() {
        let of = |cache: Option<&str>, home: Option<&str>| {
            cache_of(|name| if name == "HOME" { home } else { cache }.map(PathBuf::from))
        };
        assert_eq!(of(Some("/c"), Some("/h")), Some("/c/sealwright".into()));
        assert_eq!(of(None, Some("/h")), Some("/h/.cache/sealwright".into()));
        assert_eq!((of(None, None), of(Some("c"), Some(""))), (None, None), "no folder that others could make first");
    }

    #[test]
    fn what_others_may_have_written_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, user) = (folder.path().join("cache"), fs::metadata(folder.path()).unwrap().uid());
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let shared = |path: &Path, user| {
            let why = compiled(&cache, user, 7).unwrap_err();
            assert!(matches!(&why, RecordError::Shared(found) if found == path), "{why}");
        };
        fs::create_dir(&cache).unwrap();
        set(&cache, 0o777);
        shared(&cache, user);
        set(&cache, 0o775);
        shared(&cache, user);
        set(&cache, 0o755);
        if user != 0 {
            shared(&cache, user + 1);
        }
        if on_path("cc").is_none() {
            return sealwright_transcripts::skipped("cc is not installed");
        }
        let made = compiled(&cache, user, 7).unwrap();
        let inner = made.plugin.parent().unwrap();
        set(inner, 0o777);
        shared(inner, user);
    }
}
