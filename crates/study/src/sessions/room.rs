//! The memory that this study may fill with clients. Linux promises more memory than there is, so a crowd that does
//! not fit would end the program, late in the study and without a message.

use std::io;

use sealwright_session::Spec;

use super::crowd;

/// The most bytes that a quick run fills at a time, so that it is quick.
const QUICK_MIB: u64 = 400;

/// The memory that the clients of one comparison may take together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// In bytes.
    bytes: u64,
    /// Why something does not fit.
    why: &'static str,
}

impl Room {
    /// Two thirds of the memory that is free now, and at most 400 MiB in a quick run.
    pub(super) fn now(quick: bool) -> Room {
        Room::of(quick, available())
    }

    /// The room if this many bytes of memory are free.
    pub(super) fn of(quick: bool, available: u64) -> Room {
        let free = available / 3 * 2;
        match quick && free > QUICK_MIB << 20 {
            true => Room { bytes: QUICK_MIB << 20, why: "more than the 400 MiB of a quick run" },
            false => Room { bytes: free, why: "no room" },
        }
    }

    /// The room in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.bytes
    }

    /// Whether both ends of so many clients of all these schemes fit at the same time. If not, says why.
    pub(super) fn takes(self, specs: &[Spec], clients: u32) -> io::Result<Result<(), &'static str>> {
        let bytes = specs.iter().map(|&spec| crowd::bytes(spec, clients)).sum::<io::Result<u64>>()?;
        Ok(self.fits(bytes))
    }

    /// Whether this many bytes fit. If not, says why.
    pub(super) fn fits(self, bytes: u64) -> Result<(), &'static str> {
        if bytes <= self.bytes { Ok(()) } else { Err(self.why) }
    }
}

/// Memory in bytes that is available without paging.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    // If the system does not report it, a gigabyte is assumed
    kib.map_or(1 << 30, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_quick_run_has_a_limit_of_its_own() {
        let (quick, full) = (Room::of(true, 64 << 30), Room::of(false, 64 << 30));
        let crowd = 500 << 20;
        assert_eq!((quick.fits(crowd), full.fits(crowd)), (Err("more than the 400 MiB of a quick run"), Ok(())));
        // It is not the reason where memory is short
        assert_eq!(Room::of(true, 500 << 20).fits(crowd), Err("no room"));
    }

    #[test]
    fn all_that_lies_in_memory_at_the_same_time_counts() {
        let specs: Vec<Spec> = ["clear", "gcm-pre(4k)"].iter().map(|name| name.parse().unwrap()).collect();
        let both = specs.iter().map(|&spec| crowd::bytes(spec, 1000).unwrap()).sum::<u64>();
        let room = |bytes| Room { bytes, why: "no room" }.takes(&specs, 1000).unwrap();
        assert_eq!((room(both), room(both - 1)), (Ok(()), Err("no room")));
    }
}
