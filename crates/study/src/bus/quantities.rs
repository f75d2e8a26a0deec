//! The figures that the thesis's claims are about, by name. The simulator is deterministic, so figures are exact for its
//! settings; what they say of other settings is in the tables.

use sealwright_smp::{Config, matrix::Cell, scheme::SchemeName};

use super::{
    grid::{Grid, LATENCIES, PROCESSORS, Scheme, VARIANTS, Variant},
    printed::PAPER,
};
use crate::quantity::{Kind, Quantities, Quantity};

/// The circumstance of the thesis's own figures.
const PRINTED: &str = "the thesis's own figure";

/// What a fair comparison of storage needs.
const KEYS: &str = "the thesis's sums, with a key for each process";

/// What the thesis prints: the same on every machine.
pub(super) fn printed() -> Vec<Quantity> {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, PRINTED, Kind::Arithmetic);
    if let Some(table) = PAPER.table("figure 5.1") {
        let loss = |scheme: Loss, processors: usize, latency: u64| {
            let column = LATENCIES.iter().position(|one| *one == latency)? + if scheme == Loss::Gcm { 0 } else { 2 };
            (scheme != Loss::CbcTen).then(|| table.value(&processors.to_string(), column)).flatten()
        };
        losses(&mut add, &loss);
    }
    let number = |name: &str| PAPER.printed.get(name).and_then(toml::Value::as_integer).map_or(f64::NAN, |n| n as f64);
    let (sum, pads) = (f64::from(128 * 9 + 100 * 9 + 99 * 14), f64::from(5 * 14 * 64));
    let (printed_bytes, senss) = (number("storage_bytes"), number("senss_bytes"));
    add.exact("bits of the sum : printed", sum / number("storage_sum_bits"));
    add.exact("bytes kept, GCM : SENSS", (printed_bytes + pads) / senss);
    // The table of processes has 9 bits for each, SENSS two masks of 64 bytes to encrypt and two to authenticate
    let gcm = |processes: f64| (128.0 * 9.0 + processes * 9.0 + 99.0 * 14.0) / 8.0 + pads;
    add.exact("bytes for 200 processes : 100/GCM", gcm(200.0) / gcm(100.0));
    add.exact("bytes for 200 processes : 100/SENSS", 2.0);
    let mut add = Quantities::new(&mut all, KEYS, Kind::Arithmetic);
    add.exact("bytes kept, GCM with a key for each process : SENSS", (printed_bytes + 100.0 * pads) / senss);
    all
}

/// What loses time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    Gcm,
    CbcLine,
    CbcTen,
}

impl Loss {
    const ALL: [Loss; 3] = [Loss::Gcm, Loss::CbcLine, Loss::CbcTen];

    fn name(self) -> &'static str {
        match self {
            Loss::Gcm => "GCM",
            Loss::CbcLine => "CBC, MAC a line",
            Loss::CbcTen => "CBC, MAC in ten",
        }
    }

    fn scheme(self, variant: Variant, latency: u64) -> Scheme {
        match self {
            Loss::Gcm => Scheme::gcm(variant, latency),
            Loss::CbcLine => Scheme::cbc(variant, latency, 1),
            Loss::CbcTen => Scheme::cbc(variant, latency, 10),
        }
    }
}

/// Losses by processors and cycles of a line, and what more cycles add to them.
fn losses(add: &mut Quantities<'_>, loss: &dyn Fn(Loss, usize, u64) -> Option<f64>) {
    for processors in PROCESSORS {
        for (scheme, latency) in Loss::ALL.into_iter().flat_map(|scheme| LATENCIES.map(|latency| (scheme, latency))) {
            if let Some(loss) = loss(scheme, processors, latency) {
                add.exact(format!("loss/{}/{processors} P/{latency}", scheme.name()), loss);
            }
        }
        let more = |scheme| Some(loss(scheme, processors, LATENCIES[1])? - loss(scheme, processors, LATENCIES[0])?);
        if let (Some(gcm), Some(cbc)) = (more(Loss::Gcm), more(Loss::CbcLine)) {
            add.exact(format!("points lost by 320 cycles instead of 160/GCM/{processors} P"), gcm);
            let name = format!("points lost by 320 cycles instead of 160, CBC less GCM/{processors} P");
            add.exact(name, cbc - gcm);
        }
    }
}

pub(super) fn quantities(grid: &Grid) -> Vec<Quantity> {
    let mut all = printed();
    for variant in VARIANTS {
        let mut add = Quantities::new(&mut all, variant.name(), Kind::Simulated);
        losses(&mut add, &|scheme, processors, latency| {
            grid.mean(processors, 64, false, scheme.scheme(variant, latency))
        });
        pools(grid, variant, &mut add);
        lines(grid, variant, &mut add);
    }
    let mut add = Quantities::new(&mut all, "our units, 8 processors, 100 processes", Kind::Simulated);
    let [gcm, chain] = ["gcm", "cbc"].map(storage);
    add.exact("bytes kept, GCM : SENSS", gcm / chain);
    detected(&grid.matrix, &mut Quantities::new(&mut all, "attacks, simulated", Kind::Simulated));
    all
}

fn pools(grid: &Grid, variant: Variant, add: &mut Quantities<'_>) {
    let mean = |pads| grid.mean(8, 64, false, Scheme::pads(variant, 320, pads));
    for few in [5, 8] {
        if let (Some(few_lose), Some(many_lose)) = (mean(few), mean(16)) {
            add.exact(format!("points lost by {few} pads instead of 16"), few_lose - many_lose);
        }
    }
}

fn lines(grid: &Grid, variant: Variant, add: &mut Quantities<'_>) {
    for processors in PROCESSORS {
        let mean = |scheme: Loss, line| grid.mean(processors, line, false, scheme.scheme(variant, 320));
        for scheme in [Loss::Gcm, Loss::CbcLine] {
            if let (Some(short), Some(long)) = (mean(scheme, 64), mean(scheme, 128)) {
                add.exact(format!("loss, 128 : 64 bytes/{}/{processors} P", scheme.name()), long / short);
            }
        }
        if let (Some(gcm), Some(cbc)) = (mean(Loss::Gcm, 128), mean(Loss::CbcLine, 128)) {
            add.exact(format!("loss with 128-byte lines, GCM : CBC/{processors} P"), gcm / cbc);
        }
    }
}

/// Bytes that a node's unit keeps.
fn storage(name: &str) -> f64 {
    let mut config = Config::default();
    config.machine.processors = 8;
    config.scheme.name = SchemeName::find(name).unwrap_or(SchemeName::CLEAR);
    config.scheme.functional = false;
    (config.storage_bits() / 8) as f64
}

/// Shares of the strikes that were detected.
fn detected(matrix: &[Cell], add: &mut Quantities<'_>) {
    let share = |cell: &Cell| {
        let struck = cell.strikes.iter().filter(|strike| strike.struck.is_some());
        let (all, seen) = struck.fold((0, 0), |(all, seen), one| (all + 1, seen + usize::from(one.detector.is_some())));
        (all > 0).then(|| seen as f64 / f64::from(all))
    };
    for cell in matrix {
        if let Some(share) = share(cell) {
            add.exact(format!("share of strikes detected/{}/{}", cell.scheme, cell.attack), share);
        }
    }
    let of = |scheme: &str, cell: &Cell| (cell.scheme == scheme).then(|| share(cell)).flatten();
    for gcm in matrix.iter().filter(|cell| cell.scheme == "gcm") {
        let senss = matrix.iter().filter(|cell| cell.attack == gcm.attack).find_map(|cell| of("senss", cell));
        if let (Some(gcm_share), Some(senss)) = (share(gcm), senss) {
            add.exact(format!("share of strikes detected, gcm less senss/{}", gcm.attack), gcm_share - senss);
        }
    }
}
