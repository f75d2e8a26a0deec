//! Each test that `docs/PAST_BUGS.md` names exists, is a test, and is not ignored.
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
            runs(file, &source, function).unwrap_or_else(|why| panic!("{file}: {function}: {why}"));
            tests += 1;
        }
    }
    // The page and docs/ASSURANCE.md say how many.
    assert_eq!((bugs, rows), (37, 28), "{tests} tests");
    assert!(page.contains("37 defects in 28 rows"));
    assert!(tests > rows, "{tests} tests");
}

/// Whether the test program of a file runs `function`.
fn runs(file: &str, source: &str, function: &str) -> Result<(), &'static str> {
    let word = match file.rsplit('.').next() {
        Some("rs") => "fn",
        Some("py") => "def",
        _ => "static void",
    };
    let begins = format!("{word} {function}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with(&begins)).ok_or("it does not exist")?;
    // What stands right above it says how it is run.
    let above: Vec<&str> =
        lines[..at].iter().rev().copied().take_while(|line| !line.is_empty() && *line != "}").collect();
    let left_out = |words: &[&str]| above.iter().any(|line| words.iter().any(|word| line.contains(word)));
    match word {
        "fn" if !above.contains(&"#[test]") => Err("it is not marked as a test"),
        "fn" if left_out(&["#[ignore", "#[cfg_attr", "#[cfg("]) => Err("it is left out"),
        "def" if !function.starts_with("test_") => Err("pytest does not take it for a test"),
        "def" if left_out(&[".skip", ".xfail"]) => Err("it is left out"),
        "static void" if !lines.iter().any(|line| line.starts_with(&format!("{function}("))) => Err("nothing calls it"),
        _ => Ok(()),
    }
}

#[test]
fn tests_that_do_not_run_are_refused() {
    let rust = |source| runs("a/b.rs", source, "name");
    assert_eq!(rust("#[test]\nfn name() {\n}\n"), Ok(()));
    assert_eq!(rust("mod tests {\n    /// Why.\n    #[test]\n    fn name() {\n"), Ok(()));
    assert!(rust("#[test]\nfn other() {}\n\nfn name() {\n}\n").is_err());
    assert!(rust("#[test]\nfn other() {\n}\nfn name() {\n}\n").is_err());
    assert!(rust("#[test]\n#[ignore]\nfn name() {\n}\n").is_err());
    assert!(rust("#[ignore = \"slow\"]\n#[test]\nfn name() {\n}\n").is_err());
    assert!(rust("#[test]\n#[cfg(feature = \"rare\")]\nfn name() {\n}\n").is_err());
    assert!(rust("// #[test]\n// fn name() {\n").is_err());
    assert!(rust("#[test]\nfn named() {\n}\n").is_err());
    assert_eq!(runs("a.py", "def test_it(name):\n", "test_it"), Ok(()));
    assert!(runs("a.py", "@pytest.mark.skip\ndef test_it(name):\n", "test_it").is_err());
    assert!(runs("a.py", "def it(name):\n", "it").is_err());
    assert_eq!(runs("a.c", "static void it(void)\n{\n}\nint main(void)\n{\n    it();\n}\n", "it"), Ok(()));
    assert!(runs("a.c", "static void it(void)\n{\n}\n", "it").is_err());
}
