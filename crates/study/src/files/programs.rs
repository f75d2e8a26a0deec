//! The programs whose processes are measured, and their command lines.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use sealwright_measure::quiet;
use sealwright_smp::output::{self, ForAWhile};
use tempfile::TempDir;

use super::grid::{Direction, Mode};

/// The key and the IV in the paper's figure 2. GCM uses the first 12 bytes of the IV.
pub(super) const KEY: &str = "233fd6d18c430fffac3a392d2786afec882433241b1668272792677a23167512";
pub(super) const IV: &str = "ef80dbf75cf0264a5805ecb6ef202dda";

/// Environment variables that make OpenSSL ignore the AES, carry-less multiplication and byte-shuffle instructions of
/// x86-64 and ARM. It then uses tables, as on a machine without these instructions.
const NO_INSTRUCTIONS: [(&str, &str); 2] = [("OPENSSL_ia32cap", "~0x200020200000000:0"), ("OPENSSL_armcap", "0")];

/// A program in one of its modes of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Program {
    /// `openssl enc -aes-256-cbc`.
    OpensslEnc,
    /// `openssl cms`, which supports GCM with its tag; with and without AES instructions.
    OpensslCms { mode: Mode, instructions: bool },
    /// `sealwright enc`.
    Enc(Mode),
    /// `sealwright seal` and `open`.
    Seal,
    /// `age` with a recipient.
    Age,
    /// `gpg --symmetric` without compression.
    Gpg,
}

impl Program {
    pub(super) fn name(self) -> String {
        match self {
            Program::OpensslEnc => "openssl enc, CBC".to_owned(),
            Program::OpensslCms { mode, instructions: true } => format!("openssl cms, {mode}"),
            Program::OpensslCms { mode, instructions: false } => format!("openssl cms, {mode}, no AES instructions"),
            Program::Enc(mode) => format!("sealwright enc, {mode}"),
            Program::Seal => "sealwright seal".to_owned(),
            Program::Age => "age".to_owned(),
            Program::Gpg => "gpg".to_owned(),
        }
    }

    /// Whether it is a part of Sealwright. A study cannot do without these, if they are there at all.
    pub(super) fn ours(self) -> bool {
        matches!(self, Program::Enc(_) | Program::Seal)
    }
}

/// The available programs and their keys, in a temporary folder.
pub(super) struct Programs {
    /// Removed when the program is interrupted, too.
    folder: ForAWhile<TempDir>,
    sealwright: Option<PathBuf>,
    age_recipient: Option<String>,
    openssl: bool,
    gpg: bool,
}

impl Programs {
    /// Looks for every program, and creates its keys.
    pub(super) fn find(sealwright: Option<&Path>) -> io::Result<Programs> {
        let folder = output::folder(None)?;
        let answers =
            |program: &str, version: &str| quiet(program).arg(version).status().is_ok_and(|status| status.success());
        let mut programs = Programs {
            sealwright: sealwright.map(Path::to_owned),
            age_recipient: None,
            openssl: answers("openssl", "version"),
            gpg: answers("gpg", "--version"),
            folder,
        };
        fs::write(programs.key_file(), private_key())?;
        private(&programs.key_file())?;
        if programs.gpg {
            fs::create_dir(programs.path("gpg"))?;
            private(&programs.path("gpg"))?;
            fs::write(programs.path("passphrase"), "correct horse battery staple\n")?;
        }
        if answers("age", "--version") {
            programs.age_recipient = programs.age_key().ok();
        }
        Ok(programs)
    }

    /// Takes gpg to be there.
    #[cfg(test)]
    pub(super) fn pretend_gpg(&mut self) {
        self.gpg = true;
    }

    /// The path of a file in the temporary folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn key_file(&self) -> PathBuf {
        self.path("key")
    }

    /// Makes an age key, and returns its recipient.
    fn age_key(&self) -> io::Result<String> {
        let output = run(Command::new("age-keygen").arg("-o").arg(self.path("age.key")))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &fs::read_to_string(self.path("age.key"))?;
        let recipient = said.split_whitespace().find(|word| word.starts_with("age1"));
        recipient.map(str::to_owned).ok_or_else(|| io::Error::other("age-keygen named no recipient"))
    }

    /// Whether `program` is available.
    pub(super) fn has(&self, program: Program) -> bool {
        match program {
            Program::OpensslEnc | Program::OpensslCms { .. } => self.openssl,
            Program::Enc(_) | Program::Seal => self.sealwright.is_some(),
            Program::Age => self.age_recipient.is_some(),
            Program::Gpg => self.gpg,
        }
    }

    /// The command that converts `input` to `output`. `output` may exist already.
    ///
    /// # Panics
    /// If the program is not available; check [`Programs::has`] first.
    pub(super) fn command(&self, program: Program, direction: Direction, input: &Path, output: &Path) -> Command {
        let encrypt = direction == Direction::Encrypt;
        let ours = || quiet(self.sealwright.as_deref().expect("asked for only where there is one"));
        match program {
            Program::OpensslEnc => {
                let mut command = quiet("openssl");
                command.args(["enc", if encrypt { "-e" } else { "-d" }, "-aes-256-cbc", "-K", KEY, "-iv", IV]);
                command.arg("-in").arg(input).arg("-out").arg(output);
                command
            }
            Program::OpensslCms { mode, instructions } => {
                let mut command = quiet("openssl");
                command.args(["cms", if encrypt { "-encrypt" } else { "-decrypt" }, "-binary"]);
                command.args(["-secretkey", KEY, "-secretkeyid", "01"]);
                match (direction, mode) {
                    (Direction::Decrypt, _) => command.args(["-inform", "DER"]),
                    (Direction::Encrypt, Mode::Cbc) => command.args(["-stream", "-outform", "DER", "-aes-256-cbc"]),
                    (Direction::Encrypt, Mode::Gcm) => command.args(["-stream", "-outform", "DER", "-aes-256-gcm"]),
                };
                if !instructions {
                    command.envs(NO_INSTRUCTIONS);
                }
                command.arg("-in").arg(input).arg("-out").arg(output);
                command
            }
            Program::Enc(mode) => {
                let (cipher, iv) = if mode == Mode::Cbc { ("-aes-256-cbc", IV) } else { ("-aes-256-gcm", &IV[..24]) };
                let mut command = ours();
                command.args(["enc", if encrypt { "-e" } else { "-d" }, cipher, "-K", KEY, "-iv", iv]);
                command.arg("-in").arg(input).arg("-out").arg(output);
                command
            }
            Program::Seal => {
                let mut command = ours();
                command.args([if encrypt { "seal" } else { "open" }, "--quiet", "--force", "--key-file"]);
                command.arg(self.key_file()).arg(input).arg("-o").arg(output);
                command
            }
            Program::Age => {
                let mut command = quiet("age");
                match (&self.age_recipient, encrypt) {
                    (Some(recipient), true) => command.arg("-r").arg(recipient),
                    _ => command.arg("-d").arg("-i").arg(self.path("age.key")),
                };
                command.arg("-o").arg(output).arg(input);
                command
            }
            Program::Gpg => {
                let mut command = quiet("gpg");
                command.arg("--homedir").arg(self.path("gpg")).arg("--passphrase-file").arg(self.path("passphrase"));
                command.args(["--batch", "--yes", "--no-autostart", "--pinentry-mode", "loopback"]);
                command.arg("--output").arg(output);
                if encrypt {
                    command.args(["--s2k-count", "65536", "--compress-algo", "none", "--cipher-algo", "AES256"]);
                }
                command.arg(if encrypt { "--symmetric" } else { "--decrypt" }).arg(input);
                command
            }
        }
    }

    /// Runs `program` once. If it fails, the error contains its standard error output.
    pub(super) fn once(&self, program: Program, direction: Direction, input: &Path, output: &Path) -> io::Result<()> {
        let done = run(&mut self.command(program, direction, input, output))?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(io::Error::other(format!("{} ({direction}): {}: {}", program.name(), done.status, said.trim())))
    }
}

fn run(command: &mut Command) -> io::Result<Output> {
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command.output()
}

/// 32 bytes for a key file that is only used for measurements.
fn private_key() -> [u8; 32] {
    std::array::from_fn(|i| i as u8 ^ 0xa5)
}

/// Makes a file or folder accessible to its owner only.
fn private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}
