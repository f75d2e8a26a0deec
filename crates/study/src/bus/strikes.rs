//! Attacks on the bus and on memory. A strike is one attack on a victim program in a run of its own.

use sealwright_smp::{
    Config,
    attack::Attack,
    config::Protect,
    kernel::Kernel,
    matrix::{self, Alarms, Cell},
    run::RunError,
    scheme::SchemeName,
};

/// Strikes of each attack for each victim and seed.
const STRIKES: u64 = 8;
/// The first strike comes at the first opportunity from this transfer, command or answer on.
const FROM: u64 = 50;
/// The victims, that is the programs that run during the attack.
const VICTIMS: [Kernel; 2] = [Kernel::Fft { m: 8 }, Kernel::Radix { m: 10 }];
/// Name of the combination of the thesis's scheme on the bus with no protection of memory.
const GCM_ALONE: &str = "GCM on the bus alone";
/// The number of cycles after which a node requests a line again. In the thesis, nodes do not do that.
pub(super) const TIMEOUT: u64 = 20_000;
/// The number of outstanding misses per node, so that a later line of a pair can overtake an earlier one. In the
/// thesis it is one.
const SEVERAL: &str = "machine.mshrs=4";

/// Strikes of each attack on each victim with all seeds.
pub(super) fn on_each(seeds: u64) -> u64 {
    seeds * STRIKES
}

/// Runs every attack on the bus against every scheme.
pub(super) fn on_bus(seeds: u64) -> Result<Vec<Cell>, RunError> {
    of_victims(seeds, &|config, victim| matrix::run(config, victim, FROM, STRIKES))
}

/// The same against the thesis's scheme and SENSS, on a machine whose nodes request a line again if it does not
/// arrive.
pub(super) fn asked_again(seeds: u64) -> Result<Vec<Cell>, RunError> {
    on_both(&format!("bus.timeout={TIMEOUT}"), seeds)
}

/// The same on a machine whose nodes can have four outstanding misses.
pub(super) fn side_by_side(seeds: u64) -> Result<Vec<Cell>, RunError> {
    on_both(SEVERAL, seeds)
}

/// Runs every attack against the thesis's scheme and SENSS, with one setting changed.
fn on_both(setting: &str, seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = against(&["gcm", "senss"], &[setting], seeds)?;
    cells.retain(|cell| ["gcm", "senss"].contains(&cell.scheme.as_str()));
    Ok(cells)
}

/// Runs every attack on the bus against these schemes, with these settings changed.
pub(super) fn against(schemes: &[&str], settings: &[&str], seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = Vec::new();
    for scheme in schemes {
        cells.extend(of_victims(seeds, &|config, victim| {
            let config = settings.iter().try_fold(config.clone(), |config, setting| config.set(setting))?;
            let scheme = SchemeName::find(scheme).unwrap_or(SchemeName::CLEAR);
            matrix::against(scheme, &config, victim, FROM, STRIKES)
        })?);
    }
    in_order(&mut cells, &Attack::ALL);
    Ok(cells)
}

/// Runs every attack on memory against every protection of memory, and against the thesis's scheme, which protects
/// only the bus.
pub(super) fn on_memory(seeds: u64) -> Result<Vec<Cell>, RunError> {
    let mut cells = of_victims(seeds, &|config, victim| matrix::memory(config, victim, FROM, STRIKES))?;
    let with_gcm =
        of_victims(seeds, &|config, victim| matrix::memory(&config.set("scheme.name=gcm")?, victim, FROM, STRIKES))?;
    let alone = with_gcm.into_iter().filter(|cell| cell.scheme == Protect::None.name());
    cells.extend(alone.map(|cell| Cell { scheme: GCM_ALONE.to_owned(), ..cell }));
    in_order(&mut cells, &Attack::ON_MEMORY);
    Ok(cells)
}

/// Sorts the cells by attack.
fn in_order(cells: &mut [Cell], attacks: &[Attack]) {
    cells.sort_by_key(|cell| attacks.iter().position(|attack| *attack == cell.attack));
}

/// Counts false alarms in runs without an attacker.
pub(super) fn without_attacker() -> Result<Vec<Alarms>, RunError> {
    matrix::false_alarms(&Config::default(), VICTIMS[0], 2 * STRIKES)
}

/// The outcomes of the strikes on one victim.
type Cells = Result<Vec<Cell>, RunError>;

/// Combines the strikes on all victims with all seeds; the seed determines keys and inputs.
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

    /// For strikes on several programs, each protection of memory must detect all or none, according to its
    /// construction.
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
