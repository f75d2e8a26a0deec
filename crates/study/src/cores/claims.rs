//! The paper's claims as predicates, on its own table, on our cores, and where it has a meaning on software.

use sealwright_measure::{Interval, Verdict};

use super::{
    design::{CIPHERS, Cipher, Column, DESIGNS, Design, Mode},
    measured::Measured,
    printed::PAPER,
    software::LONGEST,
};
use crate::{
    judgement::{Case, Judged, Judgement, every, quotient},
    paper::Sentence,
};

/// The circumstance of the paper's own figures.
pub(super) const PRINTED: &str = "the paper's own table";
/// That of our cores: area as an ALM-class estimate of four lanes, clocks of one lane routed.
const OURS: &str = "our cores";
/// That of software.
const SOFTWARE: &str = "software here, one core";

/// Every claim of the paper with all its verdicts.
pub(super) fn judge(measured: &Measured) -> Vec<Judged> {
    let judged = |sentence: &Sentence| {
        let mut judged = Judged::new(sentence);
        for place in [Place::Printed, Place::Ours, Place::Software] {
            if let Some(found) = found(&sentence.id, &Figures { place, measured }) {
                judged.add(sentence, place.scope(), found);
            }
        }
        judged
    };
    PAPER.claims.iter().map(judged).collect()
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Printed,
    Ours,
    Software,
}

impl Place {
    fn scope(self) -> &'static str {
        match self {
            Place::Printed => PRINTED,
            Place::Ours => OURS,
            Place::Software => SOFTWARE,
        }
    }
}

/// The figures of one place.
struct Figures<'a> {
    place: Place,
    measured: &'a Measured,
}

impl Figures<'_> {
    /// ALMs of four lanes.
    fn area(&self, design: Design) -> Option<Interval> {
        match self.place {
            Place::Printed => design.printed(Column::Alms).map(Interval::exact),
            Place::Ours => self.measured.kept.area(design)?.alms(),
            Place::Software => None,
        }
    }

    /// Gbit/s: four lanes at the core's clock, or long messages in software.
    fn rate(&self, design: Design) -> Option<Interval> {
        match self.place {
            Place::Printed => design.printed(Column::Gbps).map(Interval::exact),
            Place::Ours => self.measured.kept.rate(design).map(Interval::exact),
            Place::Software => self.measured.software_rate(design, LONGEST),
        }
    }

    /// Cycles from a beat going in to its coming out.
    fn latency(&self, design: Design) -> Option<f64> {
        match (self.place, design) {
            // The text gives these two alone
            (Place::Printed, Design(_, Mode::Gcm)) => Some(1.0),
            (Place::Printed, Design(Cipher::Serpent, Mode::Ocb)) => Some(34.0),
            (Place::Ours, _) => self.measured.kept.pace(design)?.latency_cycles.map(f64::from),
            _ => None,
        }
    }
}

fn found(claim: &str, figures: &Figures<'_>) -> Option<Judgement> {
    let design = |mode: Mode| move |cipher| Design(cipher, mode);
    let area = |design| figures.area(design);
    let rate = |design| figures.rate(design);
    // A figure of one mode over that of another, with each cipher
    let modes = |what: &str, over: Mode, under: Mode, of: &dyn Fn(Design) -> Option<Interval>, verdict: &Judge| {
        let case = |cipher| ratio(design(over)(cipher), design(under)(cipher), of, verdict);
        every(what, &CIPHERS.into_iter().filter_map(case).collect::<Vec<_>>())
    };
    let ciphers = |what: &str, mode: Mode, of: &dyn Fn(Design) -> Option<Interval>, verdict: &Judge| {
        every(what, &[ratio(design(mode)(Cipher::Serpent), design(mode)(Cipher::Aes), of, verdict)?])
    };
    match claim {
        "area-cipher" => ciphers("ALMs", Mode::Alone, &area, &|ratio| Verdict::between(ratio, 3.5, 4.5)),
        "speed-cipher" => ciphers("rate", Mode::Alone, &rate, &|ratio| Verdict::between(ratio, 1.0 / 1.1, 1.1)),
        "area-mode" => modes("ALMs", Mode::Gcm, Mode::Ocb, &area, &|ratio| Verdict::above(ratio, 2.0)),
        "speed-mode" => modes("rate", Mode::Gcm, Mode::Ocb, &rate, &|ratio| Verdict::below(ratio, 0.9)),
        "ghash" => modes("clock", Mode::Gcm, Mode::Alone, &rate, &|ratio| Verdict::below(ratio, 0.9)),
        "fastest" => {
            let (ours, reference) = (Design(Cipher::Serpent, Mode::Ocb), Design(Cipher::Aes, Mode::Gcm));
            every("rate", &[ratio(ours, reference, &rate, &|ratio| Verdict::between(ratio, 1.25, f64::INFINITY))?])
        }
        "hundred" if figures.place != Place::Software => {
            let cases = DESIGNS.into_iter().filter_map(|design| {
                let figure = rate(design)?;
                let verdict = Verdict::between(figure, 100.0, f64::INFINITY);
                Some(Case { name: design.to_string(), figure, verdict })
            });
            every("Gbit/s", &cases.collect::<Vec<_>>())
        }
        "latency" => {
            let latency = |design| figures.latency(design).map(Interval::exact);
            let verdict = |ratio| Verdict::between(ratio, 5.0, f64::INFINITY);
            modes("cycles", Mode::Ocb, Mode::Gcm, &latency, &verdict)
        }
        _ => None,
    }
}

type Judge = dyn Fn(Interval) -> Verdict;

/// The case of one design's figure over another's.
fn ratio(over: Design, under: Design, of: &dyn Fn(Design) -> Option<Interval>, verdict: &Judge) -> Option<Case> {
    let figure = quotient(of(over)?, of(under)?);
    Some(Case { name: format!("{over} : {under}"), figure, verdict: verdict(figure) })
}
