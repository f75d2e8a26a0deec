//! Figures of other publications compared with ours: SENSS and I2SEMS (from their abstracts), and the share of MACs in
//! IDE, which follows from the formats in the CXL and PCIe standards.

use rayon::prelude::*;
use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::run::{RunError, Simulation, Workload};

use super::{
    error::GridError,
    programs::{PROCESSORS, Suite, kernel},
    schemes::Scheme,
};

/// Numbers of processors for I2SEMS, which its authors ran on up to 16 processors.
const WITH_I2SEMS: [usize; 4] = [PROCESSORS[0], PROCESSORS[1], PROCESSORS[2], 16];

/// A type of link for which the standard determines the MACs' share of the bytes.
struct Link {
    name: &'static str,
    settings: &'static [&'static str],
    /// The size of the MACs according to the standard, in per cent of [`LINE`].
    published: f64,
    source: &'static str,
}

const CXL: &str = "CXL 2.0, section 11: of the slots of 5 and 128 flits with 4 slots each, a MAC takes one";
const CXL_256: &str = "CXL 3.0, section 11: of the slots of 2 and 32 flits with 15 slots each, a MAC takes one";
const PCIE: &str = "PCIe 6.0, section 6.33: a prefix of 4 bytes for each packet and a MAC of 12 for each aggregate; 64 bytes with a header of 16";

/// Bytes that a line takes on a link without its MAC: five slots of 16 bytes, or a packet of 64 bytes with a header of
/// 16.
const LINE: f64 = 80.0;

const fn cxl(name: &'static str, settings: &'static [&'static str], slots: f64, source: &'static str) -> Link {
    Link { name, settings, published: 100.0 / slots, source }
}

const fn pcie(name: &'static str, settings: &'static [&'static str], packets: f64) -> Link {
    Link { name, settings, published: 100.0 * (4.0 + 12.0 / packets) / LINE, source: PCIE }
}

/// The links, fully loaded: senders end no MAC epoch early.
const LINKS: [Link; 8] = [
    cxl("CXL IDE, 68-byte flits, containment", &["scheme.name=cxl-ide", "scheme.cxl-ide.early=false"], 20.0, CXL),
    cxl("CXL IDE, 68-byte flits, skid", &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid"], 512.0, CXL),
    cxl(
        "CXL IDE, 256-byte flits, containment",
        &["scheme.name=cxl-ide", "scheme.cxl-ide.early=false", "scheme.cxl-ide.flit=256"],
        30.0,
        CXL_256,
    ),
    cxl(
        "CXL IDE, 256-byte flits, skid",
        &["scheme.name=cxl-ide", "scheme.cxl-ide.release=skid", "scheme.cxl-ide.flit=256"],
        480.0,
        CXL_256,
    ),
    pcie("PCIe IDE, a MAC a packet", &["scheme.name=pcie-ide"], 1.0),
    pcie("PCIe IDE, a MAC for 2 packets", &["scheme.name=pcie-ide", "scheme.pcie-ide.aggregation=2"], 2.0),
    pcie("PCIe IDE, a MAC for 4 packets", &["scheme.name=pcie-ide", "scheme.pcie-ide.aggregation=4"], 4.0),
    pcie("PCIe IDE, a MAC for 8 packets", &["scheme.name=pcie-ide", "scheme.pcie-ide.aggregation=8"], 8.0),
];

/// The results of the runs for this comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// For each of [`LINKS`]: the bytes that MACs add, in per cent.
    shares: Vec<f64>,
    /// I2SEMS: for each number of processors and program, the loss and the share of keystream that was ready in time,
    /// in per cent.
    i2sems: Vec<(f64, f64)>,
}

/// Runs the simulations that are not part of the grid.
pub(super) fn beside(quick: bool) -> Result<Beside, GridError> {
    let cells: Vec<(usize, usize)> =
        WITH_I2SEMS.into_iter().flat_map(|p| Suite::Kernels.programs().map(move |program| (p, program))).collect();
    Ok(Beside {
        shares: LINKS.par_iter().map(|link| share(link, quick)).collect::<Result<_, _>>()?,
        i2sems: cells.into_par_iter().map(|(p, program)| i2sems(p, program, quick)).collect::<Result<_, _>>()?,
    })
}

/// Runs a simulation, whose result must be right, and returns these statistics.
fn numbers<const N: usize>(simulation: &Simulation, names: [&str; N]) -> Result<[f64; N], GridError> {
    let report = simulation.run(&mut |_| {})?;
    if !matches!(report.result, Some(Ok(_))) {
        return Err(GridError::Wrong(format!("{}: {:?}", simulation.config.scheme.name.as_str(), report.result)));
    }
    Ok(names.map(|name| report.stats.number(name)))
}

fn share(link: &Link, quick: bool) -> Result<f64, GridError> {
    let config = Scheme::Clear.config(4, 64, 1).map_err(RunError::from)?;
    let set = |config: sealwright_smp::Config, setting: &&str| config.set(setting);
    let config = link.settings.iter().try_fold(config, set).map_err(RunError::from)?;
    let simulation = Simulation::new(config, Workload::Kernel(kernel(0, quick), false));
    // A link carries lines from memory as well as from other nodes
    let [bytes, transfers, fills] = numbers(&simulation, ["bus.tag_bytes", "transfers.count", "memory.fills"])?;
    Ok(bytes / (transfers + fills) / LINE * 100.0)
}

fn i2sems(processors: usize, program: usize, quick: bool) -> Result<(f64, f64), GridError> {
    let run = |scheme: Scheme| {
        let config = scheme.config(processors, 64, 1).map_err(RunError::from)?;
        let simulation = Simulation::new(config, Workload::Kernel(kernel(program, quick), false));
        numbers(
            &simulation,
            ["cycles", "scheme.send.uses", "scheme.send.waited", "scheme.receive.uses", "scheme.receive.waited"],
        )
    };
    let ([clear, ..], [cycles, sent, late_sent, received, late_received]) = (run(Scheme::Clear)?, run(Scheme::I2sems)?);
    let ready = 1.0 - (late_sent + late_received) / (sent + received).max(1.0);
    Ok(((cycles / clear - 1.0) * 100.0, ready * 100.0))
}

/// The table. `losses` returns the mean losses of a scheme in the grid, one for each number of processors.
pub(super) fn table(beside: &Beside, losses: impl Fn(Scheme) -> Vec<f64>) -> Table {
    let heads = [
        Column::text("what"),
        Column::number("published").unit("%"),
        Column::number("here").unit("%"),
        Column::text("source, and what is compared"),
    ];
    let note = "Units thesis, 64-byte lines. The abstracts name neither engines nor caches, so losses can be \
        expected to agree only roughly. Shares of MACs are counted in runs of FFT with 4 processors whose senders \
        end no epoch early; they agree if the model has the sizes of the standard.";
    let mut table = Table::new("Published figures of other schemes beside ours", heads).with_note(note);
    let number = |value: Option<f64>| value.map_or_else(|| Cell::empty("not run"), |value| Cell::number(value, 2));
    let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let over = |scheme| mean(&losses(scheme));
    let (lost, ready): (Vec<f64>, Vec<f64>) = beside.i2sems.iter().copied().unzip();
    let rows = [
        (
            "SENSS: mean slowdown",
            Cell::number(2.03, 2),
            over(Scheme::Senss(8)),
            "Zhang et al., HPCA 2005, abstract, at its highest level of security; here 2, 4 and 8 processors",
        ),
        (
            "I2SEMS: mean slowdown",
            Cell::number(4.0, 2),
            mean(&lost),
            "Lee, Ahn, Kim, PACT 2007, abstract, on up to 16 processors; here 2, 4, 8 and 16, memory's lines left out",
        ),
        (
            "I2SEMS: keystream found ready, at most",
            Cell::number(78.0, 2),
            ready.iter().copied().reduce(f64::max),
            "the same abstract: “as high as”; here the best program and machine",
        ),
        (
            "CXL IDE, skid: mean slowdown",
            Cell::empty("little to none"),
            over(Scheme::CxlIde(true)),
            "CXL Consortium, questions and answers on IDE",
        ),
    ];
    for (what, published, here, source) in rows {
        table.row([Cell::text(what), published, number(here), Cell::text(source)]);
    }
    for (place, link) in LINKS.iter().enumerate() {
        let here = number(beside.shares.get(place).copied());
        let what = Cell::text(format!("{}: bytes of MACs", link.name));
        table.row([what, Cell::number(link.published, 2), here, Cell::text(link.source)]);
    }
    table
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn macs_take_what_the_standards_give_them() {
        for link in &LINKS {
            let here = share(link, true).unwrap();
            assert!((here - link.published).abs() < 0.02, "{}: {here} for {}", link.name, link.published);
        }
    }

    #[test]
    fn i2sems_finds_keystream_and_loses_time_where_it_does_not() {
        let (loss, ready) = i2sems(4, 0, true).unwrap();
        assert!(loss > 0.0 && ready > 0.0 && ready < 100.0, "{loss} {ready}");
    }
}
