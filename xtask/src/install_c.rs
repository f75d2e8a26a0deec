//! `cargo xtask install-c`: installs the C library, or for a package writes it below `DESTDIR`.

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{programs::said, steps::Steps};

/// What the library needs of the system. The file of pkg-config does not name the first, which is never static: the
/// compiler adds it, or what is static in its place.
const SYSTEM: &[&str] = &["-lgcc_s", "-lpthread", "-ldl", "-lm"];

/// `cargo xtask install-c PREFIX [--libdir DIR]`.
pub(crate) fn command(steps: &Steps, words: &[String]) -> ExitCode {
    let places = match Places::of(words, env::var_os("DESTDIR")) {
        Ok(places) => places,
        Err(why) => {
            eprintln!("install-c: {why}\nhint: cargo xtask install-c ~/.local");
            return ExitCode::from(2);
        }
    };
    match install(steps, "release", places) {
        Ok(Places { prefix, lib, root }) => {
            let at = |path: &Path| below(root.as_deref(), path).display().to_string();
            let parts = "libsealwright.so, libsealwright.a, pkgconfig/sealwright.pc, ossl-modules/sealwright.so";
            println!("{}: {parts}\n{}: sealwright.h", at(&lib), at(&prefix.join("include")));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("install-c: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The installation paths.
#[derive(Debug, PartialEq)]
pub(crate) struct Places {
    prefix: PathBuf,
    lib: PathBuf,
    /// `DESTDIR`, a prefix of both while a package is made.
    root: Option<PathBuf>,
}

impl Places {
    pub(crate) fn new(prefix: &Path) -> Places {
        Places { prefix: prefix.into(), lib: prefix.join("lib"), root: None }
    }

    fn of(words: &[String], root: Option<OsString>) -> Result<Places, String> {
        let (mut prefix, mut lib, mut words) = (None, None, words.iter());
        while let Some(word) = words.next() {
            match word.split_once('=') {
                Some(("--libdir", folder)) => lib = Some(folder),
                _ if word == "--libdir" => lib = Some(words.next().ok_or("--libdir takes a folder")?.as_str()),
                _ if word.starts_with('-') => {
                    return Err(format!("{word}: no such option; it takes a folder and --libdir"));
                }
                _ if prefix.is_some() => return Err(format!("{word}: it takes one folder")),
                _ => prefix = Some(PathBuf::from(word)),
            }
        }
        let prefix = prefix.ok_or("it takes one folder")?;
        let root = root.filter(|root| !root.is_empty()).map(PathBuf::from);
        if root.is_some() && !prefix.is_absolute() {
            return Err(format!("{}: with DESTDIR it takes an absolute path", prefix.display()));
        }
        Ok(Places { lib: prefix.join(lib.unwrap_or("lib")), prefix, root })
    }

    /// The file of pkg-config: it tells where things will be, not where they are put for now.
    fn settings(&self, form: &str, version: &str) -> String {
        let lib = match self.lib.strip_prefix(&self.prefix) {
            Ok(rest) => format!("${{prefix}}/{}", escaped(&rest.display().to_string())),
            Err(_) => escaped(&self.lib.display().to_string()),
        };
        let prefix = escaped(&self.prefix.display().to_string());
        form.replace("@PREFIX@", &prefix).replace("@LIBDIR@", &lib).replace("@VERSION@", version)
    }
}

/// Where a path is below `root`.
fn below(root: Option<&Path>, path: &Path) -> PathBuf {
    root.map_or_else(|| path.into(), |root| root.join(path.strip_prefix("/").unwrap_or(path)))
}

/// Builds the library, links the shared one from it, and puts both in their places with header and pkg-config file.
/// Returns them as they are known from everywhere.
pub(crate) fn install(steps: &Steps, profile: &str, mut places: Places) -> Result<Places, String> {
    let source = steps.root().join("crates/capi");
    let mut words = vec!["build", "--quiet", "--package", "sealwright-capi"];
    if profile == "release" {
        words.push("--release");
    }
    steps.cargo_output(&words)?;
    let failed = |error: std::io::Error| error.to_string();
    let made = |folder: &Path| fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()));
    if places.root.is_none() {
        made(&places.prefix)?;
        let prefix = fs::canonicalize(&places.prefix).map_err(failed)?;
        places.lib =
            places.lib.strip_prefix(&places.prefix).map_or_else(|_| places.lib.clone(), |rest| prefix.join(rest));
        places.prefix = prefix;
    }
    let root = places.root.as_deref();
    let (lib, include) = (below(root, &places.lib), below(root, &places.prefix.join("include")));
    made(&lib.join("pkgconfig"))?;
    made(&include)?;
    let archive = lib.join("libsealwright.a");
    fs::copy(steps.target().join(profile).join("libsealwright_capi.a"), &archive).map_err(failed)?;
    fs::copy(source.join("include/sealwright.h"), include.join("sealwright.h")).map_err(failed)?;

    let version = version(steps)?;
    // Before 1.0, every minor version may change the interface.
    let soname = "libsealwright.so.0";
    let shared = lib.join(format!("libsealwright.so.{version}"));
    let mut link = Command::new("cc");
    link.args(["-shared", "-Wl,--gc-sections,-z,relro,-z,now", &format!("-Wl,-soname,{soname}")]);
    link.arg(format!("-Wl,--version-script={}", source.join("sealwright.map").display()));
    link.arg("-o").arg(&shared).arg("-Wl,--whole-archive").arg(&archive).arg("-Wl,--no-whole-archive").args(SYSTEM);
    if profile == "release" {
        link.arg("-s");
    }
    said(&mut link)?;
    for (link, to) in [(soname, format!("libsealwright.so.{version}")), ("libsealwright.so", soname.into())] {
        let _ = fs::remove_file(lib.join(link));
        symlink(to, lib.join(link)).map_err(failed)?;
    }
    // The provider is the same code with another interface.
    let modules = lib.join("ossl-modules");
    made(&modules)?;
    let mut link = Command::new("cc");
    link.args(["-shared", "-s", "-Wl,--gc-sections,-z,relro,-z,now"]);
    link.arg(format!("-Wl,--version-script={}", source.join("provider.map").display())).arg("-o");
    link.arg(modules.join("sealwright.so")).arg("-Wl,--whole-archive").arg(&archive).arg("-Wl,--no-whole-archive");
    said(link.args(SYSTEM))?;
    let form = fs::read_to_string(source.join("sealwright.pc.in")).map_err(failed)?;
    fs::write(lib.join("pkgconfig/sealwright.pc"), places.settings(&form, &version)).map_err(failed)?;
    Ok(places)
}

fn version(steps: &Steps) -> Result<String, String> {
    let metadata = steps.metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.filter(|package| package["name"] == "sealwright-capi").find_map(|it| it["version"].as_str());
    found.map(str::to_owned).ok_or_else(|| "sealwright-capi has no version".into())
}

/// A path for a file of pkg-config.
pub(crate) fn escaped(path: &str) -> String {
    let special = |c: char| c.is_whitespace() || "\"'\\#".contains(c);
    path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(words: &[&str], root: &str) -> Result<Places, String> {
        Places::of(&words.iter().map(|&word| word.into()).collect::<Vec<_>>(), Some(root.into()))
    }

    #[test]
    fn a_package_has_its_files_below_destdir_and_names_its_prefix() {
        let form = include_str!("../../crates/capi/sealwright.pc.in");
        let lines = |places: &Places| places.settings(form, "1.2.3").lines().take(2).collect::<Vec<_>>().join(" ");
        let packaged = places(&["/usr", "--libdir", "lib/x86_64-linux-gnu"], "/tmp/made").expect("places");
        assert_eq!(below(packaged.root.as_deref(), &packaged.lib), Path::new("/tmp/made/usr/lib/x86_64-linux-gnu"));
        assert_eq!(lines(&packaged), "prefix=/usr libdir=${prefix}/lib/x86_64-linux-gnu");
        let apart = places(&["--libdir=/lib64", "/opt/a b"], "").expect("places");
        assert_eq!((apart.root.as_ref(), below(None, &apart.lib)), (None, PathBuf::from("/lib64")));
        assert_eq!(lines(&apart), r"prefix=/opt/a\ b libdir=/lib64");
        let usual = places(&["/home/me/.local"], "").expect("places");
        assert_eq!(usual, Places::new(Path::new("/home/me/.local")));
        assert_eq!(lines(&usual), "prefix=/home/me/.local libdir=${prefix}/lib");
        assert!(usual.settings(form, "1.2.3").contains("\nVersion: 1.2.3\n"));
    }

    #[test]
    fn words_that_name_no_places() {
        for (words, root, why) in [
            (&[][..], "", "it takes one folder"),
            (&["/a", "/b"], "", "/b: it takes one folder"),
            (&["--libdir", "lib"], "", "it takes one folder"),
            (&["/a", "--libdir"], "", "--libdir takes a folder"),
            (&["--bindir=bin", "/a"], "", "--bindir=bin: no such option; it takes a folder and --libdir"),
            (&["usr"], "/made", "usr: with DESTDIR it takes an absolute path"),
        ] {
            assert_eq!(places(words, root), Err(why.into()));
        }
    }
}
