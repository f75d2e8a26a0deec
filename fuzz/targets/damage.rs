//! Edits a genuine sealed file. It opens only if the edits cancel out, and never to a different plaintext.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared};
use std::sync::OnceLock;

fn text() -> Vec<u8> {
    (0..40_000_u32).map(|i| (i * 7 >> 3) as u8).collect()
}

fn genuine() -> &'static (Key, Vec<u8>) {
    static FILE: OnceLock<(Key, Vec<u8>)> = OnceLock::new();
    FILE.get_or_init(|| {
        let key = Key::raw(vec![5; 32]);
        let mut out = Shared::default();
        let sealed = Sealing::new(&key).seal(Input::bytes(text(), "text"), Output::writer(out.clone(), "memory"));
        sealed.expect("memory takes everything");
        (key, out.take())
    })
}

/// Applies edits of six bytes each: the kind of edit, two positions of 16 bits, and a byte.
fn edited(file: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for edit in edits.chunks_exact(6) {
        let at = |i: usize| usize::from(u16::from_be_bytes([edit[i], edit[i + 1]])) % (file.len() + 1);
        let (a, b) = (at(1).min(at(3)), at(1).max(at(3)));
        match edit[0] % 5 {
            0 => file.iter_mut().skip(a).take(1).for_each(|byte| *byte ^= edit[5]),
            1 => file.truncate(a),
            2 => drop(file.drain(a..b)),
            3 => file.extend_from_within(a..b),
            _ => file.insert(a, edit[5]),
        }
    }
    file
}

fuzz_target!(|edits: &[u8]| {
    let (key, file) = genuine();
    let edited = edited(file, edits);
    let mut out = Shared::default();
    let done = Opening::new(key).open(Input::bytes(edited.clone(), "fuzz"), Output::writer(out.clone(), "memory"));
    assert_eq!(done.is_ok(), edited == *file);
    assert!(text().starts_with(&out.take()));
});
