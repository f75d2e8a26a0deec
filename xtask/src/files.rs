//! Rules for source files: their length is limited; `unsafe` code and instruction sets are allowed only in `aead::simd`
//! and in the crates for foreign functions, and a table says why each file with `unsafe` is sound.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    steps::{Checked, Steps},
    unsafe_table,
};

/// The maximum number of lines in a file that is written by hand.
const LINES: usize = 400;

pub(crate) fn check(steps: &Steps) -> Checked {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "tests", "fuzz", "python"] {
        collect(&steps.root().join(folder), &["rs", "py"], &mut files);
    }
    let (mut wrong, mut texts) = (Vec::new(), Vec::new());
    for path in &files {
        let name = path.strip_prefix(steps.root()).unwrap_or(path).display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => {
                judge(&name, &text, &mut wrong);
                texts.push((name, text));
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    let page = fs::read_to_string(steps.root().join("docs/ASSURANCE.md")).unwrap_or_default();
    let rust = texts.iter().filter(|(name, _)| name.ends_with(".rs"));
    let of_table = unsafe_table::wrong(&page, rust.map(|(name, text)| (&name[..], &text[..])));
    wrong.extend(of_table.into_iter().map(|what| format!("docs/ASSURANCE.md: {what}")));
    Checked::of(wrong, format!("{} files", files.len()))
}

/// The files below a folder with one of these extensions, except build output and hidden files.
pub(crate) fn collect(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !["target", "build", "__pycache__"].contains(&name) && !name.starts_with('.') {
                collect(&path, endings, files);
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
            files.push(path);
        }
    }
}

/// Where `unsafe` code and instruction sets may stand: `aead::simd`, crates for foreign functions, and programs that
/// only test.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/aead/src/simd/",
    "crates/capi/",
    "crates/fork/",
    "crates/peers/",
    "crates/probes/",
    "python/",
    "xtask/",
    "fuzz/",
];

fn judge(name: &str, text: &str, wrong: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LINES {
        wrong.push(format!("{name}: {lines} lines; the limit is {LINES}"));
    }
    let rust = name.ends_with(".rs");
    if rust && !MAY_BE_UNSAFE.iter().any(|folder| name.starts_with(folder)) {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let unsafe_code = code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl");
            if unsafe_code || code.contains("target_arch") || code.contains("target_feature") {
                wrong.push(format!(
                    "{name}:{}: allowed only in aead::simd and in crates for foreign functions",
                    number + 1
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    fn wrong(name: &str, text: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        judge(name, text, &mut wrong);
        wrong
    }

    #[test]
    fn planted_faults_are_found() {
        assert!(wrong("crates/file/src/a.rs", "fn a() {}\n// unsafe { } in a comment\n").is_empty());
        assert_eq!(wrong("crates/file/src/a.rs", "\nlet x = unsafe { y };\n").len(), 1);
        assert_eq!(wrong("crates/file/src/a.rs", "#[cfg(target_arch = \"x86_64\")]\n").len(), 1);
        assert!(wrong("crates/aead/src/simd/a.rs", "let x = unsafe { y };\n").is_empty());
        assert_eq!(wrong("crates/file/src/a.rs", &"\n".repeat(401)).len(), 1);
        assert!(wrong("crates/file/src/a.rs", &"\n".repeat(400)).is_empty());
    }
}
