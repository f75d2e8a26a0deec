#![allow(clippy::unwrap_used)]
use sealwright::Isa;
use sealwright_measure::{Cell, Verdict};

use super::*;
use crate::{
    judgement::judge,
    sessions::{
        figures, memory as held,
        network::tests::point as network_point,
        room::Room,
        speed::{self, SpeedPoints},
    },
};

fn nothing() -> Measured {
    let why = || std::io::Error::other("not run");
    Measured {
        best: Isa::best(),
        memory: Vec::new(),
        peers: Vec::new(),
        families: Vec::new(),
        set_up: Vec::new(),
        page: Err(why()),
        speed: SpeedPoints::default(),
        network: Err(why()),
        software: software::SoftwarePoints::default(),
        served: Err(why()),
        budget: 1 << 20,
    }
}

/// Figure 2 is repeated with one key length only, and the paper does not state its key length.
#[test]
fn the_length_of_keys_is_told_where_figure_2_is() {
    let figure = Interval::exact(1.0);
    let points = speed::specs().into_iter().map(|spec| {
        assert!(!spec.long, "{spec}");
        Point { spec, isa: Isa::best(), clients: 10_000, bytes: 40, forward: figure, ratio: figure, seal: figure }
    });
    let speed = SpeedPoints { points: points.collect(), left_out: Vec::new() };
    let figures = figures::figures(&Measured { speed, ..nothing() });
    let packet = figures.iter().find(|figure| figure.id == "packet-40").unwrap();
    assert!(packet.title.contains("128-bit keys") && packet.title.contains("figure 2"), "{}", packet.title);
    let apart = |id: &&str| id.starts_with("cpu-") || id.starts_with("fastest-");
    let ids: Vec<&str> = PAPER.claims.iter().map(|claim| &claim.id[..]).filter(apart).collect();
    assert_eq!(ids.len(), 7);
    for id in ids.into_iter().chain(["on-slow", "recommended"]) {
        assert!(PAPER.claim(id).unwrap().reading.contains("here it is 128 bits"), "{id}");
    }
}

/// Figure 2 has 10,000 to 100,000 clients. Results with more clients are judged separately.
#[test]
fn more_clients_than_the_paper_had_are_a_circumstance_of_their_own() {
    let point = |name: &str, clients, ratio| {
        let (spec, figure) = (name.parse().unwrap(), Interval::exact(ratio));
        Point { spec, isa: Isa::best(), clients, bytes: 40, forward: figure, ratio: figure, seal: figure }
    };
    let points = [(10_000, 1.3), (100_000, 1.3), (1_000_000, 0.9)].map(|(clients, pre)| {
        [point("gscm(64k)", clients, 1.0), point("gcm-pre(4k)", clients, pre), point("gcm-on(4k)", clients, 2.0)]
    });
    let speed = SpeedPoints { points: points.concat(), left_out: Vec::new() };
    let judged = judge(&PAPER.claims, &quantities(&Measured { speed, ..nothing() })).unwrap();
    let claim = judged.iter().find(|one| one.id == "cpu-pre-40").unwrap();
    let scope = format!("the paper's tables, {}", Isa::best());
    assert_eq!(claim.verdict(&scope), Some(Verdict::Holds));
    let beyond = format!("{scope}, beyond the paper's 100,000 clients");
    assert_eq!(claim.verdict(&beyond), Some(Verdict::DoesNotHold));
    let two = claim.verdicts.iter().find(|one| one.scope == scope).unwrap();
    assert_eq!(two.direction.as_ref().unwrap().cases, [2, 0, 0]);
}

/// Both ratios to GSCM contain the time of GSCM with its uncertainty; their quotient does not need it.
#[test]
fn computed_and_stored_schedules_are_compared_without_gscm() {
    let point = |name: &str, ratio| {
        let (spec, forward) = (name.parse().unwrap(), Interval::exact(100.0));
        Point { spec, isa: Isa::best(), clients: 10_000, bytes: 40, forward, ratio, seal: forward }
    };
    let points = vec![
        point("gscm(64k)", Interval::new(1.25, 1.20, 1.30)),
        point("gcm-pre(4k)", Interval::new(1.36, 1.34, 1.38)),
        point("gcm-on(4k)", Interval::new(1.30, 1.28, 1.32)),
    ];
    let speed = SpeedPoints { points, ..SpeedPoints::default() };
    let judged = judge(&PAPER.claims, &quantities(&Measured { speed, ..nothing() })).unwrap();
    let claim = judged.iter().find(|one| one.id == "on-slow").unwrap();
    assert_eq!(claim.verdict(&format!("the paper's tables, {}", Isa::best())), Some(Verdict::DoesNotHold));
}

/// Times from the same rounds vary together, so their ratio is as narrow as it was measured.
#[test]
fn what_was_measured_in_the_same_rounds_is_divided_round_by_round() {
    let wide = |median: f64| Interval::new(median, median * 0.7, median * 1.3);
    let narrow = Interval::new(1.1, 1.09, 1.11);
    let point = software::Point {
        clients: 10_000,
        bytes: 40,
        ns: [wide(1.0); 3],
        over: [wide(2.0), wide(2.2)],
        on_over_pre: narrow,
    };
    let spec = |name: &str| name.parse().unwrap();
    let (gscm, pre) = (spec("gscm(64k)"), spec("gcm-pre(64k)"));
    let set_up = vec![
        set_up::Admitted { spec: gscm, time: wide(1.0), over: None },
        set_up::Admitted { spec: pre, time: wide(1.1), over: Some((gscm, narrow)) },
    ];
    let software = software::SoftwarePoints { points: vec![point], left_out: Vec::new() };
    let judged = judge(&PAPER.claims, &quantities(&Measured { software, set_up, ..nothing() })).unwrap();
    for id in ["on-slow", "set-up"] {
        let claim = judged.iter().find(|one| one.id == id).unwrap();
        let [only] = &claim.verdicts[..] else { panic!("{claim:?}") };
        assert_eq!(only.direction.as_ref().unwrap().verdict, Verdict::Holds, "{id}: {only:?}");
    }
}

#[test]
fn of_memory_table_2_says_yes_and_what_was_not_measured_has_no_verdict() {
    let memory = Spec::all().into_iter().map(|spec| held::held(spec, 1 << 20).unwrap()).collect();
    let measured = Measured { memory, ..nothing() };
    let judged = judge(&PAPER.claims, &quantities(&measured)).unwrap();
    let verdict = |id: &str, scope| judged.iter().find(|one| one.id == id).unwrap().verdict(scope);
    for id in ["lowest", "twice"] {
        assert_eq!(verdict(id, PRINTED), Some(Verdict::Holds), "{id}");
    }
    // Our records contain no scratch space, so a client with GCM-On(0) takes less than twice as much as with GSCM
    assert_eq!(verdict("twice", "records here, all accounted for"), Some(Verdict::DoesNotHold));
    assert!(judged.iter().filter(|one| one.verdicts.is_empty()).count() >= 10);
}

#[test]
fn sizes_of_tables_say_of_how_many_clients_they_are() {
    let [spec, fastest] = ["gscm(4k)", "gscm(64k)"].map(|name| name.parse().unwrap());
    let point = families::Point { spec, fastest, clients: 300, bytes: 40, ratio: Interval::exact(1.1) };
    let mut found = Vec::new();
    sizes(&[point], &mut found);
    assert_eq!(found[0].scope, "every size of table, one cluster of 300 clients");
    assert_eq!(found[0].name, "packet, other x : gscm(64k)/40/gscm(4k)");
}

#[test]
fn numbers_of_clients_that_were_searched_for_once_decide_nothing() {
    let served = |name: &str, payload, stable| {
        let ended = crate::sessions::capacity::Ended::Paging;
        Served { spec: name.parse().unwrap(), bytes: 128, payload, reported: stable, stable, step: 10, ended }
    };
    let all: Vec<Served> =
        LENGTHS.iter().flat_map(|&bytes| [served("gscm(64k)", bytes, 900), served("gcm-pre(0)", bytes, 300)]).collect();
    let mut found = Vec::new();
    stable(&all, &mut Quantities::new(&mut found, "a server", QuantityKind::Measured));
    assert!(found.len() >= 3 && found.iter().all(|one| one.once), "{found:?}");
    let ratio = found.iter().find(|one| one.name == "stable clients, GSCM : other/40 bytes/gcm-pre(0)/128").unwrap();
    assert!((ratio.figure.median - 3.0).abs() < 1e-9 && ratio.figure.low < 3.0 && ratio.figure.high > 3.0);
}

/// The verdict on a claim about figure 1 where the line is computed.
fn over_a_computed_line(points: Vec<network::Point>, claim: &str) -> Verdict {
    let unshaped = Some("no root".to_owned());
    let network = Ok(network::NetworkPoints { points, unshaped, ..network::NetworkPoints::default() });
    let judged = judge(&PAPER.claims, &quantities(&Measured { network, ..nothing() })).unwrap();
    let claim = judged.iter().find(|one| one.id == claim).unwrap();
    let [only] = &claim.verdicts[..] else { panic!("{claim:?}") };
    assert!(only.scope.contains("computed, relay and line overlapping or not"), "{}", only.scope);
    only.direction.as_ref().unwrap().verdict
}

/// Relays of 5 and 6 microseconds may both be hidden by a line of 13.
#[test]
fn a_computed_line_does_not_decide_what_a_real_one_could_hide() {
    let point = |name, ratio| network_point(name, 4000.0, Interval::exact(ratio));
    let points = |slow| vec![point("gscm(64k)", 1.25), point("gcm-pre(4k)", slow)];
    assert_eq!(over_a_computed_line(points(1.5), "net-pre-40"), Verdict::CannotBeTold);
    assert_eq!(over_a_computed_line(points(1.2), "net-pre-40"), Verdict::DoesNotHold);
    let long = |slow| points(slow).into_iter().map(|point| network::Point { bytes: 1500, ..point }).collect();
    assert_eq!(over_a_computed_line(long(1.5), "net-1500"), Verdict::Holds);
}

/// The schemes were measured one after the other, the second when the machine was slower.
#[test]
fn drift_between_two_comparisons_decides_nothing() {
    let ratio = Interval::new(1.25, 1.24, 1.26);
    let points = vec![network_point("gscm(64k)", 4000.0, ratio), network_point("gcm-pre(4k)", 4200.0, ratio)];
    assert_eq!(over_a_computed_line(points, "net-pre-40"), Verdict::CannotBeTold);
}

/// In a quick run it is not the machine that has no room.
#[test]
fn the_table_says_why_a_number_of_clients_is_missing() {
    let (spec, figure) = ("gcm-pre(4k)".parse().unwrap(), Interval::exact(1.0));
    let point =
        |clients| Point { spec, isa: Isa::best(), clients, bytes: 40, forward: figure, ratio: figure, seal: figure };
    let why = Room::of(true, 64 << 30).fits(1 << 30).unwrap_err();
    let speed = SpeedPoints { points: vec![point(10_000)], left_out: vec![(spec, 100_000, why)] };
    let tables = tables::tables(&Measured { speed, ..nothing() });
    let shown = tables.iter().find(|table| table.title.contains("Figure 2 anew")).unwrap();
    let cells: Vec<String> = shown.rows.iter().flatten().map(Cell::shown).collect();
    assert!(cells.iter().any(|cell| cell.contains("more than the 400 MiB of a quick run")), "{cells:?}");
}
