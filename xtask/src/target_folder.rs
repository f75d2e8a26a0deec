//! The target folder: obtained from cargo once, and passed to all programs that this one starts.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::programs;

/// The variable that names the folder. Settings of cargo may name another one, and another than `target` is easily
/// relative.
pub(crate) const FOLDER: &str = "CARGO_TARGET_DIR";
/// The variable with which cargo builds everything in a folder below that one.
const SYSTEM: &str = "CARGO_BUILD_TARGET";

/// Returns if the environment names the folder in which cargo builds, as an absolute path. Otherwise this program
/// begins anew, with that folder in its environment: a process cannot change its own while it has threads.
pub(crate) fn settle(root: &Path) -> Result<(), String> {
    let named = env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = match &named {
        Some(folder) => folder.clone(),
        None => asked(root)?,
    };
    let program = env::current_exe().unwrap_or_default();
    if let Some(why) = elsewhere(env::var_os(SYSTEM), &program, &folder) {
        return Err(why);
    }
    if named.is_some() {
        return Ok(());
    }
    // The file may have been built anew meanwhile: this is the program that runs, whatever has its name.
    let mut again = Command::new("/proc/self/exe");
    let mut words = env::args_os();
    again.arg0(words.next().unwrap_or_else(|| "xtask".into())).args(words).env(FOLDER, folder);
    Err(format!("{}: {}", program.display(), again.exec()))
}

/// The folder, by the settings that hold where the command was typed: with these this program was built.
fn asked(root: &Path) -> Result<PathBuf, String> {
    let mut command = programs::cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(root.join("Cargo.toml"));
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"].as_str().map(PathBuf::from).ok_or("cargo metadata names no target_directory".into())
}

/// Why the steps would not find what cargo builds: a target is configured, and cargo builds in a folder of that name,
/// where it has also built this program.
fn elsewhere(system: Option<OsString>, program: &Path, folder: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let there = program.ancestors().nth(2).filter(|there| there.parent().is_some_and(|it| real(it) == real(folder)));
    let set = match (system, there) {
        (Some(system), _) => format!("{SYSTEM} is {}", system.display()),
        (None, Some(there)) => {
            format!("cargo built this program in {}, as its setting `build.target`", there.display())
        }
        (None, None) => return None,
    };
    let why = "the steps would not find what it builds, or find what it built before";
    Some(format!("{set}: {why}\nhint: unset it; without it cargo builds for this machine"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::elsewhere;

    #[test]
    fn a_build_for_a_named_system_is_refused() {
        let folder = Path::new("/none/target");
        let told = |system: Option<&str>, program: &str| elsewhere(system.map(Into::into), Path::new(program), folder);
        assert_eq!(told(None, "/none/target/debug/xtask"), None);
        // A copy somewhere says nothing.
        assert_eq!(told(None, "/bin/xtask"), None);
        assert_eq!(told(None, ""), None);
        let by_settings = told(None, "/none/target/x86_64-unknown-linux-gnu/debug/xtask");
        assert!(by_settings.is_some_and(|why| why.contains("`build.target`") && why.contains("\nhint: unset it")));
        let by_variable = told(Some("x86_64-unknown-linux-gnu"), "/none/target/debug/xtask");
        assert!(by_variable.is_some_and(|why| why.starts_with("CARGO_BUILD_TARGET is x86_64-unknown-linux-gnu: ")));
    }
}
