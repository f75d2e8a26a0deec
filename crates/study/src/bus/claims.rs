//! The thesis's claims, judged: a verdict for each engine, since the thesis names none. The simulator is deterministic, so
//! figures are exact for its settings; what they say of other settings is in the tables.

use sealwright_measure::Verdict;
use sealwright_smp::{Config, engine::Model, scheme::SchemeName};

use super::grid::{Grid, LATENCIES, PROCESSORS, Scheme};
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

fn pairs(grid: &Grid, model: Model, interval: u64) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for processors in PROCESSORS {
        for latency in LATENCIES {
            let mean = |scheme| grid.mean(processors, 64, false, scheme);
            let both = (mean(Scheme::gcm(model, latency)), mean(Scheme::Cbc(latency, interval)));
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
    let by_engine = |judged: &mut Judged, find: &dyn Fn(Model) -> Judgement| {
        for model in Model::ALL {
            judged.add(sentence, &format!("GCM's engine {}", model.name()), find(model));
        }
    };
    let gain =
        |pairs: &[Pair]| known(pairs.iter().all(|pair| (4.0..=9.0).contains(&(pair.cbc / pair.gcm))), shown(pairs));
    let better = |pairs: &[Pair]| known(pairs.iter().all(|pair| pair.gcm < pair.cbc), shown(pairs));
    match sentence.id.as_str() {
        "gain" => {
            judged.add(sentence, "the thesis's own figure", gain(&printed(paper)));
            by_engine(&mut judged, &|model| gain(&pairs(grid, model, 1)));
        }
        "better" => {
            judged.add(sentence, "the thesis's own figure", better(&printed(paper)));
            by_engine(&mut judged, &|model| better(&pairs(grid, model, 1)));
        }
        "insensitive" => {
            judged.add(sentence, "the thesis's own figure", insensitive(&printed(paper)));
            by_engine(&mut judged, &|model| insensitive(&pairs(grid, model, 1)));
        }
        "interval-gcm" => by_engine(&mut judged, &|model| {
            let pairs = pairs(grid, model, 10);
            let wins = pairs.iter().filter(|pair| pair.gcm < pair.cbc).count();
            known(2 * wins > pairs.len(), format!("in {wins} of {}: {}", pairs.len(), shown(&pairs)))
        }),
        "pads" => {
            for (name, model) in [("pipelined", 1), ("iterative", 2)] {
                let mean = |pads| grid.mean(8, 64, false, Scheme::Gcm(model, 320, pads));
                if let (Some(five), Some(sixteen)) = (mean(5), mean(16)) {
                    let evidence = format!("5 pads lose {five:.2} %, 16 lose {sixteen:.2} %");
                    judged.add(sentence, &format!("GCM's engine {name}"), known(five - sixteen <= 1.0, evidence));
                }
            }
        }
        "interval" => judged.add(sentence, "this simulator", interval(grid)),
        "storage" => judged.add(sentence, "8 processors, 100 processes", storage()),
        "line" => judged.add(sentence, "GCM pipelined, CBC", line(grid)),
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

fn interval(grid: &Grid) -> Judgement {
    let (one, ten) = (pairs(grid, Model::Pipelined, 1), pairs(grid, Model::Pipelined, 10));
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

fn line(grid: &Grid) -> Judgement {
    let schemes = [("GCM", Scheme::gcm(Model::Pipelined, 320)), ("CBC", Scheme::Cbc(320, 1))];
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
