//! Syncing very many files at once, by syncing their file system.

use std::{fs::File, io, path::Path};

use rustix::fs::FsWord;

/// File systems for which `syncfs` is known to put the content and the names of all files on disk and to report errors.
/// Others may not: FUSE, for example, may write to a server without asking it to sync.
const SYNCFS_FILE_SYSTEMS: [FsWord; 5] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
    0x0102_1994, // tmpfs
];

/// Since this release of Linux, `syncfs` reports write errors.
const SYNCFS_REPORTS_SINCE: (u32, u32) = (5, 8);

/// An open file system. It must be opened before the first write: `syncfs` reports the errors since then.
pub(crate) struct WholeDisk(File);

impl WholeDisk {
    /// The file system of a directory, if `syncfs` is reliable on it.
    pub(crate) fn of(directory: &Path) -> Option<WholeDisk> {
        let file = File::open(directory).ok()?;
        let kind = rustix::fs::fstatfs(&file).ok()?.f_type;
        (SYNCFS_FILE_SYSTEMS.contains(&kind) && release()? >= SYNCFS_REPORTS_SINCE).then_some(WholeDisk(file))
    }

    /// Waits until everything that any process wrote to it is on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0)?)
    }
}

/// Major and minor version of the running kernel.
fn release() -> Option<(u32, u32)> {
    let uname = rustix::system::uname();
    let mut numbers =
        uname.release().to_str().ok()?.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{WholeDisk, release};

    #[test]
    fn a_file_system_that_is_not_known_is_not_relied_on() {
        assert!(["/proc", "/sys"].iter().all(|other| WholeDisk::of(Path::new(other)).is_none()));
    }

    #[test]
    fn this_machine_tells_its_release() {
        let (major, minor) = release().unwrap_or_default();
        let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        assert!(text.starts_with(&format!("{major}.{minor}")), "{text}");
    }
}
