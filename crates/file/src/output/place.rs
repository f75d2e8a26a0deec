//! How a file takes its place.

/// How a file takes its place.
///
/// ```
/// use sealwright_file::Place;
///
/// let scratch = Place { sync: false, ..Place::default() }; // faster, and lost with the power
/// assert!(Place::default().sync && !scratch.force);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Replace a file of that name, and write to block devices.
    pub force: bool,
    /// When opening, keep the sealed file's permission bits instead of 0600.
    pub preserve: bool,
    /// Wait until the disk has it before it gets its name, so that a power cut leaves the old file or the new one.
    pub sync: bool,
}

impl Default for Place {
    /// Never replaces, 0600, synced.
    fn default() -> Self {
        Place { force: false, preserve: false, sync: true }
    }
}
