//! Compiles the shim of each library whose header is here. The libraries themselves are loaded when the program runs.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The variable that names a folder with another release of ipsec-mb: its header, and its shared library.
const OTHER: &str = "SEALWRIGHT_IPSEC_MB";

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed={OTHER}");
    let unix = env::var("CARGO_CFG_UNIX").is_ok();
    let native = env::var("HOST") == env::var("TARGET");
    if !unix || !native {
        return;
    }
    let installed = |header: &str| {
        let folders = ["/usr/include", "/usr/local/include", "/usr/include/botan-2"].map(PathBuf::from);
        folders.into_iter().find(|folder| folder.join(header).exists())
    };
    if let Some(folder) = installed("intel-ipsec-mb.h") {
        shim("ipsec_mb", "ipsec_mb", &folder, "libIPSec_MB.so.1");
    }
    if let Some(folder) = installed("gcrypt.h") {
        shim("gcrypt", "gcrypt", &folder, "libgcrypt.so.20");
    }
    if let Some(folder) = installed("botan/ffi.h") {
        shim("botan", "botan", &folder, "libbotan-2.so.19");
    }
    if let Some(folder) = installed("openssl/evp.h") {
        shim("openssl", "openssl", &folder, "libcrypto.so.3");
    }
    if let Some(folder) = env::var_os(OTHER).filter(|folder| !folder.is_empty()).map(PathBuf::from) {
        let library = folder.join("libIPSec_MB.so");
        for file in [&folder.join("intel-ipsec-mb.h"), &library] {
            assert!(
                file.exists(),
                "{OTHER}: {} does not exist\nhint: the variable names a folder with both intel-ipsec-mb.h and libIPSec_MB.so",
                file.display()
            );
        }
        shim("ipsec_mb", "ipsec_mb_other", &folder, &library.display().to_string());
    }
}

/// Compiles `shim/FILE.c` as the peer `name`, which loads `library`.
fn shim(file: &str, name: &str, include: &Path, library: &str) {
    let mut build = cc::Build::new();
    build.file(format!("shim/{file}.c")).include(include).opt_level(2);
    build
        .define("PEER", format!("sealwright_peer_{name}").as_str())
        .define("LIBRARY", format!("\"{library}\"").as_str());
    // A header of a release that the shim does not fit is no reason to fail: the library then counts as absent.
    if build.cargo_warnings(false).try_compile(&format!("sealwright_peer_{name}")).is_ok() {
        println!("cargo::rustc-cfg={name}");
    }
}
