//! Descriptors that the caller of the program opened: used as they are, never opened anew by name. A new one would begin
//! at the start of the file, could not be had of a socket, and would ask for permissions that were given up.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    io::{Errno, fcntl_dupfd_cloexec},
    process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open},
};
use sealwright_terminal::{CommandError, os_message};

/// Where the system tells which descriptors are open, and how.
const OPEN: &str = "/proc/self/fdinfo";

/// A duplicate of the descriptor `number`, which shares its position.
///
/// Descriptors of the program itself are not taken: only those that it was started with.
pub(crate) fn duplicate(number: u32) -> Result<File, CommandError> {
    let not_open = || {
        CommandError::failed(format_args!("file descriptor {number} is not open"))
            .hint(format_args!("in a shell: sealwright ... {number}< FILE"))
    };
    let raw = i32::try_from(number).map_err(|_| not_open())?;
    match is_inherited(number) {
        Ok(true) => {}
        Ok(false) => return Err(not_open()),
        Err(error) => {
            let what = format_args!("cannot tell whether file descriptor {number} is open: {}", os_message(&error));
            return Err(CommandError::failed(what).about(Path::new(OPEN)).hint("mount /proc, or name a file"));
        }
    }
    match duplicate_of(raw) {
        Ok(descriptor) => Ok(descriptor.into()),
        Err(Errno::BADF) => Err(not_open()),
        Err(error) => Err(CommandError::io(&name(number), &error.into())),
    }
}

/// What messages call it.
pub(crate) fn name(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{number}"))
}

/// Whether the process was started with it. One that the process opened itself is closed in other programs
/// (O_CLOEXEC), and an inherited one never is. Standard input is never one that it opened.
fn is_inherited(number: u32) -> io::Result<bool> {
    const CLOSED_ON_EXEC: u32 = 0o2_000_000;
    match fs::read_to_string(format!("{OPEN}/{number}")) {
        Ok(info) => {
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
            Ok(flags.is_some_and(|flags| flags & CLOSED_ON_EXEC == 0))
        }
        Err(_) if number == 0 => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::metadata(OPEN).map(|_| false),
        Err(error) => Err(error),
    }
}

/// Taking a descriptor by its number needs unsafe code, as the number may be anything. The system checks it when this
/// process asks for a duplicate as it would of another process (Linux 5.6). Some containers forbid that. Standard input
/// has a handle.
fn duplicate_of(raw: i32) -> rustix::io::Result<OwnedFd> {
    if raw == 0 {
        return fcntl_dupfd_cloexec(io::stdin(), 3);
    }
    let ourselves = pidfd_open(getpid(), PidfdFlags::empty());
    match ourselves.and_then(|ourselves| pidfd_getfd(&ourselves, raw, PidfdGetfdFlags::empty())) {
        Err(forbidden @ (Errno::NOSYS | Errno::PERM | Errno::ACCESS)) => opened_anew(raw).map_err(|_| forbidden),
        other => other,
    }
}

/// The second best: the file behind the descriptor, opened anew and set to the same position. A pipe is the same pipe; a
/// socket cannot be opened so.
fn opened_anew(raw: i32) -> io::Result<OwnedFd> {
    let info = fs::read_to_string(format!("{OPEN}/{raw}"))?;
    let mut file = File::open(format!("/proc/self/fd/{raw}"))?;
    if file.metadata()?.is_file() {
        let position = info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
        file.seek(SeekFrom::Start(position.ok_or(io::ErrorKind::InvalidData)?))?;
    }
    Ok(file.into())
}
