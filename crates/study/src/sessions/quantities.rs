//! The named figures that the paper's claims are judged by.

use sealwright_measure::Interval;
use sealwright_session::{SchemeKind, Spec, Strategy};

use super::{
    capacity::Served,
    families,
    measured::Measured,
    memory::Held,
    network::{self, Line},
    printed::PAPER,
    set_up, software,
    speed::{LENGTHS, Point},
    tables,
};
use crate::quantity::{Quantities, Quantity, QuantityKind};

/// The circumstance of the paper's own figures.
const PRINTED: &str = "the paper's own tables";

/// The largest number of clients in the paper's figure 2.
const PAPERS_MOST: u32 = 100_000;

/// The paper's GCM schemes.
fn papers() -> impl Iterator<Item = Spec> {
    let kinds = families::SIZES.into_iter().flat_map(|x| [SchemeKind::GcmPre(x), SchemeKind::GcmOn(x)]);
    kinds.flat_map(|kind| [false, true].map(|long| Spec { kind, long }))
}

/// The name of the scheme without the key length, followed by that length: `gcm-pre(4k)/128`.
fn named(spec: Spec) -> String {
    format!("{}/{}", Spec { long: false, ..spec }, if spec.long { 256 } else { 128 })
}

/// The figures that the paper prints, which are the same on every machine.
pub(super) fn printed() -> Vec<Quantity> {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, PRINTED, QuantityKind::Arithmetic);
    let room = 2.0 * 4096.0 * f64::from(1 << 20);
    for spec in papers() {
        let gscm = Spec { kind: SchemeKind::Gscm(Strategy::Zero), ..spec };
        if let (Some(bytes), Some(least)) = (tables::printed(spec), tables::printed(gscm)) {
            add.exact(format!("bytes : GSCM/{}", named(spec)), bytes / least);
            if matches!(spec.kind, SchemeKind::GcmPre(Strategy::T64k) | SchemeKind::GcmOn(Strategy::T64k)) {
                add.exact(format!("bytes of 100,000 clients : memory and paging file/{spec}"), 1e5 * bytes / room);
            }
        }
        let stable = |spec| tables::printed_clients(spec)[1];
        if let (Some(ours), Some(other)) = (stable(gscm), stable(spec)) {
            add.exact(format!("stable clients, GSCM : other/both lengths/{}", named(spec)), ours / other);
        }
    }
    // RFC 2675: the payload's length has 32 bits; the IPv6 header has 40 bytes
    add.exact("bytes of 2^32 blocks : of the largest jumbogram", 2f64.powi(36) / (2f64.powi(32) - 1.0 + 40.0));
    for (bytes, gain) in [("40", "gain_40"), ("1500", "gain_1500")] {
        let gain = PAPER.printed.get(gain).and_then(toml::Value::as_float);
        add.add(format!("largest gain of section 5.6/{bytes}"), gain.map(Interval::exact));
    }
    all
}

pub(super) fn quantities(measured: &Measured) -> Vec<Quantity> {
    let mut all = printed();
    memory(measured, "records here, all accounted for", |held| held.accounted, &mut all);
    memory(measured, "records here, without tables", |held| held.record as f64, &mut all);
    if let Ok(served) = &measured.served {
        let scope = format!("a server with {} MiB", measured.budget >> 20);
        stable(served, &mut Quantities::new(&mut all, scope, QuantityKind::Measured));
    }
    speeds(measured, &mut all);
    network(measured, &mut all);
    sizes(&measured.families, &mut all);
    let scope = format!("admitting {} clients in turn to empty places, one cluster", set_up::CLIENTS);
    let mut add = Quantities::new(&mut all, scope, QuantityKind::Measured);
    let name =
        |spec: Spec| format!("set-up of a client/{}", spec.to_string().replace(['(', ')'], "/").trim_end_matches('/'));
    for set_up::Admitted { spec, time, over } in &measured.set_up {
        add.add(name(*spec), *time);
        if let Some((gscm, ratio)) = over {
            add.add(format!("{} over {}", name(*spec), name(*gscm)), *ratio);
        }
    }
    let pre = Spec { kind: SchemeKind::GcmPre(Strategy::T4k), long: false };
    let first = measured.speed.clients().first().copied();
    let packet = first.and_then(|clients| measured.speed.at(measured.best, pre, clients, LENGTHS[0]));
    if let (Ok(page), Some(packet)) = (&measured.page, packet) {
        let mut add = Quantities::new(&mut all, "pages of a file, past the system's cache", QuantityKind::Measured);
        add.add("time to read a page : time of a packet", page.over(packet.forward));
    }
    all
}

/// Each table size compared with the fastest in its family. The number of clients is part of the circumstance, as it
/// determines what fits into caches.
fn sizes(points: &[families::Point], all: &mut Vec<Quantity>) {
    for families::Point { spec, fastest, clients, bytes, ratio } in points {
        let scope = format!("every size of table, one cluster of {clients} clients");
        let mut add = Quantities::new(all, scope, QuantityKind::Measured);
        add.add(format!("packet, other x : {fastest}/{bytes}/{spec}"), *ratio);
    }
}

fn memory(measured: &Measured, scope: &str, bytes: fn(&Held) -> f64, all: &mut Vec<Quantity>) {
    let of = |spec: Spec| measured.memory.iter().find(|held| held.spec == spec).map(bytes);
    let mut add = Quantities::new(all, scope, QuantityKind::Measured);
    for spec in papers() {
        // GSCM without a table needs as much memory as GSCM with carry-less multiplication
        let gscm = Spec { kind: SchemeKind::Gscm(Strategy::Zero), ..spec };
        if let (Some(bytes), Some(least)) = (of(spec), of(gscm)) {
            add.exact(format!("bytes : GSCM/{}", named(spec)), bytes / least);
        }
    }
    for x in families::SIZES {
        for long in [false, true] {
            let spec = Spec { kind: SchemeKind::Gscm(x), long };
            add.add(format!("bytes of a client/{}", named(spec)), of(spec).map(Interval::exact));
        }
    }
}

/// Ratios of stable clients, each of which is known to within a step. A search is done only once, and its result
/// depends on other load on machine and disk, so no verdict is based on it.
fn stable(all: &[Served], add: &mut Quantities<'_>) {
    let near = |served: &Served| {
        let at = |steps: u64| (served.stable + steps * served.step) as f64;
        // A search may end below its first step; zero would have no quotient
        Interval::new(at(0).max(1.0), at(0).max(1.0), at(1).max(1.0))
    };
    let gscm = |served: &Served| {
        let kind = SchemeKind::Gscm(Strategy::T64k);
        all.iter().find(|one| one.spec == Spec { kind, ..served.spec } && one.payload == served.payload)
    };
    for served in all.iter().filter(|served| papers().any(|spec| spec == served.spec)) {
        let ratio = gscm(served).and_then(|gscm| near(gscm).over(near(served)));
        add.once(format!("stable clients, GSCM : other/{} bytes/{}", served.payload, named(served.spec)), ratio);
    }
    let short = |served: &Served| all.iter().find(|one| one.spec == served.spec && one.payload == LENGTHS[0]);
    for served in all.iter().filter(|served| served.payload == LENGTHS[1]) {
        let ratio = short(served).and_then(|short| near(served).over(near(short)));
        add.once(format!("stable clients, 1500 : 40 bytes/{}", named(served.spec)), ratio);
    }
}

/// Time divided by that of GSCM: table-based software, then the library with tables and with carry-less multiplication
/// at each level.
fn speeds(measured: &Measured, all: &mut Vec<Quantity>) {
    let mut add = Quantities::new(all, "software of tables, as in 2009", QuantityKind::Measured);
    for software::Point { clients, bytes, over: [pre, on], on_over_pre, .. } in &measured.software.points {
        let name = |scheme: &str| format!("packet : GSCM/{scheme}/{bytes}/{clients}");
        add.add(name("pre"), *pre);
        add.add(name("on"), *on);
        add.add(format!("{} over {}", name("on"), name("pre")), *on_over_pre);
    }
    let trios = [
        ("the paper's tables", Strategy::T64k, Strategy::T4k),
        ("carry-less multiplication", Strategy::Clmul, Strategy::Clmul),
    ];
    for point in &measured.speed.points {
        let mut add = Quantities::new(all, format!("every scheme, {}", point.isa), QuantityKind::Measured);
        add.add(format!("nanoseconds of a packet/{}/{}/{}", point.spec, point.bytes, point.clients), point.forward);
    }
    for isa in measured.levels() {
        for (name, shared, own) in trios {
            let at = |kind, clients, bytes| measured.speed.at(isa, Spec { kind, long: false }, clients, bytes);
            for (clients, bytes) in measured.speed.clients().into_iter().flat_map(|c| LENGTHS.map(|bytes| (c, bytes))) {
                // Numbers of clients beyond the paper's are a circumstance of their own
                let beyond = if clients > PAPERS_MOST { ", beyond the paper's 100,000 clients" } else { "" };
                let mut add = Quantities::new(all, format!("{name}, {isa}{beyond}"), QuantityKind::Measured);
                let over = |slow, fast| over(at(slow, clients, bytes)?, at(fast, clients, bytes)?);
                let kinds = [SchemeKind::Gscm(shared), SchemeKind::GcmPre(own), SchemeKind::GcmOn(own)];
                let ([gscm, pre, on], name) = (kinds, |scheme| format!("packet : GSCM/{scheme}/{bytes}/{clients}"));
                add.add(name("pre"), over(pre, gscm));
                add.add(name("on"), over(on, gscm));
                // The quotient of the two would contain the uncertainty of GSCM twice
                add.add(format!("{} over {}", name("on"), name("pre")), over(on, pre));
            }
        }
    }
}

/// The ratio of two times. Each was measured relative to the same work without encryption in the same rounds.
fn over(slow: Point, fast: Point) -> Option<Interval> {
    slow.ratio.over(fast.ratio)
}

/// Time divided by that of GSCM(64k). Each was measured in turns with the same relay without encryption.
fn network(measured: &Measured, all: &mut Vec<Quantity>) {
    let Ok(found) = &measured.network else { return };
    // GSCM with keys of the same length
    let gscm = |point: &network::Point| Spec { kind: SchemeKind::Gscm(Strategy::T64k), long: point.spec.long };
    let at = |point: &network::Point, window| found.under_way(gscm(point), point.clients, point.bytes, window);
    let loopback =
        |window| found.points.iter().filter(move |point| point.window == window && point.line == Line::Loopback);
    let mut add = Quantities::new(all, "the relay over loopback, saturated, processor time", QuantityKind::Measured);
    for point in loopback(network::WINDOW) {
        let fast = at(point, network::WINDOW);
        add_one(&mut add, point, fast.and_then(|fast| point.ratio.over(fast.ratio)));
    }
    if found.unshaped.is_some() {
        let scope = "one packet under way a computer, 100 Mbit/s computed, relay and line overlapping or not";
        let mut add = Quantities::new(all, scope, QuantityKind::Measured);
        for point in loopback(1) {
            let fast = at(point, 1);
            add_one(&mut add, point, fast.and_then(|fast| found.over_the_wire(point, &fast)));
        }
    }
    let scope = "one packet under way a computer, a line of 100 Mbit/s, wall time for each packet";
    let mut add = Quantities::new(all, scope, QuantityKind::Measured);
    for point in &found.points {
        let Line::Shaped(_, ratio) = point.line else { continue };
        let fast = found.shaped(gscm(point), point.clients, point.bytes);
        add_one(&mut add, point, fast.and_then(|(_, fast)| ratio.over(fast)));
    }
}

/// Adds the ratio of a scheme of figure 1 to GSCM(64k).
fn add_one(add: &mut Quantities<'_>, point: &network::Point, ratio: Option<Interval>) {
    let name = match point.spec.kind {
        SchemeKind::GcmPre(Strategy::T4k) => "pre",
        SchemeKind::GcmOn(Strategy::T4k) => "on",
        _ => return,
    };
    let bits = if point.spec.long { 256 } else { 128 };
    add.add(format!("packet over a network : GSCM/{name}/{bits}/{}/{}", point.bytes, point.clients), ratio);
}

#[cfg(test)]
#[path = "quantities_tests.rs"]
mod tests;
