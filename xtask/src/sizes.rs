//! For each way to install, the number of crates that are built and the size of the stripped program. Both have limits.
//! In `test` only one program is measured, which the other steps also need; the others are only compiled with `cargo
//! check`, since each release build takes minutes.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Output},
};

use crate::{
    cargo_tree::{BUILT, Built},
    lab, programs,
    steps::{Checked, Steps},
};

/// A way to install, with its limits.
struct Install {
    what: &'static str,
    package: &'static str,
    features: &'static [&'static str],
    /// Maximum number of crates that are built, those of this workspace included.
    crates: usize,
    /// The arguments of cargo that build the program, and its maximum size, stripped, in bytes; if it is built.
    program: Option<(&'static [&'static str], u64)>,
}

const MB: u64 = 1_000_000;

const SMALLEST: &[&str] = &["build", "--release", "--package", "sealwright-cli", "--no-default-features"];
/// The same with `cargo check` only.
const CHECK: &[&str] = &["check", "--package", "sealwright-cli", "--no-default-features"];

/// Libraries with one feature of the mode's crate alone: what they build has no other.
const ALONE: &[(&str, &str, &str)] = &[
    ("sealwright-stream", "ocb", "gcm"),
    ("sealwright-stream", "chacha", "gcm"),
    ("sealwright-session", "", "random"),
];

const INSTALLS: &[Install] = &[
    Install { what: "library, default features", package: "sealwright", features: &[], crates: 8, program: None },
    Install {
        what: "sealwright, no features",
        package: "sealwright-cli",
        features: &["--no-default-features"],
        crates: 75,
        program: Some((SMALLEST, 7 * MB)), // most of it is the modes' kernels, once for each level
    },
    Install {
        what: "sealwright, all for files",
        package: "sealwright-cli",
        features: &["--no-default-features", "--features", "enc-more,public-keys,signatures,ssh"],
        crates: 140,
        program: None,
    },
    Install {
        what: "sealwright, relay",
        package: "sealwright-cli",
        features: &["--no-default-features", "--features", "relay"],
        crates: 180,
        program: None,
    },
    // The build that the later steps need, which has the research modes for the referees.
    Install {
        what: "sealwright, default features",
        package: "sealwright-cli",
        features: &[],
        crates: 220,
        program: Some((lab::BUILD, 16 * MB)), // a third of it is the modes' kernels, once for each level
    },
];

/// Crates that only the laboratory may use: peers, plots, templates, formats of results. `aes-gcm` is a peer as well,
/// but `ssh-key` also builds it, for SSH keys that are encrypted with it.
const LABORATORY_ONLY: &[&str] = &[
    "boringtun",
    "csv",
    "graviola",
    "hdrhistogram",
    "html-escape",
    "minijinja",
    "ocb3",
    "png",
    "ring",
    "schemars",
    "serpent",
    "sysinfo",
];

/// Measures one program, or all.
pub(crate) fn check(steps: &Steps, one: bool) -> Checked {
    let (mut wrong, mut table) = (Vec::new(), String::new());
    for install in INSTALLS {
        let crates = match crates(steps, install) {
            Ok(crates) => crates,
            Err(why) => return Checked::Wrong(vec![why]),
        };
        let strangers: Vec<&str> = LABORATORY_ONLY.iter().copied().filter(|name| crates.contains(*name)).collect();
        if !strangers.is_empty() {
            wrong.push(format!("{}: builds {}, which only the laboratory needs", install.what, strangers.join(", ")));
        }
        if crates.len() > install.crates {
            wrong.push(format!("{}: {} crates, at most {}", install.what, crates.len(), install.crates));
        }
        table += &format!("\n   {:<30} {:>4} crates of at most {:>3}", install.what, crates.len(), install.crates);
        if install.program.is_some_and(|(words, _)| one && words == SMALLEST) {
            if let Err(why) = cargo(steps, CHECK) {
                wrong.push(why);
            }
        } else if let Some((words, limit)) = install.program {
            let bytes = match program(steps, words) {
                Ok(bytes) => bytes,
                Err(why) => return Checked::Wrong(vec![why]),
            };
            wrong.extend(does_not_refuse(steps, install.features));
            if bytes > limit {
                wrong.push(format!("{}: {bytes} bytes, at most {limit}", install.what));
            }
            table += &format!(", {:>5.2} MB of at most {:>2}", bytes as f64 / MB as f64, limit / MB);
        }
    }
    for alone in ALONE {
        wrong.extend(more_than(steps, *alone).unwrap_or_else(Some));
    }
    println!("{}", table.trim_start_matches('\n'));
    Checked::of(wrong, format!("{} ways to install within their limits", INSTALLS.len()))
}

/// Input that the program just built refuses, since it lacks what would be needed: a relay of several nodes without
/// NATS, and, with no feature at all, a signed file.
fn does_not_refuse(steps: &Steps, features: &[&str]) -> Vec<String> {
    let relay = "frames = \"[::1]:0\"\ncontrol = \"[::1]:0\"\n[tls]\nauthority = \"a\"\ncertificate = \"b\"\nkey = \"c\"\n\
                 [mesh]\nnats = \"nats://[::1]\"\nsecret = \"d\"\n";
    let signed = b"\x89SEAL\r\n\x1a\x01\x02\x00\x40\x00\x00\x00\x00";
    let cases: [(&[&str], &[u8], &str, bool); 2] = [
        (&["serve"], relay.as_bytes(), "feature `nats`", features.is_empty()),
        (&["inspect"], signed, "reads no signed files", !features.is_empty()),
    ];
    let cases = cases.into_iter().filter(|&(.., applies)| applies);
    let wrong = cases.filter_map(|(words, bytes, expected, _)| {
        let input = steps.target().join("refused");
        let ran = fs::write(&input, bytes)
            .and_then(|()| Command::new(steps.release("sealwright")).args(words).arg(&input).output());
        let refusal = |run: &Output| !run.status.success() && String::from_utf8_lossy(&run.stderr).contains(expected);
        match ran {
            Ok(run) if refusal(&run) => None,
            Ok(run) => Some(format!("sealwright {words:?}, built with {features:?}, does not say {expected}: {run:?}")),
            Err(error) => Some(format!("{}: {error}", input.display())),
        }
    });
    wrong.collect()
}

/// What is wrong with a library that asks for `feature` alone: it does not compile, or is built with another.
fn more_than(steps: &Steps, (package, feature, other): (&str, &str, &str)) -> Result<Option<String>, String> {
    let chosen = ["--package", package, "--no-default-features", "--features", feature];
    cargo(steps, &[&["check"], &chosen[..]].concat())?;
    let printed = steps.cargo_output(&[&["tree", "--edges", "normal,features"], &chosen[..]].concat())?;
    let more = printed.contains(&format!("sealwright feature \"{other}\""));
    Ok(more.then(|| format!("{package} without {other} is built with it")))
}

/// The names of the crates that cargo builds. If two versions of a crate are built, the second one counts under its
/// name and version.
fn crates(steps: &Steps, install: &Install) -> Result<BTreeSet<String>, String> {
    let (mut names, mut again) = (BTreeSet::new(), Vec::new());
    for (name, version) in Built::of(steps, install.package, BUILT, install.features)?.crates.into_keys() {
        if names.contains(&name) {
            again.push(format!("{name} v{version}"));
        } else {
            names.insert(name);
        }
    }
    names.extend(again);
    Ok(names)
}

/// The size in bytes of the stripped program that cargo builds with `words`.
fn program(steps: &Steps, words: &[&str]) -> Result<u64, String> {
    cargo(steps, words)?;
    let stripped = steps.target().join("stripped");
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(steps.release("sealwright")).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("strip, which comes with gcc, does not run".into());
    }
    fs::metadata(&stripped).map(|about| about.len()).map_err(|error| format!("{}: {error}", stripped.display()))
}

fn cargo(steps: &Steps, words: &[&str]) -> Result<(), String> {
    let ran = programs::cargo().args(words).arg("--quiet").current_dir(steps.root()).status();
    if ran.is_ok_and(|status| status.success()) { Ok(()) } else { Err(format!("it fails: cargo {}", words.join(" "))) }
}
