//! Checks that each public module, type, trait and function of the product's libraries has an example that runs: in its
//! own documentation, in that of one of its methods, or in that of its module, if the example names it.
//!
//! The sources are read line by line: an item begins at the start of a line, as the formatter puts it. Items made by
//! macros are not seen.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use crate::steps::{Checked, Steps};

const CRATES: &[&str] = &["aead", "stream", "file", "rustls", "session"];

pub(crate) fn check(steps: &Steps) -> Checked {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for name in CRATES {
        let folder = steps.root().join("crates").join(name);
        let mut library = Library::default();
        if let Err(error) = library.read(&folder.join("src/lib.rs"), "", true) {
            return Checked::Wrong(vec![error]);
        }
        let (items, missing) = library.missing();
        count += items;
        wrong.extend(missing.into_iter().map(|what| format!("crates/{name}: {what} has no example that runs")));
    }
    Checked::of(wrong, format!("{count} public items have an example"))
}

/// An item at the start of a line.
struct Item {
    kind: String,
    name: String,
    example: bool,
}

/// A file of a crate.
struct Module {
    /// Its path in the crate; empty for the root.
    path: String,
    public: bool,
    /// The code in its documentation.
    code: String,
    items: Vec<Item>,
    /// Its re-exports from other modules.
    exports: HashSet<String>,
}

#[derive(Default)]
struct Library {
    modules: Vec<Module>,
}

impl Library {
    /// Reads a module and those below it.
    fn read(&mut self, file: &Path, path: &str, public: bool) -> Result<(), String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines: Vec<&str> = text.lines().collect();
        let mut documentation: String =
            lines.iter().filter_map(|line| line.strip_prefix("//!")).map(|line| format!("{line}\n")).collect();
        for included in lines.iter().filter_map(|line| line.split("#![doc = include_str!(\"").nth(1)) {
            let included = file.with_file_name(included.split('"').next().unwrap_or_default());
            documentation += &fs::read_to_string(included).unwrap_or_default();
        }
        let mut module = Module {
            path: path.into(),
            public,
            code: code(&documentation),
            items: Vec::new(),
            exports: HashSet::new(),
        };
        let mut below = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some((visible, kind, name)) = item(line) else { continue };
            if kind == "use" && visible {
                let end = lines[at..].iter().position(|line| line.contains(';')).unwrap_or_default();
                module.exports.extend(exported(&lines[at..=at + end].concat()));
            } else if kind == "mod" && line.ends_with(';') {
                below.push((name.to_owned(), visible));
            } else if visible && kind != "use" && kind != "mod" {
                let own = !code(&documentation_of(&lines[..at])).is_empty();
                let example = own || methods(&lines, name).any(|at| !code(&documentation_of(&lines[..at])).is_empty());
                module.items.push(Item { kind: kind.into(), name: name.into(), example });
            }
        }
        self.modules.push(module);
        for (name, visible) in below {
            let path = if path.is_empty() { name.clone() } else { format!("{path}::{name}") };
            self.read(&child(file, &name), &path, public && visible)?;
        }
        Ok(())
    }

    /// The number of public items, and those without an example.
    fn missing(&self) -> (usize, Vec<String>) {
        let (mut count, mut missing) = (0, Vec::new());
        for module in &self.modules {
            if module.public && !module.path.is_empty() {
                count += 1;
                let its_items = module.items.iter().all(|item| item.example) && !module.items.is_empty();
                if module.code.is_empty() && !its_items {
                    missing.push(format!("mod {}", module.path));
                }
            }
            for item in &module.items {
                let seen =
                    |other: &&Module| other.public && (other.path == module.path || other.exports.contains(&item.name));
                let Some(home) = self.modules.iter().find(seen) else { continue };
                count += 1;
                if !item.example && !word(&home.code, &item.name) {
                    missing.push(format!("{} {}::{}", item.kind, home.path, item.name));
                }
            }
        }
        (count, missing)
    }
}

/// Whether an item is public, its kind and its name.
fn item(line: &str) -> Option<(bool, &str, &str)> {
    let (visible, rest) = match line.strip_prefix("pub ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let mut words = rest.split([' ', '<', '(', ':', ';', '{', '=']).filter(|word| !word.is_empty());
    let mut kind = words.next()?;
    while ["const", "unsafe", "async"].contains(&kind) {
        kind = words.next()?;
    }
    let name = words.next()?;
    ["struct", "enum", "trait", "fn", "mod", "use"].contains(&kind).then_some((visible, kind, name))
}

/// The names that `pub use path::{a, b as c};` exports.
fn exported(statement: &str) -> Vec<String> {
    let list = statement.trim_start_matches("pub use ").replace(['{', '}', ';'], ",");
    let last = |part: &str| part.trim().rsplit("::").next().and_then(|name| name.rsplit(' ').next()).map(str::to_owned);
    list.split(',').filter_map(last).filter(|name| !name.is_empty()).collect()
}

/// The documentation that ends the lines before an item, attributes between them.
fn documentation_of(before: &[&str]) -> String {
    let ends =
        |line: &&str| line.trim().is_empty() || line.starts_with(['}', ' ']) && line.trim().ends_with(['}', '{', ';']);
    let own = before.iter().rev().take_while(|line| !ends(line)).map(|line| line.trim());
    let mut lines: Vec<_> = own.filter_map(|line| line.strip_prefix("///")).collect();
    lines.reverse();
    lines.join("\n")
}

/// The lines with the methods of `name`.
fn methods<'a>(lines: &'a [&str], name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut inside = false;
    lines.iter().enumerate().filter_map(move |(at, line)| {
        if line.starts_with("impl") || line.starts_with("pub trait") {
            inside = word(line, name) && !line.contains(" for ");
        } else if line.starts_with('}') {
            inside = false;
        }
        let function = line.trim_start();
        (inside && line.starts_with(' ') && (function.starts_with("pub ") || function.starts_with("fn "))).then_some(at)
    })
}

/// The code blocks of a documentation that are run.
fn code(documentation: &str) -> String {
    let (mut code, mut inside, mut runs) = (String::new(), false, false);
    for line in documentation.lines() {
        if let Some(kind) = line.trim().strip_prefix("```") {
            inside = !inside;
            runs = inside && (kind.is_empty() || kind == "rust");
        } else if runs {
            code += line;
            code.push('\n');
        }
    }
    code
}

fn word(text: &str, word: &str) -> bool {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_').any(|part| part == word)
}

/// The file of a module that `file` names.
fn child(file: &Path, name: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    let folder = if stem == "lib" || stem == "mod" { file.with_file_name("") } else { file.with_extension("") };
    let plain = folder.join(format!("{name}.rs"));
    if plain.exists() { plain } else { folder.join(name).join("mod.rs") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_told_apart() {
        assert_eq!(item("pub const fn first(x: u8) {"), Some((true, "fn", "first")));
        assert_eq!(item("pub struct Batch<'a> {"), Some((true, "struct", "Batch")));
        assert_eq!(item("mod chunk;"), Some((false, "mod", "chunk")));
        assert_eq!(item("pub(crate) fn hidden() {}"), None);
        assert_eq!(item("    pub fn method(&self) {}"), None);
    }

    #[test]
    fn exports_are_read() {
        assert_eq!(exported("pub use aead::Aead;"), ["Aead"]);
        assert_eq!(exported("pub use crate::mode::{cbc::{A, b}, ctr::c as d};"), ["A", "b", "d"]);
    }

    #[test]
    fn only_code_that_runs_counts() {
        assert_eq!(code("A word.\n```\nuse x;\n```\n"), "use x;\n");
        assert_eq!(code("```text\nnothing\n```\n```compile_fail\nnothing\n```\n"), "");
    }

    #[test]
    fn an_example_is_found_on_an_item_and_on_its_methods() {
        let lines = [
            "/// A.",
            "/// ```",
            "/// a();",
            "/// ```",
            "#[derive(Clone)]",
            "pub struct A;",
            "impl A {",
            "    fn b() {}",
            "}",
        ];
        assert_eq!(code(&documentation_of(&lines[..5])), " a();\n");
        assert_eq!(methods(&lines, "A").collect::<Vec<_>>(), [7]);
        assert_eq!(methods(&lines, "B").count(), 0);
    }
}
