//! The forms of the C library, linked from the static library that cargo builds: a static one that shows only the
//! functions of the header, a shared one with versions, and the OpenSSL provider.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{programs::said, steps::Steps};

/// What the library needs of the system. The file of pkg-config does not name the first, which is never static: the
/// compiler adds it, or what is static in its place.
const SYSTEM: &[&str] = &["-lgcc_s", "-lpthread", "-ldl", "-lm"];

/// The number of the interface, which compatible versions have in common: `1` of 1.2.3, and `0.1` of 0.1.2, as cargo
/// counts.
pub(crate) fn interface(version: &str) -> String {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if major == "0" { format!("0.{minor}") } else { major.into() }
}

/// The functions that a header declares.
pub(crate) fn functions(header: &str) -> Result<BTreeSet<String>, String> {
    let comment = |line: &str| line.trim_start().starts_with(['/', '*']);
    let code = header.lines().filter(|line| !comment(line) && !line.starts_with("typedef"));
    let before = code.filter_map(|line| line.split_once('(')?.0.split([' ', '*']).next_back());
    let names: BTreeSet<String> = before.filter(|name| name.starts_with("sealwright_")).map(str::to_owned).collect();
    if names.len() < 20 {
        return Err(format!("only {} functions were found in the header", names.len()));
    }
    Ok(names)
}

/// The programs for C and their options, from the variables that `make` takes.
#[derive(Debug, PartialEq)]
struct Tools {
    cc: Vec<String>,
    cflags: Vec<String>,
    ldflags: Vec<String>,
    ar: String,
    objcopy: String,
}

impl Tools {
    fn of(variable: impl Fn(&str) -> Option<String>) -> Tools {
        let words = |name| -> Vec<String> {
            variable(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
        };
        let one = |name, usual: &str| variable(name).filter(|it| !it.is_empty()).unwrap_or_else(|| usual.into());
        let cc = Some(words("CC")).filter(|words| !words.is_empty()).unwrap_or_else(|| vec!["cc".into()]);
        let (cflags, ldflags) = (words("CFLAGS"), words("LDFLAGS"));
        Tools { cc, cflags, ldflags, ar: one("AR", "ar"), objcopy: one("OBJCOPY", "objcopy") }
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new(&self.cc[0]);
        command.args(&self.cc[1..]).args(&self.cflags);
        command
    }
}

/// Links from one library of cargo's.
pub(crate) struct Linker {
    tools: Tools,
    /// The folder of the maps and of the header.
    source: PathBuf,
    /// For files on the way.
    scratch: PathBuf,
    library: PathBuf,
    functions: BTreeSet<String>,
    strip: bool,
}

impl Linker {
    pub(crate) fn new(steps: &Steps, library: PathBuf, strip: bool) -> Result<Linker, String> {
        let (source, scratch) = (steps.root().join("crates/capi"), steps.target().join("link-c"));
        let header = fs::read_to_string(source.join("include/sealwright.h")).map_err(|error| error.to_string())?;
        fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let tools = Tools::of(|name| env::var(name).ok());
        Ok(Linker { tools, source, scratch, library, functions: functions(&header)?, strip })
    }

    fn written(&self, name: &str, text: String) -> Result<PathBuf, String> {
        let path = self.scratch.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display())).map(|()| path)
    }

    /// The static library: one object that has what the header's functions need, with these as its only global symbols,
    /// so that a program may have other functions of the same names as the library's own, among them another provider
    /// for OpenSSL. They are hidden: a library with this one inside exports none of them, and uses its own copy. The
    /// sections stay apart, so that `--gc-sections` drops what a program does not use.
    pub(crate) fn archive(&self, to: &Path) -> Result<(), String> {
        let lines = |form: &dyn Fn(&String) -> String| self.functions.iter().map(form).collect::<String>();
        let keep = self.written("functions", lines(&|name| format!("{name}\n")))?;
        // The linker takes the strictest visibility that any object asks for.
        let hidden = lines(&|name| format!(".hidden {name}\n"));
        let hidden = self.written("hidden.s", hidden + ".section .note.GNU-stack,\"\",%progbits\n")?;
        let [asks, whole, object] = ["hidden.o", "whole.o", "sealwright.o"].map(|name| self.scratch.join(name));
        said(self.tools.compiler().arg("-c").arg(&hidden).arg("-o").arg(&asks))?;
        let mut link = self.tools.compiler();
        // A group of sections whose name is a symbol would, once the symbol is local, clash with another's of that name.
        link.args(["-r", "-nostdlib", "-Wl,--gc-sections,--force-group-allocation"]);
        link.args(self.functions.iter().map(|name| format!("-Wl,-u,{name}")));
        said(link.arg(&asks).arg(&self.library).arg("-o").arg(&whole))?;
        let mut hide = Command::new(&self.tools.objcopy);
        hide.arg(format!("--keep-global-symbols={}", keep.display()));
        // Bitcode of the standard library: pieces that lie one behind the other are none.
        hide.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
        hide.args(self.strip.then_some("--strip-debug")).arg(&whole).arg(&object);
        said(&mut hide)?;
        let _ = fs::remove_file(to);
        said(Command::new(&self.tools.ar).arg("rcsD").arg(to).arg(&object)).map(drop)
    }

    /// The shared library exports the header's functions, with the version of the interface.
    pub(crate) fn shared(&self, version: &str, soname: &str, to: &Path) -> Result<(), String> {
        let form = self.source.join("sealwright.map.in");
        let form = fs::read_to_string(&form).map_err(|error| format!("{}: {error}", form.display()))?;
        let map = self.written("sealwright.map", form.replace("@INTERFACE@", &interface(version)))?;
        self.dynamic(&map, to, &[&format!("-Wl,-soname,{soname}")])
    }

    /// The provider is the same code with another interface.
    pub(crate) fn provider(&self, to: &Path) -> Result<(), String> {
        self.dynamic(&self.source.join("provider.map"), to, &[])
    }

    fn dynamic(&self, map: &Path, to: &Path, options: &[&str]) -> Result<(), String> {
        let mut link = self.tools.compiler();
        link.args(["-shared", "-Wl,--gc-sections,-z,relro,-z,now"]).args(options).args(self.strip.then_some("-s"));
        link.arg(format!("-Wl,--version-script={}", map.display())).arg("-o").arg(to);
        link.arg("-Wl,--whole-archive").arg(&self.library).arg("-Wl,--no-whole-archive");
        said(link.args(SYSTEM).args(&self.tools.ldflags)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{Tools, functions, interface};

    #[test]
    fn compatible_versions_have_one_number() {
        for (version, number) in
            [("0.1.0", "0.1"), ("0.1.9", "0.1"), ("0.12.0", "0.12"), ("1.0.0", "1"), ("12.3.4", "12")]
        {
            assert_eq!(interface(version), number);
        }
    }

    #[test]
    fn functions_of_the_header() {
        let names = functions(include_str!("../../crates/capi/include/sealwright.h")).expect("there are many");
        assert!(names.contains("sealwright_open") && names.contains("sealwright_version"), "{names:?}");
        assert!(!names.contains("sealwright_write") && !names.contains("sealwright_key"), "{names:?}");
        assert!(functions("int sealwright_open(void);\n").is_err_and(|why| why.starts_with("only 1 ")));
    }

    #[test]
    fn programs_and_options_from_the_environment() {
        let tools = |set: &[(&str, &str)]| {
            Tools::of(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()))
        };
        let usual = tools(&[]);
        assert_eq!((&usual.cc[..], &usual.ar[..], &usual.objcopy[..]), (&["cc".to_owned()][..], "ar", "objcopy"));
        assert_eq!(usual, tools(&[("CC", " "), ("AR", ""), ("OBJCOPY", ""), ("CFLAGS", "")]));
        let set = [("CC", "ccache gcc"), ("CFLAGS", "-O2  -g"), ("LDFLAGS", "-Wl,-z,defs"), ("AR", "gcc-ar")];
        let others = tools(&set);
        assert_eq!((&others.cc[..], &others.ar[..]), (&["ccache".to_owned(), "gcc".to_owned()][..], "gcc-ar"));
        assert_eq!((others.cflags.len(), &others.ldflags[..]), (2, &["-Wl,-z,defs".to_owned()][..]));
        let command = others.compiler();
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["gcc", "-O2", "-g"]);
    }
}
