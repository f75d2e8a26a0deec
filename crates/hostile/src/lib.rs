//! The bodies of the fuzz targets: functions that feed untrusted input to one part of the product. Each takes arbitrary
//! bytes, and panics if that part misbehaves: it must terminate, return a value or an error, and keep its guarantees.
//!
//! `fuzz/` has a fuzz target for each function (`cargo xtask fuzz`). Useful inputs are kept in `fuzz/corpus`, and the
//! tests of this crate replay them without a fuzzing engine.
#![allow(clippy::unwrap_used, reason = "each function is a test")]

use std::time::Duration;

mod batches;
mod case;
mod coherence;
mod composed;
mod connections;
mod control;
mod datagrams;
mod edits;
mod enc;
mod files;
mod folder;
mod journal;
mod keys;
mod layout;
mod machine;
mod message;
mod modes;
mod more_modes;
mod packed;
mod random_bits;
mod raw_modes;
mod recipients;
mod recorder;
mod records;
mod referees;
mod relay;
mod results;
mod runs;
mod served;
mod text;

pub use referees::referees;
use sealwright_measure::clock::{Clock, ThreadCpu};

/// A fuzz target: a part of the product that reads untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the fuzz target, and of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Takes arbitrary bytes; panics if a guarantee is broken.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "armor", run: files::armor },
    Target { name: "c_batches", run: sealwright_capi::fuzz::batches },
    Target { name: "c_files", run: |bytes| sealwright_capi::fuzz::files(folder::folder().path(), bytes) },
    Target { name: "c_messages", run: sealwright_capi::fuzz::messages },
    Target { name: "c_random", run: sealwright_capi::fuzz::random },
    Target { name: "c_streams", run: sealwright_capi::fuzz::streams },
    Target { name: "certificates", run: control::certificates },
    Target { name: "client_datagrams", run: datagrams::client_datagrams },
    Target { name: "control", run: control::control },
    Target { name: "damage", run: files::damage },
    Target { name: "datagrams", run: datagrams::datagrams },
    Target { name: "enc", run: enc::enc },
    Target { name: "end_to_end", run: relay::end_to_end },
    Target { name: "frame", run: relay::frame },
    Target { name: "grant", run: relay::grant },
    Target { name: "keys", run: keys::keys },
    Target { name: "layout", run: layout::layout },
    Target { name: "list", run: files::list },
    Target { name: "locked_keys", run: keys::locked_keys },
    Target { name: "mesh", run: relay::mesh },
    Target { name: "mesh_link", run: relay::mesh_link },
    Target { name: "mesh_node", run: relay::mesh_node },
    Target { name: "metrics", run: control::metrics },
    Target { name: "modes", run: modes::modes },
    Target { name: "more_modes", run: more_modes::more_modes },
    Target { name: "open", run: files::open },
    Target { name: "preamble", run: files::preamble },
    Target { name: "recorder", run: recorder::recorder },
    Target { name: "records", run: records::records },
    Target { name: "relay_stream", run: connections::relay_stream },
    Target { name: "relay_words", run: text::relay_words },
    Target { name: "results", run: results::results },
    Target { name: "seek", run: files::seek },
    Target { name: "signature", run: keys::signature },
    Target { name: "slots", run: recipients::slots },
    Target { name: "smp_config", run: machine::smp_config },
    Target { name: "smp_machine", run: coherence::smp_machine },
    Target { name: "smp_packed", run: packed::smp_packed },
    Target { name: "smp_runs", run: runs::smp_runs },
    Target { name: "smp_table", run: coherence::smp_table },
    Target { name: "smp_trace", run: machine::smp_trace },
    Target { name: "study_journal", run: journal::study_journal },
    Target { name: "sweep_grid", run: machine::sweep_grid },
    Target { name: "sweep_journal", run: machine::sweep_journal },
    Target { name: "transfer", run: relay::transfer },
    Target { name: "tree", run: files::tree },
    Target { name: "vectors", run: text::vectors },
];

/// The most CPU time of its own thread that one input may take. Time in which others have the processor does not count,
/// so that a busy machine makes no finding.
const MOST: Duration = Duration::from_secs(20);

/// Runs the target of this name on `bytes`.
///
/// # Panics
/// If there is no such target, a guarantee is broken, or the input takes more than 20 seconds of CPU time.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    within(MOST, target, bytes);
}

fn within(most: Duration, target: &Target, bytes: &[u8]) {
    let start = ThreadCpu.now();
    (target.run)(bytes);
    let used = ThreadCpu.now() - start;
    assert!(used <= most, "{}: {} bytes took {used:?} of CPU time, more than {most:?}", target.name, bytes.len());
}

/// The number of the planted fault, which no engine guesses.
const KEY: [u8; 4] = [0xa7, 0x1e, 0xd5, 0x3c];

/// A planted fault, which shows that the engine works. It needs a certain length, a number that no engine guesses, and
/// a sum: an engine finds it only if it sees the comparisons.
///
/// # Panics
/// At the fault.
pub fn planted(bytes: &[u8]) {
    let Some((&len, rest)) = bytes.split_first() else { return };
    let Some((number, text)) = rest.split_first_chunk::<4>() else { return };
    if usize::from(len) == text.len() && *number == KEY && text.iter().fold(0, |sum: u8, b| sum.wrapping_add(*b)) == 99
    {
        panic!("the planted fault");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// A target that is slow for one input.
    const SLOW: Target = Target {
        name: "slow",
        run: |bytes| {
            let start = ThreadCpu.now();
            while bytes == b"slow" && ThreadCpu.now() - start < Duration::from_millis(60) {}
        },
    };

    #[test]
    fn an_input_that_takes_too_long_is_a_finding() {
        let short = Duration::from_millis(50);
        let why = catch_unwind(|| within(short, &SLOW, b"slow")).unwrap_err();
        let why = why.downcast_ref::<String>().unwrap();
        assert!(why.starts_with("slow: 4 bytes took ") && why.ends_with("of CPU time, more than 50ms"), "{why}");
        within(short, &SLOW, b"fast");
        within(MOST, &SLOW, b"slow");
    }

    #[test]
    fn time_that_others_take_is_none_of_an_input() {
        let sleeps = Target { name: "sleeps", run: |_| std::thread::sleep(Duration::from_millis(60)) };
        within(Duration::from_millis(50), &sleeps, b"");
    }
}
