//! Every example of every help page does what it says.

use std::path::Path;

use sealwright_transcripts::Examples;

const PREPARED: &[(&str, &str)] = &[
    ("", "rm my.key"),
    ("key new", "rm my.key"),
    (
        "open",
        "sealwright seal -q --key-file my.key --remove letter.txt; sealwright seal -q --key-file my.key -r photos -C sealed; tar -c photos | sealwright seal --key-file my.key -o photos.tar.seal",
    ),
    ("inspect", "sealwright seal -q --key-file my.key letter.txt"),
];

const NOT_RUN: &[(&str, &str)] = &[
    ("sealwright serve trial", "a server; tests/relay.rs runs it"),
    ("sealwright client", "needs that server; tests/relay.rs runs it"),
    ("sealwright seal --passphrase letter.txt", "asks on a terminal; tests/cmd/passphrase.transcript has what it says"),
];

#[test]
fn every_example_of_every_help_page_works() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    Examples { program: "sealwright", prepared: PREPARED, prepare: |_| {}, not_run: NOT_RUN, at_least: 12 }
        .check(&vectors);
}
