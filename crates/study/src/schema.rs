//! The JSON schema of everything in a results directory, derived from the Rust types.

use schemars::{JsonSchema, Schema, schema_for};
use sealwright_measure::Record;

use crate::{attacks, bench::Report, journal::Entry, results::Results};

/// The documents, and the lines of the journal, in a results directory.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Kept {
    /// `<study>.json`: the last run of a study.
    Study(Record<Results>),
    /// `bench.json`: speed compared with other libraries.
    Bench(Record<Report>),
    /// `attacks.json`: the outcomes of all attacks.
    Attacks(Record<attacks::Report>),
    /// A line of `journal.jsonl`: the progress of a run of all studies.
    Journal(Record<Entry>),
}

/// The JSON Schema (2020-12) of every document and line: `docs/results.schema.json`.
pub fn schema() -> Schema {
    let mut schema = schema_for!(Kept);
    schema.insert("title".into(), "Sealwright results".into());
    schema
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, path::Path};

    use super::*;

    /// `SCHEMA=write cargo test -p sealwright-study schema` updates the document.
    #[test]
    fn the_document_is_what_the_types_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.schema.json");
        let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("SCHEMA").is_some_and(|value| value == "write") {
            fs::write(&path, &made).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap() == made, "docs/results.schema.json: SCHEMA=write writes it anew");
    }
}
