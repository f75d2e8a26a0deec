//! How an output file is made.

/// How an output file is made.
///
/// ```
/// use sealwright_file::OutputOptions;
///
/// let scratch = OutputOptions::default().sync(false); // faster, and lost with the power
/// assert!(OutputOptions::default().sync && !scratch.force);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputOptions {
    /// Replace a file of that name, and write to block devices.
    pub force: bool,
    /// When opening, keep the sealed file's permission bits instead of 0600.
    pub preserve: bool,
    /// Sync the file to disk before it gets its name, so that a power failure leaves the old file or the new one.
    pub sync: bool,
}

impl Default for OutputOptions {
    /// Never replaces, 0600, synced.
    fn default() -> Self {
        OutputOptions { force: false, preserve: false, sync: true }
    }
}

impl OutputOptions {
    /// Sets whether a file of that name is replaced, and block devices are written to.
    pub fn force(self, force: bool) -> Self {
        OutputOptions { force, ..self }
    }

    /// Sets whether the sealed file's permission bits are kept when opening.
    pub fn preserve(self, preserve: bool) -> Self {
        OutputOptions { preserve, ..self }
    }

    /// Sets whether the file is synced to disk before it gets its name.
    pub fn sync(self, sync: bool) -> Self {
        OutputOptions { sync, ..self }
    }
}
