//! Paths that are too long for a single system call are resolved in several steps.

use std::{
    ffi::OsStr,
    fs::File,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{CWD, Mode, OFlags, mkdirat, openat},
    io::Errno,
};

/// The maximum length of a path in a system call, in bytes (PATH_MAX without the terminating zero).
const MAX_PATH_LEN: usize = 4095;

/// The directory that the last part of a path starts from, and this part.
pub(super) struct Steps<'a> {
    from: Option<OwnedFd>,
    pub(super) last: &'a Path,
}

impl<'a> Steps<'a> {
    /// Resolves `path` until the rest fits into a system call. Only very long paths need any step.
    pub(super) fn along(path: &'a Path) -> Result<Steps<'a>, Errno> {
        let (mut from, mut rest) = (None, path.as_os_str().as_bytes());
        while rest.len() > MAX_PATH_LEN {
            // Without a place to split, the system call will report that the name is too long.
            let Some(cut) = rest[..=MAX_PATH_LEN].iter().rposition(|&byte| byte == b'/').filter(|cut| *cut > 0) else {
                break;
            };
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let begin = from.as_ref().map_or(CWD, OwnedFd::as_fd);
            let next = openat(begin, OsStr::from_bytes(&rest[..cut]), flags, Mode::empty())?;
            from = Some(next);
            // With a leading slash, the rest would be an absolute path.
            let slashes = rest[cut..].iter().take_while(|&&byte| byte == b'/').count();
            rest = &rest[cut + slashes..];
        }
        Ok(Steps { from, last: Path::new(OsStr::from_bytes(rest)) })
    }
}

impl AsFd for Steps<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.from.as_ref().map_or(CWD, OwnedFd::as_fd)
    }
}

/// Opens the file or directory at `path`.
pub(super) fn open(path: &Path, flags: OFlags, mode: u32) -> Result<File, Errno> {
    let steps = Steps::along(path)?;
    openat(&steps, steps.last, flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode)).map(File::from)
}

/// Creates the directory at `path`.
pub(super) fn make_directory(path: &Path, mode: u32) -> Result<(), Errno> {
    let steps = Steps::along(path)?;
    mkdirat(&steps, steps.last, Mode::from_raw_mode(mode))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        fs,
        io::{Read, Write},
    };

    use rustix::{
        fs::fcntl_getfl,
        io::{FdFlags, fcntl_getfd},
    };

    use super::*;

    #[test]
    fn ways_of_any_length_are_gone() {
        let directory = tempfile::tempdir().unwrap();
        let mut path = directory.path().to_owned();
        // Names of several lengths, so that the path is split at different places.
        for len in [255, 1, 200, 100].into_iter().cycle().take(120) {
            path.push("n".repeat(len));
            make_directory(&path, 0o700).unwrap();
            let file = path.join("f");
            open(&file, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, 0o600).unwrap().write_all(b"text").unwrap();
            let mut text = String::new();
            open(&file, OFlags::RDONLY, 0).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
        }
        assert!(path.as_os_str().len() > 4 * MAX_PATH_LEN);
        assert_eq!(fs::metadata(&path).unwrap_err().raw_os_error(), Some(Errno::NAMETOOLONG.raw_os_error()));
    }

    #[test]
    fn what_is_short_is_one_step() {
        let [long, below] = ["", "/"].map(|root| format!("{root}{}", "n".repeat(2 * MAX_PATH_LEN)));
        for path in ["", "a", "/", "/a//b/", &"n".repeat(MAX_PATH_LEN), &long, &below] {
            let steps = Steps::along(Path::new(path)).unwrap();
            assert!(steps.from.is_none() && steps.last.as_os_str() == path, "{path}");
        }
    }

    #[test]
    fn more_slashes_than_one_do_not_lead_to_the_root() {
        let path = format!("/{}proc/version", "/".repeat(MAX_PATH_LEN));
        let steps = Steps::along(Path::new(&path)).unwrap();
        assert_eq!(steps.last, Path::new("proc/version"));
        let (down, name) = ("./".repeat(MAX_PATH_LEN / 2), "//");
        let steps = format!("{down}{name}x");
        let steps = Steps::along(Path::new(&steps)).unwrap();
        assert!(steps.last.is_relative() && steps.last.ends_with("x"));
    }

    /// The descriptors are closed on exec, so that a program started by another thread does not inherit them. The
    /// directories on the way need not be readable.
    #[test]
    fn what_is_open_is_for_this_process_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("./".repeat(MAX_PATH_LEN)).join("file");
        let file = open(&path, OFlags::WRONLY | OFlags::CREATE, 0o600).unwrap();
        let steps = Steps::along(&path).unwrap();
        assert!(steps.from.is_some() && fcntl_getfl(&steps).unwrap().contains(OFlags::PATH));
        for open in [steps.as_fd(), file.as_fd()] {
            assert!(fcntl_getfd(open).unwrap().contains(FdFlags::CLOEXEC));
        }
    }
}
