#![allow(clippy::unwrap_used)]
use super::*;

/// A point with a packet under way for each computer, over loopback.
pub(in crate::sessions) fn point(name: &str, clear_ns: f64, ratio: Interval) -> Point {
    Point {
        spec: name.parse().unwrap(),
        clients: 10_000,
        bytes: 40,
        window: 1,
        ns: Interval::exact(clear_ns).map(|ns| ns * ratio.median),
        clear_ns: Interval::exact(clear_ns),
        ratio,
        line: Line::Loopback,
        lost: 0,
        bad: 0,
        accepted: 0,
    }
}

/// What a measurement would find: the relay without encryption takes 4 microseconds.
fn made(wanted: Wanted, line: Line) -> Point {
    let Wanted { spec, clients, bytes, window } = wanted;
    Point { clients, bytes, window, line, ..point(&spec.to_string(), 4000.0, Interval::exact(1.25)) }
}

fn over_loopback(quick: bool, room: Room) -> NetworkPoints {
    let point = |wanted| Ok(Some(made(wanted, Line::Loopback)));
    loopback(quick, room, &mut Progress::new("s", &mut |_| {}), point).unwrap()
}

fn plenty() -> Room {
    Room::of(false, u64::MAX)
}

/// The computed time must be that of a line with this speed in each direction, as the shaped link has. A packet of
/// 1500 bytes is sealed into 1532, which take two Ethernet frames.
#[test]
fn a_packet_takes_the_line_for_its_segments() {
    for (bytes, on_the_wire) in [(40, 40 + 32 + 90), (1416, 1448 + 90), (1417, 1449 + 180), (1500, 1532 + 180)] {
        let packets_a_second = 1e9 / wire_ns(bytes);
        let megabits = packets_a_second * f64::from(on_the_wire) * 8.0 / 1e6;
        assert!((megabits - f64::from(MEGABITS)).abs() < 1e-6, "{bytes}: {megabits} Mbit/s each way");
    }
}

/// A line of 12.96 microseconds for a packet hides a relay of 5 or 6 altogether, or not at all.
#[test]
fn a_computed_line_hides_the_relay_or_does_not() {
    let [fast, slow] = [1.25, 1.5].map(|ratio| point("gscm(64k)", 4000.0, Interval::exact(ratio)));
    let found = NetworkPoints { points: vec![fast, slow], ..NetworkPoints::default() };
    let ratio = found.over_the_wire(&slow, &fast).unwrap();
    assert_eq!(ratio.low, 1.0);
    assert!((ratio.high - (12.96 + 6.0) / (12.96 + 5.0)).abs() < 1e-9, "{ratio:?}");
    assert!(ratio.contains(ratio.median));
    let inverse = found.over_the_wire(&fast, &slow).unwrap();
    assert!((inverse.low - 1.0 / ratio.high).abs() < 1e-9 && inverse.high == 1.0, "{inverse:?}");
    // A relay that takes longer than the line sets the pace
    let [fast, slow] = [5.0, 10.0].map(|ratio| point("gscm(64k)", 4000.0, Interval::exact(ratio)));
    let found = NetworkPoints { points: vec![fast, slow], ..NetworkPoints::default() };
    let ratio = found.over_the_wire(&slow, &fast).unwrap();
    assert!((ratio.high - 2.0).abs() < 1e-9, "{ratio:?}");
    assert!((ratio.low - (12.96 + 40.0) / (12.96 + 20.0)).abs() < 1e-9, "{ratio:?}");
}

/// Two schemes that cost the same are alike, however much the machine slowed down between them.
#[test]
fn drift_between_two_comparisons_is_no_difference() {
    let ratio = Interval::new(1.25, 1.24, 1.26);
    let (fast, slow) = (point("gscm(64k)", 4000.0, ratio), point("gcm-pre(4k)", 4200.0, ratio));
    let found = NetworkPoints { points: vec![fast, slow], ..NetworkPoints::default() };
    let told = found.over_the_wire(&slow, &fast).unwrap();
    assert_eq!(told.median, 1.0);
    assert!(told.low < 1.0 && told.high > 1.0, "{told:?}");
    // The time without encryption is as uncertain as its spread
    let [fast, slow] = [1.0, 1.5].map(|ratio| point("gscm(64k)", 4000.0, Interval::exact(ratio)));
    for (others, high) in [(4000.0, (12.96 + 6.0) / (12.96 + 4.0)), (8000.0, (12.96 + 12.0) / (12.96 + 8.0))] {
        let points = vec![fast, slow, point("gcm-on(4k)", others, ratio)];
        let told = NetworkPoints { points, ..NetworkPoints::default() }.over_the_wire(&slow, &fast).unwrap();
        assert!((told.high - high).abs() < 1e-9, "{told:?}");
    }
}

#[test]
fn clients_that_have_no_room_are_named() {
    // Two thirds of it are 512 MiB. The server's tables of 4 KB for both directions take 8 KiB for each client
    let room = Room::of(false, 768 << 20);
    let found = over_loopback(false, room);
    for name in ["gcm-pre(4k)", "gcm-on(4k)", "gcm-on(4k)-256"] {
        let spec = name.parse().unwrap();
        assert_eq!((found.why_not(spec, 100_000), found.why_not(spec, 10_000)), ("no room", "not measured"), "{name}");
        assert!(found.at(spec, 100_000, 40).is_none() && found.at(spec, 10_000, 40).is_some(), "{name}");
    }
    assert!(found.at("gscm(64k)".parse().unwrap(), 100_000, 40).is_some());
    let line = shaped(false, room, |wanted| Ok(Some(made(wanted, Line::Loopback)))).unwrap();
    assert!(line.left_out.len() >= 3 && !line.points.is_empty());
    assert!(over_loopback(true, Room::of(true, u64::MAX)).left_out.is_empty());
}

/// A point that fails after minutes must not take the others with it.
#[test]
fn what_fails_is_named_and_the_rest_is_kept() {
    let mut found = over_loopback(true, plenty());
    let measured = found.points.len();
    let fails = |wanted: Wanted| match wanted.bytes {
        40 => Err(load::LoadError::NotBound(7, wanted.clients)),
        _ => Ok(Some(made(wanted, Line::Shaped(Interval::exact(1.0), Interval::exact(1.0))))),
    };
    found.join(Ok(shaped(true, plenty(), fails))).unwrap();
    assert!(found.unshaped.as_ref().unwrap().contains("7 of 10000 clients"), "{:?}", found.unshaped);
    assert_eq!(found.clients(), [10_000]);
    assert!(found.shaped(specs(true)[0], 10_000, 1500).is_some() && found.points.len() > measured);

    let first = specs(true)[0];
    let fails = |wanted: Wanted| match wanted.spec == first {
        true => Err(load::LoadError::Closed(1, 50)),
        false => Ok(Some(made(wanted, Line::Loopback))),
    };
    let found = loopback(true, plenty(), &mut Progress::new("s", &mut |_| {}), fails);
    let found = found.unwrap().or_nothing().unwrap();
    assert!(found.failed[0].contains("gscm(64k)") && found.failed[0].contains("closed 1 of 50"), "{:?}", found.failed);
    let fails = |_| Err(load::LoadError::Closed(1, 50));
    let found = loopback(true, plenty(), &mut Progress::new("s", &mut |_| {}), fails);
    assert!(found.unwrap().or_nothing().unwrap_err().to_string().contains("closed 1 of 50"));
}
