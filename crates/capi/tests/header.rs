//! `include/sealwright.h` is what cbindgen makes of the functions, and `docs/C.md` names them all.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, env, fs, path::Path};

/// Major, minor and patch number of the version.
const VERSION: [(&str, &str); 3] = [
    ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
    ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
    ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
];

/// The version, for `#if`, and the mark of functions whose result must not be ignored.
fn macros() -> String {
    let numbers = VERSION.map(|(part, number)| format!("#define SEALWRIGHT_VERSION_{part} {number}\n")).concat();
    format!(
        "\n/**\n * The version of this header. Compatible versions have the same major number, and before 1.0 also the same \
         minor\n * number. sealwright_version returns that of the library.\n */\n{numbers}\n\
         /**\n * Marks functions whose result must be checked.\n */\n\
         #if defined(__GNUC__)\n#define SEALWRIGHT_MUST_USE __attribute__((warn_unused_result))\n\
         #else\n#define SEALWRIGHT_MUST_USE\n#endif"
    )
}

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.after_includes = Some(macros());
    let mut source = cbindgen::Builder::new().with_config(config);
    // In the order of the header.
    for module in ["error", "message", "random", "stream", "file", "reader"] {
        source = source.with_src(root.join("src").join(module).with_extension("rs"));
    }
    let mut made = Vec::new();
    source.generate().unwrap().write(&mut made);
    // C of 1989 has no such comments, nor this comma; cbindgen leaves no choice.
    let made = String::from_utf8(made).unwrap().replace("// __cplusplus", "/* __cplusplus */").replace(",\n}", "\n}");
    let path = root.join("include/sealwright.h");
    if env::var_os("SEALWRIGHT_WRITE_HEADER").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "SEALWRIGHT_WRITE_HEADER=1 cargo test -p sealwright-capi writes it anew; it would be:\n{made}"
    );
}

/// The names in a line of the page's table: what begins with `_` takes the place of the last part of the name before.
fn named(line: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in line.split('`').skip(1).step_by(2) {
        let before = names.last().and_then(|name| name.rsplit_once('_')).map_or("", |(before, _)| before);
        names.push(if word.starts_with('_') { format!("{before}{word}") } else { word.to_owned() });
    }
    names
}

#[test]
fn the_page_names_every_function() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(root.join("include/sealwright.h")).unwrap();
    let wanted: BTreeSet<String> = header
        .lines()
        .map(|line| line.trim_start_matches("SEALWRIGHT_MUST_USE "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(')?.0.split([' ', '*']).next_back())
        .map(str::to_owned)
        .collect();
    let page = fs::read_to_string(root.join("docs/C.md")).unwrap();
    let (_, table) = page.split_once("## The functions").unwrap();
    let table = table.split("\n\n").find(|part| part.contains("\n|---|")).unwrap();
    let found: BTreeSet<String> = table.lines().flat_map(named).collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    assert_eq!(found, wanted);
}

/// The version decides the number of the interface; `cargo xtask capi` compares the library with it.
#[test]
fn the_page_names_the_interface() {
    let [(_, major), (_, minor), _] = VERSION;
    let number = if major == "0" { format!("0.{minor}") } else { major.to_owned() };
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/C.md")).unwrap();
    for name in [format!("`SEALWRIGHT_{number}`"), format!("`libsealwright.so.{number}`")] {
        assert!(page.contains(&name), "docs/C.md does not name {name}");
    }
}
