//! `cargo run --release -- FOLDER`: builds OpenSSL from its sources in the crate `openssl-src` and puts its headers and
//! `libcrypto.so` into the folder. It needs gcc, make and perl, and some minutes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("openssl4: a folder is needed\nhint: cargo run --release -- /tmp/openssl-4");
        return ExitCode::from(2);
    };
    match build(&folder) {
        Ok(()) => {
            println!("OpenSSL {} is in {}", openssl_src::version(), folder.display());
            println!("hint: SEALWRIGHT_OPENSSL={} cargo build --release -p sealwright-lab", folder.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("openssl4: {why}");
            ExitCode::FAILURE
        }
    }
}

fn build(folder: &Path) -> Result<(), String> {
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let folder = folder.canonicalize().map_err(|error| at(folder, error))?;
    // The crate asks for what cargo tells build scripts.
    let machine = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let built = openssl_src::Build::new().out_dir(folder.join("build")).target(&machine).host(&machine).try_build()?;
    let archive = built.lib_dir().join("libcrypto.a");
    let library = folder.join("libcrypto.so");
    let linked = Command::new("gcc")
        .args(["-shared", "-o"])
        .arg(&library)
        .arg("-Wl,--whole-archive")
        .arg(&archive)
        .args(["-Wl,--no-whole-archive", "-ldl", "-pthread"])
        .status()
        .map_err(|error| format!("gcc: {error}"))?;
    if !linked.success() {
        return Err(format!("{} could not be linked from {}", library.display(), archive.display()));
    }
    let headers = folder.join("openssl");
    fs::create_dir_all(&headers).map_err(|error| at(&headers, error))?;
    let from = built.include_dir().join("openssl");
    for entry in fs::read_dir(&from).map_err(|error| at(&from, error))?.flatten() {
        let to = headers.join(entry.file_name());
        fs::copy(entry.path(), &to).map_err(|error| at(&to, error))?;
    }
    Ok(())
}
