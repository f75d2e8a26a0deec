//! Checks that no intrinsic remains as a function in a release binary: a kernel that is compiled without its
//! instruction set calls a function for each intrinsic.

use std::{path::Path, process::Command};

use crate::steps::{Checked, Steps};

/// Parts of names that only intrinsics have.
const MARKS: &[&str] = &["_mm_", "_mm256_", "_mm512_", "core_arch"];

/// With this function the standard library queries the processor. It is a function by design.
const DETECTION: &str = "::xsave::_xgetbv";

/// Checks a release binary.
pub(crate) fn check(steps: &Steps, program: &str) -> Checked {
    let binary = steps.release(program);
    if !binary.exists() {
        return Checked::Wrong(vec![format!("{} is not built: cargo xtask release", binary.display())]);
    }
    let names = match output("nm", &["--demangle"], &binary) {
        Ok(names) => names,
        Err(checked) => return checked,
    };
    let unseen = unseen(&names);
    if !unseen.is_empty() {
        return Checked::Wrong(unseen);
    }
    let left = leftovers(&names);
    if left.is_empty() {
        return Checked::of(left, format!("{} symbols", names.lines().count()));
    }
    // Other libraries may contain intrinsics as functions, so look at the callers.
    match output("objdump", &["--disassemble", "--no-show-raw-insn", "--demangle"], &binary) {
        Ok(code) => {
            let all = names.lines().count();
            Checked::of(callers(&code), format!("{all} symbols, {} of them intrinsics of other libraries", left.len()))
        }
        Err(checked) => checked,
    }
}

/// The kernels that cannot be seen in the symbols, as in a stripped program: nothing would be found in it.
fn unseen(names: &str) -> Vec<String> {
    let levels: &[&str] = if cfg!(target_arch = "x86_64") { &["sse", "avx2", "avx512"] } else { &["neon"] };
    let unseen = levels.iter().filter(|level| !names.contains(&format!("sealwright::simd::{level}::")));
    unseen
        .map(|level| format!("its symbols show no kernel of {level}: is it stripped, or does nm not demangle?"))
        .collect()
}

/// The output of a binutils program.
fn output(program: &str, words: &[&str], binary: &Path) -> Result<String, Checked> {
    match Command::new(program).args(words).arg(binary).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(Checked::Wrong(vec![String::from_utf8_lossy(&output.stderr).into_owned()])),
        Err(error) => Err(Checked::Cannot(format!("{program}: {error}; it comes with binutils"))),
    }
}

/// The symbols that are intrinsics.
fn leftovers(names: &str) -> Vec<String> {
    let bad = |line: &&str| {
        let ours = line.contains("sealwright") || line.contains("core::core_arch");
        ours && !line.contains(DETECTION) && MARKS.iter().any(|mark| line.contains(mark))
    };
    names.lines().filter(bad).map(str::to_owned).collect()
}

/// The functions of this workspace that call an intrinsic, each with the first intrinsic that it calls.
fn callers(code: &str) -> Vec<String> {
    let (mut found, mut function, mut done) = (Vec::new(), "", true);
    for line in code.lines() {
        if let Some(name) = line.strip_suffix(">:") {
            (function, done) = (name, !name.contains("sealwright"));
        } else if !done && line.contains("core::core_arch") && !line.contains(DETECTION) {
            done = true;
            found.push(format!("{function}> calls {}", line.trim()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{callers, leftovers, unseen};

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_program_without_symbols_is_no_program_without_leftovers() {
        let all = ["sse", "avx2", "avx512"].map(|level| format!("0002 T sealwright::simd::{level}::run\n"));
        assert!(unseen(&all.concat()).is_empty());
        assert_eq!(unseen(&all[..2].concat()).len(), 1);
        assert_eq!(unseen("").len(), 3);
    }

    #[test]
    fn a_planted_leftover_is_found() {
        let names = "0001 t core::core_arch::x86::avx512f::_mm512_xor_si512\n0002 T sealwright::simd::avx512::run\n";
        assert_eq!(leftovers(names).len(), 1);
        assert!(leftovers("0003 t core::core_arch::x86::xsave::_xgetbv\n").is_empty());
        assert!(leftovers("0002 T sealwright::simd::avx512::run\n0003 T aws_lc_mm_init\n").is_empty());
    }

    #[test]
    fn only_our_calls_count() {
        let code = "0001 <poly1305::new>:\n 2: call 9 <core::core_arch::x86::avx::_mm256_set_epi32>\n\
                    0003 <sealwright::simd::isa::Isa::run>:\n 4: call 8 <core::core_arch::x86::avx2::_mm256_xor_si256>\n\
                    5: call 8 <core::core_arch::x86::avx2::_mm256_xor_si256>\n\
                    0006 <sealwright::simd::isa::Isa::best>:\n 7: call 9 <core::core_arch::x86::xsave::_xgetbv>\n";
        let found = callers(code);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("Isa::run") && found[0].contains("_mm256_xor_si256"));
    }
}
