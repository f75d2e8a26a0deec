//! Each test that `docs/PAST_BUGS.md` names exists.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/PAST_BUGS.md")).unwrap();
    let (mut bugs, mut rows, mut tests) = (0, 0, 0);
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| bug ")) {
        rows += 1;
        bugs += line[2..].split(" | ").next().unwrap().split(", ").count();
        let named: Vec<&str> = line.split('`').filter(|part| part.contains("::")).collect();
        assert!(!named.is_empty(), "no test: {line}");
        for test in named {
            let (file, function) = test.split_once("::").unwrap();
            let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let defined = ["fn", "def", "static void"].map(|word| format!("{word} {function}("));
            assert!(defined.iter().any(|text| source.contains(text)), "{file} has no {function}");
            tests += 1;
        }
    }
    // The page and docs/ASSURANCE.md say how many.
    assert_eq!((bugs, rows), (37, 28), "{tests} tests");
    assert!(page.contains("37 defects in 28 rows"));
    assert!(tests > rows, "{tests} tests");
}
