//! The tables: the paper's table with ours, routing results, rates by packet length, software and cores.

use sealwright_measure::{Cell, Column, Interval, Table};

use super::{
    design::{Column as Printed, DESIGNS, Design, Mode},
    kept::{SEEDS, Synthesis},
    measured::Measured,
    quantities::{ONE_LANE, OURS},
    software::{ETHERNET, LENGTHS, LONGEST},
};
use crate::figure::cell;

pub(super) fn tables(measured: &Measured) -> Vec<Table> {
    let mut tables = vec![
        cores(measured),
        routed(measured),
        packets(measured),
        elsewhere(measured),
        software(measured),
        checked(measured),
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn or(figure: Option<Interval>, why: &str) -> Cell {
    figure.map_or_else(|| Cell::empty(why), cell)
}

fn count(figure: Option<u32>) -> Cell {
    figure.map_or_else(|| Cell::empty(""), |figure| Cell::count(figure.into()))
}

/// The paper's table with our figures.
fn cores(measured: &Measured) -> Table {
    let columns = [
        Column::text("core"),
        Column::number("paper: area").unit("ALMs"),
        Column::number("M9K"),
        Column::number("clock").unit("MHz"),
        Column::number("rate").unit("Gbit/s"),
        Column::number("of AES-GCM").unit("%"),
        Column::number("ours: area, bounds").unit("ALMs"),
        Column::number("M10K"),
        Column::number("ours: clock").unit("MHz"),
        Column::number("ours: rate, by one lane").unit("Gbit/s"),
        Column::number("ours: of AES-GCM").unit("%"),
    ];
    let note = "Four lanes of 128 bits. The paper's device is a 40 nm Altera FPGA with M9K memories. Our figures \
        are not from that device: the area is an estimate by Yosys for ALMs of Cyclone V, whose ends are bounds \
        (two small tables in every ALM, or one in each) and not a 95 % interval; the clock is that of one lane \
        after placing and routing on ECP5, 40 nm, speed grade 8, with nextpnr (the median of as many runs as the \
        next table says); the rate is 512 bits per cycle at that clock. AES S-boxes are in memory blocks, as in the \
        paper. Our cores hold four keys, seal and open any number of bytes, and encrypt blocks outside the text \
        with a fifth, narrow cipher; those for OCB contain the inverse cipher, whose S-boxes are in logic.";
    let mut table = Table::new("Cores: area, clock and rate", columns).with_note(note);
    let reference = measured.kept.routed(DESIGNS[5]);
    for design in DESIGNS {
        let printed =
            |column| design.printed(column).map_or_else(|| Cell::empty("none"), |value| Cell::number(value, 0));
        let columns = [Printed::Alms, Printed::Memories, Printed::Clock, Printed::Gbps, Printed::Percent];
        let mut row = vec![Cell::text(design.to_string())];
        row.extend(columns.map(printed));
        let routed = measured.kept.routed(design);
        let area = measured.kept.area(design, true);
        row.extend([
            or(area.and_then(|found| found.alms()), "not synthesised"),
            count(area.and_then(|found| found.bram)),
            or(measured.kept.clock(design), "not synthesised"),
            or(measured.kept.rate(design), "not synthesised"),
            share(routed, reference),
        ]);
        table.row(row);
    }
    table
}

/// The median clock, with its interval if it has one.
fn clock(found: &Synthesis) -> Cell {
    or(found.clock(), "")
}

/// The clock in per cent of that of another design.
fn share(found: Option<&Synthesis>, of: Option<&Synthesis>) -> Cell {
    let share = found.zip(of).and_then(|(found, of)| found.share(of));
    or(share.map(|share| share.map(|share| 100.0 * share)), "not synthesised")
}

fn routed(measured: &Measured) -> Table {
    let columns = [
        Column::text("core"),
        Column::number("LUT4"),
        Column::number("flip-flops"),
        Column::number("memories"),
        Column::number("clock").unit("MHz"),
        Column::number("runs of place and route"),
        Column::number("of the cipher's alone").unit("%"),
        Column::number("latency, four lanes").unit("cycles"),
    ];
    let note = format!(
        "The clock is the median over runs with different seeds, with its 95 % interval if there are {SEEDS} or \
         more. The last column is from simulation: cycles from when the first beat of a packet's text enters until \
         it leaves."
    );
    let mut table = Table::new("One lane, placed and routed on ECP5", columns).with_note(note);
    for design in DESIGNS {
        let Some(found) = measured.kept.routed(design) else { continue };
        table.row([
            Cell::text(design.to_string()),
            count(found.lut4),
            count(found.ff),
            count(found.bram),
            clock(found),
            Cell::count(found.seeds.len() as u64),
            share(Some(found), measured.kept.routed(Design(design.0, Mode::Alone))),
            count(measured.kept.pace(design).and_then(|pace| pace.latency)),
        ]);
    }
    table
}

/// Results on the other ECP5 family, whose memories are slower and which decides nothing, and with four lanes.
fn elsewhere(measured: &Measured) -> Table {
    let columns = [
        Column::text("core"),
        Column::text("device"),
        Column::number("lanes"),
        Column::number("clock").unit("MHz"),
        Column::number("runs of place and route"),
        Column::number("of one lane's on LFE5UM5G").unit("%"),
    ];
    let note = format!(
        "The same cores on another device, or with four lanes, where half of the AES S-boxes are in memories. The \
        four-lane cores on LFE5UM5G give the rates of “{OURS}”; where one lane stands for four, the circumstance is \
        “{ONE_LANE}”. Figures of the other device are not used in verdicts."
    );
    let mut table = Table::new("Other devices and four lanes", columns).with_note(note);
    for design in DESIGNS {
        let decides = measured.kept.routed(design);
        for found in measured.kept.others(design) {
            table.row([
                Cell::text(design.to_string()),
                Cell::text(found.device.trim_end_matches(", routed")),
                Cell::count(found.lanes.into()),
                clock(found),
                Cell::count(found.seeds.len() as u64),
                share(Some(found), decides),
            ]);
        }
    }
    table
}

/// The authenticating designs.
fn seals() -> impl Iterator<Item = Design> {
    DESIGNS.into_iter().filter(|design| design.seals())
}

fn packets(measured: &Measured) -> Table {
    let mut columns = vec![Column::text("packet")];
    columns.extend(seals().map(|design| Column::number(design.to_string()).unit("bits/cycle")));
    columns.extend(seals().map(|design| Column::number(design.to_string()).unit("Gbit/s")));
    let note = "Back-to-back packets of one length without stalls or associated data, with nonces that count. Bits \
        of text per cycle, of at most 512, from the extra time that three times as many packets take in a \
        simulation in which every byte is checked; and the rate at the clock of one lane, as above. A packet \
        occupies only the beats of its text, the last of which may not be full; for OCB, packets of one beat take \
        longer.";
    let mut table = Table::new("What packets make of four lanes", columns).with_note(note);
    for bytes in LENGTHS {
        let bits: Vec<_> = seals().map(|design| measured.kept.pace(design)?.bits(bytes)).collect();
        if bits.iter().all(Option::is_none) {
            continue;
        }
        let rates = seals().map(|design| measured.core_rate(design, bytes));
        let mut row = vec![Cell::text(format!("{bytes} B"))];
        let number = |bits: f64| Cell::number(bits, 1);
        row.extend(bits.iter().map(|&bits| bits.map_or_else(|| Cell::empty("not simulated"), number)));
        row.extend(rates.map(|rate| or(rate, "not synthesised")));
        table.row(row);
    }
    table
}

fn software(measured: &Measured) -> Table {
    let columns = [
        Column::text("in software"),
        Column::number("64 B").unit("Gbit/s"),
        Column::number("1500 B").unit("Gbit/s"),
        Column::number("9000 B").unit("Gbit/s"),
        Column::number("processor cores for the paper's core"),
        Column::number("for ours, 1500 B"),
    ];
    let note = "Sealing in place on one core of this machine, processor time, by this library. For the paper's \
        core, its rate is used for all packet lengths, because the paper gives no others; for ours, the rate with \
        packets of 1500 bytes.";
    let mut table = Table::new("Software beside the cores", columns).with_note(note);
    for design in seals() {
        let rate = |bytes| measured.software_rate(design, bytes);
        let Some(ethernet) = rate(ETHERNET) else { continue };
        let cores = |gbps: Option<Interval>| gbps?.over(ethernet);
        table.row([
            Cell::text(design.to_string()),
            or(rate(64), "not measured"),
            cell(ethernet),
            or(rate(LONGEST), "not measured"),
            or(cores(design.printed(Printed::Gbps).map(Interval::exact)), "none"),
            or(cores(measured.core_rate(design, ETHERNET)), "not synthesised"),
        ]);
    }
    table
}

fn checked(measured: &Measured) -> Table {
    let columns = [
        Column::text("core"),
        Column::number("packets"),
        Column::number("blocks"),
        Column::number("forged packets"),
        Column::number("latency").unit("cycles"),
    ];
    let note = "Results of the full regression: packets of 0 to 65,535 bytes under changing keys, with stalls on \
        every channel and with frames that are too short, too long or have wrong bytes; every byte, tag and verdict \
        is compared with this library's. Names consist of mode, cipher, lanes and the form of the S-box.";
    let mut table = Table::new("Simulated", columns).with_note(note);
    for one in &measured.kept.simulated {
        let counts = [one.packets, one.blocks, one.forged].map(Cell::count);
        let latency = count(one.latency);
        table.row([Cell::text(&one.core)].into_iter().chain(counts).chain([latency]));
    }
    table
}
