//! Every example of every help page does what it says.

use std::path::Path;

use sealwright_transcripts::Examples;

const PREPARED: &[(&str, &str)] = &[
    ("", "rm my.key"),
    ("key new", "rm my.key"),
    ("key public", "sealwright key new --pair -o my.id >/dev/null"),
    (
        "seal",
        "sealwright key new --pair -o friend.id >friends.pub; sealwright key new --signing -o my.sign >my.verify; echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL7lwDF+W9KydEg0aw8jHaxyfy/TFCoF8i9q5MqMWv3Q a test key of Sealwright' >id_ed25519.pub",
    ),
    ("sign", "rm -f my.sign"),
    (
        "verify",
        "sealwright key new --signing -o my.sign >my.verify; sealwright sign -s my.sign letter.txt; mkdir backup; sealwright seal -q --key-file my.key letter.txt -o backup/letter.seal; sealwright seal -q --key-file my.key --each photos -C sealed",
    ),
    (
        "rekey",
        "for name in my eva bob; do sealwright key new --pair -o $name.id >$name.pub; done; cp letter.txt plan; sealwright seal -q -R my.pub -R bob.pub plan; sealwright seal -q -R my.pub -R bob.pub --each photos -C sealed",
    ),
    (
        "open",
        "sealwright seal -q --key-file my.key --remove letter.txt; sealwright seal -q --key-file my.key --each photos -C sealed; tar -c photos | sealwright seal --key-file my.key -o photos.tar.seal; sealwright key new --pair -o my.id >my.pub; head -c 5000 /dev/zero >log; sealwright seal -q -R my.pub log; cp -r photos holiday; sealwright seal -q --key-file my.key holiday; rm -r holiday",
    ),
    ("relay add", "sealwright serve --init trial --client alice"),
    ("relay revoke", "sealwright serve --init trial --client alice"),
    ("relay check", "sealwright serve --init trial --client alice"),
    ("inspect", "sealwright seal -q --key-file my.key letter.txt"),
];

const NOT_RUN: &[(&str, &str)] = &[
    ("sealwright serve trial", "a server; tests/relay.rs runs it"),
    ("sealwright client", "needs that server; tests/relay.rs runs it"),
    ("sealwright relay list", "asks that server"),
    ("sealwright relay status", "asks that server"),
    ("sealwright rekey plan.seal -i my.id --add-passphrase ", "asks on a terminal; tests/recipients.rs changes one"),
    ("sealwright seal --passphrase letter.txt", "asks on a terminal; tests/cmd/passphrase.transcript has what it says"),
];

#[test]
fn every_example_of_every_help_page_works() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    Examples { program: "sealwright", prepared: PREPARED, prepare: |_| {}, not_run: NOT_RUN, at_least: 12 }
        .check(&vectors);
}
