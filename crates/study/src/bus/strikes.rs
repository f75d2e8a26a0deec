//! Attacks on the bus and on memory: many strikes on every victim, each in a run of its own.

use sealwright_smp::{
    Config,
    attack::Attack,
    config::Protect,
    kernel::Kernel,
    matrix::{self, Alarms, Cell},
    run::RunError,
};

/// Strikes of each attack on each victim and seed.
const STRIKES: u64 = 8;
/// The transfer, command or answer from which on the first one comes.
const FROM: u64 = 50;
/// Programs that run meanwhile.
const VICTIMS: [Kernel; 2] = [Kernel::Fft { m: 8 }, Kernel::Radix { m: 10 }];
/// The thesis's scheme on the bus, and nothing that protects memory.
const GCM_ALONE: &str = "GCM on the bus alone";
/// Cycles after which a node asks again for a line that does not come. In the thesis no node does.
const TIMEOUT: &str = "bus.timeout=20000";
/// Misses that a node may have under way, so that a later line of a pair can pass an earlier one. In the thesis it is one.
const SEVERAL: &str = "machine.mshrs=4";

/// Strikes of each attack on each victim, all seeds together.
pub(super) fn on_each(seeds: u64) -> u64 {
    seeds * STRIKES
}

/// Every attack on the bus against every scheme.
pub(super) fn on_bus(seeds: u64) -> Result<Vec<Cell>, RunError> {
    of_victims(seeds, &|config, victim| matrix::run(config, victim, FROM, STRIKES))
}

/// The same against the thesis's scheme and against SENSS, on a machine whose nodes ask again for a line that does not come.
pub(super) fn asked_again(seeds: u64) -> Result<Vec<Cell>, RunError> {
    on_both(TIMEOUT, seeds)
}

/// The same on a machine whose nodes have four misses under way.
pub(super) fn side_by_side(seeds: u64) -> Result<Vec<Cell>, RunError> {
    on_both(SEVERAL, seeds)
}

/// The thesis's scheme and SENSS on the usual machine with one setting changed.
fn on_both(setting: &str, seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = against(&["gcm", "senss"], &[setting], seeds)?;
    cells.retain(|cell| ["gcm", "senss"].contains(&cell.scheme.as_str()));
    Ok(cells)
}

/// Every attack on the bus against the columns of these schemes, with settings over the usual ones.
pub(super) fn against(schemes: &[&str], settings: &[&str], seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = Vec::new();
    for scheme in schemes {
        cells.extend(of_victims(seeds, &|config, victim| {
            let named = config.set(&format!("scheme.name={scheme}"))?;
            let config = settings.iter().try_fold(named, |config, setting| config.set(setting))?;
            matrix::run(&config, victim, FROM, STRIKES)
        })?);
    }
    in_order(&mut cells, &Attack::ALL);
    Ok(cells)
}

/// Every attack on memory against every protection of memory, and against the thesis's scheme, which protects the bus.
pub(super) fn on_memory(seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = of_victims(seeds, &|config, victim| matrix::memory(config, victim, FROM, STRIKES))?;
    let with_gcm =
        of_victims(seeds, &|config, victim| matrix::memory(&config.set("scheme.name=gcm")?, victim, FROM, STRIKES))?;
    let alone = with_gcm.into_iter().filter(|cell| cell.scheme == Protect::None.name());
    cells.extend(alone.map(|cell| Cell { scheme: GCM_ALONE.to_owned(), ..cell }));
    in_order(&mut cells, &Attack::ON_MEMORY);
    Ok(cells)
}

/// Cells of one attack stand together.
fn in_order(cells: &mut [Cell], attacks: &[Attack]) {
    cells.sort_by_key(|cell| attacks.iter().position(|attack| *attack == cell.attack));
}

/// What the detectors say of a victim that nobody attacks.
pub(super) fn without_attacker() -> Result<Vec<Alarms>, RunError> {
    matrix::false_alarms(&Config::default(), VICTIMS[0], 2 * STRIKES)
}

/// What strikes on one victim come to.
type Cells = Result<Vec<Cell>, RunError>;

/// The strikes on all victims with all seeds together: a seed decides keys and inputs.
fn of_victims(seeds: u64, run: &dyn Fn(&Config, Kernel) -> Cells) -> Cells {
    let mut cells: Vec<Cell> = Vec::new();
    for (victim, seed) in VICTIMS.into_iter().flat_map(|victim| (1..=seeds).map(move |seed| (victim, seed))) {
        let mut config = Config::default();
        config.machine.seed = seed;
        let more = run(&config, victim)?;
        if cells.is_empty() {
            cells = more;
        } else {
            cells.iter_mut().zip(more).for_each(|(cell, more)| cell.strikes.extend(more.strikes));
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
        let cells = on_memory(1).unwrap();
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
