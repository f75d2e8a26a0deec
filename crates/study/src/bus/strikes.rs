//! Attacks on the bus and on memory: many strikes on every victim, each in a run of its own.

use sealwright_smp::{
    Config,
    attack::Attack,
    config::Protect,
    kernel::Kernel,
    matrix::{self, Alarms, Cell},
    run::RunError,
};

/// Strikes of each attack on each victim.
const STRIKES: u64 = 8;
/// The transfer, command or answer from which on the first one comes.
const FROM: u64 = 50;
/// Programs that run meanwhile.
const VICTIMS: [Kernel; 2] = [Kernel::Fft { m: 8 }, Kernel::Radix { m: 10 }];
/// The thesis's scheme on the bus, and nothing that protects memory.
const GCM_ALONE: &str = "GCM on the bus alone";

/// Every attack on the bus against every scheme.
pub(super) fn on_bus() -> Result<Vec<Cell>, RunError> {
    of_victims(|victim| matrix::run(&Config::default(), victim, FROM, STRIKES))
}

/// Every attack on memory against every protection of memory, and against the thesis's scheme, which protects the bus.
pub(super) fn on_memory() -> Result<Vec<Cell>, RunError> {
    let struck = |config: &Config| of_victims(|victim| matrix::memory(config, victim, FROM, STRIKES));
    let mut cells = struck(&Config::default())?;
    let with_gcm = struck(&Config::default().set("scheme.name=gcm")?)?;
    let alone = with_gcm.into_iter().filter(|cell| cell.scheme == Protect::None.name());
    cells.extend(alone.map(|cell| Cell { scheme: GCM_ALONE.to_owned(), ..cell }));
    // Cells of one attack stand together
    cells.sort_by_key(|cell| Attack::ON_MEMORY.iter().position(|attack| *attack == cell.attack));
    Ok(cells)
}

/// What the detectors say of a victim that nobody attacks.
pub(super) fn without_attacker() -> Result<Vec<Alarms>, RunError> {
    matrix::false_alarms(&Config::default(), VICTIMS[0], 2 * STRIKES)
}

/// The strikes on all victims together.
fn of_victims(run: impl Fn(Kernel) -> Result<Vec<Cell>, RunError>) -> Result<Vec<Cell>, RunError> {
    let mut cells = run(VICTIMS[0])?;
    for victim in &VICTIMS[1..] {
        for (cell, more) in cells.iter_mut().zip(run(*victim)?) {
            cell.strikes.extend(more.strikes);
        }
    }
    Ok(cells)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What each protection of memory finds of strikes on several programs: all or none, as its construction says.
    #[test]
    fn strikes_on_memory_are_found_by_what_authenticates_memory() {
        let cells = on_memory().unwrap();
        assert_eq!(matrix::rows(&cells).count(), Protect::ALL.len() + 1);
        for cell in cells {
            let came = cell.strikes.iter().filter(|strike| strike.struck.is_some());
            let (came, seen) =
                came.fold((0, 0), |(all, seen), strike| (all + 1, seen + u64::from(strike.detector.is_some())));
            assert_eq!(came, 2 * STRIKES, "{}: {}", cell.scheme, cell.attack);
            let finds = match cell.scheme.as_str() {
                "tree" => true,
                "xts-mac" => cell.attack != Attack::MemoryReplay,
                _ => false,
            };
            assert_eq!(seen, if finds { came } else { 0 }, "{}: {}", cell.scheme, cell.attack);
        }
    }
}
