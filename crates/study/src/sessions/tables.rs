//! The tables: bytes per client in the paper and here, time per packet, memory of other libraries.

use sealwright_measure::{Cell, Column, Table};
use sealwright_session::{SchemeKind, Spec};

use super::{measured::Measured, memory::Held, printed::PAPER, speed::LENGTHS};
use crate::figure::cell;

pub(super) fn tables(measured: &Measured) -> Vec<Table> {
    let mut tables = vec![memory(measured), peers(measured), clients(measured)];
    tables.push(software(measured));
    tables.extend(line(measured));
    tables.extend(LENGTHS.map(|bytes| network(measured, bytes)));
    tables.extend(LENGTHS.map(|bytes| times(measured, bytes)));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// The paper's table 2: bytes per client of a scheme.
pub(super) fn printed(spec: Spec) -> Option<f64> {
    let label = match spec.kind {
        SchemeKind::Gscm(_) => "gscm(x)".to_owned(),
        _ => Spec { long: false, ..spec }.to_string(),
    };
    PAPER.table("memory")?.value(&label, usize::from(spec.long))
}

fn memory(measured: &Measured) -> Table {
    let bytes = |name: &str| Column::number(name).unit("bytes");
    let columns = [
        Column::text("scheme"),
        bytes("paper"),
        bytes("its formula"),
        bytes("our record"),
        bytes("accounted"),
        bytes("resident"),
        Column::number("clients"),
    ];
    let note = "Per client. Accounted: the record, tables on the heap and the list of them, and the client's share \
        of the state of its cluster (all clients are in one cluster). Resident: growth of the process while so many \
        clients were admitted. The formula is 200 + 32 (r + 1) + 2 x for GCM-Pre, 200 + 4 |k| + 2 x for GCM-On and \
        128 for GSCM.";
    let mut table = Table::new("Table 2 anew: bytes a client", columns).with_note(note);
    let or_none = |figure: Option<f64>, digits| figure.map_or_else(|| Cell::empty("none"), |x| Cell::number(x, digits));
    for Held { spec, formula, record, accounted, resident, clients } in measured.memory.iter().copied() {
        table.row([
            Cell::text(spec.to_string()),
            or_none(printed(spec), 0),
            or_none(formula.map(|bytes| bytes as f64), 0),
            Cell::number(record as f64, 0),
            Cell::number(accounted, 1),
            resident.map_or_else(|| Cell::empty("not told"), |bytes| Cell::number(bytes, 1)),
            Cell::number(f64::from(clients), 0),
        ]);
    }
    table
}

fn software(measured: &Measured) -> Table {
    let mut columns = vec![Column::number("clients"), Column::number("packet").unit("bytes")];
    columns.extend(super::software::SCHEMES.map(|name| Column::number(name).unit("ns")));
    columns.extend(["Pre : GSCM", "On : GSCM"].map(Column::number));
    let note = "Software as in 2009: AES and GHASH with tables of words, 128-bit keys, one packet at a time, opened \
        for one random client and sealed for another. No special instructions except those the compiler chooses.";
    let mut table = Table::new("Figure 2 on software of tables", columns).with_note(note);
    for point in &measured.software.points {
        let size = [Cell::number(point.clients as f64, 0), Cell::number(point.bytes as f64, 0)];
        table.row(size.into_iter().chain(point.ns.map(cell)).chain(point.over.map(cell)));
    }
    for &(clients, why) in &measured.software.left_out {
        let empty = ["", why, "", "", "", ""].map(Cell::empty);
        table.row([Cell::number(clients as f64, 0)].into_iter().chain(empty));
    }
    table
}

/// The paper's table 4: the most clients reported and the most stable clients of a scheme.
pub(super) fn printed_clients(spec: Spec) -> [Option<f64>; 2] {
    let label = match spec.kind {
        SchemeKind::Gscm(_) => "gscm(x)".to_owned(),
        _ => Spec { long: false, ..spec }.to_string(),
    };
    let table = PAPER.table("clients");
    [0, 2].map(|column| Some(table?.value(&label, column + usize::from(spec.long))? * 1e4))
}

fn clients(measured: &Measured) -> Table {
    let number = |name: &str| Column::number(name);
    let columns = [
        Column::text("scheme"),
        number("packet").unit("bytes"),
        number("a client").unit("bytes"),
        number("paper: reported"),
        number("paper: stable"),
        number("reported"),
        number("stable"),
        number("step"),
        number("of memory").unit("%"),
        Column::text("ended by"),
    ];
    let mib = measured.budget >> 20;
    let note = format!(
        "The paper's server had 4096 MB of memory, this one {mib} MiB. 90 % of it is a pool through which each \
         packet is copied; the rest holds client records, and those that do not fit are paged to a file of {mib} \
         MiB with the CLOCK algorithm and direct I/O, past the system's cache. One thread serves each of 50 \
         computers over loopback, with one packet in flight on each. A packet reads the records of two random \
         clients through the pager; the keys used are those of two fixed clients per computer. The search ends (a) \
         when the mean time of a packet, from throughput, is more than twice that without encryption in three \
         trials (each takes the least disturbed of 5 windows with and without, in turns), (b) when memory and \
         paging file are full, (c) when a connection stalls for 5 s. Of memory: size of the stable clients relative \
         to the space for them."
    );
    let mut table = Table::new("Table 4 anew: the most clients", columns).with_note(note);
    let room = measured.budget as f64 * 0.1;
    let or_none = |figure: Option<f64>| figure.map_or_else(|| Cell::empty("none"), |x| Cell::number(x, 0));
    for served in measured.served.iter().flatten() {
        let [reported, stable] = printed_clients(served.spec);
        let whole = |n: u64| Cell::number(n as f64, 0);
        table.row([
            Cell::text(served.spec.to_string()),
            whole(served.payload as u64),
            whole(served.bytes as u64),
            or_none(reported),
            or_none(stable),
            whole(served.reported),
            whole(served.stable),
            whole(served.step),
            Cell::number(100.0 * (served.stable * served.bytes as u64) as f64 / room, 0),
            Cell::text(served.ended.words()),
        ]);
    }
    table
}

fn peers(measured: &Measured) -> Table {
    let columns = [
        Column::text("what is kept"),
        Column::number("resident").unit("bytes"),
        Column::number("of gcm-on64's").unit("times"),
    ];
    let note = "One side of a session after a message each way, or keys for both directions; growth of the process \
        divided by the number of sessions. gcm-on64 keeps 64 bytes.";
    let mut table = Table::new("What others keep for a session", columns).with_note(note);
    for (name, bytes) in &measured.peers {
        let figures = bytes.map_or_else(
            || [Cell::empty("not told"), Cell::empty("not told")],
            |bytes| [Cell::number(bytes, 0), Cell::number(bytes / 64.0, 0)],
        );
        table.row([Cell::text(name)].into_iter().chain(figures));
    }
    table
}

/// Figure 1 over a shaped link as in the paper.
fn line(measured: &Measured) -> Option<Table> {
    let found = measured.network.as_ref().ok()?;
    let columns = [
        Column::text("scheme"),
        Column::number("packet").unit("bytes"),
        Column::number("clients"),
        Column::number("a packet").unit("ns"),
        Column::number("over clear"),
    ];
    let note = format!(
        "Wall time divided by the number of packets. Each comes from one random client and goes to another; one is under way \
         for each of {} computers, so the mean time of a packet is that many times as long. The relay's line carries {} Mbit/s in each direction: a token bucket at either end, between two network \
         namespaces. Each scheme took turns with the same relay without encryption.",
        super::network::CONNECTIONS,
        super::network::MEGABITS
    );
    let mut table =
        Table::new("Figure 1 anew: wall time for each packet over a line of 100 Mbit/s", columns).with_note(note);
    for point in &found.points {
        if let super::network::Line::Shaped(time, ratio) = point.line {
            let (bytes, clients) = (point.bytes as f64, f64::from(point.clients));
            let first = [Cell::text(point.spec.to_string()), Cell::number(bytes, 0), Cell::number(clients, 0)];
            table.row(first.into_iter().chain([cell(time), cell(ratio)]));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn network(measured: &Measured, bytes: usize) -> Table {
    let none = super::network::NetworkPoints::default();
    let found = measured.network.as_ref().unwrap_or(&none);
    let numbers = found.clients();
    let mut columns = vec![Column::text("scheme")];
    for clients in &numbers {
        columns.push(Column::number(format!("{clients}: a packet")).unit("ns"));
        columns.push(Column::number(format!("{clients}: over clear")));
    }
    let note = format!(
        "By number of clients: processor time of the relay's one thread for a packet that comes from one random client and goes \
         to another, over {} loopback connections with {} packets under way on each, the kernel's part included. Each scheme \
         took turns with the same relay without encryption.",
        super::network::CONNECTIONS,
        super::network::WINDOW
    );
    let title = format!("A busy relay over loopback: time of its processor for a packet of {bytes} bytes");
    let mut table = Table::new(title, columns).with_note(note);
    for spec in super::network::specs(false) {
        let points: Vec<_> = numbers.iter().map(|&clients| found.at(spec, clients, bytes)).collect();
        if points.iter().any(Option::is_some) {
            let figures = numbers.iter().zip(points).flat_map(|(&clients, point)| match point {
                Some(point) => [cell(point.ns), cell(point.ratio)],
                None => [Cell::empty(found.why_not(spec, clients)), Cell::empty("")],
            });
            table.row([Cell::text(spec.to_string())].into_iter().chain(figures));
        }
    }
    table
}

fn times(measured: &Measured, bytes: usize) -> Table {
    let found = &measured.speed;
    let numbers = found.asked();
    let mut columns = vec![Column::text("scheme"), Column::text("level")];
    for clients in &numbers {
        columns.push(Column::number(format!("{clients}: forward")).unit("ns"));
        columns.push(Column::number(format!("{clients}: over clear")));
        columns.push(Column::number(format!("{clients}: seal")).unit("ns"));
    }
    let note = "By number of clients. Forward: a packet is opened for one random client and sealed for another, \
        including header, replay window and counters. Seal: a packet is sealed for a random client. Each scheme was \
        measured in the same rounds as clear, which does the same without encryption. CPU time of one core. With \
        GSCM schemes, all clients are in one cluster, as in the paper.";
    let title = format!("Figure 2 anew: time for a packet of {bytes} bytes, without the network");
    let mut table = Table::new(title, columns).with_note(note);
    for isa in measured.levels() {
        for spec in super::speed::specs() {
            let at = |clients| found.at(isa, spec, clients, bytes);
            if numbers.iter().all(|&clients| at(clients).is_none()) {
                continue;
            }
            let mut row = vec![Cell::text(spec.to_string()), Cell::text(isa.name())];
            for &clients in &numbers {
                match at(clients) {
                    Some(point) => row.extend([point.forward, point.ratio, point.seal].map(cell)),
                    None => {
                        let why = found.why_not(spec, clients);
                        row.extend([Cell::empty(why), Cell::empty(""), Cell::empty("")]);
                    }
                }
            }
            table.row(row);
        }
    }
    table
}
