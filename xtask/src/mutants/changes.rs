//! The changes that cargo-mutants would make.

use std::{ops::Range, path::Path, process::Stdio};

use serde_json::Value;

use crate::programs;

/// The kind of text that a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// All statements of a function.
    Body,
    /// An operator between two operands, or between a place and a value.
    Binary,
    /// A unary operator, which is removed.
    Unary,
    /// An arm of a `match`, which is removed.
    Arm,
    /// The condition of an arm.
    Guard,
    /// A field of a structure expression with a base, which is removed.
    Field,
}

/// One change.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// With line and column.
    pub(super) name: String,
    /// From the root of the repository.
    pub(super) file: String,
    pub(super) kind: Kind,
    /// What is replaced: bytes of the file.
    pub(super) range: Range<usize>,
    pub(super) replacement: String,
}

impl Change {
    /// The file with only this change.
    pub(super) fn alone(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.range.start], self.replacement, &text[self.range.end..])
    }
}

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: [0].into_iter().chain(ends).collect() }
    }

    /// The byte at which a character stands; lines count from 1, columns from 0.
    pub(super) fn byte(&self, line: usize, column: usize) -> usize {
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(self.text.len());
        self.text[start..].char_indices().nth(column).map_or(self.text.len(), |(at, _)| start + at)
    }
}

/// The changes that cargo-mutants lists for files of a package, or for all of it, in the source tree.
pub(super) fn list(tree: &Path, words: &[String]) -> Result<Vec<Change>, String> {
    let mut command = programs::cargo();
    command.args(["mutants", "--list", "--json"]).args(words).current_dir(tree).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo mutants: {error}"))?;
    let all: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo mutants: {error}"))?;
    let mut changes = Vec::new();
    for of in all.as_array().into_iter().flatten() {
        changes.push(read(of, tree).ok_or_else(|| format!("cargo mutants lists what is not understood: {of}"))?);
    }
    Ok(changes)
}

fn read(of: &Value, tree: &Path) -> Option<Change> {
    let file = of["file"].as_str()?.to_owned();
    let text = std::fs::read_to_string(tree.join(&file)).ok()?;
    let lines = Lines::of(&text);
    let at = |end: &Value| Some(lines.byte(number(&end["line"])?, number(&end["column"])?.checked_sub(1)?));
    let kind = match of["genre"].as_str()? {
        "FnValue" => Kind::Body,
        "BinaryOperator" => Kind::Binary,
        "UnaryOperator" => Kind::Unary,
        "MatchArm" => Kind::Arm,
        "MatchArmGuard" => Kind::Guard,
        "StructField" => Kind::Field,
        _ => return None,
    };
    Some(Change {
        name: of["name"].as_str()?.to_owned(),
        range: at(&of["span"]["start"])?..at(&of["span"]["end"])?,
        replacement: of["replacement"].as_str()?.to_owned(),
        file,
        kind,
    })
}

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn characters_are_not_bytes() {
        let lines = Lines::of("é a\nb\n");
        assert_eq!([lines.byte(1, 0), lines.byte(1, 1), lines.byte(1, 2), lines.byte(2, 0)], [0, 2, 3, 5]);
        assert_eq!(lines.byte(9, 0), 7, "the end, if there is no such line");
    }
}
