//! Lines that are changed, replaced or replayed on the bus between processors, in the simulator.

use sealwright_smp::{Config, attack::Attack as Tamper, kernel::Kernel, matrix, matrix::Cell};

use crate::{
    attack::{Attack, AttackError, Axes, Log, Size, Spent, Target},
    tools::bus::no_chance,
};

pub(crate) const ATTACK: Attack = Attack {
    name: "bus-tamper",
    title: "Lines on the bus of a multiprocessor are changed, and a program computes with the wrong values",
    knows: "the bus: it can change, replace and replay lines; simulated",
    stopped_by: "a tag for each line, with a counter for each pair of processors",
    page: "bus-tamper.md",
    figure: Axes { spent: "runs with a changed line", gained: "runs that computed with it" },
    run,
};

fn run(log: &mut Log, size: Size) -> Result<(), AttackError> {
    let points = if size == Size::Small { 8 } else { 10 };
    let strikes = if size == Size::Small { 1 } else { 8 };
    let kernel = Kernel::by_name("fft", Some(points)).expect("FFT is one of the kernels");
    let (cells, spent) = Spent::by(|| matrix::run(&Config::for_line(64), kernel, 100, strikes));
    let cells = cells.map_err(|error| AttackError::Simulation(error.into()))?;
    for (scheme, target) in
        [("clear", Target::Weak), ("gcm", Target::Strong), ("cxl-ide", Target::Strong), ("senss", Target::Strong)]
    {
        for tamper in [Tamper::Flip, Tamper::Spoof, Tamper::Replay] {
            let name = format!("{scheme}, {tamper}");
            let cell = cells.iter().find(|cell| cell.attack == tamper && cell.scheme == scheme);
            let struck = |cell: &&Cell| cell.strikes.iter().all(|strike| strike.struck.is_some());
            let cell = cell.filter(struck).ok_or_else(|| no_chance(&name))?;
            log.trial(target, name, |cost| {
                (cost.queries, cost.steps, cost.step, cost.memory) = (strikes, strikes, "lines changed", 64);
                cost.share(spent, cells.len() as u32);
                let mut unnoticed = 0;
                cost.point(0.0, 0.0);
                for (number, strike) in (1..).zip(&cell.strikes) {
                    let hit = strike.detector.is_none() && strike.wrong_reads > 0;
                    unnoticed += u32::from(hit);
                    cost.point(number, unnoticed);
                }
                Ok::<_, AttackError>((unnoticed > 0, cell.words()))
            })?;
        }
    }
    Ok(())
}
