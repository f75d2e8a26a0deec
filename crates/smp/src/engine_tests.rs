use super::*;

fn engine(model: Model) -> Engine {
    Engines { model, ..Engines::default() }.aes(320, 4)
}

fn burst(model: Model, pads: usize, uses: usize) -> Vec<Cycle> {
    let (mut engine, mut pool) = (engine(model), Pool::new(pads));
    (0..uses).map(|_| pool.take(1000, &mut engine, 4)).collect()
}

#[test]
fn five_pads_serve_a_burst_of_five() {
    for model in Model::ALL {
        assert_eq!(burst(model, 5, 5), [1000; 5], "{model:?}");
    }
}

#[test]
fn the_sixth_waits_as_the_model_says() {
    assert_eq!(burst(Model::Window, 5, 7)[5..], [1320, 1320]);
    assert_eq!(burst(Model::Pipelined, 5, 7)[5..], [1320, 1400]);
    assert_eq!(burst(Model::Iterative, 5, 7)[5..], [1320, 1640]);
    assert_eq!(burst(Model::Pipelined, 0, 2), [1320, 1400]);
}

#[test]
fn a_fifth_block_takes_its_share_of_the_engine() {
    // The block that masks a tag adds a quarter of a line's interval, to occupancy and latency
    for (model, done, next) in [(Model::Window, 320, 320), (Model::Pipelined, 340, 440), (Model::Iterative, 400, 800)] {
        let mut engine = engine(model);
        assert_eq!((engine.work(0, 5), engine.work(0, 5)), (done, next), "{model:?}");
    }
}

/// A MAC's blocks are chained: two more blocks add half a line's latency, however many engines there are.
#[test]
fn more_blocks_of_a_mac_take_longer_with_any_units() {
    for units in Units::ALL {
        let mut mac = Engines { units, ..Engines::default() }.mac(320, 4);
        assert_eq!((mac.work(0, 4), mac.work(10_000, 6)), (320, 10_480), "{units:?}");
    }
}

#[test]
fn an_engine_begins_in_the_first_gap_that_is_long_enough() {
    let mut engine = engine(Model::Iterative);
    assert_eq!(engine.line(1000), 1320);
    assert_eq!(engine.line(0), 320, "earlier work is not kept waiting by later work");
    assert_eq!(engine.line(400), 720);
    assert_eq!(engine.line(500), 1640, "720 to 1000 is too short");
    assert_eq!(engine.busy.stretches, [(0, 320), (400, 720), (1000, 1640)]);
    let mut generous = Engines { units: Units::Generous, model: Model::Iterative, ..Engines::default() }.aes(320, 4);
    assert_eq!((generous.line(0), generous.line(0)), (320, 320));
}

#[test]
fn what_is_taken_far_ahead_does_not_hide_what_was_taken_before() {
    let clock = Clock::default();
    let mut busy = Busy::new(&clock);
    assert_eq!([0, 100_000, 0].map(|now| busy.take(now, 320)), [0, 100_000, 320]);
    // Intervals far before the machine's current cycle are discarded
    clock.set(50_000);
    assert_eq!(busy.take(60_000, 320), 60_000);
    assert_eq!(busy.stretches, [(60_000, 60_320), (100_000, 100_320)]);
}
