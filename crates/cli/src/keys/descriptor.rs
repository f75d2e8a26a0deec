//! File descriptors inherited from the caller. They are used as they are, and not opened again by name, which would
//! start at the beginning of the file, is impossible for sockets, and needs permissions that the process may have
//! dropped.

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

/// Lists the open descriptors and their flags.
const OPEN: &str = "/proc/self/fdinfo";

/// A duplicate of descriptor `number`, which shares its position.
///
/// Only descriptors that the process inherited are accepted, not those that it opened itself.
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

/// Its name in messages.
pub(crate) fn name(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{number}"))
}

/// Whether the descriptor was inherited. Those that the process opened have O_CLOEXEC set; inherited ones cannot have
/// it. Standard input is always inherited.
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

/// Using a descriptor by its number would need unsafe code, because nothing guarantees that it is open. Instead the
/// process duplicates it from itself with `pidfd_getfd` (Linux 5.6), which checks the number. Some containers forbid
/// that call. For standard input there is a safe handle.
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

/// The fallback: opens the file behind the descriptor again and sets the same position. For a pipe this gives the same
/// pipe; it does not work for sockets.
fn opened_anew(raw: i32) -> io::Result<OwnedFd> {
    let info = fs::read_to_string(format!("{OPEN}/{raw}"))?;
    let mut file = File::open(format!("/proc/self/fd/{raw}"))?;
    if file.metadata()?.is_file() {
        let position = info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
        file.seek(SeekFrom::Start(position.ok_or(io::ErrorKind::InvalidData)?))?;
    }
    Ok(file.into())
}
