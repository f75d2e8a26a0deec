//! The fuzz targets, and the limits that all of them run under.

use std::{fs, path::Path};

/// The target whose fault must be found; it runs before all others, and by itself.
pub(crate) const PLANTED: &str = "planted";

/// Limits on memory, in MiB: of the whole program, and of one allocation. No target needs nearly as much at once: those
/// that derive keys from passphrases allow Argon2 256 KiB (`CEILING` of crates/hostile/src/recipients.rs). The time of
/// an input is limited in that crate, too.
pub(crate) const MEMORY: [&str; 2] = ["-rss_limit_mb=4096", "-malloc_limit_mb=512"];

/// The names of the targets.
pub(crate) fn targets(root: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root.join("fuzz/targets")).map_err(|error| format!("fuzz/targets: {error}"))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}
