//! `cargo xtask install-c`: installs the C library, or for a package writes it below `DESTDIR`.

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    link_c::{Linker, interface},
    notices,
    steps::Steps,
};

const PACKAGE: &str = "sealwright-capi";

/// `cargo xtask install-c PREFIX [--libdir DIR] [--target TRIPLE] [--strip]`.
pub(crate) fn command(steps: &Steps, words: &[String]) -> ExitCode {
    let (places, build) = match Places::of(words, env::var_os("DESTDIR")) {
        Ok(both) => both,
        Err(why) => {
            eprintln!("install-c: {why}\nhint: cargo xtask install-c ~/.local");
            return ExitCode::from(2);
        }
    };
    match install(steps, &build, places) {
        Ok(Places { prefix, lib, root }) => {
            let at = |path: &Path| below(root.as_deref(), path).display().to_string();
            let parts = "libsealwright.so, libsealwright.a, pkgconfig/sealwright.pc, ossl-modules/sealwright.so";
            println!("{}: {parts}\n{}: sealwright.h", at(&lib), at(&prefix.join("include")));
            println!("{}: licences", at(&prefix.join(DOC)));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("install-c: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Where licence texts go, below the prefix.
const DOC: &str = "share/doc/sealwright";

/// How the library is built.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Build {
    /// With optimization, as it is installed.
    pub(crate) release: bool,
    /// Another system than this one, as the Rust compiler names it.
    pub(crate) target: Option<String>,
    /// Without the symbols that only debuggers need.
    pub(crate) strip: bool,
}

impl Build {
    /// Builds the library with cargo, and returns its static form.
    fn library(&self, steps: &Steps) -> Result<PathBuf, String> {
        let mut words = vec!["build", "--quiet", "--locked", "--package", PACKAGE];
        words.extend(self.release.then_some("--release"));
        words.extend(self.target.iter().flat_map(|target| ["--target", target]));
        steps.cargo_output(&words)?;
        let folder = self.target.as_ref().map_or_else(|| steps.target(), |target| steps.target().join(target));
        Ok(folder.join(if self.release { "release" } else { "debug" }).join("libsealwright_capi.a"))
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

    fn of(words: &[String], root: Option<OsString>) -> Result<(Places, Build), String> {
        let (mut prefix, mut lib, mut build) = (None, None, Build { release: true, ..Build::default() });
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (option, value) = word.split_once('=').map_or((&word[..], None), |(name, value)| (name, Some(value)));
            let mut value = |what| value.or_else(|| words.next().map(String::as_str)).ok_or(what);
            match option {
                "--libdir" => lib = Some(value("--libdir takes a folder")?),
                "--target" => {
                    build.target = Some(value("--target takes a system, as aarch64-unknown-linux-gnu")?.into())
                }
                _ if word == "--strip" => build.strip = true,
                _ if word.starts_with('-') => {
                    let known = "it takes a folder, --libdir, --target and --strip";
                    return Err(format!("{word}: no such option; {known}"));
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
        Ok((Places { lib: prefix.join(lib.unwrap_or("lib")), prefix, root }, build))
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

/// Builds the library, links its forms from it, and puts them in their places with header, pkg-config file and
/// licences. Returns the places as they are known from everywhere.
pub(crate) fn install(steps: &Steps, build: &Build, mut places: Places) -> Result<Places, String> {
    let source = steps.root().join("crates/capi");
    let library = build.library(steps)?;
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
    let at = |path: &str| below(root, &places.prefix.join(path));
    let (lib, include, doc) = (below(root, &places.lib), at("include"), at(DOC));
    let modules = lib.join("ossl-modules");
    for folder in [&lib.join("pkgconfig"), &modules, &include, &doc] {
        made(folder)?;
    }
    fs::copy(source.join("include/sealwright.h"), include.join("sealwright.h")).map_err(failed)?;

    let version = version(steps)?;
    let linker = Linker::new(steps, library, build.strip)?;
    linker.archive(&lib.join("libsealwright.a"))?;
    let (soname, file) = (format!("libsealwright.so.{}", interface(&version)), format!("libsealwright.so.{version}"));
    linker.shared(&version, &soname, &lib.join(&file))?;
    for (link, to) in [(&soname[..], &file[..]), ("libsealwright.so", &soname)] {
        let _ = fs::remove_file(lib.join(link));
        symlink(to, lib.join(link)).map_err(failed)?;
    }
    linker.provider(&modules.join("sealwright.so"))?;
    let form = fs::read_to_string(source.join("sealwright.pc.in")).map_err(failed)?;
    fs::write(lib.join("pkgconfig/sealwright.pc"), places.settings(&form, &version)).map_err(failed)?;

    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(steps.root().join(name), doc.join(name)).map_err(failed)?;
    }
    let notices = notices::text(steps, PACKAGE, &[], build.target.as_deref())?;
    fs::write(doc.join(notices::FILE), notices).map_err(failed)?;
    Ok(places)
}

pub(crate) fn version(steps: &Steps) -> Result<String, String> {
    let metadata = steps.metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.filter(|package| package["name"] == PACKAGE).find_map(|it| it["version"].as_str());
    found.map(str::to_owned).ok_or_else(|| format!("{PACKAGE} has no version"))
}

/// A path for a file of pkg-config.
pub(crate) fn escaped(path: &str) -> String {
    let special = |c: char| c.is_whitespace() || "\"'\\#".contains(c);
    path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], root: &str) -> Result<(Places, Build), String> {
        Places::of(&words.iter().map(|&word| word.into()).collect::<Vec<_>>(), Some(root.into()))
    }

    fn places(words: &[&str], root: &str) -> Result<Places, String> {
        read(words, root).map(|(places, _)| places)
    }

    #[test]
    fn how_it_is_built() {
        let build = |words: &[&str]| read(words, "").map(|(_, build)| build);
        let usual = Build { release: true, target: None, strip: false };
        assert_eq!(build(&["/a"]).as_ref(), Ok(&usual));
        let other = Build { target: Some("riscv64gc-unknown-linux-gnu".into()), strip: true, ..usual };
        assert_eq!(build(&["--strip", "--target", "riscv64gc-unknown-linux-gnu", "/a"]).as_ref(), Ok(&other));
        assert_eq!(build(&["/a", "--target=riscv64gc-unknown-linux-gnu", "--strip"]), Ok(other));
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
            (&["/a", "--target"], "", "--target takes a system, as aarch64-unknown-linux-gnu"),
            (
                &["--bindir=bin", "/a"],
                "",
                "--bindir=bin: no such option; it takes a folder, --libdir, --target and --strip",
            ),
            (
                &["/a", "--strip=no"],
                "",
                "--strip=no: no such option; it takes a folder, --libdir, --target and --strip",
            ),
            (&["usr"], "/made", "usr: with DESTDIR it takes an absolute path"),
        ] {
            assert_eq!(places(words, root), Err(why.into()));
        }
    }
}
