//! `cargo xtask crash --times N`: file operations that are killed at each system call and N times at random moments,
//! system calls that fail, full disks. The tests are those of `crates/cli/tests/faults`; in `test` each operation is
//! killed a dozen times.

use crate::steps::Steps;

pub(crate) fn run(steps: &mut Steps, words: &[String]) {
    let times = match words {
        [] => Some(1000),
        [option, times] if option == "--times" => times.parse::<u32>().ok().filter(|&times| times > 0),
        _ => None,
    };
    let Some(times) = times else {
        return steps
            .fail("crash", "--times and a number from 1 are all it takes\n   hint: cargo xtask crash --times 1000");
    };
    let words = ["test", "--package", "sealwright-cli", "--all-features", "--test", "faults", "--", "--nocapture"];
    steps.cargo("killed and failing file jobs", &words, &[("SEALWRIGHT_KILLS", &times.to_string())]);
}
