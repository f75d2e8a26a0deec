//! The committed results of synthesis and simulation of the cores in `rtl/`, by file name.
//!
//! `python3 -m flow synth` and `python3 -m flow full` write the files; `docs/CORES_RESULTS.md` says what they contain.

/// A committed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreResult {
    /// The name of its file: `ecp5-gcm-aes128-1-rom3-d6.json`.
    pub name: &'static str,
    /// The file's text, a JSON document.
    pub json: &'static str,
}

macro_rules! results {
    ($($name:literal),* $(,)?) => {
        /// Every result, in the order of the names.
        pub const RESULTS: &[CoreResult] = &[$(CoreResult { name: $name, json: include_str!($name) }),*];
    };
}

results! {
    "alm-cipher-aes128-4-rom4-k4.json",
    "alm-cipher-serpent-4-cut1-k4.json",
    "alm-gcm-aes128-4-rom4-d6-k4.json",
    "alm-gcm-serpent-4-cut1-d6-k4.json",
    "alm-ocb-aes128-4-rom4-k4.json",
    "alm-ocb-aes128-4-rom4-seal-k4.json",
    "alm-ocb-serpent-4-cut1-k4.json",
    "alm-ocb-serpent-4-cut1-seal-k4.json",
    "ecp5-cipher-aes128-1-rom4-k4.json",
    "ecp5-cipher-aes128-4-halves4-k4.json",
    "ecp5-cipher-serpent-1-cut1-k4.json",
    "ecp5-gcm-aes128-1-rom4-d6-k4.json",
    "ecp5-gcm-serpent-1-cut1-d6-k4.json",
    "ecp5-ocb-aes128-1-rom4-k4.json",
    "ecp5-ocb-serpent-1-cut1-k4.json",
    "ecp5-shu-aes128-1-rom4.json",
    "ecp5u-cipher-serpent-1-cut1-k4.json",
    "regression.json",
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn every_file_is_listed() {
        let files = fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
        let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let there: BTreeSet<String> = names.filter(|name| name.ends_with(".json")).collect();
        assert_eq!(RESULTS.iter().map(|result| result.name.to_owned()).collect::<BTreeSet<_>>(), there);
    }
}
