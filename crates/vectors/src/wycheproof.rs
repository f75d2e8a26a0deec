//! Wycheproof's JSON: groups of tests under one algorithm.

use serde_json::Value;

use crate::{Case, VectorFileError, fields};

/// Calls `each` with every test of a document.
pub(crate) fn read(file: &str, document: &Value, each: &mut dyn FnMut(Case)) -> Result<(), VectorFileError> {
    let bad = |place: String, what: &str| VectorFileError { file: file.into(), place, what: what.into() };
    // Some documents name no algorithm, and no family supports a nameless one.
    let alg = document.get("algorithm").and_then(Value::as_str).unwrap_or("unnamed");
    let groups = document.get("testGroups").and_then(Value::as_array);
    let groups = groups.ok_or_else(|| bad(String::new(), "no testGroups, and not JSON Lines either"))?;
    let mut read = 0;
    for (i, group) in groups.iter().enumerate() {
        let place = format!("group {}", i + 1);
        let tests = group.get("tests").and_then(Value::as_array);
        let tag_bits = group.get("tagSize").and_then(Value::as_u64).and_then(|bits| usize::try_from(bits).ok());
        for test in tests.ok_or_else(|| bad(place.clone(), "no tests"))? {
            let fields = test.as_object().ok_or_else(|| bad(place.clone(), "a test is not an object"))?.clone();
            let id = fields.get("tcId").and_then(Value::as_u64);
            let place = id.map_or_else(|| place.clone(), |id| format!("tcId {id}"));
            let own = fields.get("alg").and_then(Value::as_str).map(str::to_owned);
            let case = fields::case(fields, Some(own.as_deref().unwrap_or(alg)), tag_bits, place.clone());
            each(case.map_err(|error| bad(place, &error.to_string()))?);
            read += 1;
        }
    }
    // Otherwise it would go unnoticed if tests were removed from a document, or not recognised as tests
    let said = document.get("numberOfTests").filter(|said| !said.is_null());
    if let Some(said) = said.filter(|said| said.as_u64() != Some(read)) {
        let said: String = said.to_string().chars().take(40).collect();
        return Err(bad(String::new(), &format!("numberOfTests is {said}, but there are {read} tests")));
    }
    Ok(())
}
