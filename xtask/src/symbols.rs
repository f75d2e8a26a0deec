//! No intrinsic may be left as a function in the release binary: a call for each is what a kernel looks like that was
//! compiled without its instruction set.

use crate::steps::{Checked, Steps};
use std::process::Command;

/// Parts of names that only such leftovers have.
const MARKS: &[&str] = &["_mm_", "_mm256_", "_mm512_", "core_arch"];

/// What the standard library asks the processor with, which is a function by design.
const DETECTION: &str = "::xsave::_xgetbv";

pub(crate) fn check(steps: &Steps) -> Checked {
    let binary = steps.binary();
    if !binary.exists() {
        return Checked::Wrong(vec![format!("{} is not built: cargo xtask release", binary.display())]);
    }
    match Command::new("nm").arg("--demangle").arg(&binary).output() {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8_lossy(&output.stdout);
            Checked::of(leftovers(&names), format!("{} symbols", names.lines().count()))
        }
        Ok(output) => Checked::Wrong(vec![String::from_utf8_lossy(&output.stderr).into_owned()]),
        Err(error) => Checked::Cannot(format!("nm: {error}; it comes with binutils")),
    }
}

/// Leftovers of ours; other libraries may have theirs.
fn leftovers(names: &str) -> Vec<String> {
    let bad = |line: &&str| {
        let ours = line.contains("sealwright") || line.contains("core::core_arch");
        ours && !line.contains(DETECTION) && MARKS.iter().any(|mark| line.contains(mark))
    };
    names.lines().filter(bad).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::leftovers;

    #[test]
    fn a_planted_leftover_is_found() {
        let names = "0001 t core::core_arch::x86::avx512f::_mm512_xor_si512\n0002 T sealwright::simd::avx512::run\n";
        assert_eq!(leftovers(names).len(), 1);
        assert!(leftovers("0003 t core::core_arch::x86::xsave::_xgetbv\n").is_empty());
        assert!(leftovers("0002 T sealwright::simd::avx512::run\n0003 T aws_lc_mm_init\n").is_empty());
    }
}
