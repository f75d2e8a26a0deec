#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn presets_are_the_tables() {
    for name in PRESETS {
        Config::preset(name).unwrap().check().unwrap();
    }
    assert_eq!(Config::preset("thesis"), Some(Config::default()), "what is not said otherwise is the thesis's");
    let wide = Config::for_line(128);
    assert_eq!((wide.l1.bytes, wide.l2.bytes, wide.machine.line), (131_072, 2_097_152, 128));
    assert_eq!(Config::preset("table-9"), None);
}

#[test]
fn settings_change_one_thing_or_say_why_not() {
    let base = Config::default();
    assert_eq!(base.set("bus.width=16").unwrap().bus.width, 16);
    assert_eq!(base.set("bus.mode=atomic").unwrap().bus.mode, BusMode::Atomic);
    for wrong in ["bus.width", "bus.nothing=1", "bus.width=many", "bus.width=\"1\"\nx=2", "no such=1"] {
        assert!(base.set(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_makes_no_machine_is_refused() {
    let wrong = [
        "machine.processors=1",
        "machine.processors=65",
        "machine.line=48",
        "l1.ways=3",
        "l2.bytes=1000",
        "bus.width=0",
        "machine.sync=1",
        "machine.chips=3",
        "machine.mshrs=0",
        "machine.mshrs=65",
        "processes.count=0",
        "processes.count=17",
        "memory.row=100",
        "memory.row_hit=500",
        "memory.counter_cache=16385",
    ];
    let links = [
        "interconnect.width=0",
        "interconnect.columns=3",
        "machine.chips=1",
        "bus.mode=atomic",
        "bus.skew=4",
        "scheme.name=senss",
        "interconnect.latency=1000000001",
        "interconnect.occupancy=1000000001",
    ];
    for setting in links {
        let bus = Config::default().set(setting).unwrap();
        assert!(bus.check().is_ok(), "{setting}");
        assert!(bus.set("interconnect.kind=mesh").unwrap().check().is_err(), "{setting}");
    }
    for setting in wrong {
        let config = Config::default().set(setting).unwrap();
        assert!(config.check().is_err(), "{setting}");
    }
}

/// Each number is allowed by itself, but multiplied by the pairs of units it is too large.
#[test]
fn pads_of_all_pairs_are_bounded_together() {
    let config =
        |settings: &[&str]| settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    let wide = ["machine.processors=64", "interconnect.kind=mesh"];
    for (settings, most) in [
        (&["scheme.name=gcm", "scheme.gcm.pads"][..], 1024),
        (
            &[
                "scheme.gcm.keys=each",
                "processes.count=16",
                "scheme.gcm.stored=16",
                "scheme.name=gcm",
                "scheme.gcm.pads",
            ],
            64,
        ),
        (&["scheme.name=cbc", "scheme.cbc.scope=pair", "scheme.cbc.masks"], 1024),
        (&["scheme.name=i2sems", "scheme.i2sems.window"], 1024),
    ] {
        let (name, others) = settings.split_last().unwrap();
        let with = |number: u64| config(&[&wide, others, &[&format!("{name}={number}")[..]]].concat()).check();
        assert_eq!(with(most), Ok(()), "{name}");
        let why = with(most + 1).unwrap_err().to_string();
        assert!(why.contains(&format!("{name} is {}", most + 1)) && why.contains("4194304"), "{why}");
    }
    config(&["machine.processors=8", "scheme.name=gcm", "scheme.gcm.pads=65536"]).check().unwrap();
}
