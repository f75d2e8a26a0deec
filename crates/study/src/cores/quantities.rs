//! The named figures that the paper's claims are judged by: from its own table, from our cores, and from software
//! where that is meaningful.

use sealwright_measure::Interval;

use super::{
    design::{BITS, CIPHERS, Cipher, Column, DESIGNS, Design, Mode},
    measured::Measured,
    software::{ETHERNET, LONGEST},
};
use crate::quantity::{Quantities, Quantity, QuantityKind};

/// The circumstance of the paper's own figures.
const PRINTED: &str = "the paper's own table";
/// Our cores: rates of four lanes that were routed together, and counts of simulations with packets of [`ETHERNET`]
/// bytes.
pub(super) const OURS: &str = "our cores";
/// Rates of four lanes computed from the clock rate of one routed lane.
pub(super) const ONE_LANE: &str = "our cores, one lane's clock for four, OCB seals and opens";
/// Packets of [`LONGEST`] bytes, which the paper's cores do not support.
const JUMBO: &str = "our cores, packets of 9000 bytes";
/// Areas, whose bounds depend on how many small tables an ALM can hold. They are bounds, not 95 % intervals.
const AREAS: &str = "our cores, ALMs as bounds";
/// Areas of modes, with OCB cores that contain the inverse cipher.
const OPENING: &str = "our cores, ALMs as bounds, OCB seals and opens";
/// The same without the inverse cipher, if such cores are among the stored results.
const SEALING: &str = "our cores, ALMs as bounds, OCB only seals";
/// Software with packets of [`ETHERNET`] bytes, like the paper's.
const SOFTWARE: &str = "software here, one core";
/// Software with packets of [`LONGEST`] bytes.
const SOFTWARE_JUMBO: &str = "software here, one core, packets of 9000 bytes";

/// The figures that the paper prints, which are the same on every machine. Rates and clock rates are rounded, so known
/// to half a unit.
pub(super) fn printed() -> Vec<Quantity> {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, PRINTED, QuantityKind::Arithmetic);
    let near = |value: f64| Interval::bounds(value, value - 0.5, value + 0.5);
    for design in DESIGNS {
        let printed = |column| design.printed(column);
        add.add(format!("ALMs/{design}"), printed(Column::Alms).map(Interval::exact));
        add.add(format!("memory blocks/{design}"), printed(Column::Memories).map(Interval::exact));
        add.add(format!("rate/{design}"), printed(Column::Gbps).map(near));
        if let (Some(clock), Some(rate)) = (printed(Column::Clock), printed(Column::Gbps)) {
            add.exact(format!("512 bits at the clock : rate/{design}"), clock * BITS / 1e3 / rate);
        }
    }
    beyond(&mut add, |design| design.printed(Column::Alms).map(Interval::exact));
    for (design, cycles) in [
        (Design(Cipher::Aes, Mode::Gcm), 1.0),
        (Design(Cipher::Serpent, Mode::Gcm), 1.0),
        (Design(Cipher::Serpent, Mode::Ocb), 34.0),
    ] {
        add.exact(format!("latency/{design}"), cycles);
    }
    all
}

/// The area that the authenticating cores need in addition to their cipher.
fn beyond(add: &mut Quantities<'_>, alms: impl Fn(Design) -> Option<Interval>) {
    for cipher in CIPHERS {
        for mode in [Mode::Ocb, Mode::Gcm] {
            let (whole, alone) = (alms(Design(cipher, mode)), alms(Design(cipher, Mode::Alone)));
            let more = whole.zip(alone).map(|(whole, alone)| whole.less(alone)).filter(|more| more.high > 0.0);
            add.add(format!("ALMs beyond the cipher/{}", Design(cipher, mode)), more);
        }
    }
}

pub(super) fn quantities(measured: &Measured) -> Vec<Quantity> {
    let mut all = printed();
    let kept = &measured.kept;
    let mut add = Quantities::new(&mut all, OURS, QuantityKind::Synthesised);
    for design in DESIGNS {
        if let Some((gbps, ends)) = kept.four_lanes(design) {
            rate(&mut add, design, gbps, ends);
        }
    }
    simulated(measured, ETHERNET, &mut Quantities::new(&mut all, OURS, QuantityKind::Simulated));
    let mut add = Quantities::new(&mut all, ONE_LANE, QuantityKind::Synthesised);
    for design in DESIGNS {
        if let Some(gbps) = kept.rate(design) {
            rate(&mut add, design, gbps.median, kept.clocks(design).map(|_| gbps));
        }
    }
    areas(measured, &mut all);
    simulated(measured, LONGEST, &mut Quantities::new(&mut all, JUMBO, QuantityKind::Simulated));
    for (scope, bytes) in [(SOFTWARE, ETHERNET), (SOFTWARE_JUMBO, LONGEST)] {
        let mut add = Quantities::new(&mut all, scope, QuantityKind::Measured);
        for design in DESIGNS.into_iter().filter(|design| design.seals()) {
            add.add(format!("rate/{design}"), measured.software_rate(design, bytes));
            for other in DESIGNS {
                add.add(format!("rate/{design} over rate/{other}"), measured.software_ratio(design, other, bytes));
            }
        }
    }
    all
}

/// Adds a rate with its interval. With too few place-and-route runs the spread is unknown, as the clock rate varies
/// with the seed.
fn rate(add: &mut Quantities<'_>, design: Design, gbps: f64, ends: Option<Interval>) {
    let name = format!("rate/{design}");
    match ends {
        Some(figure) => add.add(name, figure),
        None => add.once(name, Some(Interval::exact(gbps))),
    }
}

/// Adds the simulated counts of four lanes with packets of this length. The latency does not depend on the length.
fn simulated(measured: &Measured, bytes: usize, add: &mut Quantities<'_>) {
    for design in DESIGNS.into_iter().filter(|design| design.seals()) {
        let Some(pace) = measured.kept.pace(design) else { continue };
        if bytes == ETHERNET {
            let cycles = pace.latency.map(|cycles| Interval::exact(f64::from(cycles)));
            add.add(format!("latency/{design}"), cycles);
        }
        add.add(format!("bits of text a cycle, four lanes/{design}"), pace.bits(bytes).map(Interval::exact));
    }
}

/// Adds the areas of the ciphers, and of the modes with OCB cores that can open and that cannot.
fn areas(measured: &Measured, all: &mut Vec<Quantity>) {
    let kept = &measured.kept;
    let mut add = Quantities::new(all, AREAS, QuantityKind::Synthesised);
    for design in DESIGNS.into_iter().filter(|design| !design.seals()) {
        let found = kept.area(design, true);
        add.add(format!("ALMs/{design}"), found.and_then(|found| found.alms()));
        let blocks = found.and_then(|found| found.bram);
        add.add(format!("memory blocks/{design}"), blocks.map(|blocks| Interval::exact(f64::from(blocks))));
    }
    for (scope, opens) in [(OPENING, true), (SEALING, false)] {
        if CIPHERS.iter().all(|cipher| kept.area(Design(*cipher, Mode::Ocb), opens).is_none()) {
            continue;
        }
        let alms = |design| kept.area(design, opens)?.alms();
        let mut add = Quantities::new(all, scope, QuantityKind::Synthesised);
        for design in DESIGNS.into_iter().filter(|design| design.seals()) {
            add.add(format!("ALMs/{design}"), alms(design));
        }
        beyond(&mut add, alms);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::Verdict;

    use super::*;
    use crate::{
        cores::{kept::Kept, printed::PAPER, software::Rate},
        judgement::{Judged, judge},
    };

    /// The stored results, with made-up software rates: OCB is a tenth faster at one packet length and slower at the
    /// other.
    fn measured(faster: usize) -> Measured {
        let [serpent, aes] = CIPHERS.map(|cipher| [Design(cipher, Mode::Gcm), Design(cipher, Mode::Ocb)]);
        let narrow = |median: f64| Interval::new(median, median * 0.99, median * 1.01);
        let rate = |design: Design, bytes: usize, over: &[(Design, f64)]| Rate {
            design,
            bytes,
            gbps: Interval::new(10.0, 7.0, 13.0),
            over: over.iter().map(|(other, ratio)| (*other, narrow(*ratio))).collect(),
        };
        let at = |bytes: usize| {
            let less = if bytes == faster { 0.9 } else { 1.1 };
            [
                rate(serpent[0], bytes, &[(serpent[1], less)]),
                rate(serpent[1], bytes, &[(aes[0], 1.0 / less)]),
                rate(aes[0], bytes, &[(aes[1], less)]),
                rate(aes[1], bytes, &[]),
            ]
        };
        Measured { kept: Kept::read(), software: [ETHERNET, LONGEST].into_iter().flat_map(at).collect() }
    }

    fn claim(measured: &Measured, id: &str) -> Judged {
        judge(&PAPER.claims, &quantities(measured)).unwrap().into_iter().find(|one| one.id == id).unwrap()
    }

    /// Rates from the same rounds vary together, so their ratio is as narrow as it was measured. The poster uses
    /// Ethernet packets.
    #[test]
    fn software_is_compared_round_by_round_with_packets_of_ethernet() {
        for id in ["speed-mode", "fastest"] {
            for (faster, short, long) in
                [(ETHERNET, Verdict::Holds, Verdict::DoesNotHold), (LONGEST, Verdict::DoesNotHold, Verdict::Holds)]
            {
                let claim = claim(&measured(faster), id);
                let found = [SOFTWARE, SOFTWARE_JUMBO].map(|scope| claim.verdict(scope));
                assert_eq!(found, [Some(short), Some(long)], "{id}: {claim:?}");
            }
        }
        let parallel = claim(&measured(ETHERNET), "parallel");
        assert_eq!(parallel.verdict(OURS), Some(Verdict::Holds));
        assert_eq!(parallel.verdict(JUMBO), Some(Verdict::Holds));
        let text = format!("{ETHERNET} bytes");
        assert!(parallel.reading.contains(&text) && parallel.rule.is_some_and(|rule| !rule.contains("9000")));
    }

    /// Only the paper's table has figures on GHASH alone; the claim on the card must be one that is judged here.
    #[test]
    fn the_card_shows_a_claim_that_our_cores_and_software_judge() {
        let measured = measured(ETHERNET);
        let scopes = |id: &str| claim(&measured, id).verdicts.into_iter().map(|one| one.scope).collect::<Vec<_>>();
        assert_eq!(scopes("ghash"), [PRINTED]);
        assert_eq!(PAPER.glance.claim, "speed-mode");
        assert_eq!(scopes(&PAPER.glance.claim), [PRINTED, ONE_LANE, SOFTWARE, SOFTWARE_JUMBO]);
    }

    /// Circumstances with four routed lanes must not contain figures of one lane.
    #[test]
    fn rates_are_those_of_four_lanes_and_one_lane_is_a_circumstance_of_its_own() {
        let measured = measured(ETHERNET);
        let all = quantities(&measured);
        let rate = |scope: &str, design: Design| {
            all.iter().find(|one| one.scope == scope && one.name == format!("rate/{design}")).cloned()
        };
        let mut routed = 0;
        for design in DESIGNS {
            let four = measured.kept.four_lanes(design);
            routed += usize::from(four.is_some());
            let found = rate(OURS, design);
            assert_eq!(found.as_ref().map(|one| one.figure.median), four.map(|(gbps, _)| gbps), "{design}");
            assert_eq!(found.map(|one| one.once), four.map(|(_, ends)| ends.is_none()), "{design}");
            let single = rate(ONE_LANE, design).map(|one| one.figure.median);
            assert_eq!(single, measured.kept.rate(design).map(|rate| rate.median), "{design}");
        }
        assert!(routed > 0);
        let scopes: Vec<String> = claim(&measured, "rate-aes").verdicts.into_iter().map(|one| one.scope).collect();
        assert_eq!(scopes, [PRINTED, OURS, ONE_LANE]);
    }

    /// The claim is about six designs: where only some are routed, the others are named, and a design whose interval
    /// reaches below the rate is no holding case.
    #[test]
    fn a_rate_of_one_design_is_not_that_of_all() {
        let measured = measured(ETHERNET);
        let found = claim(&measured, "hundred");
        let scopes: Vec<&str> = found.verdicts.iter().map(|one| &one.scope[..]).collect();
        assert_eq!(scopes, [PRINTED, OURS, ONE_LANE]);
        let four = DESIGNS.into_iter().filter(|design| measured.kept.four_lanes(*design).is_some()).count();
        let missing = |scope: &str| {
            let one = found.verdicts.iter().find(|one| one.scope == scope).unwrap();
            one.direction.as_ref().unwrap().missing.len()
        };
        assert_eq!([PRINTED, OURS, ONE_LANE].map(missing), [0, DESIGNS.len() - four, 0]);
        let below = DESIGNS.into_iter().any(|design| measured.kept.rate(design).is_some_and(|rate| rate.low < 100.0));
        assert!(below && found.verdict(ONE_LANE) != Some(Verdict::Holds));
    }

    /// An OCB core that can open contains the inverse cipher, which the area in the poster's table does not allow for.
    #[test]
    fn areas_of_cores_that_open_are_a_circumstance_of_their_own() {
        let measured = measured(ETHERNET);
        for id in ["smaller", "hashing", "area-mode"] {
            let claim = claim(&measured, id);
            let scopes: Vec<&str> = claim.verdicts.iter().map(|one| &one.scope[..]).collect();
            assert_eq!(scopes, [PRINTED, OPENING, SEALING], "{id}");
            assert!(claim.reading.contains("inverse cipher") && claim.reading.contains("bounds"), "{id}");
        }
        for id in ["area-cipher", "sram"] {
            let claim = claim(&measured, id);
            let scopes: Vec<&str> = claim.verdicts.iter().map(|one| &one.scope[..]).collect();
            assert_eq!(scopes, [PRINTED, AREAS], "{id}");
            assert!(claim.reading.contains("bounds"), "{id}");
        }
        let alms = |design: Design| design.printed(Column::Alms).unwrap();
        for cipher in CIPHERS {
            let beyond = alms(Design(cipher, Mode::Ocb)) - alms(Design(cipher, Mode::Alone));
            assert!(beyond < alms(Design(cipher, Mode::Alone)), "room for an inverse cipher");
        }
    }

    /// Whether the OCB core can open decides which mode is smaller.
    #[test]
    fn cores_that_only_seal_are_not_mixed_with_those_that_open() {
        let measured = measured(ETHERNET);
        let verdicts = |id| [OPENING, SEALING].map(|scope| claim(&measured, id).verdict(scope).unwrap());
        assert_eq!(verdicts("smaller"), [Verdict::DoesNotHold, Verdict::Holds]);
        assert_eq!(verdicts("area-mode"), [Verdict::DoesNotHold; 2]);
    }
}
