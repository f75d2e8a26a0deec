//! The limits on passphrase costs as given on the command line: `1GiB`, `2GiB,20` or `2GiB,20,128`.

use sealwright_file::{Ceiling, Costs};
use sealwright_terminal::{
    say,
    size::{self, Size},
};

/// A smaller number probably lacks its unit.
const MIN_WITHOUT_UNIT: u64 = 1 << 10;

/// Memory in KiB, as Argon2 counts it. The error says what the user probably meant.
fn kib(memory: Size) -> Result<u32, String> {
    if memory.0 < MIN_WITHOUT_UNIT {
        return Err(format!("{} bytes are too few: {}MiB needs its unit", memory.0, memory.0.max(1)));
    }
    memory.kib().map_err(|error| error.to_string())
}

/// Parses the costs for new passphrases: the memory.
pub(crate) fn cost(text: &str) -> Result<Costs, String> {
    let memory_kib = kib(size::parse(text).map_err(|error| error.to_string())?)?;
    let costs = Costs { memory_kib, ..Costs::default() };
    // RFC 9106: 8 KiB for each lane.
    let least = Costs { memory_kib: 8 * costs.lanes, ..costs };
    match costs.are_possible() {
        true => Ok(costs),
        false => Err(format!("Argon2id with {} lanes needs at least {} KiB", least.lanes, least.memory_kib)),
    }
}

/// Says if files with these costs will open only with a higher limit than the default.
pub(crate) fn warn_of(costs: Costs) {
    if !Ceiling::default().allows(costs) {
        say(format_args!(
            "sealwright: warning: files that cost {costs} open only with --max-cost {}KiB or more",
            costs.memory_kib
        ));
    }
}

/// Parses memory, and passes and lanes if they are given.
pub(crate) fn parse(text: &str) -> Result<Ceiling, String> {
    let wrong = || format!("`{text}` is not MEMORY[,PASSES[,LANES]], such as 2GiB,20,128");
    let mut parts = text.split(',');
    let memory = size::parse(parts.next().unwrap_or_default()).map_err(|_| wrong())?;
    let memory = kib(memory)?;
    let mut number = |default| match parts.next() {
        Some(text) => text.trim().parse().map_err(|_| wrong()),
        None => Ok(default),
    };
    let default = Ceiling::default();
    let ceiling = Ceiling { memory_kib: memory, passes: number(default.passes)?, lanes: number(default.lanes)? };
    if parts.next().is_some() { Err(wrong()) } else { Ok(ceiling) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn memory_then_passes_then_lanes() {
        let ceiling = |memory_kib, passes, lanes| Ceiling { memory_kib, passes, lanes };
        assert_eq!(parse("512MiB").unwrap(), ceiling(512 * 1024, 16, 64));
        assert_eq!(parse("2GiB,20").unwrap(), ceiling(2 << 20, 20, 64));
        assert_eq!(parse("1g, 1, 255").unwrap(), ceiling(1 << 20, 1, 255));
        assert_eq!(parse("1KiB").unwrap(), ceiling(1, 16, 64));
        for text in ["", "1GiB,x", "1GiB,1,2,3", "1GiB,-1", ","] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_without_its_unit_is_too_little() {
        assert_eq!(parse("256,3").unwrap_err(), "256 bytes are too few: 256MiB needs its unit");
        assert_eq!(cost("256").unwrap_err(), "256 bytes are too few: 256MiB needs its unit");
    }

    /// What an error says is the least and the most is so.
    #[test]
    fn a_cost_has_bounds() {
        let too_little = "Argon2id with 4 lanes needs at least 32 KiB";
        assert_eq!([cost("8KiB"), cost("31KiB")], [Err(too_little.into()), Err(too_little.into())]);
        assert_eq!(cost("32KiB"), Ok(Costs { memory_kib: 32, ..Costs::default() }));
        for text in ["4TiB", "10TiB"] {
            assert_eq!(cost(text).unwrap_err(), "it must be less than 4 TiB");
            assert_eq!(parse(text).unwrap_err(), "it must be less than 4 TiB");
        }
        assert!(cost("4194303MiB").is_ok());
    }
}
