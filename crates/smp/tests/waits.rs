//! What processors wait for adds up to the time that they take.
#![allow(clippy::unwrap_used)]

use sealwright_smp::{
    Config, Outcome, Stats,
    kernel::Kernel,
    run::{Simulation, Workload},
};

/// The sum of a statistic over all nodes.
fn all(stats: &Stats, what: &str) -> f64 {
    let of = |name: &str| name.starts_with("nodes.") && name.ends_with(what);
    stats.leaves().into_iter().filter(|(name, _)| of(name)).filter_map(|(_, value)| value.as_f64()).sum()
}

#[test]
fn a_processors_time_is_that_of_its_instructions_and_waits() {
    let settings =
        ["scheme.name=cbc", "machine.processors=8", "l1.bytes=512", "l2.bytes=512", "scheme.functional=false"];
    let config = settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    let kernel = Kernel::Lu { n: 64, contiguous: false };
    let report = Simulation::new(config.clone(), Workload::Kernel(kernel, false)).run(&mut |_| {}).unwrap();
    assert_eq!(report.outcome, Outcome::Completed);
    let number = |name: &str| report.stats.number(name);
    let computed = number("instructions") - number("references");
    let (second, hit) = (number("cache.second_hits"), config.l1.hit as f64);
    let hits = (number("references") - second) * hit + second * config.l2.hit as f64;
    // A barrier is a step to arrive and one to be woken
    let steps = number("wait.barriers") * 8.0 * 2.0 * config.machine.sync as f64;
    let waits = number("wait.lines") + number("wait.processors") + number("wait.retries");
    assert!(number("wait.retries") > 0.0);
    assert_eq!(all(&report.stats, "finished"), computed + hits + steps + waits, "{}", report.stats.text());
}

/// Processes take turns while others wait: a processor waits only if none of its processes can run.
#[test]
fn no_processor_waits_while_it_executes() {
    let settings = ["machine.processors=4", "processes.count=8", "processes.switch=100", "scheme.functional=false"];
    let config = settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    let report = Simulation::new(config, Workload::Kernel(Kernel::Fft { m: 10 }, false)).run(&mut |_| {}).unwrap();
    let number = |name: &str| report.stats.number(name);
    let (waits, executed) = (number("wait.processors"), number("instructions") - number("references"));
    assert_eq!(all(&report.stats, "met"), waits);
    assert!(
        waits > 0.0 && waits + number("wait.lines") + executed <= all(&report.stats, "finished"),
        "{waits} {executed}"
    );
}
