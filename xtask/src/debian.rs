//! Root folders below `target` with Debian's compiler, which has what the compiler of this machine lacks: libraries for
//! other processors, and the sources of the standard library.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::steps::{Checked, Steps};

/// Debian's keys, and the default mirror, which `DEBIAN_MIRROR` overrides.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const MIRROR: &str = "http://deb.debian.org/debian";
/// Certificates for downloads. A machine may have additional ones.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Inside the root, the worktree (which nobody can change there) and cargo's downloads.
const INSIDE: &str = "\
set -e
mount --bind \"$REPOSITORY\" \"$ROOT/repository\"
mount -o remount,bind,ro \"$ROOT/repository\"
mount --bind \"$CARGO_HOME\" \"$ROOT/cargo\"
mount --bind /proc \"$ROOT/proc\"
mount --bind /dev \"$ROOT/dev\"
cp /etc/resolv.conf \"$ROOT/etc/resolv.conf\"
echo '127.0.0.1 localhost' > \"$ROOT/etc/hosts\"
cp \"$CERTIFICATES\" \"$ROOT$CERTIFICATES\" || true
exec chroot \"$ROOT\" env -i PATH=/usr/lib/llvm-22/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CARGO_HOME=/cargo \
CARGO_TARGET_DIR=/build CARGO_BUILD_JOBS=\"$CARGO_BUILD_JOBS\" SEALWRIGHT_ISA=\"$SEALWRIGHT_ISA\" \
sh -c 'cd /repository && exec \"$@\"' sh \"$@\"
";

/// A root folder.
pub(crate) struct Root {
    /// Its name below `target`.
    pub(crate) name: &'static str,
    pub(crate) architectures: &'static str,
    /// Packages that it contains in addition to the base system.
    pub(crate) packages: &'static str,
    /// Disk space that it needs, including builds.
    pub(crate) space: &'static str,
    /// The command that makes it.
    pub(crate) command: &'static str,
}

/// Why a command in a root gave no output.
pub(crate) enum Failed {
    NoRoot(String),
    Ended(String),
}

impl From<Failed> for Checked {
    fn from(failed: Failed) -> Checked {
        match failed {
            Failed::NoRoot(why) => Checked::Cannot(why),
            Failed::Ended(why) => Checked::Wrong(vec![why]),
        }
    }
}

impl Root {
    pub(crate) fn folder(&self, steps: &Steps) -> PathBuf {
        steps.target().join(self.name)
    }

    /// Makes it. Only on request, since it downloads much.
    pub(crate) fn make(&self, steps: &Steps) -> Checked {
        let root = self.folder(steps);
        if root.exists() {
            return Checked::Right(format!("{} is there already", root.display()));
        }
        let partial = root.with_extension("partial");
        let mirror = env::var("DEBIAN_MIRROR").unwrap_or_else(|_| MIRROR.into());
        let mut command = Command::new("mmdebstrap");
        // The release file of a mirror's copy may be past its date.
        command.args(["--mode=root", "--variant=apt", "--aptopt=Acquire::Check-Valid-Until \"false\""]);
        command.arg(format!("--architectures={}", self.architectures));
        command.args([&format!("--include={}", self.packages), "sid"]).arg(&partial);
        command.arg(format!("deb [signed-by={KEYS}] {mirror} sid main"));
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Checked::Wrong(vec![format!("mmdebstrap: {status}; it must run as root")]),
            Err(error) => return Checked::Cannot(format!("mmdebstrap: {error} (Debian: apt install mmdebstrap)")),
        }
        let mut folders = ["repository", "cargo", "build"].iter();
        let made = folders.try_for_each(|folder| fs::create_dir_all(partial.join(folder)));
        match made.and_then(|()| fs::rename(&partial, &root)) {
            Ok(()) => Checked::Right(root.display().to_string()),
            Err(error) => Checked::Wrong(vec![format!("{}: {error}", partial.display())]),
        }
    }

    /// Runs a command in the root, in the workspace; what it writes to standard output.
    pub(crate) fn inside(&self, steps: &Steps, words: &[&str]) -> Result<String, Failed> {
        let root = self.folder(steps);
        if !root.exists() {
            let how = format!("`{}` makes it, as root, with mmdebstrap, in {}", self.command, self.space);
            return Err(Failed::NoRoot(format!("{} is not there; hint: {how}", root.display())));
        }
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
        let jobs = std::thread::available_parallelism().map_or(1, usize::from).to_string();
        let variable = |name: &str, otherwise: &str| env::var_os(name).unwrap_or_else(|| otherwise.into());
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", INSIDE, "sh"]).args(words).stdout(Stdio::piped());
        let set = |command: &mut Command, name: &str, value: &OsStr| {
            command.env(name, value);
        };
        set(&mut command, "ROOT", absolute(&root).as_os_str());
        set(&mut command, "REPOSITORY", absolute(steps.root()).as_os_str());
        set(&mut command, "CARGO_HOME", absolute(&home).as_os_str());
        set(&mut command, "CERTIFICATES", CERTIFICATES.as_ref());
        set(&mut command, "CARGO_BUILD_JOBS", &variable("CARGO_BUILD_JOBS", &jobs));
        set(&mut command, "SEALWRIGHT_ISA", &variable("SEALWRIGHT_ISA", ""));
        match command.output() {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                if output.status.success() {
                    return Ok(text);
                }
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(Failed::Ended(format!(
                    "{}: {}\n   {}\n   {}",
                    words.join(" "),
                    output.status,
                    end(&text),
                    end(&errors)
                )))
            }
            Err(error) => Err(Failed::Ended(format!("unshare: {error} (Debian: apt install util-linux)"))),
        }
    }
}

/// The last lines.
fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n   ")
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Programs, tests that passed, tests that were ignored: `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
pub(crate) fn count(printed: &str) -> (usize, usize, usize) {
    let number = |line: &str, what: &str| {
        let before = line.split(&format!(" {what}")).next()?;
        before.rsplit(' ').next()?.parse::<usize>().ok()
    };
    let results = printed.lines().filter(|line| line.starts_with("test result: "));
    results.fold((0, 0, 0), |(programs, passed, ignored), line| {
        let (more, not) = (number(line, "passed").unwrap_or(0), number(line, "ignored").unwrap_or(0));
        (programs + 1, passed + more, ignored + not)
    })
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_tests_of_every_program() {
        let printed = "\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
                       running 2 tests\n..\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out\n";
        assert_eq!(count(printed), (2, 15, 1));
        assert_eq!(count("test a ... ok\n"), (0, 0, 0));
    }
}
