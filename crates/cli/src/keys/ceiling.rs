//! The limits on passphrase costs as given on the command line: `1GiB`, `2GiB,20` or `2GiB,20,128`.

use sealwright_file::{Ceiling, Costs};
use sealwright_terminal::{
    CommandError, say,
    size::{self, Size},
};

/// A smaller number probably lacks its unit.
const MIN_WITHOUT_UNIT: u64 = 1 << 10;

fn too_few(memory: Size) -> String {
    format!("{} bytes are too few", memory.0)
}

/// What the user probably meant.
fn in_mib(memory: Size) -> String {
    format!("{}MiB needs its unit", memory.0.max(1))
}

/// The costs for new passphrases. Unless `quiet`, a message says if files will open only with a higher limit than the
/// default.
pub(crate) fn costs(memory: Size, quiet: bool) -> Result<Costs, CommandError> {
    if memory.0 < MIN_WITHOUT_UNIT {
        return Err(CommandError::usage(format_args!("--cost: {}", too_few(memory))).hint(in_mib(memory)));
    }
    let costs = Costs { memory_kib: memory.kib()?, ..Costs::default() };
    if !costs.are_possible() {
        return Err(CommandError::usage(format_args!("Argon2id cannot run with {costs}")).hint("choose another --cost"));
    }
    if !Ceiling::default().allows(costs) && !quiet {
        say(format_args!(
            "sealwright: warning: files that cost {costs} open only with --max-cost {}KiB or more",
            costs.memory_kib
        ));
    }
    Ok(costs)
}

/// Parses memory, and passes and lanes if they are given.
pub(crate) fn parse(text: &str) -> Result<Ceiling, String> {
    let wrong = || format!("`{text}` is not MEMORY[,PASSES[,LANES]], such as 2GiB,20,128");
    let mut parts = text.split(',');
    let memory = size::parse(parts.next().unwrap_or_default()).map_err(|_| wrong())?;
    if memory.0 < MIN_WITHOUT_UNIT {
        return Err(format!("{}: {}", too_few(memory), in_mib(memory)));
    }
    let memory = memory.kib().map_err(|_| wrong())?;
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
        let refused = costs(Size(256), true).unwrap_err().to_string();
        assert!(refused.ends_with("--cost: 256 bytes are too few\nhint: 256MiB needs its unit"), "{refused}");
    }
}
