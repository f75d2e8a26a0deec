//! Rules for source files: their length is limited; `unsafe` code and instruction sets are allowed only in `aead::simd` and in
//! the crates for foreign functions; modules of `aead` do not use modules of the layers above.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::steps::{Checked, Steps};

/// The maximum number of lines in a file that is written by hand.
const LINES: usize = 400;

pub(crate) fn check(steps: &Steps) -> Checked {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "tests", "fuzz", "python"] {
        collect(&steps.root().join(folder), &mut files);
    }
    let mut wrong = Vec::new();
    for path in &files {
        let name = path.strip_prefix(steps.root()).unwrap_or(path).display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => judge(&name, &text, &mut wrong),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    Checked::of(wrong, format!("{} files", files.len()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') && name != "__pycache__" {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
            files.push(path);
        }
    }
}

/// For each folder of `aead`, the modules that it must not use: the layers above it.
const INSIDE: &[(&str, &[&str])] = &[
    ("crates/aead/src/simd/", &["crate::block", "crate::ghash", "crate::mode", "crate::suite", "crate::raw"]),
    ("crates/aead/src/block/", &["crate::ghash", "crate::mode", "crate::suite", "crate::raw"]),
    ("crates/aead/src/ghash/", &["crate::block", "crate::mode", "crate::suite", "crate::raw"]),
    ("crates/aead/src/mode/", &["crate::suite", "crate::raw"]),
];

fn judge(name: &str, text: &str, wrong: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LINES {
        wrong.push(format!("{name}: {lines} lines; the limit is {LINES}"));
    }
    let rust = name.ends_with(".rs");
    let simd = name.starts_with("crates/aead/src/simd/");
    if rust && !simd && !name.starts_with("xtask/") && !name.starts_with("fuzz/") {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let unsafe_code = code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl");
            if unsafe_code || code.contains("target_arch") || code.contains("target_feature") {
                wrong.push(format!("{name}:{}: allowed only in aead::simd", number + 1));
            }
        }
    }
    for (_, upward) in INSIDE.iter().filter(|(folder, _)| rust && name.starts_with(folder)) {
        for up in upward.iter().filter(|up| text.contains(**up)) {
            wrong.push(format!("{name}: uses {up}, which is in a layer above"));
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
        assert_eq!(wrong("crates/aead/src/block/a.rs", "use crate::mode::gcm;\n").len(), 1);
        assert_eq!(wrong("crates/file/src/a.rs", &"\n".repeat(401)).len(), 1);
        assert!(wrong("crates/file/src/a.rs", &"\n".repeat(400)).is_empty());
    }
}
