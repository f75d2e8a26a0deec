//! Where targets write files.

/// A new folder, in memory where the system has one: a disk that writes takes most of the time of a target that writes files.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
