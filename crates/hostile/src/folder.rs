//! Where targets write files.

/// A new folder, in memory if the system has a file system for that: otherwise writing to the disk takes most of the
/// time.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
