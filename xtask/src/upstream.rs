//! The tests of RustCrypto's crates with our types. Their sources are taken from the registry's cache into a workspace
//! in `target/upstream`, where thin crates with names such as `aes`, `aes-gcm`, `ocb3` and `serpent` re-export our
//! types. Nothing of it is in the repository.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    programs,
    steps::{Checked, Steps},
};

/// A crate whose tests are run.
struct Suite {
    name: &'static str,
    version: &'static str,
    /// The source of our crate of that name. The other crates are theirs, with our ciphers.
    shim: Option<&'static str>,
    /// Features that their tests need.
    features: &'static [&'static str],
    /// Test files that are left out, and why.
    without: &'static [(&'static str, &'static str)],
    /// Tests that are left out, how many there are of each name, and why.
    skip: &'static [(&'static str, usize, &'static str)],
}

const fn theirs(name: &'static str, version: &'static str) -> Suite {
    Suite { name, version, shim: None, features: &[], without: &[], skip: &[] }
}

const SUITES: &[Suite] = &[
    Suite {
        shim: Some(
            "#![no_std]\npub use cipher;\npub use sealwright::compat::{Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, \
             Aes192Enc, Aes256, Aes256Dec, Aes256Enc};\npub type Block = cipher::array::Array<u8, cipher::consts::U16>;\n",
        ),
        without: &[("hazmat.rs", "single rounds, which are not part of our interface")],
        ..theirs("aes", "0.9.4")
    },
    Suite {
        shim: Some(
            "#![no_std]\npub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};\npub use aes;\n\
             pub use sealwright::compat::{Aes128Gcm, Aes256Gcm, AesGcm};\npub type Nonce<N> = aead::array::Array<u8, N>;\n\
             pub type Tag<T = aead::consts::U16> = aead::array::Array<u8, T>;\n",
        ),
        skip: &[(
            "decrypt_in_place_detached_modified",
            2,
            "they keep the ciphertext after a tag that does not hold, ours wipes the buffer",
        )],
        ..theirs("aes-gcm", "0.11.1")
    },
    Suite {
        shim: Some(
            "#![no_std]\npub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, array::Array, consts};\n\
             pub use sealwright::compat::Ocb3;\n",
        ),
        without: &[("len_check.rs", "the size of a table that ours does not have")],
        ..theirs("ocb3", "0.2.0")
    },
    Suite {
        shim: Some("#![no_std]\npub use cipher;\npub use sealwright::compat::Serpent;\n"),
        ..theirs("serpent", "0.6.0")
    },
    theirs("cmac", "0.8.0"),
    theirs("ccm", "0.6.1"),
    theirs("eax", "0.6.1"),
    theirs("aes-siv", "0.8.0"),
    // Its feature `kat` reads vectors that the package does not contain, and brings in three more curves.
    Suite { features: &["aes"], ..theirs("hpke", "0.15.1") },
];

/// Runs the tests of every suite, and prints the result of each.
pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    if let Some(word) = words.first() {
        return Checked::Wrong(vec![format!("{word}: it takes no words\n   hint: cargo xtask upstream")]);
    }
    let home = steps.target().join("upstream");
    let packages = match fetch(steps, &home) {
        Ok(packages) => packages,
        Err(why) => {
            return Checked::Cannot(format!(
                "the sources are not in the registry's cache, and it is out of reach: {why}"
            ));
        }
    };
    if let Err(error) = workspace(steps, &home, &packages) {
        return Checked::Wrong(vec![format!("{}: {error}", home.display())]);
    }
    let programs = match build(&home) {
        Ok(programs) => programs,
        Err(printed) => return Checked::Wrong(vec![printed]),
    };
    let (mut all, mut wrong) = (Counts::default(), Vec::new());
    for suite in SUITES {
        let mut counts = Counts::default();
        for program in programs.iter().filter(|(name, _)| name == suite.name).map(|(_, program)| program) {
            counts.add(run(suite, program, &home.join(suite.name)));
        }
        println!("   {} {}: {counts}", suite.name, suite.version);
        for (what, _, why) in suite.skip {
            println!("      skipped {what}: {why}");
        }
        for (what, why) in suite.without {
            println!("      left out {what}: {why}");
        }
        if counts.failed > 0 || counts.passed == 0 {
            wrong.push(format!("{} {}: {counts}\n{}", suite.name, suite.version, counts.output));
        }
        let skipped: usize = suite.skip.iter().map(|(_, count, _)| count).sum();
        if counts.skipped != skipped {
            wrong.push(format!(
                "{} {}: {} tests skipped instead of {skipped}",
                suite.name, suite.version, counts.skipped
            ));
        }
        all.add(counts);
    }
    Checked::of(wrong, format!("{} suites: {all}", SUITES.len()))
}

/// Has cargo fetch the crates, and returns the metadata of each.
fn fetch(steps: &Steps, home: &Path) -> Result<Vec<Value>, String> {
    let folder = home.join("fetch");
    let list: String = SUITES.iter().map(|suite| format!("{} = \"={}\"\n", suite.name, suite.version)).collect();
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\n{list}[workspace]\n"
    );
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).map_err(|error| error.to_string());
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    write("Cargo.toml", &manifest)?;
    write("lib.rs", "")?;
    let path = folder.join("Cargo.toml").display().to_string();
    let text = steps.cargo_output(&["metadata", "--format-version", "1", "--manifest-path", &path])?;
    let mut metadata: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata names no packages".into()),
    }
}

/// Writes the workspace again, except its lock file and build output.
fn workspace(steps: &Steps, home: &Path, packages: &[Value]) -> io::Result<()> {
    let mut members = String::new();
    let mut patches = String::new();
    for suite in SUITES {
        let found =
            packages.iter().find(|package| package["name"] == suite.name && package["version"] == suite.version);
        let package = found.ok_or_else(|| io::Error::other(format!("{} is not among the packages", suite.name)))?;
        let source = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
        let source = source.parent().unwrap_or(Path::new("."));
        let folder = home.join(suite.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        if let Some(lib) = suite.shim {
            copy(&source.join("tests"), &folder.join("tests"))?;
            fs::create_dir_all(folder.join("src"))?;
            fs::write(folder.join("src/lib.rs"), lib)?;
            fs::write(folder.join("Cargo.toml"), shim(steps.root(), suite, package))?;
            patches += &format!("{} = {{ path = \"{}\" }}\n", suite.name, suite.name);
        } else {
            copy(source, &folder)?;
            fs::write(folder.join("Cargo.toml"), tests_only(&fs::read_to_string(source.join("Cargo.toml"))?))?;
        }
        for (file, _) in suite.without {
            fs::remove_file(folder.join("tests").join(file))?;
        }
        members += &format!("\"{}\", ", suite.name);
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n[patch.crates-io]\n{patches}[profile.dev]\nopt-level = 1\ndebug = false\n"
    );
    fs::write(home.join("Cargo.toml"), manifest)
}

/// The manifest of a crate of ours under the name of theirs, with their features and what their tests depend on.
fn shim(root: &Path, suite: &Suite, package: &Value) -> String {
    let mut text = format!(
        "[package]\nname = \"{}\"\nversion = \"{}\"\nedition = \"2024\"\n[lib]\ndoctest = false\n[features]\n",
        suite.name, suite.version
    );
    let features = package["features"].as_object().cloned().unwrap_or_default();
    for (name, needs) in &features {
        let ours =
            |need: &&Value| need.as_str().is_some_and(|need| need.starts_with("aead/") || features.contains_key(need));
        let needs: Vec<_> = needs.as_array().into_iter().flatten().filter(ours).collect();
        // A feature that is an optional crate of theirs is a word here.
        text += &format!("{name} = {}\n", serde_json::json!(needs));
    }
    text += &format!(
        "[dependencies]\nsealwright = {{ path = {:?}, features = [\"aes192\", \"ocb\", \"rustcrypto\", \"serpent\"] }}\n",
        root.join("crates/aead").display().to_string()
    );
    text += match suite.name {
        "aes" | "serpent" => "cipher = \"0.5\"\n",
        "aes-gcm" => "aead = { version = \"0.6\", default-features = false }\naes = \"0.9\"\n",
        _ => "aead = { version = \"0.6\", default-features = false }\n",
    };
    text += "[dev-dependencies]\n";
    for dependency in package["dependencies"].as_array().into_iter().flatten().filter(|one| one["kind"] == "dev") {
        text += &format!(
            "{} = {{ version = {}, features = {}, default-features = {} }}\n",
            dependency["name"].as_str().unwrap_or_default(),
            dependency["req"],
            dependency["features"],
            dependency["uses_default_features"]
        );
    }
    text
}

/// A manifest without what tests do not need: benchmarks and their crate, lints.
fn tests_only(manifest: &str) -> String {
    let dropped = |head: &str| {
        head == "[[bench]]"
            || head == "[dev-dependencies.criterion]"
            || head.starts_with("[lints")
            || head.starts_with("[profile")
    };
    let mut kept = true;
    let keep = |line: &&str| {
        if line.starts_with('[') {
            kept = !dropped(line.trim());
        }
        kept
    };
    manifest.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

/// The result of a suite.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// The output of cargo, if something failed.
    output: String,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.output += &other.output;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Builds the tests of all suites at once, so that our crate is built once; returns the name of the suite and the path
/// of each test program, or what cargo printed.
fn build(home: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut command = programs::cargo();
    command.args(["test", "--workspace", "--lib", "--tests", "--no-run", "--quiet", "--message-format", "json"]);
    for suite in SUITES {
        for feature in suite.features {
            command.args(["--features".into(), format!("{}/{feature}", suite.name)]);
        }
    }
    // The target folder of the workspace would mix their crates with ours.
    let output = command.current_dir(home).env("CARGO_TARGET_DIR", home.join("target")).output();
    let output = output.map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let messages = messages.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let program = |message: Value| {
        let program = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        Some((folder.file_name()?.to_string_lossy().into_owned(), program))
    };
    Ok(messages.filter_map(program).collect())
}

/// Runs a test program in the folder of its package.
fn run(suite: &Suite, program: &Path, folder: &Path) -> Counts {
    let mut command = Command::new(program);
    for (name, _, _) in suite.skip {
        command.args(["--skip", name]);
    }
    match command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let mut counts = counts(&text);
            if !output.status.success() {
                counts.failed = counts.failed.max(1);
                counts.output = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
            }
            counts
        }
        Err(error) => Counts { failed: 1, output: error.to_string(), ..Counts::default() },
    }
}

/// The sum of the lines `test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; ...`.
fn counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let number = |what: &str| {
            let words: Vec<_> =
                line.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let at = words.iter().position(|word| *word == what).unwrap_or_default();
            at.checked_sub(1).and_then(|at| words[at].parse::<usize>().ok()).unwrap_or_default()
        };
        counts.passed += number("passed");
        counts.failed += number("failed");
        counts.skipped += number("ignored") + number("filtered");
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::{counts, tests_only};

    #[test]
    fn results_are_added() {
        let text = "running 1 test\ntest result: ok. 9 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
                    test result: FAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s\n";
        let counts = counts(text);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 4, 3));
    }

    #[test]
    fn benchmarks_are_left_out() {
        let manifest = "[package]\nname = \"x\"\n[[bench]]\nname = \"b\"\n[dev-dependencies.criterion]\nversion = \"1\"\n[dependencies.aes]\nversion = \"0.9\"\n";
        assert_eq!(tests_only(manifest), "[package]\nname = \"x\"\n[dependencies.aes]\nversion = \"0.9\"\n");
    }
}
