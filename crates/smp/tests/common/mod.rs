//! Runs of kernels on settings of a test's own.
#![allow(clippy::unwrap_used)]

use sealwright_smp::{
    Config,
    attack::Attacker,
    run::{Report, Simulation, Workload},
};

pub(crate) fn config(settings: &[&str]) -> Config {
    let config = settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    config.check().unwrap();
    config
}

/// A run of a kernel of some size, whose values are checked.
pub(crate) fn run(
    (kernel, size): (&str, u32),
    settings: &[&str],
    attackers: impl IntoIterator<Item = Attacker>,
) -> Report {
    let mut simulation = Simulation::new(config(settings), Workload::kernel(kernel, size, false).unwrap());
    simulation.check = true;
    simulation.attackers.extend(attackers);
    simulation.run(&mut |_| {}).unwrap()
}
