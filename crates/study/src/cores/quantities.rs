//! The figures that the paper's claims are about, by name: on its own table, on our cores, and where it has a meaning on
//! software.

use sealwright_measure::Interval;

use super::{
    design::{BITS, CIPHERS, Cipher, Column, DESIGNS, Design, Mode},
    measured::Measured,
    software::LONGEST,
};
use crate::quantity::{Quantities, Quantity, QuantityKind};

/// The circumstance of the paper's own figures.
const PRINTED: &str = "the paper's own table";
/// That of our cores: area as an ALM-class estimate of four lanes, clocks of one lane routed.
const OURS: &str = "our cores";
/// That of software.
const SOFTWARE: &str = "software here, one core";

/// What the paper prints: the same on every machine. Rates and clocks are known to half a unit.
pub(super) fn printed() -> Vec<Quantity> {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, PRINTED, QuantityKind::Arithmetic);
    let near = |value: f64| Interval::new(value, value - 0.5, value + 0.5);
    for design in DESIGNS {
        let printed = |column| design.printed(column);
        add.add(format!("ALMs/{design}"), printed(Column::Alms).map(Interval::exact));
        add.add(format!("memory blocks/{design}"), printed(Column::Memories).map(Interval::exact));
        add.add(format!("rate/{design}"), printed(Column::Gbps).map(near));
        add.add(format!("rate of four lanes/{design}"), printed(Column::Gbps).map(near));
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

/// What the authenticating cores take beyond their cipher.
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
    let alms = |design| kept.area(design)?.alms();
    let mut add = Quantities::new(&mut all, OURS, QuantityKind::Synthesised);
    for design in DESIGNS {
        add.add(format!("ALMs/{design}"), alms(design));
        let blocks = kept.area(design).and_then(|found| found.bram);
        add.add(format!("memory blocks/{design}"), blocks.map(|blocks| Interval::exact(f64::from(blocks))));
        match kept.clocks(design) {
            Some(clocks) => add.add(format!("rate/{design}"), clocks.map(|mhz| mhz * BITS / 1e3)),
            // Too few runs of place and route, whose clock changes from seed to seed
            None => add.once(format!("rate/{design}"), kept.rate(design).map(Interval::exact)),
        }
        let four = format!("rate of four lanes/{design}");
        match kept.four_lanes(design) {
            Some((_, Some(rate))) => add.add(four, Some(rate)),
            Some((rate, None)) => add.once(four, Some(Interval::exact(rate))),
            None => {}
        }
    }
    beyond(&mut add, alms);
    let mut add = Quantities::new(&mut all, OURS, QuantityKind::Simulated);
    for design in DESIGNS.into_iter().filter(|design| design.seals()) {
        let Some(pace) = kept.pace(design) else { continue };
        let cycles = pace.latency.map(|cycles| Interval::exact(f64::from(cycles)));
        add.add(format!("latency/{design}"), cycles);
        let bits = pace.bits(LONGEST).map(Interval::exact);
        add.add(format!("bits of text a cycle, four lanes/{design}/{LONGEST}"), bits);
    }
    let mut add = Quantities::new(&mut all, SOFTWARE, QuantityKind::Measured);
    for design in DESIGNS.into_iter().filter(|design| design.seals()) {
        add.add(format!("rate/{design}"), measured.software_rate(design, LONGEST));
        for other in DESIGNS {
            add.add(format!("rate/{design} over rate/{other}"), measured.software_ratio(design, other, LONGEST));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_measure::Verdict;

    use super::*;
    use crate::{
        cores::{kept::Kept, printed::PAPER, software::Rate},
        judgement::judge,
    };

    /// Rates of the same rounds vary together: their quotient is as narrow as it was measured.
    #[test]
    fn software_is_compared_round_by_round() {
        let [serpent, aes] = CIPHERS.map(|cipher| [Design(cipher, Mode::Gcm), Design(cipher, Mode::Ocb)]);
        let narrow = |median: f64| Interval::new(median, median * 0.99, median * 1.01);
        let rate = |design: Design, over: &[(Design, f64)]| Rate {
            design,
            bytes: LONGEST,
            gbps: Interval::new(10.0, 7.0, 13.0),
            over: over.iter().map(|(other, ratio)| (*other, narrow(*ratio))).collect(),
        };
        let software = vec![
            rate(serpent[0], &[(serpent[1], 0.9)]),
            rate(serpent[1], &[(aes[0], 1.1)]),
            rate(aes[0], &[(aes[1], 0.9)]),
            rate(aes[1], &[]),
        ];
        let judged = judge(&PAPER.claims, &quantities(&Measured { kept: Kept::default(), software })).unwrap();
        for id in ["speed-mode", "fastest"] {
            let claim = judged.iter().find(|one| one.id == id).unwrap();
            assert_eq!(claim.verdict(SOFTWARE), Some(Verdict::Holds), "{id}: {claim:?}");
        }
    }
}
