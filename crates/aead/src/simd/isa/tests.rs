//! A machine may have any instruction sets without any others, as virtual machines do, and as valgrind does.

use std::collections::BTreeSet;
#[cfg(feature = "std")]
use std::{
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

#[cfg(feature = "std")]
use super::once;
use super::{Isa, LEVELS, Level, Sets, levels};

/// What the compiler may use in the code of a level: all that is enabled there.
fn enabled(level: Level) -> BTreeSet<&'static str> {
    let source = match level {
        Level::Portable => include_str!("../portable.rs"),
        Level::Sse => include_str!("../sse.rs"),
        Level::Avx2 => include_str!("../avx2.rs"),
        Level::Avx512 => include_str!("../avx512.rs"),
    };
    let lists = source.split("enable = \"").skip(1).filter_map(|rest| rest.split('"').next());
    lists.flat_map(|list| list.split(',')).collect()
}

#[test]
fn every_set_of_instructions_gives_a_level_that_it_can_run() {
    let count = Sets::ALL.len();
    assert_eq!(count, 14);
    let enabled: Vec<(Level, BTreeSet<&str>)> = LEVELS.iter().map(|level| (*level, enabled(*level))).collect();
    let mut machines = [0; 4];
    for mask in 0..1_u16 << count {
        let has: BTreeSet<&str> =
            Sets::ALL.iter().filter(|(_, set)| mask & set.0 != 0).map(|(name, _)| *name).collect();
        let found: Vec<Level> = levels(Sets(mask)).collect();
        // Those whose code uses nothing else, whatever `needs` says.
        let right: Vec<Level> =
            enabled.iter().filter(|(_, used)| used.is_subset(&has)).map(|(level, _)| *level).collect();
        assert!(found == right, "{has:?}");
        let vector = has.contains("vaes") && !has.contains("aes");
        assert!(!vector || found == [Level::Portable], "VAES without AES-NI: {has:?}");
        machines[found.len() - 1] += 1;
    }
    // All; those with the 4 sets of `sse`, less those with the 9 of `avx2`; and so on.
    assert_eq!(machines, [16_384 - 1024, 1024 - 32, 32 - 1, 1]);
}

/// A process that is forked meanwhile has no thread that would end the computation.
#[cfg(feature = "std")]
#[test]
fn nobody_waits_for_the_level_that_another_thread_computes() {
    static LEVEL: OnceLock<u8> = OnceLock::new();
    let (tell, told) = mpsc::channel();
    let compute = || {
        thread::spawn(move || tell.send(once(&LEVEL, || 1)));
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(1), "it waits");
        2
    };
    assert_eq!(once(&LEVEL, compute), 1, "the first one holds");
    assert_eq!(once(&LEVEL, || panic!("it is there")), 1);
}

#[test]
fn each_instruction_set_has_a_bit_of_its_own() {
    let bits: BTreeSet<u16> = Sets::ALL.iter().map(|(_, set)| set.0).collect();
    assert_eq!(bits.len(), Sets::ALL.len());
    assert!(bits.iter().all(|bit| bit.count_ones() == 1));
}

/// Of valgrind and emulators the system does not tell: tests run without them.
#[cfg(target_os = "linux")]
#[test]
fn this_machine_has_the_levels_that_the_system_tells_of() {
    // The operating system's own list, by its own names.
    let text = std::fs::read_to_string("/proc/cpuinfo").expect("Linux has it");
    let flags = text.lines().find(|line| line.starts_with("flags")).expect("x86 has flags");
    let flags: BTreeSet<&str> = flags.split_whitespace().collect();
    let linux = |name: &'static str| match name {
        "sse4.1" => "sse4_1",
        other => other,
    };
    let has = |level: &Level| enabled(*level).into_iter().all(|name| flags.contains(linux(name)));
    let right: Vec<&str> = LEVELS.iter().filter(|level| has(level)).map(|level| level.name()).collect();
    assert_eq!(levels(Sets::here()).map(Level::name).collect::<Vec<_>>(), right);
    let available: Vec<&str> = Isa::available().iter().map(|isa| isa.name()).collect();
    assert!(available == right[..available.len()], "{available:?}");
}

/// The tests are run again with this variable for each lower level.
#[cfg(feature = "std")]
#[test]
fn the_environment_lowers_the_level() {
    let best = levels(Sets::here()).max().expect("there is one");
    let wanted = std::env::var("SEALWRIGHT_ISA").ok().and_then(|name| name.parse::<Isa>().ok());
    assert_eq!(Isa::best().name(), wanted.map_or(best, |isa| isa.0).name());
}
