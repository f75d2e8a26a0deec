//! Computes the table in `docs/SECURITY.md` of how many vectors passed, failed and were skipped.
#![allow(clippy::unwrap_used, missing_docs)]

mod ccm;
#[path = "../support/mod.rs"]
mod support;

use std::{fmt::Write, fs, path::Path};

use support::{check, every_level, ours, wycheproofs};

/// A short name for the source of a document: the first words of its origin.
fn origin(text: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let line =
        document["header"][0].as_str().unwrap_or_default().strip_prefix("Origin: ").unwrap_or_default().to_owned();
    let end = line.find([':', ';', '(']).unwrap_or(line.len());
    line[..end].trim_end_matches(['.', ' ']).to_owned()
}

#[test]
fn ccm_of_wycheproof_over_our_aes() {
    let (passed, failed) = ccm::counts();
    assert_eq!(failed, Vec::<u64>::new(), "these cases failed");
    assert!(passed > 500, "only {passed} passed");
}

#[test]
#[cfg(all(feature = "research", feature = "chacha"))] // the table has every document
fn the_documents_table_is_what_this_build_computes() {
    let mut rows = Vec::new();
    for (name, text) in wycheproofs() {
        rows.push((format!("Wycheproof `{name}`"), String::from("Wycheproof"), text));
    }
    for (name, text) in ours() {
        let file = Path::new(&name).file_stem().unwrap().to_str().unwrap().to_owned();
        rows.push((format!("`vectors/{file}.json`"), origin(&text), text));
    }
    rows.sort();
    let (passed, failed) = ccm::counts();
    let mut table = String::from("| document | origin | passed | failed | skipped |\n|---|---|---:|---:|---:|\n");
    writeln!(
        table,
        "| Wycheproof `aes_ccm`, RustCrypto's `ccm` over our AES, best level | Wycheproof | {passed} | {} | 0 |",
        failed.len()
    )
    .unwrap();
    for (name, origin, text) in rows {
        let (report, _) = check(&name, &text, &every_level());
        let counts = [report.passed, report.failed, report.skipped].map(|n| n.to_string()).join(" | ");
        writeln!(table, "| {name} | {origin} | {counts} |").unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SECURITY.md");
    let document = fs::read_to_string(path).unwrap();
    assert!(document.contains(&table), "docs/SECURITY.md has another table than this:\n\n{table}");
}
