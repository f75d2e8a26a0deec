//! The terminal transcripts in `tests/cmd`, replayed.

use std::path::Path;

#[test]
fn terminal_transcripts() {
    sealwright_transcripts::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd"));
}
