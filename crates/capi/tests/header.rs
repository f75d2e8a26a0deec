//! `include/sealwright.h` is what cbindgen makes of the functions.
#![allow(clippy::unwrap_used)]

use std::{env, fs, path::Path};

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut source = cbindgen::Builder::new().with_config(config);
    // In the order of the header.
    for module in ["error", "message", "stream", "file", "reader"] {
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
