//! Licence expressions of packages (SPDX), and whether a policy allows them; and the texts in their sources.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// Whether the licences in `allowed` are enough for `expression`: names with AND, OR and parentheses. Old packages
/// write `/` for OR.
pub(crate) fn allows(allowed: &[&str], expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { allowed, rest: &words };
    reader.any().is_some_and(|enough| enough && reader.rest.is_empty())
}

struct Reader<'a> {
    allowed: &'a [&'a str],
    rest: &'a [&'a str],
}

impl Reader<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        let is = self.rest.first() == Some(&word);
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }

    /// Alternatives (OR).
    fn any(&mut self) -> Option<bool> {
        let mut enough = self.every()?;
        while self.next_is("OR") {
            enough |= self.every()?;
        }
        Some(enough)
    }

    /// Conjunctions (AND).
    fn every(&mut self) -> Option<bool> {
        let mut enough = self.one()?;
        while self.next_is("AND") {
            enough &= self.one()?;
        }
        Some(enough)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next_is("(") {
            let inner = self.any()?;
            return self.next_is(")").then_some(inner);
        }
        let (&name, rest) = self.rest.split_first()?;
        self.rest = rest;
        if ["AND", "OR", ")", "WITH"].contains(&name) {
            return None;
        }
        // An exception only adds permissions.
        if self.next_is("WITH") {
            self.rest = self.rest.split_first()?.1;
        }
        Some(self.allowed.contains(&name))
    }
}

/// A text without spaces at the ends of lines, and with at most one empty line at a time.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidy = String::new();
    for line in text.lines().map(str::trim_end) {
        if !line.is_empty() || !(tidy.is_empty() || tidy.ends_with("\n\n")) {
            tidy += line;
            tidy.push('\n');
        }
    }
    tidy.trim_end().to_owned()
}

/// Its text is the same for all who use it, and names nobody.
const APACHE: &str = include_str!("../../LICENSE-APACHE");

/// The licence texts and notices in a crate's source, its vendored parts included. For a crate that has none, the text
/// of the Apache License, if it is enough; other texts name their authors, and their lack is an error.
pub(crate) fn texts(package: &Value) -> Result<Vec<String>, String> {
    let string = |field: &str| package[field].as_str().unwrap_or_default();
    let folder = Path::new(string("manifest_path")).parent().unwrap_or(Path::new(""));
    let (mut files, named) = (BTreeSet::new(), package["license_file"].as_str().map(|name| folder.join(name)));
    collect(folder, &mut files).map_err(|error| format!("{}: {error}", folder.display()))?;
    files.extend(named.clone());
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(tidy(&String::from_utf8_lossy(&bytes)))
    };
    if !files.iter().any(|file| named.as_ref() == Some(file) || kind(file) == Some(true)) {
        let (name, licence) = (string("name"), string("license"));
        if allows(&["Apache-2.0"], licence) {
            let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let authors = authors.chain(["contributors"]).collect::<Vec<_>>().join(", ");
            let note = format!("By {authors}; under the Apache License 2.0, of which its source has no copy.");
            let notices = files.iter().map(read);
            return notices.chain([Ok(note), Ok(tidy(APACHE))]).collect();
        }
        return Err(format!("{name}: its source has no licence text ({licence}), which must go with binaries"));
    }
    files.iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if kind(&path).is_some() {
            files.insert(path);
        }
    }
    Ok(())
}

/// Whether a file is a licence text, or else a notice beside one; `None` for other files, such as code about licences.
fn kind(file: &Path) -> Option<bool> {
    let name = file.file_name()?.to_str()?.to_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    let licence = begins(&["license", "licence", "copying", "unlicense"]);
    let code = [".rs", ".c", ".h", ".py", ".go", ".sh", ".toml", ".json", ".yml", ".html"];
    ((licence || begins(&["notice", "copyright"])) && !code.iter().any(|ending| name.ends_with(ending)))
        .then_some(licence)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "Apache-2.0", "ISC"];
        for enough in
            ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "ISC AND (GPL-3.0 OR MIT)", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(allows(&allowed, enough), "{enough}");
        }
        for not in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "AND",
            "MIT Apache-2.0",
            "ISC AND (GPL-3.0 OR X)",
        ] {
            assert!(!allows(&allowed, not), "{not}");
        }
    }

    #[test]
    fn a_crate_without_a_text_is_an_error() {
        let folder = std::env::temp_dir().join(format!("sealwright-notices-{}", std::process::id()));
        fs::create_dir_all(folder.join("src")).expect("a folder");
        fs::create_dir_all(folder.join("vendored")).expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
        write("src/license.rs", "code");
        write("NOTICE", "by me");
        let mut package = json!({"name": "planted", "license": "ISC", "manifest_path": folder.join("Cargo.toml")});
        let why = texts(&package).expect_err("it has none");
        assert!(why.starts_with("planted: its source has no licence text (ISC)"), "{why}");
        package["license"] = "MIT OR Apache-2.0".into();
        package["authors"] = json!(["A B", "C"]);
        let three = texts(&package).expect("one of these names nobody");
        assert!(
            three[0] == "by me" && three[1].starts_with("By A B, C, contributors; ") && three.len() == 3,
            "{three:?}"
        );
        assert!(three[2].contains("Apache License"));
        write("vendored/COPYING.txt", "you may \r\n\n\n\nuse it\n");
        assert_eq!(texts(&package), Ok(vec!["by me".into(), "you may\n\nuse it".into()]));
        write("src/terms", "as said");
        package["license_file"] = "src/terms".into();
        assert_eq!(texts(&package).map(|texts| texts.len()), Ok(3));
        fs::remove_file(folder.join("vendored/COPYING.txt")).expect("it is there");
        assert_eq!(texts(&package), Ok(vec!["by me".into(), "as said".into()]));
        package["license_file"] = "gone".into();
        assert!(texts(&package).is_err_and(|why| why.contains("gone: ")));
        fs::remove_dir_all(folder).expect("it was made here");
    }
}
