//! The C library in `crates/capi`: linked, installed, and tested with examples in C, C++, Go and Java.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::{
    install_c::{Build, Places, install, version},
    java,
    link_c::{functions, interface},
    nginx,
    programs::{STRICT, have, said},
    provider,
    steps::{Checked, Steps},
};

/// Installs a debug build below the target folder, then tests it from there.
pub(crate) fn run(steps: &mut Steps) {
    for tool in ["cc", "c++", "nm", "pkg-config"] {
        if !have(tool) {
            return steps
                .skip("C library", &format!("{tool} is needed (Debian: apt install gcc g++ binutils pkg-config)"));
        }
    }
    let folder = steps.target().join("capi");
    let prefix = folder.join("prefix");
    let mut installed = false;
    steps.check("C library", |steps| {
        let _ = fs::remove_dir_all(&prefix);
        let installed_to = install(steps, &Build::default(), Places::new(&prefix));
        match installed_to.and_then(|_| standards(&prefix)).and_then(|()| symbols(steps, &prefix)) {
            Ok(what) => {
                installed = true;
                Checked::Right(what)
            }
            Err(why) => Checked::Wrong(vec![why]),
        }
    });
    if installed {
        steps.check("C and C++ with the C library", |steps| examples(steps, &folder));
        steps
            .check("the static C library inside others", |steps| Checked::printed(inside(steps, &folder), "0 wrong\n"));
        go(steps, &prefix);
        java::run(steps, &prefix);
        if provider::run(steps, &folder) {
            nginx::run(steps, &folder);
        }
    }
}

/// The header compiles by every standard, after declarations of its types. Whoever ignores a result is warned, by a
/// later part of the compiler than that for syntax.
fn standards(prefix: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let [plain, ignoring] = ["header.c", "ignoring.c"].map(|name| prefix.with_file_name(name));
    fs::write(&plain, "struct sealwright_key;\nstruct sealwright_message;\n#include <sealwright.h>\n")
        .map_err(failed)?;
    let call =
        "void f(sealwright_key *);\nvoid f(sealwright_key *key)\n{\n    sealwright_open(key, 0, 0, 0, 0, 0, 0, 0);\n}";
    fs::write(&ignoring, format!("#include <sealwright.h>\n{call}\n")).map_err(failed)?;
    let check = |compiler: &str, language: &str, standard: &str, file: &Path| {
        let mut command = Command::new(compiler);
        command.arg(format!("-std={standard}")).args(STRICT).args(["-c", "-o", "/dev/null", "-x", language]);
        said(command.arg("-I").arg(prefix.join("include")).arg(file)).map(drop)
    };
    ["c89", "c99", "c11", "c2x"].iter().try_for_each(|standard| check("cc", "c", standard, &plain))?;
    ["c++98", "c++11", "c++17", "c++23"].iter().try_for_each(|standard| check("c++", "c++", standard, &plain))?;
    match check("cc", "c", "c99", &ignoring) {
        Err(why) if why.contains("unused-result") => Ok(()),
        other => Err(format!("no warning about a result that is ignored: {other:?}")),
    }
}

/// The libraries export the functions of the header and nothing else: the shared one with their version.
fn symbols(steps: &Steps, prefix: &Path) -> Result<String, String> {
    let listed = |options: &[&str], file: &str| {
        let table = said(Command::new("nm").args(options).arg("--defined-only").arg(prefix.join("lib").join(file)))?;
        Ok::<_, String>(
            table.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect::<BTreeSet<_>>(),
        )
    };
    let header = fs::read_to_string(prefix.join("include/sealwright.h")).map_err(|error| error.to_string())?;
    let (wanted, number) = (functions(&header)?, interface(&version(steps)?));
    let versioned: BTreeSet<String> = wanted.iter().map(|name| format!("{name}@@SEALWRIGHT_{number}")).collect();
    // A version's own name is exported too.
    let own = |name: &String| name.split('@').next() == Some(&format!("SEALWRIGHT_{number}"));
    let shared = listed(&["-D"], "libsealwright.so")?.into_iter().filter(|name| !own(name)).collect();
    let (kept, module) = (listed(&["-g"], "libsealwright.a")?, listed(&["-D"], "ossl-modules/sealwright.so")?);
    for (file, found, wanted) in [
        ("libsealwright.so", shared, &versioned),
        ("libsealwright.a", kept, &wanted),
        ("ossl-modules/sealwright.so", module, &["OSSL_provider_init".to_owned()].into()),
    ] {
        let differ: Vec<&String> = found.symmetric_difference(wanted).collect();
        if !differ.is_empty() {
            return Err(format!("{file}: it exports other symbols than it should: {differ:?}"));
        }
    }
    let named = said(Command::new("objdump").arg("-p").arg(prefix.join("lib/libsealwright.so")))?;
    match named.contains(&format!("SONAME               libsealwright.so.{number}\n")) {
        true => Ok(format!("{} functions, with their version, and no other symbol", wanted.len())),
        false => Err(format!("libsealwright.so: its name is not libsealwright.so.{number}")),
    }
}

/// A program in C or C++, and its expected output; `None` if it need only succeed.
const PROGRAMS: &[(&str, &str, Option<&str>)] = &[
    (
        "messages",
        "examples/messages.c",
        Some("opened: attack at dawn\nforged: 3, not authentic\nbatch: 3, then 0 3 0\n"),
    ),
    (
        "streams",
        "examples/streams.cpp",
        Some(
            "stream: 100168 bytes, opened\ncut: not authentic: chunk 4 (at byte 65656) is not authentic\n\
             file: opened; again: the output exists\nreader: 10 bytes of 100000\n",
        ),
    ),
    ("arguments", "tests/arguments.c", Some("0 wrong\n")),
    ("fork", "tests/fork.c", Some("0 wrong\n")),
    ("endings", "tests/endings.c", Some("0 wrong\n")),
    ("memory", "tests/memory.c", Some("0 wrong\n")),
];

fn examples(steps: &Steps, folder: &Path) -> Checked {
    let (mut wrong, mut run, mut skipped) = (Vec::new(), 0, Vec::new());
    let ways: [(&str, &[&str], &[&str]); 5] = [
        ("shared", &[], &[]),
        ("static", &["--static"], &[]),
        ("all static", &["--static"], &["-static"]),
        ("sanitizers", &[], &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
        ("valgrind", &[], &[]),
    ];
    for (way, pkg_config, flags) in ways {
        if way == "valgrind" && !have("valgrind") {
            skipped.push("valgrind is not installed (Debian: apt install valgrind)".to_owned());
            continue;
        }
        for (name, source, expected) in PROGRAMS {
            let program = folder.join(format!("{name}-{way}"));
            let done = compile(steps, folder, source, &program, pkg_config, flags);
            let printed = done.and_then(|()| execute(folder, &program, way)).map(|text| {
                let (without, rest) = apart(&text);
                skipped.extend(without.iter().map(|why| format!("{name} ({way}): {why}")));
                rest
            });
            match printed {
                Ok(text) if expected.is_none_or(|expected| text == expected) => run += 1,
                Ok(text) => wrong.push(format!("{name} ({way}) printed:\n{text}")),
                Err(why) => wrong.push(format!("{name} ({way}): {why}")),
            }
        }
    }
    Checked::partly(wrong, format!("{run} programs, without warnings"), skipped)
}

/// What a program reported as skipped, and the other lines of its output.
fn apart(text: &str) -> (Vec<&str>, String) {
    let skipped = |line: &&str| line.starts_with("skipped: ");
    let (without, rest): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(skipped);
    (without.into_iter().map(|line| line["skipped: ".len()..].trim_end()).collect(), rest.concat())
}

/// The output of pkg-config, split as by a shell: an escaped or quoted space does not end a word.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut chars) = (Vec::new(), None::<String>, None, text.chars());
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(end)) if c == end => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Two libraries and a program each have the static library inside. Each exports only what is its own.
fn inside(steps: &Steps, folder: &Path) -> Result<String, String> {
    let path = folder.display();
    for part in ["one", "other"] {
        let library = folder.join(format!("lib{part}.so"));
        let flags = ["-shared", "-fPIC", &format!("-DPART={part}")];
        compile(steps, folder, "tests/inside.c", &library, &["--static"], &flags)?;
        let table = said(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(&library))?;
        if table != format!("{part}\n") {
            return Err(format!("lib{part}.so exports {} symbols: {table}", table.lines().count()));
        }
    }
    let program = folder.join("apart");
    let flags = [&format!("-L{path}"), &format!("-Wl,-rpath,{path}"), "-Wl,--no-as-needed", "-lone", "-lother"];
    compile(steps, folder, "tests/apart.c", &program, &["--static"], &flags)?;
    said(&mut Command::new(program))
}

fn compile(
    steps: &Steps,
    folder: &Path,
    source: &str,
    program: &Path,
    pkg_config: &[&str],
    flags: &[&str],
) -> Result<(), String> {
    let mut ask = Command::new("pkg-config");
    ask.env("PKG_CONFIG_PATH", folder.join("prefix/lib/pkgconfig"));
    let found = said(ask.args(["--cflags", "--libs"]).args(pkg_config).arg("sealwright"))?;
    let (compiler, standard) = if source.ends_with(".c") { ("cc", "-std=c99") } else { ("c++", "-std=c++17") };
    let mut command = Command::new(compiler);
    command.arg(standard).args(STRICT).args(flags).arg("-o").arg(program);
    command.arg(steps.root().join("crates/capi").join(source));
    for word in split(&found) {
        // Without `-Bstatic` the linker takes the shared library where there are both; with `-static` it takes no
        // other.
        match word == "-lsealwright" && pkg_config.contains(&"--static") && !flags.contains(&"-static") {
            true => command.arg("-Wl,-Bstatic").arg(word).arg("-Wl,-Bdynamic"),
            false => command.arg(word),
        };
    }
    said(&mut command).map(drop)
}

fn execute(folder: &Path, program: &Path, way: &str) -> Result<String, String> {
    let scratch = folder.join("scratch");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let mut command = Command::new(if way == "valgrind" { Path::new("valgrind") } else { program });
    if way == "valgrind" {
        // Threads that wait for more work hold memory until the program ends: it is "possibly" lost.
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
        command.arg("--show-leak-kinds=definite").arg(program);
    }
    if !way.ends_with("static") {
        command.env("LD_LIBRARY_PATH", folder.join("prefix/lib"));
    }
    // Running out of memory must be reported as an error here, too.
    command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
    // Those that write files do so there.
    said(command.arg(&scratch))
}

/// The first release of Go that has `unsafe.SliceData` and `max`.
const GO: (u32, u32) = (1, 21);

fn go(steps: &mut Steps, prefix: &Path) {
    if said(Command::new("go").arg("version")).ok().and_then(|text| go_version(&text)) < Some(GO) {
        return steps.skip("Go with the C library", &format!("go {}.{} or newer is needed", GO.0, GO.1));
    }
    steps.check("Go with the C library", |steps| {
        let folder = steps.root().join("crates/capi/examples/go");
        let mut command = Command::new("go");
        command.args(["run", "."]).current_dir(&folder).env("CGO_ENABLED", "1").env("GOFLAGS", "-mod=readonly");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).env("LD_LIBRARY_PATH", prefix.join("lib"));
        // Its cache holds the name of the library, and does not see that it is another one.
        let number = version(steps).map(|version| interface(&version)).unwrap_or_default();
        command.env("CGO_CFLAGS", format!("-O2 -g -DSEALWRIGHT_INTERFACE={number}"));
        command.env("GOCACHE", steps.target().join("capi/go")).env("GOTOOLCHAIN", "local");
        Checked::printed(said(&mut command), "opened: attack at dawn\nforged: not authentic\n")
    });
}

/// The 1 and 21 of `go version go1.21.3 linux/amd64`, also of a pre-release; what was built from no release has no
/// number.
fn go_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers =
        said.split_whitespace().find_map(|word| word.strip_prefix("go1."))?.split(|c: char| !c.is_ascii_digit());
    Some((1, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{GO, apart, go_version, split};
    use crate::install_c::escaped;

    #[test]
    fn versions_as_go_says_them() {
        assert_eq!(go_version("go version go1.21.3 linux/amd64\n"), Some((1, 21)));
        assert_eq!(go_version("go version go1.27rc1 linux/amd64"), Some((1, 27)));
        assert_eq!(go_version("go version devel go1.22-2f0f1e1 linux/amd64"), Some((1, 22)));
        for old in ["go version go1.19.8 linux/amd64", "go version go1 linux/amd64", "go version", ""] {
            assert!(go_version(old) < Some(GO), "{old}");
        }
    }

    #[test]
    fn what_a_program_skipped_is_apart() {
        let (without, rest) = apart("one\nskipped: unshare is not allowed here\n0 wrong\n");
        assert_eq!((without, rest.as_str()), (vec!["unshare is not allowed here"], "one\n0 wrong\n"));
    }

    #[test]
    fn paths_with_spaces_stay_words() {
        assert_eq!(split("-I/a/include  -L/a/lib -lsealwright \n"), ["-I/a/include", "-L/a/lib", "-lsealwright"]);
        assert_eq!(split(r#"-L/a\ b/c\'d "-L/e f\"" '-L/g\h'i "" "#), ["-L/a b/c'd", "-L/e f\"", "-L/g\\hi", ""]);
        let path = "/a b/c'd\"e\\f#g/h-1.2_3";
        assert_eq!(split(&escaped(path)), [path]);
        assert_eq!(escaped("/usr/local"), "/usr/local");
    }
}
