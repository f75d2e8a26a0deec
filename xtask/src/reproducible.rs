//! `cargo xtask reproducible [program] [lab] [capi] [wheel] [OPTIONS]`: builds the distributed files twice, in two
//! folders with different names. Both builds must be the same, byte for byte: then anybody can verify a released file by
//! building it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    notices, programs,
    steps::{Checked, Steps},
};

/// What can be built: its argument, its package, and the program.
const PROGRAMS: [(&str, &str, &str); 2] =
    [("program", "sealwright-cli", "sealwright"), ("lab", "sealwright-lab", "sealwright-lab")];
const CAPI: &str = "capi";
const WHEEL: &str = "wheel";
const FOLDERS: [&str; 2] = ["one", "another-folder"];
/// 1980, the first year that an archive, which a wheel is, can name.
const EPOCH: &str = "315532800";

pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    let (names, options) = words.split_at(words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len()));
    let all: Vec<&str> = PROGRAMS.iter().map(|(word, ..)| *word).chain([CAPI, WHEEL]).collect();
    if let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str())) {
        let hint = "hint: cargo xtask reproducible program --no-default-features";
        return Checked::Wrong(vec![format!("{unknown}: it builds {}\n   {hint}", all.join(", "))]);
    }
    let home = steps.target().join("reproducible");
    let _ = fs::remove_dir_all(&home);
    let folders = FOLDERS.map(|name| home.join(name));
    if let Err(why) = folders.iter().try_for_each(|folder| unpack(steps, folder)) {
        return Checked::Wrong(vec![why]);
    }
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for name in all.into_iter().filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name)) {
        let built = folders.each_ref().map(|folder| build(steps, name, folder, options));
        let same = match built {
            [Ok(one), Ok(other)] => compare(&one, &other),
            [Err(why), _] | [_, Err(why)] => Err(why),
        };
        match same {
            Ok(what) => {
                println!("   {name}: {what}");
                right.push(format!("{name}: {what}"));
            }
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    if wrong.is_empty() {
        let _ = fs::remove_dir_all(&home);
    }
    Checked::of(wrong, right.join("; "))
}

/// The last commit, in `folder`.
fn unpack(steps: &Steps, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let archive = folder.with_extension("tar");
    run(Command::new("git").args(["archive", "--output"]).arg(&archive).arg("HEAD").current_dir(steps.root()))?;
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder))
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{:?}: {status}", command.get_program())),
        Err(error) => Err(format!("{:?}: {error}", command.get_program())),
    }
}

/// Builds the artifact `name`; returns the file.
fn build(steps: &Steps, name: &str, folder: &Path, options: &[String]) -> Result<PathBuf, String> {
    let target = folder.join("target");
    let program = PROGRAMS.iter().find(|(word, ..)| *word == name);
    let installed = folder.join("installed");
    let (mut command, file) = match program {
        Some((_, package, program)) => {
            let mut cargo = programs::cargo();
            cargo.args(["build", "--profile", "dist", "--locked", "--package", package]);
            cargo.current_dir(folder);
            (cargo, Some(target.join("dist").join(program)))
        }
        None if name == CAPI => {
            let mut cargo = programs::cargo();
            cargo.args([
                "run",
                "--quiet",
                "--locked",
                "--package",
                "xtask",
                "--",
                "install-c",
                "--strip",
                "/usr/local",
            ]);
            cargo.current_dir(folder).env("DESTDIR", &installed);
            (cargo, Some(target.join("capi.tar")))
        }
        None => {
            let texts = notices::text(&Steps::new(folder.into()), "sealwright-python", &[], None)?;
            fs::write(folder.join("python").join(notices::FILE), texts).map_err(|error| error.to_string())?;
            let mut maturin = Command::new(maturin(steps)?);
            maturin.args(["build", "--profile", "dist", "--locked", "--interpreter", "python3", "--out"]);
            maturin.arg(target.join("wheels")).current_dir(folder.join("python"));
            (maturin, None)
        }
    };
    // The name of the folder, which may have spaces, is in no message then.
    command.env("CARGO_ENCODED_RUSTFLAGS", format!("--remap-path-prefix={}=/sealwright", folder.display()));
    // They select features, of which the C library has none.
    command.args(options.iter().filter(|_| name != CAPI));
    command.env("CARGO_TARGET_DIR", &target).env("SOURCE_DATE_EPOCH", EPOCH);
    run(&mut command)?;
    match file {
        Some(file) if name == CAPI => packed(&installed, &file).map(|()| file),
        Some(file) => Ok(file),
        None => {
            let entries = fs::read_dir(target.join("wheels")).map_err(|error| error.to_string())?;
            let mut wheels = entries.flatten().map(|entry| entry.path());
            wheels
                .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
                .ok_or("no wheel was built".into())
        }
    }
}

/// Packs a folder as an archive that only its files' names and bytes decide.
fn packed(folder: &Path, archive: &Path) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    run(tar.arg(format!("--mtime=@{EPOCH}")).arg("-cf").arg(archive).arg("-C").arg(folder).arg("."))
}

/// The tool that builds wheels, of the version that the tests of the Python package use; installed once.
fn maturin(steps: &Steps) -> Result<PathBuf, String> {
    let requirements = steps.root().join("python/tests/requirements.txt");
    let text = fs::read_to_string(&requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    let wanted = text.lines().find(|line| line.starts_with("maturin==")).ok_or("the requirements name no maturin")?;
    let home = steps.target().join(wanted.replace("==", "-"));
    let program = home.join("bin/maturin");
    if !program.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted];
        run(Command::new(home.join("bin/python")).args(install))?;
    }
    Ok(program)
}

/// The size and hash of two files, if they are the same.
fn compare(one: &Path, other: &Path) -> Result<String, String> {
    let [first, second] =
        [one, other].map(|path| fs::read(path).map_err(|error| format!("{}: {error}", path.display())));
    let (first, second) = (first?, second?);
    if first != second {
        let differing = first.iter().zip(&second).filter(|(a, b)| a != b).count();
        let sizes = format!("{} and {} bytes", first.len(), second.len());
        let hint = format!("hint: compare {} with {}", one.display(), other.display());
        return Err(format!("the two differ in {differing} bytes of {sizes}\n   {hint}"));
    }
    let hash = Command::new("sha256sum").arg(one).output().map_err(|error| format!("sha256sum: {error}"))?;
    let hash: String = String::from_utf8_lossy(&hash.stdout).chars().take(64).collect();
    Ok(format!("{} bytes, SHA-256 {hash}", first.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{compare, packed};

    #[test]
    fn archives_of_equal_files_are_equal() {
        let folder = std::env::temp_dir().join(format!("sealwright-packed-{}", std::process::id()));
        let archives = ["one", "other"].map(|name| {
            let files = folder.join(name);
            fs::create_dir_all(&files).expect("a folder");
            // In another order, and at another time.
            let mut names = ["a", "b", "c"];
            names.rotate_left(usize::from(name == "other"));
            for (at, name) in names.iter().enumerate() {
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(100 * at as u64);
                fs::write(files.join(name), name).expect("a file");
                fs::File::options()
                    .write(true)
                    .open(files.join(name))
                    .and_then(|it| it.set_modified(time))
                    .expect("a time");
            }
            let archive = folder.join(name).with_extension("tar");
            packed(&files, &archive).expect("an archive");
            archive
        });
        assert!(compare(&archives[0], &archives[1]).is_ok());
        fs::remove_dir_all(&folder).expect("it is there");
    }

    #[test]
    fn a_byte_that_differs_is_told() {
        let folder = std::env::temp_dir().join(format!("sealwright-reproducible-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let [one, same, other] = [("one", "abc"), ("same", "abc"), ("other", "abd")].map(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file");
            path
        });
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(compare(&one, &same), Ok(format!("3 bytes, SHA-256 {hash}")));
        assert!(compare(&one, &other).is_err_and(|why| why.contains("differ in 1 bytes of 3 and 3 bytes")));
        fs::remove_dir_all(&folder).expect("it is there");
    }
}
