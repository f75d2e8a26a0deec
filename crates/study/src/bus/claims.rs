//! The thesis's claims, judged: a verdict for each variant of a node's engines, since the thesis names none. The simulator is deterministic, so
//! figures are exact for its settings; what they say of other settings is in the tables.

use sealwright_measure::Verdict;
use sealwright_smp::{Config, scheme::SchemeName};

use super::grid::{Grid, LATENCIES, PROCESSORS, Scheme, VARIANTS, Variant};
use crate::{
    judgement::{Judged, Judgement},
    paper::{Paper, Sentence},
};

pub(super) fn judge(paper: &Paper, grid: &Grid) -> Vec<Judged> {
    paper.claims.iter().map(|sentence| judged(sentence, paper, grid)).collect()
}

/// Mean losses of GCM and CBC by processors and latency.
struct Pair {
    name: String,
    gcm: f64,
    cbc: f64,
}

fn pairs(grid: &Grid, variant: Variant, interval: u64) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for processors in PROCESSORS {
        for latency in LATENCIES {
            let mean = |scheme| grid.mean(processors, 64, false, scheme);
            let both = (mean(Scheme::gcm(variant, latency)), mean(Scheme::cbc(variant, latency, interval)));
            if let (Some(gcm), Some(cbc)) = both {
                pairs.push(Pair { name: format!("{processors} P, {latency} cycles"), gcm, cbc });
            }
        }
    }
    pairs
}

/// The thesis's own pairs.
fn printed(paper: &Paper) -> Vec<Pair> {
    let Some(table) = paper.table("figure 5.1") else { return Vec::new() };
    let pair = |row: &crate::paper::Row, at: usize| Pair {
        name: format!("{} P, {} cycles", row.label, LATENCIES[at]),
        gcm: row.values[at],
        cbc: row.values[at + 2],
    };
    table.rows.iter().flat_map(|row| [pair(row, 0), pair(row, 1)]).collect()
}

fn shown(pairs: &[Pair]) -> String {
    let words = pairs.iter().map(|pair| format!("{}: GCM {:.2} %, CBC {:.2} %", pair.name, pair.gcm, pair.cbc));
    words.collect::<Vec<_>>().join("; ")
}

fn known(holds: bool, evidence: String) -> Judgement {
    Judgement { verdict: Verdict::known(holds), evidence }
}

fn judged(sentence: &Sentence, paper: &Paper, grid: &Grid) -> Judged {
    let mut judged = Judged::new(sentence);
    let by_variant = |judged: &mut Judged, what: &str, find: &dyn Fn(Variant) -> Judgement| {
        for variant in VARIANTS {
            judged.add(sentence, &format!("{}{what}", variant.name()), find(variant));
        }
    };
    let better = |pairs: &[Pair]| known(pairs.iter().all(|pair| pair.gcm < pair.cbc), shown(pairs));
    // More than nine times less is no less than claimed
    let gain = |pairs: &[Pair]| known(pairs.iter().all(|pair| pair.cbc >= 4.0 * pair.gcm), shown(pairs));
    match sentence.id.as_str() {
        "gain" => {
            judged.add(sentence, "the thesis's own figure: direction", better(&printed(paper)));
            judged.add(sentence, "the thesis's own figure: magnitude", gain(&printed(paper)));
            by_variant(&mut judged, ": direction", &|variant| better(&pairs(grid, variant, 1)));
            by_variant(&mut judged, ": magnitude", &|variant| gain(&pairs(grid, variant, 1)));
        }
        "better" => {
            judged.add(sentence, "the thesis's own figure", better(&printed(paper)));
            by_variant(&mut judged, "", &|variant| better(&pairs(grid, variant, 1)));
        }
        "insensitive" => {
            judged.add(sentence, "the thesis's own figure", insensitive(&printed(paper)));
            by_variant(&mut judged, "", &|variant| insensitive(&pairs(grid, variant, 1)));
        }
        "interval-gcm" => by_variant(&mut judged, "", &|variant| {
            let pairs = pairs(grid, variant, 10);
            let wins = pairs.iter().filter(|pair| pair.gcm < pair.cbc).count();
            known(2 * wins > pairs.len(), format!("in {wins} of {}: {}", pairs.len(), shown(&pairs)))
        }),
        "pads" => {
            for variant in &VARIANTS[1..3] {
                let mean = |pads| grid.mean(8, 64, false, Scheme::pads(*variant, 320, pads));
                if let (Some(five), Some(sixteen)) = (mean(5), mean(16)) {
                    let evidence = format!("5 pads lose {five:.2} %, 16 lose {sixteen:.2} %");
                    judged.add(sentence, &variant.name(), known(five - sixteen <= 1.0, evidence));
                }
            }
        }
        "interval" => by_variant(&mut judged, "", &|variant| interval(grid, variant)),
        "storage" => judged.add(sentence, "8 processors, 100 processes", storage()),
        "line" => {
            for variant in &VARIANTS[1..3] {
                judged.add(sentence, &variant.name(), line(grid, *variant));
            }
        }
        _ => {}
    }
    judged
}

fn insensitive(pairs: &[Pair]) -> Judgement {
    // By processors: 160 cycles, then 320
    let extra: Vec<f64> = pairs.chunks_exact(2).map(|pair| pair[1].gcm - pair[0].gcm).collect();
    let words = extra.iter().zip(PROCESSORS).map(|(extra, p)| format!("{p} P: {extra:+.2}"));
    known(extra.iter().all(|extra| *extra < 1.0), format!("per cent more: {}", words.collect::<Vec<_>>().join("; ")))
}

fn interval(grid: &Grid, variant: Variant) -> Judgement {
    let (one, ten) = (pairs(grid, variant, 1), pairs(grid, variant, 10));
    let cases: Vec<_> = one.iter().zip(&ten).collect();
    let words = cases.iter().map(|(one, ten)| format!("{}: {:.2} % and {:.2} %", one.name, one.cbc, ten.cbc));
    known(cases.iter().all(|(one, ten)| ten.cbc < one.cbc), words.collect::<Vec<_>>().join("; "))
}

fn storage() -> Judgement {
    let bits = |name| {
        let mut config = Config::default();
        config.machine.processors = 8;
        config.scheme.name = SchemeName::find(name).unwrap_or(SchemeName::CLEAR);
        config.scheme.functional = false;
        config.storage_bits() / 8
    };
    let (gcm, chain) = (bits("gcm"), bits("cbc"));
    known(
        gcm < chain,
        format!("GCM {gcm} bytes with keys, tags' blocks and one key for all; the masks of CBC {chain} bytes"),
    )
}

fn line(grid: &Grid, variant: Variant) -> Judgement {
    let schemes = [("GCM", Scheme::gcm(variant, 320)), ("CBC", Scheme::cbc(variant, 320, 1))];
    let (mut all, mut words) = (true, Vec::new());
    for (name, scheme) in schemes {
        for processors in PROCESSORS {
            let mean = |line| grid.mean(processors, line, false, scheme);
            if let (Some(short), Some(long)) = (mean(64), mean(128)) {
                all &= long < short;
                words.push(format!("{name}, {processors} P: {short:.2} % to {long:.2} %"));
            }
        }
    }
    known(all, words.join("; "))
}
