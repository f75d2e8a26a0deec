//! Passes the compiler's version and the optimisation level to the crate, so that results can record them.

use std::{env, process::Command};

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok().and_then(|out| String::from_utf8(out.stdout).ok());
    println!("cargo::rustc-env=SEALWRIGHT_RUSTC={}", version.as_deref().unwrap_or("rustc of unknown version").trim());
    println!("cargo::rustc-env=SEALWRIGHT_OPT_LEVEL={}", env::var("OPT_LEVEL").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
