#![allow(clippy::unwrap_used)]
use super::*;
use crate::bus::seeds::over_seeds;

fn cell(program: usize, scheme: Scheme) -> Run {
    Run { program, processors: 2, line: 64, align: false, changed: Changed::Nothing, scheme }
}

#[test]
fn a_run_ends_right_and_the_masks_cost_time() {
    // One kernel and one recorded program
    for program in [0, Suite::Recorded.programs().start] {
        let run = |scheme| simulate(cell(program, scheme), 1, true).unwrap().found.unwrap();
        let masks = Scheme::cbc(VARIANTS[1], 320, 1);
        let (clear, masks, later) = (run(Scheme::Clear), run(masks), run(masks.in_background()));
        assert!(masks.cycles > clear.cycles, "{}", PROGRAMS[program]);
        assert!(later.cycles < masks.cycles, "{}: a line does not wait for its MAC", PROGRAMS[program]);
        assert!(masks.ready > 0.0 && masks.ready <= 1.0, "{masks:?}");
    }
}

#[test]
fn every_recorded_program_can_be_played_with_every_number_of_processors() {
    use sealwright_smp::run::Workload;
    for processors in PROCESSORS {
        for program in Suite::Recorded.on(processors) {
            let Workload::Trace(trace) = workload(program, processors, false, true) else { panic!("a kernel") };
            let summary = trace.check(64).unwrap();
            assert_eq!(summary.threads, processors, "{}", PROGRAMS[program]);
            assert!(summary.references > 10_000 && summary.synchronisations > 0, "{summary:?}");
        }
    }
}

#[test]
fn seeds_give_different_runs_and_an_interval() {
    let run = cell(2, Scheme::Clear);
    let cycles: Vec<f64> = (1..=3).map(|seed| simulate(run, seed, true).unwrap().found.unwrap().cycles).collect();
    assert!(cycles[0] != cycles[1] && cycles[1] != cycles[2], "{cycles:?}");
    let found = over_seeds(&cycles).unwrap();
    assert!(found.low < found.median && found.median < found.high, "{found:?}");
    assert_eq!(over_seeds(&cycles[..1]).unwrap(), sealwright_measure::Interval::exact(cycles[0]));
}

#[test]
fn the_grid_holds_each_run_once_and_a_clear_one_for_each() {
    let runs = runs();
    let once: std::collections::BTreeSet<_> = runs.iter().collect();
    assert_eq!(once.len(), runs.len());
    assert!(runs.iter().all(|run| once.contains(&Run { scheme: Scheme::Clear, ..*run })));
    let clear = |run: &Run| Run { scheme: Scheme::Clear, ..*run };
    assert!(runs.iter().all(|run| run.seeds(true) <= clear(run).seeds(true)));
}
