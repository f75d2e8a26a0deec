//! `include/sealwright.h` is what cbindgen makes of the functions, and `docs/C.md` names them all.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, env, fs, path::Path};

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
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
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(')?.0.split([' ', '*']).next_back())
        .map(str::to_owned)
        .collect();
    let page = fs::read_to_string(root.join("../../docs/C.md")).unwrap();
    let (_, table) = page.split_once("## The functions").unwrap();
    let table = table.split("\n\n").find(|part| part.contains("\n|---|")).unwrap();
    let found: BTreeSet<String> = table.lines().flat_map(named).collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    assert_eq!(found, wanted);
}
