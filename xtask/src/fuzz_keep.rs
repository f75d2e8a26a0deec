//! `cargo xtask fuzz TARGET --keep`: selects the few inputs of a target for the repository, where the tests replay
//! them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{fuzz_targets::MEMORY, instrument::STACK};

/// Limits on the inputs of a target: their number, bytes of each, and bytes of all.
const KEPT: usize = 40;
const EACH: usize = 2048;
const ALL: usize = 12 * 1024;

/// Replaces the inputs in the repository by the fewest small ones with the same coverage. Inputs that have a name
/// instead of a hash stay: they were added for a reason.
pub(crate) fn keep(program: &Path, grown: &Path, seeds: &Path) -> Result<(), String> {
    let chosen = grown.with_extension("chosen");
    let _ = fs::remove_dir_all(&chosen);
    fs::create_dir_all(&chosen).map_err(|error| format!("{}: {error}", chosen.display()))?;
    let merged = Command::new(program)
        .args(["-set_cover_merge=1", "-timeout=30"])
        .args(MEMORY)
        .arg(format!("-max_len={EACH}"))
        .args([&chosen, grown, seeds])
        .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
        .env(STACK.0, STACK.1)
        .stderr(Stdio::null())
        .status();
    if !merged.is_ok_and(|status| status.success()) {
        return Err(format!("{}: the inputs cannot be merged", program.display()));
    }
    let (old, named): (Vec<PathBuf>, Vec<PathBuf>) = files(seeds).into_iter().partition(|path| named_by_hash(path));
    let known: BTreeSet<Vec<u8>> = named.iter().filter_map(|path| fs::read(path).ok()).collect();
    let inputs = files(&chosen).into_iter().filter(|path| named_by_hash(path));
    let inputs = inputs.filter_map(|path| Some((fs::read(&path).ok()?, path))).collect();
    let kept = select(inputs, &known);
    for path in old {
        fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    for (bytes, path) in &kept {
        let to = seeds.join(path.file_name().unwrap_or_default());
        fs::write(&to, bytes).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    println!("   kept: {} inputs, and {} with names", kept.len(), named.len());
    Ok(())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The engine names an input by its SHA-1.
fn named_by_hash(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The smallest inputs within the limits, without those that already exist under a name.
fn select(mut inputs: Vec<(Vec<u8>, PathBuf)>, known: &BTreeSet<Vec<u8>>) -> Vec<(Vec<u8>, PathBuf)> {
    inputs.retain(|(bytes, _)| bytes.len() <= EACH && !known.contains(bytes));
    inputs.sort_by(|(one, a), (other, b)| (one.len(), a).cmp(&(other.len(), b)));
    let mut all = 0;
    inputs.truncate(KEPT);
    inputs.retain(|(bytes, _)| {
        all += bytes.len();
        all <= ALL
    });
    inputs
}

#[cfg(test)]
mod tests {
    use super::{ALL, EACH, KEPT, named_by_hash, select};

    #[test]
    fn few_and_small_inputs_stay() {
        let input = |len: usize, name: usize| (vec![name as u8; len], format!("{name:040x}").into());
        let lens = |inputs, known: &[Vec<u8>]| {
            let kept = select(inputs, &known.iter().cloned().collect());
            kept.into_iter().map(|(bytes, _)| bytes.len()).collect::<Vec<_>>()
        };
        assert_eq!(lens(vec![input(9, 1), input(EACH + 1, 2), input(3, 3)], &[]), [3, 9]);
        assert_eq!(lens(vec![input(9, 1), input(3, 3)], &[vec![3; 3]]), [9], "one has a name");
        assert_eq!(lens((0..100).map(|at| input(1, at)).collect(), &[]).len(), KEPT);
        assert_eq!(lens((0..30).map(|at| input(EACH, at)).collect(), &[]).len(), ALL / EACH);
    }

    #[test]
    fn names_of_the_engine_and_of_people() {
        assert!(named_by_hash("a/da39a3ee5e6b4b0d3255bfef95601890afd80709".as_ref()));
        assert!(!named_by_hash("a/the-number-before-the-tag".as_ref()));
    }
}
