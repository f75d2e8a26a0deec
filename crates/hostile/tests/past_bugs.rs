//! Each test that `docs/PAST_BUGS.md` names exists.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/PAST_BUGS.md")).unwrap();
    let (mut rows, mut tests) = (0, 0);
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| bug ")) {
        rows += 1;
        let named: Vec<&str> = line.split('`').filter(|part| part.contains("::")).collect();
        assert!(!named.is_empty(), "no test: {line}");
        for test in named {
            let (file, function) = test.split_once("::").unwrap();
            let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let defined = [format!("fn {function}("), format!("def {function}(")];
            assert!(defined.iter().any(|text| source.contains(text)), "{file} has no {function}");
            tests += 1;
        }
    }
    assert!(rows > 20 && tests > rows, "{rows} rows, {tests} tests");
}
