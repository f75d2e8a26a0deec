//! Memory per client: our schemes as measured, the paper's by its formula.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "research")]

use sealwright_session::{Material, Plan, Spec, paper_bytes, table};

/// Table 2 of "The Analysis of Galois Substitution Counter Mode (GSCM)", El-Fotouh and Diepold, 2009: scheme, bytes a
/// client with 128-bit and with 256-bit keys.
const TABLE_2: [(&str, usize, usize); 11] = [
    ("gcm-pre(64k)", 131624, 131752),
    ("gcm-pre(8k)", 16936, 17064),
    ("gcm-pre(4k)", 8744, 8872),
    ("gcm-pre(256)", 1064, 1192),
    ("gcm-pre(0)", 552, 680),
    ("gcm-on(64k)", 131336, 131400),
    ("gcm-on(8k)", 16648, 16712),
    ("gcm-on(4k)", 8456, 8520),
    ("gcm-on(256)", 776, 840),
    ("gcm-on(0)", 264, 328),
    ("gscm(4k)", 128, 128),
];

#[test]
fn the_formula_gives_every_cell_of_the_papers_table() {
    for (name, short, long) in TABLE_2 {
        let spec: Spec = name.parse().unwrap();
        assert_eq!(paper_bytes(spec), Some(short), "{name}");
        assert_eq!(paper_bytes(Spec { long: true, ..spec }), Some(long), "{name}");
    }
}

#[test]
fn records_are_as_small_as_they_are_said_to_be() {
    let bytes = |name: &str| {
        let mut table = table(Plan::new(name.parse().unwrap(), 64)).unwrap();
        for slot in 0..64 {
            table.admit(slot, slot, &Material::random().unwrap()).unwrap();
        }
        let memory = table.memory();
        assert_eq!((memory.live, memory.slots), (64, 64));
        (memory.record, memory.bytes_per_client())
    };
    for (name, record) in [
        ("clear", 32),
        ("gcm-derived", 32),
        ("gcm-derived-256", 32),
        ("gcm-on64", 64),
        ("gcm-on64-256", 128),
        ("gscm-h", 128),
        ("gscm(64k)-256", 128),
        ("gcm-on(0)", 128),
        ("gcm-on(clmul)-256", 192),
        ("gcm-pre(clmul)", 448),
        ("gcm-pre(0)-256", 576),
    ] {
        assert_eq!(bytes(name).0, record, "{name}");
    }
    // Less than the paper's, table by table.
    for (name, paper, _) in TABLE_2.into_iter().filter(|(name, ..)| !name.starts_with("gscm")) {
        let ours = bytes(name).1;
        assert!(ours < paper as f64 && ours > 0.4 * paper as f64, "{name}: {ours} of {paper}");
    }
}
