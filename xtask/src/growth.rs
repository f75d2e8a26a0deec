//! Measures by how much a small program grows if it seals with AES-256-GCM, and the CPU time to compile the library for
//! it.

use std::{fs, path::Path};

use crate::{
    programs,
    steps::{Checked, Cost, Steps},
};

/// Maximum growth of the stripped program, in bytes. Most of it are the widths of the last batch at each level, which
/// make short messages fast.
const MOST: u64 = 400_000;

/// A program that does the same without the library.
const PLAIN: &str = r#"
fn main() {
    let text: Vec<u8> = std::env::args().flat_map(String::into_bytes).collect();
    println!("{text:x?}");
}
"#;

/// The same, with sealing.
const SEALED: &str = r#"
use sealwright::Suite;

fn main() {
    let mut text: Vec<u8> = std::env::args().flat_map(String::into_bytes).collect();
    let aead = Suite::Aes256Gcm.aead(&[1; 32]).expect("32 bytes");
    let tag = aead.seal_in_place(&[2; 12], b"header", &mut text).expect("short");
    println!("{text:x?} {:x?}", tag.as_ref());
    aead.open_in_place(&[2; 12], b"header", &mut text, tag.as_ref()).expect("genuine");
    println!("{text:x?}");
}
"#;

pub(crate) fn check(steps: &Steps) -> Checked {
    let folder = steps.target().join("growth");
    let cost = Cost::begin();
    let sizes = [("plain", PLAIN), ("sealed", SEALED)].map(|(name, source)| build(steps, &folder, name, source));
    let (cpu, _) = cost.end();
    match sizes {
        [Ok(plain), Ok(sealed)] => {
            let grown = sealed.saturating_sub(plain);
            let what = format!("a program grows by {} KB of at most {} KB; {cpu:.0} CPU s", grown / 1000, MOST / 1000);
            Checked::of(if grown > MOST { vec![what.clone()] } else { Vec::new() }, what)
        }
        [plain, sealed] => Checked::Wrong([plain.err(), sealed.err()].into_iter().flatten().collect()),
    }
}

/// Builds a program outside the workspace, as a user's would be; returns its size.
fn build(steps: &Steps, folder: &Path, name: &str, source: &str) -> Result<u64, String> {
    let place = folder.join(name);
    let library = steps.root().join("crates/aead");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nsealwright = {{ path = {library:?} }}\n\n[profile.release]\nstrip = \"symbols\"\n"
    );
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(place.join("src")).map_err(failed)?;
    fs::write(place.join("Cargo.toml"), manifest).map_err(failed)?;
    fs::write(place.join("src/main.rs"), source).map_err(failed)?;
    // The versions that the workspace has.
    fs::copy(steps.root().join("Cargo.lock"), place.join("Cargo.lock")).map_err(failed)?;
    let mut command = programs::cargo();
    command.args(["build", "--quiet", "--release"]).current_dir(&place);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    if !command.status().is_ok_and(|status| status.success()) {
        return Err(format!("{} does not build", place.display()));
    }
    let program = folder.join("target/release").join(name);
    Ok(fs::metadata(&program).map_err(failed)?.len())
}
