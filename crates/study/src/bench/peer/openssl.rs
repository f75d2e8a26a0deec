//! The system's OpenSSL through its own `openssl speed`: no headers, no linking, a process for every sample.
//!
//! What `openssl speed -aead -evp CIPHER` does for each message (traced on OpenSSL 3.0): set the nonce on a context
//! that keeps the key, 13 bytes of associated data, the text in place, the tag. So it is the same work as everybody's
//! here, with these differences: it seals one buffer over and over under one nonce; when opening it copies nothing,
//! and its tag is a wrong one, which OpenSSL finds out after decrypting everything.
//!
//! `speed` times itself by a clock of 10 ms steps and runs a whole second at least. We let it count, end its loop by
//! the alarm signal that it waits for anyway, and read its CPU clock at the line with which it announces the loop and
//! at that signal (the wall clock where a system has no CPU clocks of other processes). The two ends are late by some
//! 50 µs each, so the speed is right to about 0.2 % of a sample of 40 ms.

use std::{
    io::{self, BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use sealwright_measure::{Candidate, clock::child_cpu};

use super::super::{row::Direction, subject::Subject};

/// The name that rows carry.
pub const NAME: &str = "openssl";

/// How many times its span a sample may take on a busy machine.
const PATIENCE: u32 = 20;

/// An `openssl` program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSsl {
    version: String,
    ciphers: Vec<String>,
}

impl OpenSsl {
    /// The `openssl` on the path, if there is one and it is OpenSSL.
    pub fn find() -> Option<OpenSsl> {
        let version = said(&["version"])?;
        let version = version.strip_prefix("OpenSSL ")?.split_whitespace().next()?.to_owned();
        Some(OpenSsl { version, ciphers: cipher_names(&said(&["list", "-cipher-algorithms"])?) })
    }

    /// Its version: `3.0.19`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it knows the subject's cipher; both go by the same names.
    pub fn knows(&self, subject: Subject) -> bool {
        self.ciphers.iter().any(|cipher| cipher == subject.name())
    }

    /// Whether its `speed` can time this. In OCB, a text that ends within a block ends the counting of openings at once:
    /// OpenSSL reports the wrong tag another way then, and `speed` gives up.
    pub fn times(&self, subject: Subject, bytes: usize, direction: Direction) -> bool {
        let gives_up = subject.name().ends_with("-ocb") && direction == Direction::Open && !bytes.is_multiple_of(16);
        self.knows(subject) && !gives_up
    }

    /// A candidate that counts messages of `bytes` bytes for `span`.
    pub fn speed(&self, subject: Subject, bytes: usize, direction: Direction, span: Duration) -> Speed {
        let (bytes, seconds) = (bytes.to_string(), ((span * PATIENCE).as_secs() + 2).to_string());
        let options = ["speed", "-elapsed", "-mr", "-seconds", &seconds, "-bytes", &bytes];
        let mut arguments: Vec<String> = options.map(str::to_owned).into();
        if subject.tag_len() > 0 {
            arguments.push("-aead".to_owned());
        }
        arguments.push("-evp".to_owned());
        arguments.push(subject.name().to_owned());
        if direction == Direction::Open {
            arguments.push("-decrypt".to_owned());
        }
        Speed { arguments, span }
    }
}

/// `openssl speed` of one cipher, size and direction.
#[derive(Clone, Debug)]
pub struct Speed {
    arguments: Vec<String>,
    span: Duration,
}

impl Candidate for Speed {
    fn name(&self) -> &str {
        NAME
    }

    /// Time for `iterations` messages, from how many it did in the span.
    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let mut child = openssl(&self.arguments).stderr(Stdio::piped()).spawn()?;
        let found = self.count(&mut child);
        if found.is_err() {
            child.kill()?;
        }
        child.wait()?;
        let (count, took) = found?;
        Ok(Duration::from_secs_f64(took.as_secs_f64() / count as f64 * iterations as f64))
    }

    fn iterations(&self) -> Option<u64> {
        Some(1)
    }
}

impl Speed {
    fn count(&self, child: &mut Child) -> io::Result<(u64, Duration)> {
        let mut told = BufReader::new(child.stderr.take().ok_or_else(|| broken("no standard error"))?);
        let mut line = String::new();
        while !line.starts_with("+DT:") {
            line.clear();
            if told.read_line(&mut line)? == 0 {
                return Err(broken("ended before it measured"));
            }
        }
        let begun = Instant::now();
        let clock = |child: &Child| child_cpu(child).unwrap_or_else(|_| begun.elapsed());
        let start = clock(child);
        let mut took = Duration::ZERO;
        // A busy machine may leave it less than its time: wait for what is missing, but not for ever
        while took < self.span && begun.elapsed() < self.span * PATIENCE {
            sleep((self.span - took).max(Duration::from_micros(100)));
            took = clock(child).saturating_sub(start);
        }
        kill(Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?), Signal::SIGALRM)?;
        let mut rest = String::new();
        told.read_to_string(&mut rest)?;
        let count = counted(&rest).ok_or_else(|| broken("told no count"))?;
        Ok((count, took))
    }
}

/// The N of a line `+R:N:CIPHER:SECONDS`, if it is at least 1.
fn counted(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix("+R:"))?;
    line.split(':').next()?.parse().ok().filter(|&count| count > 0)
}

/// The names in `openssl list -cipher-algorithms`, in lower case: lines `  AES-128-GCM`, `  A => B`, and
/// `  { 2.16.840..., AES-256-GCM, id-aes256-GCM } @ default`.
fn cipher_names(listed: &str) -> Vec<String> {
    listed
        .split(|c: char| c.is_whitespace() || "{},=>".contains(c))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

fn openssl(arguments: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new("openssl");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn said(arguments: &[&str]) -> Option<String> {
    let output = openssl(arguments).stdout(Stdio::piped()).output().ok()?;
    if output.status.success() { String::from_utf8(output.stdout).ok() } else { None }
}

fn broken(what: &str) -> io::Error {
    io::Error::other(format!("openssl speed {what}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright::Suite;

    use super::*;

    #[test]
    fn reads_the_count_of_a_machine_readable_run() {
        assert_eq!(counted("+R:61640:AES-256-GCM:0.020000\n"), Some(61640));
        assert_eq!(counted("Error setting cipher\n"), None);
        assert_eq!(counted("+R:0:AES-256-GCM:0.020000\n"), None);
    }

    #[test]
    fn reads_the_list_of_ciphers() {
        let listed = "Legacy:\n  AES-128-CBC\n  aes128 => AES-128-CBC\nProvided:\n  { 2.16.840.1.101.3.4.1.46, \
                      AES-256-GCM, id-aes256-GCM } @ default\n  ChaCha20-Poly1305 @ default\n";
        let names = cipher_names(listed);
        for name in ["aes-128-cbc", "aes-256-gcm", "chacha20-poly1305"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        assert!(!names.iter().any(|known| known == "aes-256-ocb"));
    }

    #[test]
    fn counts_messages_where_openssl_is_installed() {
        let Some(openssl) = OpenSsl::find() else { return };
        assert!(openssl.knows(Suite::Aes256Gcm.into()));
        let span = Duration::from_millis(20);
        for direction in Direction::BOTH {
            let mut one = openssl.speed(Suite::Aes256Gcm.into(), 1024, direction, span);
            let each = one.run(1).unwrap();
            // A kilobyte takes between 10 ns (100 GB/s) and the whole span
            assert!(each > Duration::from_nanos(10) && each <= 2 * span, "{direction:?} {each:?}");
        }
    }

    #[test]
    fn an_unknown_cipher_is_an_error() {
        let Some(_) = OpenSsl::find() else { return };
        let arguments = ["speed", "-mr", "-seconds", "1", "-evp", "no-such-cipher"].map(str::to_owned).into();
        let error = Speed { arguments, span: Duration::from_millis(1) }.run(1).unwrap_err();
        assert!(error.to_string().contains("ended before it measured"), "{error}");
    }
}
