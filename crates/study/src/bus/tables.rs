//! The tables: figures 5.1 to 5.3 with all engines and programs, transfer rates, storage, sweeps, other schemes,
//! attacks.

use sealwright_measure::{Cell, Column, Table};
use sealwright_smp::{attack::Attack, engine::Units, matrix};

use super::{
    grid::{Grid, MASKS, POOL, RECORDED_WITH, Run},
    interconnects, memory,
    printed::PAPER,
    processes,
    programs::{PROCESSORS, PROGRAMS, Suite},
    published,
    schemes::{Changed, LATENCIES, Scheme, VARIANTS},
    seeds::{of_attacks, over_seeds},
    strikes,
};

pub(super) fn tables(grid: &Grid) -> Vec<Table> {
    vec![
        losses(grid, "Figure 5.1 repeated: losses with 64-byte lines", 64, false, 1, "figure 5.1"),
        losses(grid, "Figure 5.1 repeated, arrays aligned to pages", 64, true, 1, "figure 5.1"),
        losses(
            grid,
            "Figure 5.2 repeated: losses with 128-byte lines and caches twice as large",
            128,
            false,
            1,
            "figure 5.2",
        ),
        losses(
            grid,
            "Figure 5.3 repeated: losses with 64-byte lines, CBC with a MAC in ten lines",
            64,
            false,
            10,
            "figure 5.3",
        ),
        recorded(grid),
        rates(grid),
        others(grid),
        published::table(&grid.beside, |scheme| {
            PROCESSORS.into_iter().filter_map(|processors| grid.mean(processors, 64, false, scheme)).collect()
        }),
        pools(grid),
        masks(grid),
        storage(),
        processes::table(&grid.shared),
        interconnects::clear(&grid.connected),
        interconnects::table(&grid.connected),
        memory::table(&grid.protected),
        memory::attacks(&grid.attacked, strikes::on_each(of_attacks(grid.quick))),
        attacks(grid),
        alarms(grid),
    ]
}

/// For each row its name, scheme, and column in the thesis.
pub(super) fn rows(units: &[Units], interval: u64) -> Vec<(String, Scheme, usize)> {
    let variants = || VARIANTS.into_iter().filter(|variant| units.contains(&variant.units));
    let mut rows = Vec::new();
    for (place, latency) in LATENCIES.into_iter().enumerate() {
        // GCM is the same with the thesis's units and with equal ones
        for variant in variants().filter(|variant| variant.units != Units::Equal || units.len() == 1) {
            rows.push((format!("GCM, {latency} cycles, {}", variant.name()), Scheme::gcm(variant, latency), place));
        }
    }
    for (place, latency) in LATENCIES.into_iter().enumerate() {
        for variant in variants() {
            let name = format!("CBC, {latency} cycles, {}", variant.name());
            rows.push((name, Scheme::cbc(variant, latency, interval), 2 + place));
        }
    }
    rows
}

fn loss(value: Option<f64>) -> Cell {
    value.map_or_else(|| Cell::empty("not run"), |value| Cell::number(value, 2))
}

fn losses(grid: &Grid, title: &str, line: usize, align: bool, interval: u64, printed: &str) -> Table {
    let heads = [Column::text("scheme, AES unit"), Column::number("processors")];
    let programs = kernels().map(|name| Column::number(name).unit("%"));
    let ends = [Column::number("mean").unit("%"), Column::number("thesis").unit("%")];
    let note = "Per cent of the execution time without a scheme. The thesis does not specify the engine, so its \
        figure is shown beside each. Where it is missing, the thesis has only an image and does not give the values \
        in its text.";
    let mut table = Table::new(title, heads.into_iter().chain(programs).chain(ends)).with_note(note);
    let units = if align || line == 128 { &Units::ALL[..1] } else { &Units::ALL[..] };
    for (name, scheme, column) in rows(units, interval) {
        for processors in PROCESSORS {
            let mut row = vec![Cell::text(&name), Cell::count(processors as u64)];
            row.extend(Suite::Kernels.programs().map(|program| {
                loss(grid.loss(Run { program, processors, line, align, changed: Changed::Nothing, scheme }))
            }));
            row.push(loss(grid.mean(processors, line, align, scheme)));
            let value = PAPER.table(printed).and_then(|table| table.value(&processors.to_string(), column));
            row.push(value.map_or_else(|| Cell::empty("an image"), |value| Cell::number(value, 2)));
            table.row(row);
        }
    }
    table
}

/// The names of the kernels.
fn kernels() -> impl Iterator<Item = &'static str> {
    Suite::Kernels.programs().map(|program| PROGRAMS[program])
}

fn recorded(grid: &Grid) -> Table {
    let heads = [Column::text("scheme, AES unit"), Column::number("processors")];
    let programs = Suite::Recorded.programs().map(|program| Column::number(PROGRAMS[program]).unit("%"));
    let ends = [Column::number("mean").unit("%"), Column::number("kernels' mean").unit("%")];
    let note = "Per cent of the execution time without a scheme, units thesis, 64-byte lines. Programs from Debian, \
        recorded with their threads, locks and instruction counts: xz, and git grep, which cannot run with two \
        threads. The mean has its 95 % interval over the seeds.";
    let mut table = Table::new("Recorded programs beside the kernels", heads.into_iter().chain(programs).chain(ends))
        .with_note(note);
    let mean = |suite, processors, scheme| {
        let found = grid.means(suite, processors, 64, scheme).and_then(|losses| over_seeds(&losses));
        found.map_or_else(|| Cell::empty("not run"), |found| Cell::interval(found, 2))
    };
    for variant in RECORDED_WITH {
        for latency in LATENCIES {
            for (name, scheme) in [
                ("GCM", Scheme::gcm(variant, latency)),
                ("CBC", Scheme::cbc(variant, latency, 1)),
                ("CBC, MAC in ten", Scheme::cbc(variant, latency, 10)),
            ] {
                for processors in PROCESSORS {
                    let name = format!("{name}, {latency} cycles, AES {}", variant.model.name());
                    let mut row = vec![Cell::text(name), Cell::count(processors as u64)];
                    row.extend(Suite::Recorded.programs().map(|program| {
                        loss(grid.loss(Run {
                            program,
                            processors,
                            line: 64,
                            align: false,
                            changed: Changed::Nothing,
                            scheme,
                        }))
                    }));
                    row.push(mean(Suite::Recorded, processors, scheme));
                    row.push(mean(Suite::Kernels, processors, scheme));
                    table.row(row);
                }
            }
        }
    }
    table
}

fn rates(grid: &Grid) -> Table {
    let heads = [Column::text("arrays, line"), Column::number("processors")];
    let note = "Cache-to-cache transfers per thousand cycles and processor, without a scheme. In LU in rows (lunc), \
        blocks of different processors share lines unless the matrix begins at a line boundary.";
    let mut table =
        Table::new("How often lines go from cache to cache", heads.into_iter().chain(kernels().map(Column::number)))
            .with_note(note);
    for (name, line, align) in [("as malloc, 64", 64, false), ("aligned, 64", 64, true), ("as malloc, 128", 128, false)]
    {
        for processors in PROCESSORS {
            let mut row = vec![Cell::text(name), Cell::count(processors as u64)];
            row.extend(Suite::Kernels.programs().map(|program| {
                let found =
                    grid.at(Run { program, processors, line, align, changed: Changed::Nothing, scheme: Scheme::Clear });
                found.map_or_else(|| Cell::empty("not run"), |found| Cell::number(found.rate, 3))
            }));
            table.row(row);
        }
    }
    table
}

fn others(grid: &Grid) -> Table {
    let heads = std::iter::once(Column::text("scheme"));
    let processors = PROCESSORS.map(|p| Column::number(format!("{p} processors")).unit("%"));
    let note = "Mean losses of the four programs, 64-byte lines, units thesis. SENSS as published: one chain, 8 \
        masks, AES in 80 cycles, one MAC per 100 lines in the background. IDE: a link from every node to a hub; the \
        MAC is sent early.";
    let mut table = Table::new("Other schemes", heads.chain(processors)).with_note(note);
    for (name, scheme) in [
        ("SENSS as published", Scheme::Senss(8)),
        ("I2SEMS", Scheme::I2sems),
        ("CXL IDE, containment", Scheme::CxlIde(false)),
        ("CXL IDE, skid", Scheme::CxlIde(true)),
        ("PCIe IDE", Scheme::PcieIde),
    ] {
        let row = PROCESSORS.map(|processors| loss(grid.mean(processors, 64, false, scheme)));
        table.row(std::iter::once(Cell::text(name)).chain(row));
    }
    table
}

fn pools(grid: &Grid) -> Table {
    let heads =
        [Column::number("pads a pair"), Column::number("pipelined").unit("%"), Column::number("iterative").unit("%")];
    let mut table =
        Table::new("Pads made ahead: GCM, 8 processors, 320 cycles a line", heads).with_note("Mean losses.");
    for pads in POOL {
        let row = [1, 2].map(|at: usize| loss(grid.mean(8, 64, false, Scheme::pads(VARIANTS[at], 320, pads))));
        table.row(std::iter::once(Cell::count(pads as u64)).chain(row));
    }
    table
}

fn masks(grid: &Grid) -> Table {
    let heads = [Column::number("masks"), Column::number("loss").unit("%")];
    let mut table = Table::new("Masks of a chain: SENSS as published, 8 processors", heads).with_note("Mean losses.");
    for masks in MASKS {
        table.row([Cell::count(masks as u64), loss(grid.mean(8, 64, false, Scheme::Senss(masks)))]);
    }
    table
}

/// The thesis's storage sums computed again: the item, the thesis's value and ours as text.
pub(super) fn storage() -> Table {
    let heads = [Column::text("what"), Column::number("thesis"), Column::number("recomputed"), Column::text("remark")];
    let mut table = Table::new("Storage of a unit: 8 processors, 100 processes", heads);
    let printed = |name: &str| PAPER.printed.get(name).and_then(toml::Value::as_integer).unwrap_or_default() as f64;
    let sum = 128 * 9 + 100 * 9 + 99 * 14;
    let none = || Cell::empty("an image");
    let bits = |value: f64| Cell::quantity(value, 0, "bit");
    let bytes = |value: f64| Cell::quantity(value, 0, "B");
    let rows = [
        ("(128·9) + (100·9) + (99·14)", bits(printed("storage_sum_bits")), bits(f64::from(sum)), "the sum is wrong"),
        (
            "the same in bytes",
            bytes(printed("storage_bytes")),
            Cell::quantity(f64::from(sum) / 8.0, 2, "B"),
            "the bytes are right: they are of the right sum",
        ),
        ("5 pads · 14 · 64 B", none(), bytes(5.0 * 14.0 * 64.0), "without the block that masks each tag"),
        ("5 pads · 14 · 80 B", Cell::empty("left out"), bytes(5.0 * 14.0 * 80.0), "with it"),
        ("5 pads · 14 · 128 B", bytes(printed("pads_128_bytes")), bytes(5.0 * 14.0 * 128.0), "without that block"),
        (
            "SENSS: 100 processes · 2 masks · 64 B, twice",
            bytes(printed("senss_bytes")),
            bytes(100.0 * 2.0 * 64.0 * 2.0),
            "for every process, while GCM's pads serve one key for all",
        ),
        (
            "GCM with a key a process: 100 · 5 · 14 · 64 B",
            Cell::empty("left out"),
            bytes(100.0 * 5.0 * 14.0 * 64.0),
            "what a fair comparison needs, or new pads at every change of process",
        ),
    ];
    for (what, thesis, ours, remark) in rows {
        table.row([Cell::text(what), thesis, ours, Cell::text(remark)]);
    }
    table
}

fn attacks(grid: &Grid) -> Table {
    let heads = std::iter::once(Column::text("scheme")).chain(Attack::ALL.map(|attack| Column::text(attack.name())));
    let note = format!(
        "Simulated: FFT and RADIX, 4 processors. Each attack struck {} times on each program, once per run, from \
         transfer 50 on, at intervals of 13 transfers. Cells show after how many more transfers (for a dropped \
         invalidation and a forged command: commands) it was detected, and by what. A node waits for one line at a \
         time, so a delayed line is not overtaken by another one of its pair. In the last rows, nodes request a \
         line again if it has not come after {} cycles, or have four misses outstanding; the thesis describes \
         neither.",
        strikes::on_each(of_attacks(grid.quick)),
        strikes::TIMEOUT
    );
    let mut table = Table::new("Attacks on the bus: what was seen, and when", heads).with_note(note);
    for (scheme, words) in matrix::rows(&grid.matrix) {
        table.row(std::iter::once(Cell::text(scheme)).chain(words.map(Cell::text)));
    }
    for (scheme, words) in matrix::rows(&grid.again) {
        table.row(std::iter::once(Cell::text(format!("{scheme}, asks again"))).chain(words.map(Cell::text)));
    }
    for (scheme, words) in matrix::rows(&grid.side_by_side) {
        table.row(std::iter::once(Cell::text(format!("{scheme}, four misses"))).chain(words.map(Cell::text)));
    }
    table
}

fn alarms(grid: &Grid) -> Table {
    let heads = [Column::text("scheme"), Column::text("runs of")]
        .into_iter()
        .chain(["runs", "false alarms", "lines and commands seen"].map(Column::number));
    let note = "Runs without an attacker: every run of the grid, in which lines are really encrypted and checked; \
        and runs of the attacked programs with other seeds, where memory takes 160 to 164 cycles and requests may \
        time out.";
    let mut table = Table::new("False alarms", heads).with_note(note);
    let all = grid
        .quiet
        .values()
        .map(|found| ("the grid", found))
        .chain(grid.alarms.iter().map(|found| ("the victim", found)));
    for (of, found) in all {
        let counts = [found.runs, found.alarms, found.looked_at].map(Cell::count);
        table.row([Cell::text(&found.scheme), Cell::text(of)].into_iter().chain(counts));
    }
    table
}
