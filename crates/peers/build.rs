//! Compiles the shim of each library whose header is installed. The libraries themselves are loaded at run time.

use std::{
    env,
    path::{Path, PathBuf},
};

/// An environment variable that names a folder with another release of a library.
struct Other {
    variable: &'static str,
    /// The shim's file name.
    file: &'static str,
    /// The peer's name.
    peer: &'static str,
    /// Paths of the header and of the shared library within that folder.
    header: &'static str,
    library: &'static str,
}

const OTHERS: [Other; 2] = [
    Other {
        variable: "SEALWRIGHT_IPSEC_MB",
        file: "ipsec_mb",
        peer: "ipsec_mb_other",
        header: "intel-ipsec-mb.h",
        library: "libIPSec_MB.so",
    },
    Other {
        variable: "SEALWRIGHT_OPENSSL",
        file: "openssl",
        peer: "openssl_other",
        header: "openssl/evp.h",
        library: "libcrypto.so",
    },
];

fn main() {
    println!("cargo::rerun-if-changed=shim");
    for other in OTHERS {
        println!("cargo::rerun-if-env-changed={}", other.variable);
    }
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
    for other in OTHERS {
        let Other { variable, file, peer, header, library } = other;
        let set = env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let Some(folder) = set else { continue };
        for name in [header, library] {
            assert!(
                folder.join(name).exists(),
                "{variable}: {} does not exist\nhint: the variable names a folder with both {header} and {library}",
                folder.join(name).display()
            );
        }
        shim(file, peer, &folder, &folder.join(library).display().to_string());
    }
}

/// Compiles `shim/FILE.c` as the peer `name`, which loads `library`.
fn shim(file: &str, name: &str, include: &Path, library: &str) {
    let mut build = cc::Build::new();
    build.file(format!("shim/{file}.c")).include(include).opt_level(2);
    build
        .define("PEER", format!("sealwright_peer_{name}").as_str())
        .define("LIBRARY", format!("\"{library}\"").as_str());
    // If the shim does not fit the header's release, the build goes on and the library counts as absent
    if build.cargo_warnings(false).try_compile(&format!("sealwright_peer_{name}")).is_ok() {
        println!("cargo::rustc-cfg={name}");
    }
}
