//! The named figures that the thesis's claims are judged by. Runs differ in their seed (inputs and memory latency), so
//! a figure is the mean over the seeds with its interval.

use sealwright_measure::Interval;
use sealwright_smp::{
    Config,
    engine::Units,
    matrix::{Cell, Strike},
    scheme::SchemeName,
    topology,
};

use super::{
    grid::{Grid, RECORDED_WITH, SYNCHRONISED_WITH},
    interconnects,
    printed::PAPER,
    programs::{PROCESSORS, Suite},
    schemes::{Changed, LATENCIES, Scheme, VARIANTS, Variant},
    seeds::over_seeds,
};
use crate::quantity::{Quantities, Quantity, QuantityKind};

/// The circumstance of the thesis's own figures.
const PRINTED: &str = "the thesis's own figure";

/// Suffix of circumstances with recorded programs.
pub(super) const RECORDED: &str = ", recorded programs";

/// Suffix of circumstances with kernels whose arrays begin at page boundaries. The alignment decides which data of two
/// processors share a line, and does not depend on the seed.
const ALIGNED: &str = ", arrays aligned to pages";

/// Suffix of circumstances in which a line does not wait for CBC's MAC.
const BACKGROUND: &str = ", MAC in the background";

/// Suffix of circumstances in which, besides, a receiver has one mask for all senders.
const ONE_MASK: &str = ", MAC in the background, one mask to receive";

/// The circumstance for a fair comparison of storage.
const KEYS: &str = "the thesis's sums, with a key for each process";

/// The ends of the gain that the thesis states: 4X to 9X.
const GAIN: [u32; 2] = [4, 9];

/// The figures that the thesis prints, which are the same on every machine.
pub(super) fn printed() -> Vec<Quantity> {
    let mut all = Vec::new();
    let mut add = Quantities::new(&mut all, PRINTED, QuantityKind::Arithmetic);
    if let Some(table) = PAPER.table("figure 5.1") {
        let loss = |scheme: Loss, processors: usize, latency: u64| {
            let column = LATENCIES.iter().position(|one| *one == latency)? + if scheme == Loss::Gcm { 0 } else { 2 };
            (scheme != Loss::CbcTen)
                .then(|| table.value(&processors.to_string(), column))
                .flatten()
                .map(|loss| vec![loss])
        };
        losses(&mut add, &loss);
    }
    let number = |name: &str| PAPER.printed.get(name).and_then(toml::Value::as_integer).map_or(f64::NAN, |n| n as f64);
    let (sum, pads) = (f64::from(128 * 9 + 100 * 9 + 99 * 14), f64::from(5 * 14 * 64));
    let (printed_bytes, senss) = (number("storage_bytes"), number("senss_bytes"));
    add.exact("bits of the sum : printed", sum / number("storage_sum_bits"));
    add.exact("bytes kept, GCM : SENSS", (printed_bytes + pads) / senss);
    // In the table of processes each entry has 9 bits. SENSS has two masks of 64 bytes for encryption and two for
    // authentication
    let gcm = |processes: f64| (128.0 * 9.0 + processes * 9.0 + 99.0 * 14.0) / 8.0 + pads;
    add.exact("bytes for 200 processes : 100/GCM", gcm(200.0) / gcm(100.0));
    add.exact("bytes for 200 processes : 100/SENSS", 2.0);
    let mut add = Quantities::new(&mut all, KEYS, QuantityKind::Arithmetic);
    add.exact("bytes kept, GCM : SENSS", (printed_bytes + 100.0 * pads) / senss);
    all
}

/// A scheme whose loss is computed.
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

/// One value per seed.
type Samples = Option<Vec<f64>>;

/// Combines two figures seed by seed, because runs with the same seed have the same inputs and memory latencies.
fn paired(a: Samples, b: Samples, of: impl Fn(f64, f64) -> f64) -> Samples {
    Some(a?.into_iter().zip(b?).map(|(a, b)| of(a, b)).collect())
}

/// Adds the mean of the samples with its interval, if there are any. A simulated figure with only one seed is marked
/// as measured once; printed figures do not vary.
fn put(add: &mut Quantities<'_>, name: String, samples: Samples) {
    let Some(samples) = samples else { return };
    let figure = over_seeds(&samples);
    if samples.len() == 1 && add.kind() != QuantityKind::Arithmetic {
        add.once(name, figure)
    } else {
        add.add(name, figure)
    }
}

/// Adds the quotient of two losses, computed seed by seed. If the divisor is zero or negative for some seeds, the
/// quotient of the means is added without a known spread; if the mean of the divisor is not positive either, nothing
/// is added.
fn put_quotient(add: &mut Quantities<'_>, name: impl Into<String>, a: Samples, b: Samples) {
    let (Some(a), Some(b)) = (a, b) else { return };
    if b.iter().all(|loss| *loss > 0.0) {
        return put(add, name.into(), paired(Some(a), Some(b), |a, b| a / b));
    }
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    let under = Some(mean(&b)).filter(|mean| *mean > 0.0);
    add.once(name, under.map(|under| Interval::exact(mean(&a) / under)));
}

/// Adds losses by number of processors and cycles per line, and by how much more cycles increase them.
fn losses(add: &mut Quantities<'_>, loss: &dyn Fn(Loss, usize, u64) -> Samples) {
    for processors in PROCESSORS {
        for (scheme, latency) in Loss::ALL.into_iter().flat_map(|scheme| LATENCIES.map(|latency| (scheme, latency))) {
            put(add, format!("loss/{}/{processors} P/{latency}", scheme.name()), loss(scheme, processors, latency));
        }
        // Quotients and differences of two losses get intervals of their own, because the seed affects both losses
        // alike
        for latency in LATENCIES {
            let gcm = || loss(Loss::Gcm, processors, latency);
            for cbc in [Loss::CbcLine, Loss::CbcTen] {
                let less = paired(loss(cbc, processors, latency), gcm(), |cbc, gcm| cbc - gcm);
                put(add, format!("points lost, {} less GCM/{processors} P/{latency}", cbc.name()), less);
                let name = format!("{} : GCM/{processors} P/{latency}", cbc.name());
                put_quotient(add, name, loss(cbc, processors, latency), gcm());
            }
        }
        // The two ends of the stated gain, expressed as differences: a difference exists even if the loss of GCM is
        // zero
        for (times, latency) in GAIN.into_iter().flat_map(|times| LATENCIES.map(|latency| (times, latency))) {
            let [cbc, gcm] = [Loss::CbcLine, Loss::Gcm].map(|scheme| loss(scheme, processors, latency));
            let name = format!("points lost, CBC, MAC a line less {times} times GCM/{processors} P/{latency}");
            put(add, name, paired(cbc, gcm, |cbc, gcm| cbc - f64::from(times) * gcm));
        }
        let slow = paired(loss(Loss::CbcLine, processors, 160), loss(Loss::Gcm, processors, 320), |cbc, gcm| cbc - gcm);
        put(add, format!("points lost, CBC in 160 less GCM in 320/{processors} P"), slow);
        for latency in LATENCIES {
            let [line, ten] = [Loss::CbcLine, Loss::CbcTen].map(|scheme| loss(scheme, processors, latency));
            let less = paired(line, ten, |line, ten| line - ten);
            put(add, format!("points lost, MAC a line less MAC in ten/{processors} P/{latency}"), less);
        }
        let more = |scheme| {
            let [fast, slow] = LATENCIES.map(|latency| loss(scheme, processors, latency));
            paired(slow, fast, |slow, fast| slow - fast)
        };
        put(add, format!("points lost by 320 cycles instead of 160/GCM/{processors} P"), more(Loss::Gcm));
        let name = format!("points lost by 320 cycles instead of 160, CBC less GCM/{processors} P");
        put(add, name, paired(more(Loss::CbcLine), more(Loss::Gcm), |cbc, gcm| cbc - gcm));
    }
}

pub(super) fn quantities(grid: &Grid) -> Vec<Quantity> {
    let mut all = printed();
    let loss = |suite, align, variant| {
        move |scheme: Loss, processors: usize, latency: u64| {
            grid.means_at(suite, processors, 64, align, scheme.scheme(variant, latency))
        }
    };
    for variant in VARIANTS {
        let mut add = Quantities::new(&mut all, variant.name(), QuantityKind::Simulated);
        losses(&mut add, &loss(Suite::Kernels, false, variant));
        pools(grid, Changed::Nothing, variant, &mut add);
        ready(grid, Changed::Nothing, variant, &mut add);
        lines(grid, variant, &mut add);
    }
    for variant in VARIANTS.into_iter().filter(|variant| variant.units == Units::Thesis) {
        let mut add = Quantities::new(&mut all, variant.name() + ALIGNED, QuantityKind::Simulated);
        losses(&mut add, &loss(Suite::Kernels, true, variant));
        let mut add = Quantities::new(&mut all, variant.name() + BACKGROUND, QuantityKind::Simulated);
        losses(&mut add, &|scheme, processors, latency| {
            grid.means(Suite::Kernels, processors, 64, scheme.scheme(variant, latency).in_background())
        });
        let mut add = Quantities::new(&mut all, variant.name() + ONE_MASK, QuantityKind::Simulated);
        losses(&mut add, &|scheme, processors, latency| {
            grid.means(Suite::Kernels, processors, 64, scheme.scheme(variant, latency).with_one_mask_to_receive())
        });
    }
    for (variant, changed) in
        RECORDED_WITH.into_iter().flat_map(|variant| Changed::PROTOCOLS.map(|changed| (variant, changed)))
    {
        let mut add = Quantities::new(&mut all, variant.name() + changed.suffix(), QuantityKind::Simulated);
        losses(&mut add, &|scheme, processors, latency| {
            grid.means_on(Suite::Kernels, processors, changed, scheme.scheme(variant, latency))
        });
        pools(grid, changed, variant, &mut add);
        ready(grid, changed, variant, &mut add);
    }
    for variant in RECORDED_WITH {
        let mut add = Quantities::new(&mut all, variant.name() + RECORDED, QuantityKind::Simulated);
        losses(&mut add, &loss(Suite::Recorded, false, variant));
    }
    for (suite, programs) in [(Suite::Kernels, ""), (Suite::Recorded, RECORDED)] {
        let scope = SYNCHRONISED_WITH.name() + programs + Changed::SyncLines.suffix();
        losses(&mut Quantities::new(&mut all, scope, QuantityKind::Simulated), &|scheme, processors, latency| {
            grid.means_on(suite, processors, Changed::SyncLines, scheme.scheme(SYNCHRONISED_WITH, latency))
        });
    }
    let mut add = Quantities::new(&mut all, "our units, 8 processors, 100 processes", QuantityKind::Simulated);
    let (gcm, chain) = (storage("gcm", 1), storage("cbc", 1));
    add.exact("bytes kept, GCM : SENSS", gcm / chain);
    let of = |keys: usize| grid.shared.iter().find(|run| run.keys == keys).map(|run| run.bytes);
    if let (Some(one), Some(each)) = (of(1), of(3)) {
        add.exact("bytes kept, GCM with a key for each of 4 processes : one key", each / one);
    }
    for (alarms, name) in grid.alarms.iter().map(|found| (found, &found.scheme)) {
        add.exact(format!("false alarms a run/{name}"), alarms.alarms as f64 / alarms.runs.max(1) as f64);
    }
    let mut add =
        Quantities::new(&mut all, "our units, 8 processors, a key for each of 100 processes", QuantityKind::Simulated);
    // Every further process adds as much as the second. SENSS has masks for 100 processes anyway
    let each = storage("gcm", 2) - gcm;
    add.exact("bytes kept, GCM : SENSS", (gcm + 99.0 * each) / chain);
    for processors in interconnects::machines(&grid.connected) {
        for kind in topology::TopologyKind::ALL {
            let scope = format!("{} of {processors} processors", kind.name());
            let mut add = Quantities::new(&mut all, scope, QuantityKind::Simulated);
            for (scheme, (name, _)) in interconnects::SCHEMES.iter().enumerate().skip(1) {
                let mean = interconnects::mean(&grid.connected, processors, kind, scheme);
                add.add(format!("per cent of time added/{name}"), mean);
            }
        }
    }
    for (scope, cells) in [
        ("attacks, simulated", &grid.matrix),
        ("attacks, simulated, lost lines asked for again", &grid.again),
        ("attacks, simulated, four misses at a time", &grid.side_by_side),
        ("attacks on memory, simulated", &grid.attacked),
    ] {
        detected(cells, &mut Quantities::new(&mut all, scope, QuantityKind::Simulated));
    }
    all
}

fn pools(grid: &Grid, changed: Changed, variant: Variant, add: &mut Quantities<'_>) {
    let means = |pads| grid.means_on(Suite::Kernels, 8, changed, Scheme::pads(variant, 320, pads));
    for few in [5, 8] {
        let more = paired(means(few), means(16), |few, many| few - many);
        put(add, format!("points lost by {few} pads instead of 16"), more);
    }
}

/// The share of lines whose pad was ready at the sender, as a mean over the kernels.
fn ready(grid: &Grid, changed: Changed, variant: Variant, add: &mut Quantities<'_>) {
    for (processors, latency) in PROCESSORS.into_iter().flat_map(|count| LATENCIES.map(|latency| (count, latency))) {
        let name = format!("share of lines whose pad was ready/{processors} P/{latency}");
        put(add, name, grid.ready(processors, changed, Scheme::gcm(variant, latency)));
    }
}

/// Lines of 128 bytes compared with lines of 64, for both throughputs in the thesis's figure 5.2. The cycles per line
/// are the same for both lengths.
fn lines(grid: &Grid, variant: Variant, add: &mut Quantities<'_>) {
    for (processors, latency) in PROCESSORS.into_iter().flat_map(|count| LATENCIES.map(|latency| (count, latency))) {
        let means = |scheme: Loss, line| grid.means(Suite::Kernels, processors, line, scheme.scheme(variant, latency));
        // The claims are about both schemes, so with one of them alone there must be no verdict
        if [Loss::Gcm, Loss::CbcLine].iter().any(|scheme| means(*scheme, 128).is_none()) {
            continue;
        }
        // Differences, because a quotient needs a positive loss
        for scheme in [Loss::Gcm, Loss::CbcLine] {
            let name = format!("points lost, 128 less 64 bytes/{}/{processors} P/{latency}", scheme.name());
            put(add, name, paired(means(scheme, 128), means(scheme, 64), |long, short| long - short));
        }
        let less = paired(means(Loss::Gcm, 128), means(Loss::CbcLine, 128), |gcm, cbc| gcm - cbc);
        put(add, format!("points lost with 128-byte lines, GCM less CBC/{processors} P/{latency}"), less);
    }
}

/// Bytes that the unit of a node stores if GCM has a key and pads for each of `processes` processes.
fn storage(name: &str, processes: usize) -> f64 {
    let mut config = Config::default();
    config.machine.processors = 8;
    config.scheme.name = SchemeName::find(name).unwrap_or(SchemeName::CLEAR);
    config.scheme.functional = false;
    config.processes.count = processes;
    let settings = ["scheme.gcm.keys=each".to_owned(), format!("scheme.gcm.stored={processes}")];
    let set = |config: Config, setting: &String| config.set(setting).unwrap_or(config);
    (settings.iter().fold(config, set).storage_bits() / 8) as f64
}

/// The median over the strikes with its interval, and the maximum.
fn spread(cell: &Cell, of: impl Fn(&Strike) -> Option<u64>) -> Option<(Interval, f64)> {
    let all: Vec<f64> = cell.strikes.iter().filter_map(of).map(|one| one as f64).collect();
    Some((Interval::of(&all, 1)?, all.into_iter().reduce(f64::max)?))
}

/// Of the strikes that found an opportunity, the number that was detected, and the number of all.
fn seen(cell: &Cell) -> [u32; 2] {
    let struck = cell.strikes.iter().filter(|strike| strike.struck.is_some());
    struck.fold([0; 2], |[seen, all], one| [seen + u32::from(one.detector.is_some()), all + 1])
}

/// The outcomes of the strikes: the share that was detected, the delay, and the harm until then. The share among the
/// strikes that were run is exact; what it implies for all such strikes is a separate figure with an interval.
fn detected(matrix: &[Cell], add: &mut Quantities<'_>) {
    let share = |cell: &Cell| {
        let [seen, all] = seen(cell);
        (all > 0).then(|| f64::from(seen) / f64::from(all))
    };
    for cell in matrix {
        let Some(exactly) = share(cell) else { continue };
        let of = format!("{}/{}", cell.scheme, cell.attack);
        add.exact(format!("share of strikes detected/{of}"), exactly);
        let [seen, all] = seen(cell);
        add.add(format!("share of all such strikes that would be detected/{of}"), Interval::of_share(seen, all));
        let counted = cell.attack.target();
        let later = spread(cell, |strike| strike.later);
        let harm = spread(cell, |strike| strike.struck.map(|_| strike.wrong_reads));
        let after = [(format!("{counted}s from a strike to its alarm"), later)];
        for (name, found) in after.into_iter().chain([("loads of a wrong value after a strike".to_owned(), harm)]) {
            if let Some((figure, most)) = found {
                add.add(format!("{name}/{of}"), figure);
                add.exact(format!("most {name}/{of}"), most);
            }
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

#[cfg(test)]
#[path = "quantities_tests.rs"]
mod tests;
